package metadata

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linger/internal/clock"
)

func TestFirstRequestIsDueAtOnce(t *testing.T) {
	s := started(defaults())
	wantNext(t, s, 0, 0)
	if asked := fetch(t, s, 0, answer()); len(asked) != 0 {
		t.Errorf("asked for %v, want no topic", asked)
	}
}

// META-13
func TestEverythingIsAskedForAgainAfterMaxAge(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	fetch(t, s, 0, answer(topic("a", leader{1, 0})))
	wantNext(t, s, second, 300*second)
	s.Add("b", 10*second)
	fetch(t, s, 10*second, answer(topic("b", leader{1, 0}))) // new topics alone: the age of the others stays
	wantNext(t, s, 20*second, 300*second)
	s.Add("a", 100*second)
	if asked := fetch(t, s, 300*second, answer(topic("a", leader{1, 0}), topic("b", leader{1, 0}))); !cmp.Equal(asked, []string{"a", "b"}) {
		t.Errorf("asked for %v", asked)
	}
	wantNext(t, s, 300*second, 600*second)
}

// META-16
func TestRequestedUpdateWaitsForTheBackoffOnly(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	fetch(t, s, second, answer(topic("a", leader{1, 0})))
	s.RequestUpdate()
	wantNext(t, s, second, second+ms(100))
	wantNext(t, s, 5*second, 5*second)
	if asked := fetch(t, s, 5*second, answer(topic("a", leader{2, 1}))); !cmp.Equal(asked, []string{"a"}) {
		t.Errorf("asked for %v", asked)
	}
}

func TestFailedRequestsBackOffExponentially(t *testing.T) {
	s := started(defaults())
	now := clock.Instant(0)
	for _, wait := range []int64{100, 200, 400, 800, 1000, 1000} {
		s.Request(now)
		s.Failed(now, errors.New("connection refused"))
		wantNext(t, s, now, now+ms(wait))
		now += ms(wait)
	}
	s.Request(now)
	s.Update(now, answer())
	s.RequestUpdate()
	wantNext(t, s, now, now+ms(100))
}

func TestBackoffIsJittered(t *testing.T) {
	for unit, want := range map[float64]int64{0: 80, 0.5: 100, 0.75: 110} {
		o := defaults()
		o.Random = func() float64 { return unit }
		s := started(o)
		s.Request(0)
		s.Failed(0, nil)
		wantNext(t, s, 0, ms(want))
	}
}

// A broker that is behind answers well and says nothing new; asking it in a tight loop would not help.
func TestAnswersWithoutNewsBackOff(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	same := answer(topic("a", leader{1, 5}))
	fetch(t, s, 0, same)
	now := clock.Instant(0)
	for _, wait := range []int64{100, 100, 200, 400, 800, 1000} {
		s.RequestUpdate()
		wantNext(t, s, now, now+ms(wait))
		now += ms(wait)
		fetch(t, s, now, same)
	}
	t.Run("a newer leader ends it", func(t *testing.T) {
		s.RequestUpdate()
		now += second
		fetch(t, s, now, answer(topic("a", leader{2, 6})))
		s.RequestUpdate()
		wantNext(t, s, now, now+ms(100))
	})
	t.Run("a new topic ends it", func(t *testing.T) {
		for range 3 {
			now += second
			s.RequestUpdate()
			fetch(t, s, now, answer(topic("a", leader{2, 6})))
		}
		s.Add("b", now)
		wantNext(t, s, now, now)
	})
	t.Run("the refresh by age does not wait for it", func(t *testing.T) {
		o := defaults()
		o.MaxAgeMs = 150
		s := started(o)
		s.Add("a", 0)
		for now := clock.Instant(0); now < second; now += ms(150) {
			fetch(t, s, now, same)
			wantNext(t, s, now, now+ms(150))
		}
		o.MaxAgeMs = 300
		s = started(o)
		s.Add("a", 0)
		fetch(t, s, 0, same)
		for _, at := range []int64{100, 200, 400} {
			s.RequestUpdate()
			fetch(t, s, ms(at), same)
		}
		s.RequestUpdate()
		wantNext(t, s, ms(400), ms(700)) // not 800
	})
	count := func(t *testing.T, at clock.Instant, before func(s *Store)) {
		s := started(defaults())
		s.Add("a", 0)
		fetch(t, s, 0, same)
		for i := range clock.Instant(4) {
			s.RequestUpdate()
			fetch(t, s, (i+1)*second, same)
		}
		before(s)
		fetch(t, s, at, same)
		s.RequestUpdate()
		wantNext(t, s, at, at+ms(100))
	}
	t.Run("the refresh by age starts the count again", func(t *testing.T) {
		count(t, 10*minute, func(*Store) {})
	})
	t.Run("a failure starts the count again", func(t *testing.T) {
		count(t, minute, func(s *Store) { s.RequestUpdate(); s.Request(30 * second); s.Failed(30*second, nil) })
	})
	t.Run("so does a caller that waits for a topic which no broker speaks of", func(t *testing.T) {
		s := started(defaults())
		fetch(t, s, 0, answer())
		s.Add("b", 0)
		for i := range clock.Instant(4) {
			s.RequestTopic("b")
			fetch(t, s, (i+1)*second, answer())
		}
		s.RequestUpdate()
		wantNext(t, s, 4*second, 4*second+ms(100))
	})
	t.Run("a partition without leader is asked for at the plain pace", func(t *testing.T) {
		s := started(defaults())
		s.Add("a", 0)
		for i := range int64(5) {
			fetch(t, s, ms(100*i), answer(topic("a", leader{-1, -1})))
			wantNext(t, s, ms(100*i), ms(100*i+100))
		}
	})
}

// META-04
func TestNewTopicIsAskedForAtOnceAndAlone(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	fetch(t, s, 0, answer(topic("a", leader{1, 0})))
	s.Add("b", ms(1))
	s.Add("c", ms(1))
	if !s.Wanted("b") || s.Wanted("d") {
		t.Error("registered topics are not known")
	}
	wantNext(t, s, ms(1), ms(1)) // no back-off
	if asked := fetch(t, s, ms(1), answer(topic("b", leader{2, 0}), topic("c", leader{2, 0}))); !cmp.Equal(asked, []string{"b", "c"}) {
		t.Errorf("asked for %v, want the new topics", asked)
	}
	for name, node := range map[string]int32{"a": 1, "b": 2, "c": 2} {
		if got := s.Cluster().Leader(name, 0); got != node {
			t.Errorf("%s is led by %d, want %d", name, got, node)
		}
	}
	if got := s.Topics(nil); !cmp.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("topics %v", got)
	}
}

// META-06: a caller that waits asks again in each round; for a new topic that overrides the back-off.
func TestWaitingCallerAsksAgain(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	s.Request(0)
	s.Failed(0, nil)
	wantNext(t, s, 0, ms(100))
	s.RequestTopic("a")
	wantNext(t, s, 0, 0)
	fetch(t, s, 0, answer(topic("a", leader{1, 0})))
	s.RequestTopic("a") // it is known by now, but the caller misses a partition
	wantNext(t, s, 0, ms(100))
	if asked := fetch(t, s, ms(100), answer(topic("a", leader{1, 0}))); !cmp.Equal(asked, []string{"a"}) {
		t.Errorf("asked for %v", asked)
	}
}

// A broker that leaves a topic out of its answer is not asked for it as fast as it answers, however many callers wait.
func TestTopicThatABrokerLeavesOutWaitsForTheBackoff(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	now := ms(0)
	for range 3 {
		if asked := fetch(t, s, now, answer()); !cmp.Equal(asked, []string{"a"}) {
			t.Fatalf("asked for %v", asked)
		}
		s.RequestTopic("a")
		s.RequestTopic("a")
		wantNext(t, s, now, now+ms(100))
		now += ms(100)
	}
	s.Add("b", now)
	wantNext(t, s, now, now) // which is new
	fetch(t, s, now, answer(topic("a", leader{1, 0}), topic("b", leader{1, 0})))
	if s.Cluster().Topic("a") == nil {
		t.Error("it is not taken once a broker speaks of it")
	}
}

func TestTopicAddedWhileARequestIsOutIsAskedForNext(t *testing.T) {
	s := started(defaults())
	s.Add("a", 0)
	req := s.Request(0)
	s.Add("b", ms(5))
	wantNext(t, s, ms(5), clock.Never)
	s.Update(ms(10), answer(topic("a", leader{1, 0})))
	if asked := names(req); !cmp.Equal(asked, []string{"a"}) {
		t.Fatalf("asked for %v", asked)
	}
	wantNext(t, s, ms(10), ms(110)) // the answer just came, so the back-off counts from it
	if asked := fetch(t, s, ms(110), answer(topic("b", leader{1, 0}))); !cmp.Equal(asked, []string{"b"}) {
		t.Errorf("then for %v", asked)
	}
	wantNext(t, s, ms(110), ms(10)+300*second)
}

func TestDeferredRequestWakesAfterReconnectBackoff(t *testing.T) {
	s := started(defaults())
	s.Defer(ms(10))
	if got := s.WakeAt(ms(10)); got != ms(60) {
		t.Errorf("wakes at %v, want 60 ms", got)
	}
	if !s.Due(ms(20)) {
		t.Error("an event in between finds nothing due")
	}
	if got := s.WakeAt(ms(70)); got != ms(70) {
		t.Errorf("afterwards wakes at %v", got)
	}
}

func TestLostConnectionAsksForMetadata(t *testing.T) {
	s := started(defaults())
	fetch(t, s, 0, answer())
	s.Disconnected(10*second, nil)
	wantNext(t, s, 10*second, 10*second)
	s.Disconnected(10*second, nil) // while an update is due it counts as failed
	wantNext(t, s, 10*second, 10*second+ms(100))
	s.Disconnected(10*second+ms(100), nil)
	wantNext(t, s, 10*second+ms(100), 10*second+ms(300))
}
