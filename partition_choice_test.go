package linger_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"linger"
)

// askedPartitioner notes what it is asked and answers n.
type askedPartitioner struct {
	n          int32
	asked      []string
	values     map[string]string
	configured int
	closed     int
}

func (a *askedPartitioner) Partition(topic string, key, value []byte, cluster linger.Cluster) (int32, error) {
	a.asked = append(a.asked, fmt.Sprintf("%s key %q null %t value %q of %d", topic, key, key == nil, value, cluster.PartitionCount(topic)))
	return a.n, nil
}

func (a *askedPartitioner) Configure(values map[string]string) error {
	a.values = values
	a.configured++
	return nil
}
func (a *askedPartitioner) Close() error { a.closed++; return nil }

// PART-01, PART-02, PART-07: the record's own partition wins over the partitioner, the partitioner over the key.
func TestRecordsWishThenPartitionerThenKey(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 12)
		a := &askedPartitioner{n: 7}
		p := c.producer(linger.WithPartitioner(a))
		keyed := rec{Topic: "t", Key: []byte("a"), Value: []byte("v")} // murmur2: partition 4 of 12
		wish := keyed
		wish.Partition = linger.On(2)
		if md := mustWait(t, mustSend(t, p, wish, nil)); md.Partition != 2 || len(a.asked) != 0 {
			t.Errorf("with a wish: partition %d, partitioner asked %d times; want 2, never", md.Partition, len(a.asked))
		}
		if md := mustWait(t, mustSend(t, p, keyed, nil)); md.Partition != 7 {
			t.Errorf("with a partitioner: partition %d, want 7", md.Partition)
		}
		if want := []string{`t key "a" null false value "v" of 12`}; !slices.Equal(a.asked, want) {
			t.Errorf("asked %q, want %q", a.asked, want)
		}
		if md := mustWait(t, mustSend(t, c.producer(), keyed, nil)); md.Partition != 4 {
			t.Errorf("by key: partition %d, want 4", md.Partition)
		}
	})
}

// PART-02: a partitioner of typed records sees key and value before and after serialization.
type typed struct{ saw string }

func (p *typed) PartitionRecord(r linger.Record[int64, string], key, value []byte, cluster linger.Cluster) (int32, error) {
	p.saw = fmt.Sprintf("%d %q %x %q of %d, headers %v", r.Key, r.Value, key, value, cluster.PartitionCount(r.Topic), r.Headers)
	return 1, nil
}

func TestTypedPartitionerSeesKeyAndValueToo(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 2)
		part := &typed{}
		p := producerOf(c, linger.Long, linger.String, linger.WithPartitionerOf[int64, string](part))
		md := mustWait(t, mustSend(t, p, linger.Record[int64, string]{Topic: "t", Key: 5, Value: "v", Headers: []linger.Header{{Key: "h"}}}, nil))
		if want := `5 "v" 0000000000000005 "v" of 2, headers [{h []}]`; part.saw != want || md.Partition != 1 {
			t.Errorf("saw %s, want %s; partition %d", part.saw, want, md.Partition)
		}
	})
	_, err := linger.New(linger.String, linger.String, linger.BootstrapServers("10.0.0.1:9092"), linger.WithPartitionerOf[int64, string](&typed{}), linger.WithLogger(nil))
	if !errors.Is(err, linger.ErrConfig) || !strings.Contains(err.Error(), "partitioner.class") {
		t.Errorf("a partitioner of other types: got %v, want an ErrConfig", err)
	}
}

// PART-03: a negative answer, and one beyond the topic's partitions, is Send's error with the number and the limit.
func TestPartitionersIllegalAnswerIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 3)
		a := &askedPartitioner{}
		p := c.producer(linger.WithPartitioner(a))
		for n, want := range map[int32]string{-2: "invalid partition number: -2. Partition number should always be non-negative", 3: "partition number 3, but topic t has 3 partitions"} {
			a.n = n
			if _, err := p.Send(t.Context(), plain("v"), failIfCalled(t)); !errors.Is(err, linger.ErrIllegalArgument) || !strings.Contains(err.Error(), want) {
				t.Errorf("answer %d: got %v, want %q", n, err, want)
			}
		}
	})
}

// PART-05: a key keeps its partition while some partitions have no leader; its record waits there.
func TestKeysCountPartitionsWithoutLeader(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		ft := c.topic("t", 12)
		for p := range ft.leaders {
			ft.leaders[p] = -1
		}
		ft.leaders[0] = 1
		p := c.producer(linger.DeliveryTimeout(60*time.Second), linger.RequestTimeout(10*time.Second))
		f := mustSend(t, p, rec{Topic: "t", Key: []byte("a")}, nil)
		rest(10 * time.Second)
		if f.Ready() {
			t.Error("the record went somewhere else than to its leaderless partition")
		}
		c.change(func() { ft.leaders[4] = 1 })
		if md := mustWait(t, f); md.Partition != 4 {
			t.Errorf("partition %d, want 4", md.Partition)
		}
	})
}

// PART-06, PART-09: a key that is null, by nature or by its serializer, leaves the choice to the accumulator, which sticks to
// a partition for a batch's worth of bytes.
func TestWithoutAKeyRecordsStick(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 50)
		nothing := linger.SerializerFunc[string](func(string, []linger.Header, string) ([]byte, error) { return nil, nil })
		p := producerOf[string, string](c, nothing, linger.String, linger.Linger(10*time.Millisecond))
		for i := range 20 {
			mustSend(t, p, linger.Record[string, string]{Topic: "t", Key: fmt.Sprint(i), Value: "v"}, nil)
		}
		if err := p.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		used := func() (n int) {
			for part := range 50 {
				if len(c.values("t", part)) > 0 {
					n++
				}
			}
			return n
		}
		if n := used(); n != 1 {
			t.Errorf("20 small keyless records went to %d partitions, want 1", n)
		}
		for range 30 {
			mustSend(t, p, linger.Record[string, string]{Topic: "t", Key: "k", Value: strings.Repeat("x", 9000)}, nil)
		}
		if err := p.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		if n := used(); n < 5 {
			t.Errorf("some 15 full batches went to %d partitions in all, want most to another one", n)
		}
	})
}

// PART-08, CFG-36: with partitioner.ignore.keys keyed records stick like keyless ones.
func TestIgnoredKeysStick(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 50)
		p := c.producer(linger.PartitionerIgnoreKeys(true), linger.Linger(10*time.Millisecond))
		var fs []linger.Future
		for i := range 20 {
			fs = append(fs, mustSend(t, p, rec{Topic: "t", Key: fmt.Append(nil, i)}, nil))
		}
		first := mustWait(t, fs[0]).Partition
		for i, f := range fs {
			if got := mustWait(t, f).Partition; got != first {
				t.Errorf("key %d went to partition %d, the first to %d", i, got, first)
			}
		}
	})
}

// PART-13, PART-34: the built-in choice is no partitioner of that name; of the names there once were, only round robin is left.
func TestOfTheOldPartitionersOnlyRoundRobinIsLeft(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		for _, name := range []string{"RoundRobinPartitioner", "org.apache.kafka.clients.producer.RoundRobinPartitioner"} {
			c.producer(linger.Set("partitioner.class", name))
		}
		for _, name := range []string{"BuiltInPartitioner", "org.apache.kafka.clients.producer.internals.DefaultPartitioner", "org.apache.kafka.clients.producer.UniformStickyPartitioner", "StickyPartitioner"} {
			_, err := linger.New(linger.ByteArray, linger.ByteArray, c.options(linger.Set("partitioner.class", name))...)
			if !errors.Is(err, linger.ErrConfig) {
				t.Errorf("%s: got %v, want an ErrConfig", name, err)
				continue
			}
			for _, part := range []string{"Invalid value " + name + " for configuration partitioner.class", "could not be found", "linger.WithRegistry"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error does not say %q: %v", part, err)
				}
			}
		}
	})
}

// PART-35, PART-36, PART-37: the VIP example keeps the first partition for its keys, gives every other key one of the rest
// by hash, spreads keyless records over those, and guards the topic of one.
func TestVIPExampleKeepsPartitionZeroFree(t *testing.T) {
	many, one := linger.ClusterOf(map[string]int32{"t": 6}), linger.ClusterOf(map[string]int32{"t": 1})
	seen := map[int32]int{}
	for range 3000 {
		n, err := vip{}.Partition("t", nil, nil, many)
		if err != nil {
			t.Fatal(err)
		}
		seen[n]++
	}
	for n := int32(1); n < 6; n++ {
		if seen[n] < 450 || seen[n] > 750 {
			t.Errorf("partition %d got %d of 3000, want about 600", n, seen[n])
		}
	}
	if len(seen) != 5 || seen[0] != 0 {
		t.Errorf("partitions used: %v, want 1 to 5", seen)
	}
	for _, key := range []string{"VIP:x", "VIP:"} {
		if n, _ := (vip{}).Partition("t", []byte(key), nil, many); n != 0 {
			t.Errorf("key %q went to %d, want 0", key, n)
		}
	}
	for key, want := range map[string]int32{"user-42": 1, "foobar": 2, "a": 5} {
		if n, err := (vip{}).Partition("t", []byte(key), nil, many); n != want || err != nil {
			t.Errorf("key %q went to %d, %v, want %d", key, n, err, want)
		}
	}
	for _, key := range [][]byte{nil, []byte("a"), []byte("VIP:x")} {
		if n, err := (vip{}).Partition("t", key, nil, one); n != 0 || err != nil {
			t.Errorf("single partition, key %q: got %d, %v", key, n, err)
		}
	}
}

// PART-38: a partitioner is configured with the options, once, before its first use, and closed with the producer.
func TestPartitionerIsConfiguredAndClosed(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		a := &askedPartitioner{}
		for name, opt := range map[string]linger.Option{
			"by value": linger.WithPartitioner(a),
			"by name":  linger.WithRegistry(linger.NewRegistry().With("mine", func() any { return a })),
		} {
			*a = askedPartitioner{}
			opts := []linger.Option{opt, linger.Set("my.own", "setting"), linger.Acks("1")}
			if name == "by name" {
				opts = append(opts, linger.Set("partitioner.class", "mine"))
			}
			p, err := linger.New(linger.ByteArray, linger.ByteArray, c.options(opts...)...)
			if err != nil {
				t.Fatal(err)
			}
			if a.configured != 1 || a.values["my.own"] != "setting" || a.values["acks"] != "1" {
				t.Errorf("%s: configured %d times, with my.own=%q, acks=%q", name, a.configured, a.values["my.own"], a.values["acks"])
			}
			if a.closed != 0 {
				t.Errorf("%s: closed early", name)
			}
			if err := p.Close(); err != nil || a.closed != 1 {
				t.Errorf("%s: close: %v, closed %d times", name, err, a.closed)
			}
		}
	})
}

// B32, PART-33: round robin gives each partition its turn, also when each record opens a new batch.
func TestRoundRobinThroughTheWholeProducer(t *testing.T) {
	for _, senders := range []int{1, 8} {
		for partitions := 2; partitions <= 4; partitions++ {
			t.Run(fmt.Sprintf("%d senders, %d partitions", senders, partitions), func(t *testing.T) {
				bubble(t, func(t *testing.T, c *cluster) {
					c.topic("t", partitions)
					p := c.producer(linger.WithPartitioner(linger.RoundRobin()), linger.Linger(0), linger.BatchSize(1))
					warm(t, p)
					var wg sync.WaitGroup
					for range senders {
						wg.Go(func() {
							for range 1200 / senders {
								mustSend(t, p, plain("v"), nil)
							}
						})
					}
					wg.Wait()
					mustFlush(t, p)
					want := 1200 / partitions
					for part := range partitions {
						if got := len(c.values("t", part)); got != want {
							t.Errorf("partition %d got %d of 1200 records, want %d", part, got, want)
						}
					}
				})
			})
		}
	}
}

// B32: partitions without a leader are passed over.
func TestRoundRobinPassesOverPartitionsWithoutLeader(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 4).leaders[2] = -1
		p := c.producer(linger.WithPartitioner(linger.RoundRobin()))
		warm(t, p)
		for range 90 {
			mustSend(t, p, plain("v"), nil)
		}
		mustFlush(t, p)
		var got []int
		for part := range 4 {
			got = append(got, len(c.values("t", part)))
		}
		if want := []int{30, 30, 0, 30}; !cmp.Equal(got, want) {
			t.Errorf("records by partition: %v, want %v", got, want)
		}
	})
}

// PART-30: keyless records make fewer and fuller batches than round robin.
func TestStickyBatchesAreFuller(t *testing.T) {
	batches := func(opts ...linger.Option) (n int64) {
		bubble(t, func(t *testing.T, c *cluster) {
			c.topic("t", 10)
			p := c.producer(append(opts, linger.Linger(5*time.Millisecond), linger.BatchSize(4000))...)
			warm(t, p)
			for range 200 {
				rest(100 * time.Microsecond)
				mustSend(t, p, plain(strings.Repeat("x", 100)), nil)
			}
			mustFlush(t, p)
			synctest.Wait()
			n = p.Counters().Batches
		})
		return n
	}
	sticky, robin := batches(), batches(linger.WithPartitioner(linger.RoundRobin()))
	if sticky*3 > robin {
		t.Errorf("%d sticky batches, %d of round robin", sticky, robin)
	}
}

// TUNE-09: a hot key spreads over partitions with a random affix, or with a partitioner that knows it.
func TestHotKeysSpreadByAffixOrPartitioner(t *testing.T) {
	spread := func(opt linger.Option, key func(i int) string) (used int) {
		bubble(t, func(t *testing.T, c *cluster) {
			c.topic("t", 12)
			opts := []linger.Option{linger.Linger(5 * time.Millisecond)}
			if opt != nil {
				opts = append(opts, opt)
			}
			p := c.producer(opts...)
			for i := range 600 {
				mustSend(t, p, rec{Topic: "t", Key: []byte(key(i)), Value: []byte("v")}, nil)
			}
			mustFlush(t, p)
			for part := range 12 {
				if n := len(c.values("t", part)); n > 0 && n < 200 {
					used++
				}
			}
		})
		return used
	}
	hot := func(int) string { return "hot" }
	if n := spread(nil, hot); n != 0 {
		t.Errorf("a hot key alone: %d partitions with a share", n)
	}
	if n := spread(nil, func(i int) string { return fmt.Sprintf("hot-%d", i%24) }); n < 8 {
		t.Errorf("with an affix out of 24: %d of 12 partitions have a share", n)
	}
	turns := 0
	byHand := linger.PartitionerFunc(func(_ string, key, _ []byte, cl linger.Cluster) (int32, error) {
		turns++
		return int32(turns) % cl.PartitionCount("t"), nil
	})
	if n := spread(linger.WithPartitioner(byHand), hot); n != 12 {
		t.Errorf("with a partitioner: %d of 12 partitions have a share", n)
	}
}
