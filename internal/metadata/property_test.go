package metadata

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"linger/internal/clock"
	"linger/internal/kerr"
)

// seen is what a snapshot showed when it was new.
type seen struct {
	cluster *Cluster
	text    string
}

func show(c *Cluster) string {
	text := fmt.Sprint(c.Version, c.ClusterID, c.Nodes, c.Bootstrap)
	for _, t := range c.Topics {
		text += fmt.Sprint(" ", *t)
	}
	for _, n := range c.Nodes {
		text += fmt.Sprint(" ", n.ID, listing(c, n.ID))
	}
	return text
}

func drawAnswer(t *rapid.T, asked *kmsg.MetadataRequest) *kmsg.MetadataResponse {
	resp := answer()
	resp.Version = rapid.SampledFrom([]int16{8, 9, 12, 13}).Draw(t, "version")
	resp.Brokers = resp.Brokers[:rapid.IntRange(0, 2).Draw(t, "brokers")]
	for _, q := range asked.Topics {
		switch rapid.IntRange(0, 9).Draw(t, "fate of "+*q.Topic) {
		case 0:
			continue // left out
		case 1:
			code := rapid.SampledFrom([]kerr.Code{kerr.UnknownTopicOrPartition, kerr.InvalidTopicException, kerr.TopicAuthorizationFailed}).Draw(t, "error")
			resp.Topics = append(resp.Topics, failedTopic(*q.Topic, code))
			continue
		}
		mt := topic(*q.Topic)
		mt.TopicID[15] = rapid.SampledFrom([]byte{1, 1, 1, 2}).Draw(t, "incarnation")
		for i := range rapid.IntRange(0, 3).Draw(t, "partitions") {
			p := kmsg.NewMetadataResponseTopicPartition()
			p.Partition = int32(i)
			p.Leader = rapid.Int32Range(-1, 3).Draw(t, "leader")
			p.LeaderEpoch = rapid.Int32Range(-1, 5).Draw(t, "epoch")
			mt.Partitions = append(mt.Partitions, p)
		}
		resp.Topics = append(resp.Topics, mt)
	}
	return resp
}

// run plays a drawn life of a store, and checks after each step that snapshots are whole, never change, that epochs
// only fall when a topic was created anew, and that no request is due while one is out.
func run(t *rapid.T, s *Store) (trace []string) {
	var old []seen
	now := clock.Instant(0)
	var out *kmsg.MetadataRequest
	epochs := map[string]Partition{} // by topic, id and partition: the newest that reliable brokers told
	topicNames := []string{"a", "b", "c"}
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		now += ms(rapid.Int64Range(0, 120_000).Draw(t, "wait"))
		name := rapid.SampledFrom(topicNames).Draw(t, "topic")
		what := rapid.SampledFrom([]string{"add", "request", "answer", "answer", "answer", "fail", "hint", "stale", "touch", "unreachable"}).Draw(t, "step")
		switch what {
		case "add":
			s.Add(name, now)
		case "touch":
			s.Touch(name, now)
		case "stale":
			s.RequestUpdate()
		case "request":
			s.RequestTopic(name)
		case "answer":
			if out == nil && s.Due(now) {
				out = s.Request(now)
			}
			if out != nil {
				s.Update(now, drawAnswer(t, out))
				out = nil
			}
		case "fail":
			if out == nil && s.Due(now) {
				out = s.Request(now)
			} else if out != nil {
				s.Failed(now, nil)
				out = nil
			}
		case "hint":
			s.UpdateLeaders([]LeaderHint{{name, rapid.Int32Range(0, 2).Draw(t, "partition"), rapid.Int32Range(1, 3).Draw(t, "leader"), rapid.Int32Range(-1, 6).Draw(t, "epoch")}},
				[]Node{{ID: 3, Host: "three", Port: 9093}})
		case "unreachable":
			if out == nil {
				s.Unreachable(now)
			}
		}
		c := s.Cluster()
		whole(t, c)
		for key, p := range leadersOf(c) {
			if p.LeaderEpoch != noEpoch && p.LeaderEpoch < epochs[key].LeaderEpoch {
				t.Fatalf("the epoch of %s fell from %d to %d", key, epochs[key].LeaderEpoch, p.LeaderEpoch)
			}
		}
		epochs = leadersOf(c)
		if out != nil && s.NextUpdate(now) != clock.Never {
			t.Fatal("a request is due while one is out")
		}
		if len(old) == 0 || old[len(old)-1].cluster != c {
			old = append(old, seen{c, show(c)})
		}
		for _, o := range old {
			if got := show(o.cluster); got != o.text {
				t.Fatalf("a snapshot changed\nfrom %s\nto   %s", o.text, got)
			}
		}
		trace = append(trace, fmt.Sprint(what, s.NextUpdate(now), s.WakeAt(now), s.Topics(nil), show(c)))
	}
	return trace
}

// leadersOf are the leaders by topic, id and partition: an id that changed is another topic.
func leadersOf(c *Cluster) map[string]Partition {
	out := map[string]Partition{}
	for _, t := range c.Topics {
		for i, p := range t.Partitions {
			out[fmt.Sprint(t.Name, t.ID, i)] = p
		}
	}
	return out
}

func whole(t *rapid.T, c *Cluster) {
	led := 0
	for _, topic := range c.Topics {
		if c.Topic(topic.Name) != topic {
			t.Fatalf("topic %s is not found by its name", topic.Name)
		}
		for _, p := range topic.Partitions {
			if _, known := c.NodeByID(p.Leader); known {
				led++
			} else if p.Leader != NoLeader {
				t.Fatalf("leader %d of %s is not a node", p.Leader, topic.Name)
			}
		}
	}
	for _, n := range c.Nodes {
		for _, tp := range c.PartitionsForNode(n.ID) {
			led--
			if c.Leader(tp.Topic.Name, tp.Partition) != n.ID {
				t.Fatalf("%s-%d is listed for %d", tp.Topic.Name, tp.Partition, n.ID)
			}
		}
	}
	if led != 0 {
		t.Fatalf("%d led partitions are not listed by their node", led)
	}
}

func TestStoreKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { run(t, started(defaults())) })
}

// The same life gives the same requests, times and snapshots: nothing depends on the order of a map.
func TestStoreIsDeterministic(t *testing.T) {
	gen := rapid.Custom(func(t *rapid.T) []string { return run(t, started(defaults())) })
	for seed := range 50 {
		if diff := cmp.Diff(gen.Example(seed), gen.Example(seed)); diff != "" {
			t.Fatalf("seed %d\n%s", seed, diff)
		}
	}
}
