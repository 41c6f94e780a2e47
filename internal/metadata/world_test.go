package metadata

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/backoff"
	"linger/internal/clock"
	"linger/internal/kerr"
)

const (
	second = clock.Instant(time.Second)
	minute = 60 * second
)

func ms(n int64) clock.Instant { return clock.Instant(0).AddMs(n) }

func defaults() Options {
	return Options{
		MaxAgeMs: 300_000, MaxIdleMs: 300_000,
		Backoff:            backoff.NewExponential(100, backoff.RetryMultiplier, 1000, backoff.RetryJitter),
		ReconnectBackoffMs: 50, Rebootstrap: true, RebootstrapTriggerMs: 300_000,
		Random: func() float64 { return 0.5 }, // the middle: no jitter
	}
}

// started is a store with one bootstrap address.
func started(o Options) *Store {
	s := New(o)
	s.Bootstrap([]Address{{"boot", 9092}})
	return s
}

// answer builds an answer of two brokers, 1 and 2, in the newest version.
func answer(topics ...kmsg.MetadataResponseTopic) *kmsg.MetadataResponse {
	r := kmsg.NewPtrMetadataResponse()
	r.Version = 13
	r.ClusterID = kmsg.StringPtr("cluster")
	for id := int32(1); id <= 2; id++ {
		b := kmsg.NewMetadataResponseBroker()
		b.NodeID, b.Host, b.Port = id, "host", 9090+id
		r.Brokers = append(r.Brokers, b)
	}
	r.Topics = topics
	return r
}

type leader struct{ node, epoch int32 }

// topic describes a topic with an id made of its name and one partition for each leader.
func topic(name string, leaders ...leader) kmsg.MetadataResponseTopic {
	t := kmsg.NewMetadataResponseTopic()
	t.Topic = kmsg.StringPtr(name)
	copy(t.TopicID[:], name)
	for i, l := range leaders {
		p := kmsg.NewMetadataResponseTopicPartition()
		p.Partition, p.Leader, p.LeaderEpoch = int32(i), l.node, l.epoch
		if l.node < 0 {
			p.ErrorCode = int16(kerr.LeaderNotAvailable)
		}
		t.Partitions = append(t.Partitions, p)
	}
	return t
}

func failedTopic(name string, code kerr.Code) kmsg.MetadataResponseTopic {
	t := kmsg.NewMetadataResponseTopic()
	t.Topic, t.ErrorCode = kmsg.StringPtr(name), int16(code)
	return t
}

// fetch lets the next request be answered at now and returns the topics it asked for.
func fetch(t testing.TB, s *Store, now clock.Instant, resp *kmsg.MetadataResponse) []string {
	t.Helper()
	if !s.Due(now) {
		t.Fatalf("no request is due at %v, the next is at %v", time.Duration(now), time.Duration(s.NextUpdate(now)))
	}
	asked := names(s.Request(now))
	if s.NextUpdate(now) != clock.Never {
		t.Fatal("a second request is due while one is out")
	}
	s.Update(now, resp)
	return asked
}

func names(r *kmsg.MetadataRequest) []string {
	out := []string{}
	for _, t := range r.Topics {
		out = append(out, *t.Topic)
	}
	return out
}

func wantLeader(t testing.TB, s *Store, topic string, partition, node, epoch int32) {
	t.Helper()
	mt := s.Cluster().Topic(topic)
	if mt == nil || int(partition) >= len(mt.Partitions) {
		t.Fatalf("%s-%d is not known", topic, partition)
	}
	if got, want := mt.Partitions[partition], (Partition{node, epoch}); got != want {
		t.Errorf("%s-%d is led by %v, want %v", topic, partition, got, want)
	}
}

func wantNext(t testing.TB, s *Store, now, want clock.Instant) {
	t.Helper()
	if got := s.NextUpdate(now); got != want {
		t.Errorf("at %v the next update is at %v, want %v", time.Duration(now), time.Duration(got), time.Duration(want))
	}
}
