package virtual

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
)

// world is a cluster in a bubble.
type world struct {
	t       *testing.T
	network *kfake.VirtualNetwork
	cluster *kfake.Cluster
}

func bubble(t *testing.T, brokers int, partitions int32, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, network: new(kfake.VirtualNetwork)}
		ports := make([]int, brokers)
		for i := range ports {
			ports[i] = 9092 + i
		}
		cluster, err := kfake.NewCluster(kfake.NumBrokers(brokers), kfake.Ports(ports...), kfake.ListenFn(w.network.Listen), kfake.SeedTopics(partitions, "t"))
		if err != nil {
			t.Fatal(err)
		}
		defer cluster.Close()
		w.cluster = cluster
		test(t, w)
	})
}

// producer makes a producer; done closes it and looks whether its memory came home.
func (w *world) producer(more ...linger.Option) (p *linger.Producer[[]byte, string], done func()) {
	w.t.Helper()
	p, err := linger.New(linger.ByteArray, linger.String, append([]linger.Option{
		linger.BootstrapServers(w.cluster.ListenAddrs()...), linger.WithDialer(w.network.DialContext), linger.WithLogger(nil),
	}, more...)...)
	if err != nil {
		w.t.Fatal(err)
	}
	return p, func() {
		report, err := p.Shutdown(context.Background())
		if err != nil || report.BytesLeft != 0 {
			w.t.Errorf("shutdown: %v, %d bytes of buffer.memory did not come home", err, report.BytesLeft)
		}
	}
}

// logs are the values by partition, read back with franz-go.
func (w *world) logs(partitions int32) [][]string {
	w.t.Helper()
	ends := map[int32]int64{}
	total := int64(0)
	for p := range partitions {
		info := w.cluster.PartitionInfo("t", p)
		ends[p] = info.HighWatermark
		total += info.HighWatermark
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(w.cluster.ListenAddrs()...), kgo.Dialer(w.network.DialContext), kgo.ConsumeTopics("t"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		w.t.Fatal(err)
	}
	defer cl.Close()
	logs := make([][]string, partitions)
	for n := int64(0); n < total; {
		fetches := cl.PollFetches(w.t.Context())
		if err := fetches.Err(); err != nil {
			w.t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			logs[r.Partition] = append(logs[r.Partition], string(r.Value))
			n++
		})
	}
	return logs
}

// sendAll sends n records in turn over the partitions and waits for their outcomes. Any error fails the test, as does an offset
// that is not the record's place in its partition, or unknown.
func sendAll(t *testing.T, p *linger.Producer[[]byte, string], n int, partitions int32, between func(i int)) {
	t.Helper()
	for i := range n {
		part := int32(i) % partitions
		r := linger.Record[[]byte, string]{Topic: "t", Partition: linger.On(part), Value: fmt.Sprintf("%05d%s", i, strings.Repeat(".", 40))}
		if _, err := p.Send(t.Context(), r, func(md linger.RecordMetadata, err error) {
			if want := int64(i) / int64(partitions); err != nil || md.HasOffset() && md.Offset != want {
				t.Errorf("record %d of partition %d: offset %d, want %d, %v", i, part, md.Offset, want, err)
			}
		}); err != nil {
			t.Fatal(err)
		}
		between(i)
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// inOrderOnce fails unless the logs hold the n records once each, in the order of their sends.
func inOrderOnce(t *testing.T, logs [][]string, n int) {
	t.Helper()
	for part, log := range logs {
		for i, v := range log {
			if want := fmt.Sprintf("%05d", i*len(logs)+part); !strings.HasPrefix(v, want) {
				t.Fatalf("partition %d: record %s at offset %d, want %s", part, v[:5], i, want)
			}
		}
		if want := (n - part + len(logs) - 1) / len(logs); len(log) != want {
			t.Errorf("partition %d holds %d records, want %d", part, len(log), want)
		}
	}
}

// SND-29, IDEM-01, IDEM-11: leaders move and requests fail, some of them after the append; with idempotence each record is
// there once and in order, with every number of requests in flight.
func TestOrderOnceWhateverFails(t *testing.T) {
	// Not zstd: franz-go's decoder has a finalizer that closes a channel of the bubble from outside of it.
	codecs := []string{"none", "gzip", "snappy", "lz4", "none"}
	for inFlight := 1; inFlight <= 5; inFlight++ {
		codec := codecs[inFlight-1]
		t.Run(fmt.Sprintf("%d in flight, %s", inFlight, codec), func(t *testing.T) {
			bubble(t, 3, 6, func(t *testing.T, w *world) {
				rng, theirs := rand.New(rand.NewPCG(uint64(inFlight), 7)), rand.New(rand.NewPCG(uint64(inFlight), 8)) // one for each goroutine
				p, done := w.producer(linger.MaxInFlightRequestsPerConnection(inFlight), linger.CompressionType(codec), linger.BatchSize(400), linger.Linger(2*time.Millisecond))
				var hits []*kfake.FaultHandle
				for _, err := range []*kerr.Error{kerr.NotLeaderForPartition, kerr.RequestTimedOut, kerr.NotEnoughReplicasAfterAppend, kerr.NotEnoughReplicas, kerr.KafkaStorageError} {
					hits = append(hits, w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: err, Count: 8, When: func(kmsg.Request) bool { return theirs.IntN(9) == 0 }}))
				}
				const n = 1200
				sendAll(t, p, n, 6, func(i int) {
					if i%3 == 0 {
						time.Sleep(time.Millisecond)
					}
					if i%97 == 0 {
						if err := w.cluster.MoveTopicPartition("t", int32(i%6), int32(rng.IntN(3))); err != nil {
							t.Error(err)
						}
					}
				})
				for i, h := range hits {
					if h.Hits() == 0 {
						t.Errorf("fault %d never hit", i)
					}
				}
				if p.Counters().RecordsRetried == 0 {
					t.Error("nothing was tried again")
				}
				done()
				inOrderOnce(t, w.logs(6), n)
			})
		})
	}
}

// B05: the broker appends and answers with an error: one copy, and the first offset is told.
func TestErrorAfterTheAppend(t *testing.T) {
	bubble(t, 1, 1, func(t *testing.T, w *world) {
		p, done := w.producer()
		cut := 0
		sendAll(t, p, 30, 1, func(i int) {
			if i%10 == 5 {
				cut++
				w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.RequestTimedOut, Count: 1}) // appended, and answered with an error
			}
			time.Sleep(20 * time.Millisecond)
		})
		if retried := p.Counters().RecordsRetried; retried < int64(cut) {
			t.Errorf("%d retries for %d lost answers", retried, cut)
		}
		done()
		inOrderOnce(t, w.logs(1), 30)
	})
}

// TMO-02, TMO-03: a partition that no broker serves for longer than delivery.timeout.ms fails its records after just that
// time, and the partition goes on afterwards, with nothing doubled.
func TestALongOutageFailsRecordsOnTimeAndIsOver(t *testing.T) {
	bubble(t, 1, 1, func(t *testing.T, w *world) {
		p, done := w.producer()
		send := func(v string) (linger.RecordMetadata, error) {
			return p.SendSync(t.Context(), linger.Record[[]byte, string]{Topic: "t", Value: v})
		}
		if _, err := send("before"); err != nil {
			t.Fatal(err)
		}
		outage := w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotLeaderForPartition, Count: -1})
		start := time.Now()
		_, err := send("during")
		if d := time.Since(start); !errors.Is(err, linger.ErrTimeout) && linger.ClassOf(err) != linger.ClassRefreshRetriable || d < 115*time.Second || d > 121*time.Second {
			t.Errorf("failed after %v with %v, want the two minutes of delivery.timeout.ms", d, err)
		}
		outage.Remove()
		if _, err := send("after"); err != nil {
			t.Errorf("after the outage: %v", err)
		}
		done()
		if logs := w.logs(1); strings.Join(logs[0], " ") != "before after" {
			t.Errorf("the log holds %q", logs[0])
		}
	})
}

// B20: a topic grows while the producer runs; the new partition is usable by its next metadata.
func TestNewPartitionsAreUsable(t *testing.T) {
	bubble(t, 2, 1, func(t *testing.T, w *world) {
		p, done := w.producer()
		defer done()
		r := linger.Record[[]byte, string]{Topic: "t", Value: "v"}
		if _, err := p.SendSync(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		adm, err := kgo.NewClient(kgo.SeedBrokers(w.cluster.ListenAddrs()...), kgo.Dialer(w.network.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer adm.Close()
		req := kmsg.NewPtrCreatePartitionsRequest()
		grown := kmsg.NewCreatePartitionsRequestTopic()
		grown.Topic, grown.Count = "t", 3
		req.Topics = append(req.Topics, grown)
		if _, err := req.RequestWith(t.Context(), adm); err != nil {
			t.Fatal(err)
		}
		r.Partition = linger.On(2)
		start := time.Now()
		if md, err := p.SendSync(t.Context(), r); err != nil || md.Partition != 2 {
			t.Errorf("got %+v, %v", md, err)
		}
		if d := time.Since(start); d > time.Second {
			t.Errorf("usable after %v", d)
		}
	})
}
