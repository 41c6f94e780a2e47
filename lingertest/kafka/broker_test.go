package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"linger/lingertest/kafka"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, o kafka.Options) *kafka.Broker {
	t.Helper()
	b, err := kafka.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func client(t *testing.T, b *kafka.Broker, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers(b.Addrs()...), kgo.Dialer(b.Dial), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func TestWhatFranzGoWritesIsReadBackByteByByte(t *testing.T) {
	for _, inMemory := range []bool{false, true} {
		t.Run(fmt.Sprintf("in memory %v", inMemory), func(t *testing.T) {
			b := start(t, kafka.Options{Brokers: 3, Topics: map[string]int32{"orders": 2, "other": 1}, InMemory: inMemory})
			at := time.UnixMilli(1_700_000_000_123)
			sent := []*kgo.Record{
				{Key: []byte{0, 0xff}, Value: []byte("v")},
				{Key: nil, Value: nil},
				{Key: []byte{}, Value: []byte{}, Headers: []kgo.RecordHeader{{Key: "h", Value: nil}, {Key: "", Value: []byte{}}}},
				{Value: []byte("last")},
			}
			for i, r := range sent {
				r.Topic, r.Partition, r.Timestamp = "orders", int32(i%2), at.Add(time.Duration(i)*time.Millisecond)
			}
			if err := client(t, b).ProduceSync(t.Context(), sent...).FirstErr(); err != nil {
				t.Fatal(err)
			}
			want := make([]kafka.Record, 0, len(sent))
			for _, r := range []*kgo.Record{sent[0], sent[2], sent[1], sent[3]} {
				w := kafka.Record{
					Partition: r.Partition, Offset: r.Offset, TimestampMs: r.Timestamp.UnixMilli(), Key: r.Key, Value: r.Value,
					ProducerID: r.ProducerID, ProducerEpoch: r.ProducerEpoch,
				}
				for _, h := range r.Headers {
					w.Headers = append(w.Headers, kafka.Header(h))
				}
				want = append(want, w)
			}
			got, err := b.ReadAll(t.Context(), "orders")
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("error %v (-written +read):\n%s", err, diff)
			}
			if got, err := b.ReadAll(t.Context(), "other"); len(got) != 0 || err != nil {
				t.Errorf("an empty topic: %v, %v", got, err)
			}
			if _, err := b.ReadAll(t.Context(), "unknown"); !errors.Is(err, kerr.UnknownTopicOrPartition) {
				t.Errorf("an unknown topic: error %v", err)
			}
		})
	}
}

func TestAnInMemoryBrokerOpensNoSocket(t *testing.T) {
	b := start(t, kafka.Options{InMemory: true, Topics: map[string]int32{"t": 1}})
	if c, err := net.DialTimeout("tcp", b.Addrs()[0], time.Second); err == nil {
		c.Close() // the failure is that it opened
		t.Skipf("somebody else listens on %s", b.Addrs()[0])
	}
	if err := client(t, b).Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFailNextAnswersThatManyRequestsAndAppendsNothing(t *testing.T) {
	b := start(t, kafka.Options{Topics: map[string]int32{"t": 1}})
	cl := client(t, b, kgo.RetryBackoffFn(func(int) time.Duration { return 0 }), kgo.MetadataMinAge(10*time.Millisecond))
	send := func() error {
		return cl.ProduceSync(t.Context(), &kgo.Record{Topic: "t", Value: []byte("v")}).FirstErr()
	}

	retriable := fail(t, b, kafka.Fault{API: kafka.Produce, Code: kerr.NotLeaderForPartition.Code, Times: 2})
	if err := send(); err != nil || retriable.Hits() != 2 {
		t.Errorf("after %d hits of a retriable fault: %v, want success in the third try", retriable.Hits(), err)
	}
	final, err := b.FailNext(kafka.Produce, kerr.InvalidRecord.Code, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := send(); !errors.Is(err, kerr.InvalidRecord) {
		t.Errorf("got %v, want INVALID_RECORD", err)
	}
	if err := final.Wait(t.Context(), 1); err != nil {
		t.Error(err)
	}
	if err := send(); err != nil {
		t.Errorf("after the faults: %v", err)
	}
	if got, err := b.ReadAll(t.Context(), "t"); len(got) != 2 || err != nil {
		t.Errorf("%d records (%v), want the two that were acknowledged", len(got), err)
	}
}

func TestAFaultWithAPartitionLeavesTheOthersAlone(t *testing.T) {
	b := start(t, kafka.Options{Topics: map[string]int32{"t": 2}})
	fault := fail(t, b, kafka.Fault{API: kafka.Produce, Code: kerr.InvalidRecord.Code, Times: -1, Topic: "t", Partitions: []int32{1}})
	cl := client(t, b)
	for partition, want := range []error{nil, kerr.InvalidRecord} {
		err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: "t", Partition: int32(partition)}).FirstErr()
		if !errors.Is(err, want) {
			t.Errorf("partition %d: %v, want %v", partition, err, want)
		}
	}
	fault.Remove()
	if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: "t", Partition: 1}).FirstErr(); err != nil {
		t.Errorf("after Remove: %v", err)
	}
}

func TestARequestWithoutTopicsFailsAsAWhole(t *testing.T) {
	b := start(t, kafka.Options{})
	fail(t, b, kafka.Fault{API: kafka.InitProducerID, Code: kerr.ClusterAuthorizationFailed.Code})
	req := kmsg.NewPtrInitProducerIDRequest()
	for _, want := range []error{kerr.ClusterAuthorizationFailed, nil} {
		resp, err := req.RequestWith(t.Context(), client(t, b))
		if err != nil {
			t.Fatal(err)
		}
		if got := kerr.ErrorForCode(resp.ErrorCode); !errors.Is(got, want) {
			t.Errorf("InitProducerId: %v, want %v", got, want)
		}
	}
}

func fail(t *testing.T, b *kafka.Broker, f kafka.Fault) *kafka.Injected {
	t.Helper()
	in, err := b.Fail(f)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestWhatMakesNoSenseIsRefused(t *testing.T) {
	b := start(t, kafka.Options{})
	for _, code := range []int16{0, 9999} {
		if _, err := b.FailNext(kafka.Produce, code, 1); err == nil {
			t.Errorf("code %d was taken for an error", code)
		}
	}
	for _, o := range []kafka.Options{{Brokers: -1}, {Topics: map[string]int32{"t": 0}}} {
		if b, err := kafka.Start(o); err == nil {
			b.Close()
			t.Errorf("%+v was accepted", o)
		}
	}
}

func TestTopicsAppearByThemselvesOnlyIfAskedTo(t *testing.T) {
	for _, auto := range []bool{false, true} {
		b := start(t, kafka.Options{AutoCreate: auto, DefaultPartitions: 4})
		req := kmsg.NewPtrMetadataRequest()
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = kmsg.StringPtr("new")
		req.Topics, req.AllowAutoTopicCreation = append(req.Topics, topic), true
		resp, err := req.RequestWith(t.Context(), client(t, b))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(resp.Topics[0].Partitions); auto && got != 4 || !auto && got != 0 {
			t.Errorf("auto-create %v: a new topic with %d partitions", auto, got)
		}
	}
}

func TestALeaderMoves(t *testing.T) {
	b := start(t, kafka.Options{Brokers: 3})
	if err := b.CreateTopic("t", 1, nil); err != nil {
		t.Fatal(err)
	}
	next := (b.Leader("t", 0) + 1) % 3
	if err := b.MoveLeader("t", 0, next); err != nil || b.Leader("t", 0) != next {
		t.Errorf("leader %d (%v), want %d", b.Leader("t", 0), err, next)
	}
	if got := b.Leader("unknown", 0); got != -1 {
		t.Errorf("an unknown partition is led by %d", got)
	}
}

func TestTheLogOutlivesTheBrokerInADataDir(t *testing.T) {
	o := kafka.Options{DataDir: t.TempDir(), Topics: map[string]int32{"t": 1}}
	for i := range int64(2) {
		b := start(t, o)
		r := &kgo.Record{Topic: "t", Value: fmt.Append(nil, i)}
		cl := client(t, b)
		if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil || r.Offset != i {
			t.Errorf("life %d: offset %d, %v", i, r.Offset, err)
		}
		cl.Close() // first: the broker waits a while for its connections
		b.Close()
	}
}

func TestTransactionsOfBothVersionsAndTheirTwoReaders(t *testing.T) {
	for _, v1 := range []bool{false, true} {
		t.Run(fmt.Sprintf("version 1 %v", v1), func(t *testing.T) {
			b := start(t, kafka.Options{Topics: map[string]int32{"t": 1}, TransactionV1: v1})
			cl := client(t, b, kgo.TransactionalID("id"), kgo.DefaultProduceTopic("t"))
			for _, end := range []kgo.TransactionEndTry{kgo.TryAbort, kgo.TryCommit} {
				if err := cl.BeginTransaction(); err != nil {
					t.Fatal(err)
				}
				if err := cl.ProduceSync(t.Context(), kgo.StringRecord(fmt.Sprint(end))).FirstErr(); err != nil {
					t.Fatal(err)
				}
				if err := cl.EndTransaction(t.Context(), end); err != nil {
					t.Fatal(err)
				}
			}
			all, err := b.ReadAll(t.Context(), "t")
			committed, err2 := b.ReadCommitted(t.Context(), "t")
			if err != nil || err2 != nil || len(all) != 2 || len(committed) != 1 || string(committed[0].Value) != fmt.Sprint(kgo.TryCommit) {
				t.Errorf("all %v (%v), committed %v (%v)", all, err, committed, err2)
			}
		})
	}
}

// A client's waits in a bubble: the in-memory broker lets virtual time pass.
func TestMinutesOfWaitingPassInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := kafka.Start(kafka.Options{Brokers: 3, InMemory: true, Topics: map[string]int32{"t": 3}})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		fault := fail(t, b, kafka.Fault{API: kafka.Produce, Code: kerr.NotLeaderForPartition.Code, Times: 4})
		cl, err := kgo.NewClient(kgo.SeedBrokers(b.Addrs()...), kgo.Dialer(b.Dial), kgo.DefaultProduceTopic("t"),
			kgo.MetadataMinAge(30*time.Second)) // what it waits for after NOT_LEADER_OR_FOLLOWER
		if err != nil {
			t.Fatal(err)
		}
		defer cl.Close()
		began := time.Now()
		if err := cl.ProduceSync(context.Background(), kgo.StringRecord("v")).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < time.Minute || fault.Hits() != 4 {
			t.Errorf("took %v of virtual time and %d faults, want 4 and the waits between", took, fault.Hits())
		}
		got, err := b.ReadAll(context.Background(), "t")
		if err != nil || !slices.EqualFunc(got, []string{"v"}, func(r kafka.Record, v string) bool { return string(r.Value) == v }) {
			t.Errorf("read back %v, %v", got, err)
		}
	})
}
