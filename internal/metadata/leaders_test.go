package metadata

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/clock"
	"linger/internal/kerr"
)

// CASES B21
func TestOlderLeaderEpochsAreIgnored(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	steps := []struct {
		what string
		told leader
		want Partition
	}{
		{"the first leader", leader{1, 5}, Partition{1, 5}},
		{"a stale answer", leader{2, 4}, Partition{1, 5}},
		{"the same epoch again", leader{1, 5}, Partition{1, 5}},
		{"no leader, no news of the epoch", leader{-1, -1}, Partition{NoLeader, -1}},
		{"a stale answer after it", leader{2, 4}, Partition{NoLeader, -1}},
		{"the leader is back", leader{1, 5}, Partition{1, 5}},
		{"a newer leader", leader{2, 6}, Partition{2, 6}},
		{"the old one", leader{1, 5}, Partition{2, 6}},
	}
	for i, step := range steps {
		now := clock.Instant(i) * minute
		s.RequestUpdate()
		s.Add("a", now)
		fetch(t, s, now, answer(topic("a", step.told)))
		if got := s.Cluster().Topic("a").Partitions[0]; got != step.want {
			t.Errorf("%s: led by %v, want %v", step.what, got, step.want)
		}
	}
}

func TestEpochsOfOldBrokersAreNotBelieved(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	for i, l := range []leader{{1, 5}, {2, 4}} {
		resp := answer(topic("a", l))
		resp.Version = 8
		s.RequestUpdate()
		fetch(t, s, clock.Instant(i)*second, resp)
		wantLeader(t, s, "a", 0, l.node, -1)
	}
}

func TestAfterAnOldBrokerEpochsCountAnew(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	fetch(t, s, 0, answer(topic("a", leader{1, 5})))
	s.RequestUpdate()
	old := answer(topic("a", leader{2, 7}))
	old.Version = 8
	fetch(t, s, second, old)
	s.RequestUpdate()
	fetch(t, s, 2*second, answer(topic("a", leader{1, 3})))
	wantLeader(t, s, "a", 0, 1, 3)
}

// CASES B19
func TestRecreatedTopicStartsItsEpochsAfresh(t *testing.T) {
	recreated := func(l leader) kmsg.MetadataResponseTopic {
		again := topic("a", l)
		again.TopicID = [16]byte{0xff}
		return again
	}
	t.Run("under a new id", func(t *testing.T) {
		s := started(defaults())
		s.Add("a", 0)
		fetch(t, s, 0, answer(topic("a", leader{1, 5})))
		old := s.Cluster()
		s.RequestUpdate()
		fetch(t, s, second, answer(recreated(leader{2, 0})))
		wantLeader(t, s, "a", 0, 2, 0)
		c := s.Cluster()
		if c.TopicByID([16]byte{0xff}) != c.Topic("a") || c.TopicByID(old.Topic("a").ID) != nil {
			t.Error("the ids don't lead to the topic of today")
		}
		if old.TopicByID([16]byte{'a'}) != old.Topic("a") {
			t.Error("the old snapshot forgot the old id")
		}
	})
	t.Run("after it was seen missing", func(t *testing.T) {
		s := started(defaults())
		s.Add("a", 0)
		fetch(t, s, 0, answer(topic("a", leader{1, 5})))
		s.RequestUpdate()
		fetch(t, s, second, answer(failedTopic("a", kerr.UnknownTopicOrPartition)))
		fetch(t, s, 2*second, answer(recreated(leader{2, 0})))
		wantLeader(t, s, "a", 0, 2, 0)
	})
	t.Run("not when the answer that reported it missing carried its id", func(t *testing.T) {
		s := started(defaults())
		s.Add("a", 0)
		fetch(t, s, 0, answer(topic("a", leader{1, 5})))
		s.RequestUpdate()
		electing := topic("a")
		electing.ErrorCode = int16(kerr.LeaderNotAvailable)
		fetch(t, s, second, answer(electing))
		fetch(t, s, 2*second, answer(topic("a", leader{2, 4})))
		if got := s.Cluster().Leader("a", 0); got != NoLeader {
			t.Errorf("a stale answer made %d the leader", got)
		}
	})
	t.Run("asked for alone", func(t *testing.T) {
		s := started(defaults())
		fetch(t, s, 0, answer())
		s.Add("a", 0)
		fetch(t, s, ms(100), answer(topic("a", leader{1, 5})))
		s.Add("b", ms(200))
		fetch(t, s, ms(200), answer(topic("b", leader{1, 0}))) // must not forget a's id
		s.RequestUpdate()
		fetch(t, s, second, answer(topic("a", leader{2, 4}), topic("b", leader{1, 0})))
		wantLeader(t, s, "a", 0, 1, 5)
	})
	t.Run("by a broker without ids its epochs go on", func(t *testing.T) {
		s := started(defaults())
		s.Add("a", 0)
		fetch(t, s, 0, answer(topic("a", leader{1, 5})))
		s.RequestUpdate()
		noID := topic("a", leader{2, 0})
		noID.TopicID = [16]byte{}
		fetch(t, s, second, answer(noID))
		wantLeader(t, s, "a", 0, 1, 5)
	})
}

// CASES B20
func TestPartitionThatALaggingBrokerDropsComesBack(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	three := answer(topic("a", leader{1, 1}, leader{2, 1}, leader{1, 1}))
	fetch(t, s, 0, answer(topic("a", leader{1, 1})))
	if n := len(s.Cluster().Topic("a").Partitions); n != 1 {
		t.Fatalf("%d partitions", n)
	}
	s.RequestTopic("a")
	fetch(t, s, second, three)
	wantLeader(t, s, "a", 2, 1, 1)
	s.RequestUpdate()
	fetch(t, s, 2*second, answer(topic("a", leader{1, 1}, leader{2, 1})))
	if got := s.Cluster().Leader("a", 2); got != NoLeader {
		t.Fatalf("partition 2 is led by %d", got)
	}
	s.RequestUpdate()
	fetch(t, s, 3*second, three)
	wantLeader(t, s, "a", 2, 1, 1)
}

// META-16, CASES B21: KIP-951
func TestLeaderHints(t *testing.T) {
	node3 := Node{ID: 3, Host: "new", Port: 9093}
	cases := map[string]struct {
		hint  LeaderHint
		nodes []Node
		want  Partition // of a-1, which starts as {2 7}
	}{
		"a newer leader is used":                         {LeaderHint{"a", 1, 1, 8}, nil, Partition{1, 8}},
		"also one that comes with its address":           {LeaderHint{"a", 1, 3, 8}, []Node{node3}, Partition{3, 8}},
		"the same epoch is no news":                      {LeaderHint{"a", 1, 1, 7}, nil, Partition{2, 7}},
		"an older one neither":                           {LeaderHint{"a", 1, 1, 6}, nil, Partition{2, 7}},
		"no epoch is no hint":                            {LeaderHint{"a", 1, 1, -1}, nil, Partition{2, 7}},
		"no leader is no hint":                           {LeaderHint{"a", 1, -1, 8}, nil, Partition{2, 7}},
		"a leader that nobody knows is no hint":          {LeaderHint{"a", 1, 3, 8}, nil, Partition{2, 7}},
		"a partition that is not known stays so":         {LeaderHint{"a", 2, 1, 8}, nil, Partition{2, 7}},
		"a topic that is not known stays so":             {LeaderHint{"b", 1, 1, 8}, nil, Partition{2, 7}},
		"a partition that can't be is none":              {LeaderHint{"a", -1, 1, 8}, nil, Partition{2, 7}},
		"nodes without a hint that counts are not taken": {LeaderHint{"a", 1, 3, 6}, []Node{node3}, Partition{2, 7}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := started(defaults())
			s.Add("a", 0)
			fetch(t, s, 0, answer(topic("a", leader{1, 7}, leader{2, 7})))
			before, version := s.Cluster(), s.View().Version
			news := c.want != Partition{2, 7}
			if got := s.UpdateLeaders([]LeaderHint{c.hint}, c.nodes); got != news {
				t.Errorf("changed: %v", got)
			}
			if (s.View().Version > version) != news || (s.Cluster() == before) == news {
				t.Error("a new view without news, or none with it")
			}
			wantLeader(t, s, "a", 0, 1, 7) // the other partition
			wantLeader(t, s, "a", 1, c.want.Leader, c.want.LeaderEpoch)
			if before.Topic("a").Partitions[1] != (Partition{2, 7}) {
				t.Error("the old snapshot changed")
			}
			if _, ok := s.Cluster().NodeByID(3); ok != (c.want.Leader == 3) {
				t.Errorf("node 3 is known: %v", ok)
			}
			// A stale answer must not undo the hint.
			s.RequestUpdate()
			resp := answer(topic("a", leader{1, 7}, leader{2, 7}))
			fetch(t, s, second, resp)
			if news && c.want.Leader != 3 {
				wantLeader(t, s, "a", 1, c.want.Leader, c.want.LeaderEpoch)
			}
		})
	}
}

func TestHintMayBringANewAddressOfAKnownNode(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	fetch(t, s, 0, answer(topic("a", leader{1, 7})))
	before := s.Cluster()
	moved := Node{ID: 2, Host: "moved", Port: 1}
	s.UpdateLeaders([]LeaderHint{{"a", 0, 2, 8}}, []Node{moved})
	if got, _ := s.Cluster().NodeByID(2); got != moved || s.Cluster().Nodes[1] != moved {
		t.Errorf("node 2 is %v", got)
	}
	if before.Nodes[1].Host != "host" {
		t.Error("the old snapshot changed")
	}
}

// The stale answer does not list the node that leads by the hint: then nobody leads, until an answer does.
func TestLeaderWithoutAddressIsNoLeader(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	fetch(t, s, 0, answer(topic("a", leader{9, 1}, leader{2, 1})))
	wantLeader(t, s, "a", 0, NoLeader, 1)
	s.Add("b", ms(1))
	resp := answer(topic("b", leader{9, 0}))
	nine := kmsg.NewMetadataResponseBroker()
	nine.NodeID, nine.Host, nine.Port = 9, "nine", 9099
	resp.Brokers = append(resp.Brokers, nine)
	fetch(t, s, ms(1), resp)
	wantLeader(t, s, "a", 0, 9, 1)
	wantLeader(t, s, "a", 1, 2, 1)
}
