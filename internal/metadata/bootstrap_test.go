package metadata

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/clock"
	"linger/internal/kerr"
)

func TestBootstrapAddressesAreNodesWithNegativeIDs(t *testing.T) {
	s := New(defaults())
	s.Bootstrap([]Address{{"one", 1}, {"two", 2}})
	want := []Node{{ID: -1, Host: "one", Port: 1}, {ID: -2, Host: "two", Port: 2}}
	c := s.Cluster()
	if diff := cmp.Diff(want, c.Nodes); diff != "" || !c.Bootstrap {
		t.Errorf("bootstrap %v\n%s", c.Bootstrap, diff)
	}
	fetch(t, s, 0, answer())
	if c := s.Cluster(); c.Bootstrap || len(c.Nodes) != 2 || c.Nodes[0].ID != 1 || c.ClusterID != "cluster" {
		t.Errorf("after an answer: %+v", c)
	}
}

// META-17: no known broker can be reached (KIP-899).
func TestUnreachableClusterGoesBackToBootstrap(t *testing.T) {
	for name, rebootstrap := range map[string]bool{"rebootstrap": true, "none": false} {
		t.Run(name, func(t *testing.T) {
			o := defaults()
			o.Rebootstrap = rebootstrap
			s := started(o)
			s.Add("a", 0)
			fetch(t, s, 0, answer(topic("a", leader{1, 5})))
			s.RequestUpdate()
			version := s.View().Version
			if got := s.Unreachable(second); got != rebootstrap {
				t.Errorf("went back: %v", got)
			}
			if s.Cluster().Bootstrap != rebootstrap || (s.View().Version > version) != rebootstrap {
				t.Errorf("bootstrap %v, view %d after %d", s.Cluster().Bootstrap, s.View().Version, version)
			}
			if got := s.WakeAt(second); got != second+ms(50) {
				t.Errorf("looks again at %v", got)
			}
			if !s.Wanted("a") {
				t.Error("the topic is forgotten")
			}
			if asked := fetch(t, s, 2*second, answer(topic("a", leader{1, 5}))); !cmp.Equal(asked, []string{"a"}) {
				t.Errorf("asked for %v", asked)
			}
			wantLeader(t, s, "a", 0, 1, 5)
		})
	}
	t.Run("then everything is asked for", func(t *testing.T) {
		s := started(defaults())
		s.Add("a", 0)
		fetch(t, s, 0, answer(topic("a", leader{1, 5})))
		s.Add("b", second)
		s.Unreachable(second)
		if asked := fetch(t, s, second, answer()); !cmp.Equal(asked, []string{"a", "b"}) {
			t.Errorf("asked for %v", asked)
		}
	})
	t.Run("not before there are nodes at all", func(t *testing.T) {
		if New(defaults()).Unreachable(0) {
			t.Error("went back to nothing")
		}
	})
}

// META-17: brokers are reached but give no metadata for the trigger time (KIP-1102).
func TestRebootstrapTrigger(t *testing.T) {
	o := defaults()
	o.RebootstrapTriggerMs = 2000
	t.Run("counts from when the update was due", func(t *testing.T) {
		s := started(o)
		fetch(t, s, 0, answer())
		s.RequestUpdate()
		now := 10 * second
		s.Request(now)
		s.Failed(now, nil)
		s.Request(now + second) // a second attempt does not start it again
		if s.RebootstrapDue(now + 2*second) {
			t.Error("due at the trigger, want it after")
		}
		if got := s.WakeAt(now + second); got != now+ms(2001) {
			t.Errorf("wakes at %v", got)
		}
		if !s.RebootstrapDue(now + ms(2001)) {
			t.Fatal("not due after the trigger")
		}
		s.Rebootstrap(now + ms(2001))
		if !s.Cluster().Bootstrap || s.RebootstrapDue(now+ms(4001)) || !s.RebootstrapDue(now+ms(4002)) {
			t.Error("not at the start again, or the trigger does not count from there")
		}
	})
	t.Run("an answer ends it", func(t *testing.T) {
		s := started(o)
		fetch(t, s, 0, answer())
		if s.RebootstrapDue(minute) {
			t.Error("due although an answer came")
		}
	})
	t.Run("never with strategy none", func(t *testing.T) {
		o := o
		o.Rebootstrap = false
		s := started(o)
		s.Request(0)
		if s.RebootstrapDue(minute) || s.WakeAt(0) != clock.Never {
			t.Error("due")
		}
	})
	t.Run("at once when the broker asks for it", func(t *testing.T) {
		for _, rebootstrap := range []bool{true, false} {
			o := o
			o.Rebootstrap = rebootstrap
			s := started(o)
			s.Request(0)
			resp := kmsg.NewPtrMetadataResponse()
			resp.Version, resp.ErrorCode = 13, int16(kerr.RebootstrapRequired)
			if s.Update(0, resp) {
				t.Error("the answer made a snapshot")
			}
			if got := s.RebootstrapDue(0); got != rebootstrap {
				t.Errorf("strategy %v: due %v", rebootstrap, got)
			}
			if got := s.WakeAt(ms(1)); rebootstrap == (got > ms(1)) {
				t.Errorf("strategy %v: wakes at %v", rebootstrap, got)
			}
		}
	})
}
