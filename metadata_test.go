package linger_test

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
	"linger/internal/kerr"
)

// META-01: a topic that is known costs no wait and no request, and so does a partition inside its range.
func TestKnownTopicsAndPartitionsCostNoWait(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 3)
		p := c.producer()
		warm(t, p)
		c.on(kmsg.Metadata, func(*call) bool { t.Error("metadata was asked for"); return true })
		for _, r := range []rec{plain("v"), plainOn(0, "v"), plainOn(2, "v")} {
			if d := took(func() { mustSend(t, p, r, nil) }); d != 0 {
				t.Errorf("send took %v", d)
			}
		}
		if d := took(func() { _, _ = p.PartitionsFor(t.Context(), "t") }); d != 0 {
			t.Errorf("PartitionsFor took %v", d)
		}
		mustFlush(t, p)
	})
}

// META-02, META-03, META-06, B20: a partition beyond the known count is waited for, over as many answers as it takes.
func TestSendWaitsForAPartitionThatIsBeingAdded(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		ft := c.topic("t", 1)
		p := c.producer()
		warm(t, p)
		asked := c.count("Metadata")
		time.AfterFunc(5*time.Second, func() { c.change(func() { ft.grow(c, 3) }) })
		var f linger.Future
		if d := took(func() { f = mustSend(t, p, plainOn(2, "v"), nil) }); d < 5*time.Second || d > 7*time.Second {
			t.Errorf("the send waited %v, want a little more than the 5s until the partition is there", d)
		}
		if md := mustWait(t, f); md.Partition != 2 {
			t.Errorf("went to partition %d", md.Partition)
		}
		if n := c.count("Metadata") - asked; n < 5 || n > 60 {
			t.Errorf("%d metadata requests in 5s, want several, with a back-off", n)
		}
	})
}

// META-09, META-10, META-18, CFG-09: after max.block.ms exactly the error says what is missing; what the broker said last is
// its cause.
func TestMissingTopicsAndPartitionsFailAfterMaxBlock(t *testing.T) {
	tests := []struct {
		name, want string
		rec        rec
		prepare    func(c *cluster)
		cause      error
	}{
		{name: "an unknown topic", rec: rec{Topic: "nope"}, want: "Topic nope not present in metadata after 2500 ms.", cause: &kerr.Error{Code: kerr.UnknownTopicOrPartition}},
		{name: "no partition 99", rec: plainOn(99, "v"), want: "Partition 99 of topic t with partition count 3 is not present in metadata after 2500 ms.: max.block.ms"},
		{name: "a topic whose leaders are being elected", rec: rec{Topic: "t"}, want: "Topic t not present in metadata after 2500 ms.", cause: &kerr.Error{Code: kerr.LeaderNotAvailable},
			prepare: func(c *cluster) { c.topics["t"].err = kerr.LeaderNotAvailable }},
		{name: "no broker at all", rec: rec{Topic: "t"}, want: "Topic t not present in metadata after 2500 ms.", prepare: func(c *cluster) { c.setBrokers(0) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.topic("t", 3)
				if tt.prepare != nil {
					tt.prepare(c)
				}
				p := c.producer(linger.MaxBlock(2500 * time.Millisecond))
				check := func(what string, do func() error) {
					var err error
					if d := took(func() { err = do() }); !about(d, 2500*time.Millisecond) {
						t.Errorf("%s failed after %v, want max.block.ms", what, d)
					}
					if !errors.Is(err, linger.ErrTimeout) || !strings.Contains(err.Error(), tt.want) {
						t.Errorf("%s: got %v, want %q", what, err, tt.want)
					}
					if tt.cause != nil && !errors.Is(err, tt.cause) {
						t.Errorf("%s: the error has not the cause %v: %v", what, tt.cause, err)
					}
				}
				check("send", func() error { _, err := mustSend(t, p, tt.rec, nil).Wait(t.Context()); return err })
				if _, wish := tt.rec.Partition.Get(); !wish {
					check("PartitionsFor", func() error { _, err := p.PartitionsFor(t.Context(), tt.rec.Topic); return err })
				}
			})
		})
	}
}

// An unreachable cluster is named in the error, with what went wrong there.
func TestTimeoutNamesTheBrokerThatCouldNotBeReached(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.setBrokers(0)
		p := c.producer(linger.MaxBlock(2 * time.Second))
		_, err := mustSend(t, p, plain("v"), nil).Wait(t.Context())
		for _, part := range []string{"max.block.ms", "10.0.0.1:9092", "connection refused"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("the error does not say %q: %v", part, err)
			}
		}
	})
}

// META-03, META-07, META-08: the wait ends as soon as an answer brings the topic, or says that it never will; nobody polls.
func TestWaitForMetadataEndsWithTheAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		c.topic("secret", 1).err = kerr.TopicAuthorizationFailed
		p := c.producer()
		synctest.Wait() // the first metadata is about no topic
		c.on(kmsg.Metadata, func(*call) bool { elapse(3 * time.Second); return false })
		if d := took(func() { mustSend(t, p, plain("v"), nil) }); !about(d, 3*time.Second) {
			t.Errorf("known after %v, want the 3s of the answer", d)
		}
		var err error
		if d := took(func() { _, err = mustSend(t, p, rec{Topic: "secret"}, nil).Wait(t.Context()) }); d > 4*time.Second || !errors.Is(err, linger.ErrAuthorization) {
			t.Errorf("refused after %v with %v, want an ErrAuthorization with the answer", d, err)
		}
		if turns := p.Turns(); turns > 100 {
			t.Errorf("%d turns for two waits of 3s", turns)
		}
	})
}

// META-11: a name that brokers refuse is an outcome with their answer, and without any wait once it is known for what it is.
func TestInvalidTopicIsRefusedWithTheAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		p := c.producer()
		synctest.Wait() // the first metadata is about no topic
		c.on(kmsg.Metadata, func(*call) bool { elapse(3 * time.Second); return false })
		for i, want := range []time.Duration{3 * time.Second, 0} {
			var err error
			if d := took(func() { _, err = mustSend(t, p, rec{Topic: "a/b"}, nil).Wait(t.Context()) }); !about(d, want) {
				t.Errorf("send %d failed after %v, want %v", i+1, d, want)
			}
			if !errors.Is(err, linger.ErrInvalidTopic) || !strings.Contains(err.Error(), "a/b") {
				t.Errorf("send %d: got %v, want an ErrInvalidTopic", i+1, err)
			}
		}
	})
}

// META-12, CLOSE-08, B09: closing wakes those who wait for metadata; they hear that it closed during the send.
func TestCloseWakesWhoWaitsForMetadata(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.MaxBlock(time.Hour), linger.DeliveryTimeout(time.Hour))
		warm(t, p)
		c.on(kmsg.Produce, func(*call) bool { return true })
		mustSend(t, p, plain("keeps the close waiting"), nil)
		var wg sync.WaitGroup
		var mu sync.Mutex
		var errs []error
		fail := func(err error) { mu.Lock(); defer mu.Unlock(); errs = append(errs, err) }
		wg.Go(func() { _, err := p.Send(t.Context(), rec{Topic: "nope"}, failIfCalled(t)); fail(err) })
		wg.Go(func() { _, err := p.PartitionsFor(t.Context(), "nope"); fail(err) })
		rest(10 * time.Second)
		go p.Close()
		if d := took(wg.Wait); d != 0 {
			t.Errorf("the waiters took %v, with the close still waiting for its records", d)
		}
		for _, err := range errs {
			if !errors.Is(err, linger.ErrClosedDuringSend) || !errors.Is(err, linger.ErrClosed) {
				t.Errorf("got %v, want ErrClosedDuringSend", err)
			}
		}
	})
}

// PartitionsFor tells each partition and its leader.
func TestPartitionsForTellsLeaders(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.setBrokers(2)
		c.topic("t", 3).leaders[2] = -1
		p := c.producer()
		got, err := p.PartitionsFor(t.Context(), "t")
		want := []linger.PartitionInfo{{"t", 0, 1}, {"t", 1, 2}, {"t", 2, -1}}
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
		if _, err := p.PartitionsFor(t.Context(), ""); !errors.Is(err, linger.ErrIllegalArgument) {
			t.Errorf("no topic: got %v", err)
		}
	})
}

// Warm asks for all its topics together, not one round trip for each.
func TestWarmAsksForAllTopicsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		var topics []string
		for i := range 50 {
			topics = append(topics, "t"+strconv.Itoa(i))
			c.topic(topics[i], 1)
		}
		release := c.holdAll(kmsg.Metadata)
		time.AfterFunc(time.Second, release)
		p := c.producer()
		if err := p.Warm(t.Context(), topics...); err != nil {
			t.Fatal(err)
		}
		if n := c.count("Metadata"); n > 3 {
			t.Errorf("%d metadata requests for 50 topics", n)
		}
	})
}

// A broker that answers without the topic is asked again after the back-off, not as fast as it answers.
func TestTopicLeftOutOfAnswersIsAskedForAtAPace(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.on(kmsg.Metadata, func(call *call) bool {
			call.req.(*kmsg.MetadataRequest).Topics = nil
			return false
		})
		p := c.producer(linger.MaxBlock(5 * time.Second))
		if _, err := mustSend(t, p, plain("v"), nil).Wait(t.Context()); !errors.Is(err, linger.ErrTimeout) {
			t.Errorf("got %v", err)
		}
		if n := c.count("Metadata"); n > 70 {
			t.Errorf("%d metadata requests in 5 seconds", n)
		}
	})
}

// META-13, CFG-56: metadata is asked for again when it is metadata.max.age.ms old, without any error.
func TestMetadataIsRefreshedByAge(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.MetadataMaxAge(time.Minute))
		warm(t, p)
		rest(time.Second) // a topic that is wanted while metadata comes may be asked for twice
		before := c.count("Metadata")
		rest(10 * time.Minute)
		if n := c.count("Metadata") - before; n != 10 {
			t.Errorf("%d metadata requests in 10 minutes, want one a minute", n)
		}
	})
}

// B20: records that are buffered for a partition which a lagging broker does not know any more stay, and go out when it is back.
func TestBufferedRecordsOutliveALaggingBroker(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		ft := c.topic("t", 3)
		p := c.producer(linger.MetadataMaxAge(time.Second), linger.Linger(time.Minute), linger.DeliveryTimeout(10*time.Minute))
		warm(t, p)
		f := mustSend(t, p, plainOn(2, "v"), nil)
		c.change(func() { ft.leaders, ft.epochs = ft.leaders[:1], ft.epochs[:1] })
		rest(5 * time.Second)
		go func() { _ = p.Flush(t.Context()) }()
		rest(5 * time.Second)
		if f.Ready() {
			t.Fatal("the record has an outcome while its partition is gone")
		}
		c.change(func() { ft.leaders, ft.epochs = nil, nil; ft.grow(c, 3); ft.log = ft.log[:3] })
		if md := mustWait(t, f); md.Partition != 2 {
			t.Errorf("got %+v", md)
		}
	})
}

// B19: a topic that is deleted and made again under another id: the old id is unknown, the records go out under the new one.
func TestRecordsGoOutUnderATopicsNewID(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		ft := c.topic("t", 1)
		p := c.producer()
		mustWait(t, mustSend(t, p, plain("before"), nil))
		rest(time.Second) // metadata may be asked for again at once
		old := ft.id
		c.change(func() { ft.id = [16]byte{1, 2, 3}; ft.log[0] = nil; ft.epochs[0] = 0 })
		unknown := 0
		c.on(kmsg.Produce, func(call *call) bool {
			if call.req.(*kmsg.ProduceRequest).Topics[0].TopicID != old {
				return false
			}
			unknown++
			call.fail(kerr.UnknownTopicID)
			return true
		})
		md := mustWait(t, mustSend(t, p, plain("after"), nil))
		if md.Offset != 0 || unknown != 1 {
			t.Errorf("offset %d after %d answers of an unknown id, want 0 after 1", md.Offset, unknown)
		}
	})
}

// B19: an answer that carries the id under which the request left belongs to that request, whatever the topic's id is by then.
func TestAnswerUnderTheOldTopicIDIsMatched(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		ft := c.topic("t", 1)
		p := c.producer(linger.MetadataMaxAge(time.Second))
		warm(t, p)
		var held *call
		c.on(kmsg.Produce, func(call *call) bool { held = call; return true })
		f := mustSend(t, p, plain("v"), nil)
		synctest.Wait()
		c.change(func() { ft.id = [16]byte{9} })
		rest(5 * time.Second) // metadata with the new id is in
		resp := kmsg.NewPtrProduceResponse()
		resp.Topics = []kmsg.ProduceResponseTopic{{TopicID: held.req.(*kmsg.ProduceRequest).Topics[0].TopicID, Partitions: []kmsg.ProduceResponseTopicPartition{{BaseOffset: 55, LogAppendTime: -1}}}}
		held.answer(resp)
		if md := mustWait(t, f); md.Offset != 55 {
			t.Errorf("got %+v", md)
		}
	})
}

// B21: an older leader epoch is old news, and no epoch is none; a hint at a newer leader is used at once.
func TestLeadersOfOlderEpochsAreOldNews(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.setBrokers(2)
		ft := c.topic("t", 2)
		ft.leaders, ft.epochs = []int32{1, 1}, []int32{5, 5}
		p := c.producer(linger.MetadataMaxAge(time.Second))
		warm(t, p)
		var asked []int32
		c.on(kmsg.Produce, func(call *call) bool { asked = append(asked, call.broker); return false })
		c.change(func() { ft.leaders, ft.epochs = []int32{2, 1}, []int32{4, 5} })
		rest(3 * time.Second)
		mustWait(t, mustSend(t, p, plainOn(0, "v"), nil))
		c.change(func() { ft.leaders, ft.epochs = []int32{2, 1}, []int32{6, 5} })
		rest(3 * time.Second)
		mustWait(t, mustSend(t, p, plainOn(0, "v"), nil))
		if want := []int32{1, 2}; !cmp.Equal(asked, want) {
			t.Errorf("produced to brokers %v, want %v", asked, want)
		}
	})
}

// META-14: a topic that nobody used for metadata.max.idle.ms leaves the metadata; a record with a key that comes later waits for
// it anew and keeps its partition.
func TestKeyedRecordFindsATopicThatWasForgotten(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 3)
		p := c.producer(linger.MetadataMaxAge(time.Second), linger.MetadataMaxIdle(5*time.Second))
		r := rec{Topic: "t", Key: []byte("key"), Value: []byte("v")}
		before := mustWait(t, mustSend(t, p, r, nil))
		elapse(time.Minute)
		c.on(kmsg.Metadata, func(*call) bool { elapse(300 * time.Millisecond); return false })
		var after linger.RecordMetadata
		if d := took(func() { after = mustWait(t, mustSend(t, p, r, nil)) }); d < 300*time.Millisecond {
			t.Errorf("the send took %v: the topic had not been forgotten", d)
		}
		if after.Partition != before.Partition {
			t.Errorf("partition %d, and %d once the topic was fetched anew", before.Partition, after.Partition)
		}
	})
}

// A cluster whose connections are all busy is not out of reach: nothing is started over.
func TestBusyConnectionsAreNotGivenUp(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.MaxInFlightRequestsPerConnection(1), linger.MetadataMaxAge(2*time.Second), linger.Acks("1"))
		mustWait(t, mustSend(t, p, plain("connects"), nil))
		c.on(kmsg.Produce, func(call *call) bool { time.AfterFunc(20*time.Second, call.asUsual); return true })
		dials := c.dials()
		mustWait(t, mustSend(t, p, plain("v"), nil))
		if n := c.dials() - dials; n != 0 {
			t.Errorf("%d new connections while a request was out", n)
		}
	})
}

// B21, RESP-08: a broker that names a newer leader is believed at once: the batch goes there without a back-off and without
// fresh metadata, and other partitions stay where they are.
func TestHintAtANewerLeaderIsUsedAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.setBrokers(2)
		ft := c.topic("t", 2)
		ft.leaders = []int32{1, 1}
		p := c.producer(linger.Linger(0))
		for part := range int32(2) {
			mustWait(t, mustSend(t, p, plainOn(part, "connects"), nil))
		}
		c.on(kmsg.Metadata, func(*call) bool { return true }) // none comes
		var asked []int32
		c.on(kmsg.Produce, func(call *call) bool {
			asked = append(asked, call.broker)
			if call.broker == 2 || call.batches()[0].partition == 1 {
				return false
			}
			c.mu.Lock()
			resp := call.produced(func(*fakeTopic, batch) (kerr.Code, int64) { return kerr.NotLeaderOrFollower, -1 })
			c.mu.Unlock()
			resp.Topics[0].Partitions[0].CurrentLeader = kmsg.ProduceResponseTopicPartitionCurrentLeader{LeaderID: 2, LeaderEpoch: 9}
			node := kmsg.NewProduceResponseBroker()
			node.NodeID, node.Host, node.Port = 2, "10.0.0.2", 9092
			resp.Brokers = append(resp.Brokers, node)
			call.answer(resp)
			return true
		})
		if d := took(func() { mustWait(t, mustSend(t, p, plainOn(0, "v"), nil)) }); d > 10*time.Millisecond {
			t.Errorf("delivered after %v, want no back-off", d)
		}
		mustWait(t, mustSend(t, p, plainOn(1, "v"), nil))
		if want := []int32{1, 2, 1}; !cmp.Equal(asked, want) {
			t.Errorf("produced to brokers %v, want %v", asked, want)
		}
	})
}

// Brokers whose metadata has no topic ids are told names.
func TestTopicsWithoutIDsAreNamed(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		c.maxAPI[kmsg.Metadata] = 9
		p := c.producer()
		c.on(kmsg.Produce, func(call *call) bool {
			if topic := call.req.(*kmsg.ProduceRequest).Topics[0]; topic.Topic != "t" || call.version != 12 {
				t.Errorf("version %d with topic %q %x", call.version, topic.Topic, topic.TopicID)
			}
			return false
		})
		mustWait(t, mustSend(t, p, plain("v"), nil))
	})
}

// Brokers that throttle us are not out of reach: metadata waits for the end of the throttling, the connections stay, and so does
// what is in flight on them. (Here without idempotence, where a lost answer would show as a second copy.)
func TestBrokersThatThrottleAreNotUnreachable(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		c.topic("u", 1)
		wait := map[int]time.Duration{2: time.Second, 3: 5 * time.Second}
		n := 0
		c.on(kmsg.Produce, func(call *call) bool {
			n++
			c.mu.Lock()
			resp := call.usual().(*kmsg.ProduceResponse)
			c.mu.Unlock()
			if n == 2 {
				resp.ThrottleMillis = 10_000
			}
			pause := wait[n]
			go func() { elapse(pause); call.answer(resp) }()
			return true
		})
		p := c.producer(linger.EnableIdempotence(false), linger.Linger(0), linger.BatchSize(1))
		a, b, d := strings.Repeat("a", 50), strings.Repeat("b", 50), strings.Repeat("d", 50) // each a batch of its own
		mustWait(t, mustSend(t, p, plain(a), nil))
		f, g := mustSend(t, p, plain(b), nil), mustSend(t, p, plain(d), nil)
		dials := c.dials()
		mustWait(t, f) // and with it comes the throttling
		h := mustSend(t, p, rec{Topic: "u", Value: []byte("x")}, nil)
		mustWait(t, g)
		mustWait(t, h)
		if n := c.dials() - dials; n != 0 {
			t.Errorf("%d new connections", n)
		}
		if got := c.values("t", 0); !cmp.Equal(got, []string{a, b, d}) {
			t.Errorf("the log has %v", got)
		}
	})
}
