package metadata

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/kerr"
)

func listing(c *Cluster, node int32) []string {
	var out []string
	for _, tp := range c.PartitionsForNode(node) {
		out = append(out, tp.Topic.Name+"-"+string('0'+tp.Partition))
	}
	return out
}

func TestPartitionsOfANodeStandInTheOrderOfTheAnswer(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	s.Add("b", 0)
	b := topic("b", leader{1, 0}, leader{2, 0}, leader{1, 0})
	b.Partitions[0], b.Partitions[2] = b.Partitions[2], b.Partitions[0]
	a := topic("a", leader{2, 0}, leader{1, 0}, leader{-1, -1})
	a.Partitions[2].ErrorCode = 0
	fetch(t, s, 0, answer(b, a))
	if diff := cmp.Diff([]string{"b-2", "b-0", "a-1"}, listing(s.Cluster(), 1)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"b-1", "a-0"}, listing(s.Cluster(), 2)); diff != "" {
		t.Error(diff)
	}
	if got := listing(s.Cluster(), 3); got != nil {
		t.Errorf("a node that is not known leads %v", got)
	}
	s.Add("c", ms(1))
	fetch(t, s, ms(1), answer(topic("c", leader{1, 0})))
	if diff := cmp.Diff([]string{"b-2", "b-0", "a-1", "c-0"}, listing(s.Cluster(), 1)); diff != "" {
		t.Error(diff)
	}
}

// A partition listed twice must not push others out of the list that is drained by.
func TestPartitionListedTwiceIsOne(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	a := topic("a", leader{1, 0}, leader{1, 0}, leader{1, 0})
	twice := topic("a", leader{2, 0}).Partitions[0]
	a.Partitions = append([]kmsg.MetadataResponseTopicPartition{twice, a.Partitions[1]}, a.Partitions...)
	fetch(t, s, 0, answer(a))
	if diff := cmp.Diff([]string{"a-0", "a-1", "a-2"}, listing(s.Cluster(), 1)); diff != "" {
		t.Error(diff)
	}
	if got := listing(s.Cluster(), 2); got != nil {
		t.Errorf("node 2 leads %v", got)
	}
}

func TestClusterByHandListsAsTold(t *testing.T) {
	c := NewCluster(1, "", []Node{{ID: 1}}, []*Topic{
		{Name: "t", Partitions: []Partition{{1, 0}, {1, 0}, {NoLeader, -1}}, Listed: []int32{1, 0, 2}},
		{Name: "u", Partitions: []Partition{{1, 0}, {1, 0}}},
	})
	if diff := cmp.Diff([]string{"t-1", "t-0", "u-0", "u-1"}, listing(c, 1)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNotKnownHasNoLeader(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	fetch(t, s, 0, answer(topic("a", leader{1, 0})))
	for _, tp := range []struct {
		topic     string
		partition int32
	}{{"b", 0}, {"a", 1}, {"a", -1}} {
		if got := s.Cluster().Leader(tp.topic, tp.partition); got != NoLeader {
			t.Errorf("%v is led by %d", tp, got)
		}
	}
}

// A broker decides how much we allocate: not without a limit.
func TestPartitionNumbersAreBounded(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	odd := topic("a", leader{1, 0}, leader{1, 0}, leader{1, 0}, leader{1, 0})
	odd.Partitions[1].Partition = maxPartitions
	odd.Partitions[2].Partition = -1
	odd.Partitions[3].Partition = 3
	fetch(t, s, 0, answer(odd))
	got := s.Cluster().Topic("a").Partitions
	want := []Partition{{1, 0}, {NoLeader, -1}, {NoLeader, -1}, {1, 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a-0", "a-3"}, listing(s.Cluster(), 1)); diff != "" {
		t.Error(diff)
	}
}

func TestTopicsNobodyAskedForAreNotTaken(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	nameless := topic("x", leader{1, 0})
	nameless.Topic = nil
	fetch(t, s, 0, answer(topic("other", leader{1, 0}), nameless, topic("a", leader{1, 0})))
	if len(s.Cluster().Topics) != 1 || s.Cluster().Topic("other") != nil {
		t.Errorf("topics %v", s.Cluster().Topics)
	}
}

func TestPartitionErrorAsksAgain(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	odd := topic("a", leader{1, 4})
	odd.Partitions[0].ErrorCode = int16(kerr.ReplicaNotAvailable)
	fetch(t, s, 0, answer(odd))
	wantLeader(t, s, "a", 0, 1, 4) // a replica is missing, the leader is not
	wantNext(t, s, 0, ms(100))
}

func TestUnchangedTopicsAreSharedBetweenSnapshots(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	fetch(t, s, 0, answer(topic("a", leader{1, 0})))
	a := s.Cluster().Topic("a")
	s.Add("b", ms(1))
	fetch(t, s, ms(1), answer(topic("b", leader{1, 0})))
	if s.Cluster().Topic("a") != a {
		t.Error("a topic that the answer does not speak of was copied")
	}
}
