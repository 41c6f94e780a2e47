package engine

import (
	"bytes"
	"errors"
	"log/slog"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"linger/internal/accumulator"
	"linger/internal/backoff"
	"linger/internal/bufferpool"
	"linger/internal/clock"
	"linger/internal/inside"
	"linger/internal/logs"
	"linger/internal/metadata"
	"linger/internal/sender"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a Stepper that does what the test says.
type script struct {
	mu      sync.Mutex
	step    func(now clock.Instant, events []sender.Event) *sender.Effects
	turns   int
	rescues int
}

func (s *script) Step(now clock.Instant, events []sender.Event) *sender.Effects {
	s.mu.Lock()
	s.turns++
	s.mu.Unlock()
	for _, e := range events {
		if e.Kind == sender.CloseForce {
			return &sender.Effects{Done: true, WakeAt: clock.Never}
		}
	}
	if s.step != nil {
		return s.step(now, events)
	}
	return &sender.Effects{WakeAt: clock.Never}
}

func (s *script) Rescue(now clock.Instant) *sender.Effects {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rescues++
	return &sender.Effects{WakeAt: now.Add(100 * time.Millisecond)}
}

func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turns
}

// start runs an engine on the script; it is ended with the test.
func start(t *testing.T, s *script, log *bytes.Buffer) *Engine {
	t.Helper()
	clk := clock.Real()
	pool := bufferpool.New(10_000, 1000, bufferpool.Full, clk)
	coarse := clock.NewCoarse(clk)
	acc := accumulator.New(accumulator.Options{
		BatchSize: 1000, DeliveryTimeout: time.Minute, RetryBackoff: backoff.NewExponential(100, 2, 1000, 0), Pool: pool, Clock: clk,
		Coarse: coarse, Random: func() int32 { return 0 }, Jitter: func() float64 { return 0.5 },
	})
	var mu sync.Mutex
	e := Start(Options{
		Clock: clk, Coarse: coarse, Accumulator: acc, Sender: s, View: &metadata.View{Cluster: metadata.NewCluster(1, "", nil, nil)},
		Logs: logs.New(slog.NewTextHandler(&locked{mu: &mu, w: log}, nil), new(inside.Set)), Name: "kafka-producer-network-thread | producer-1",
	})
	t.Cleanup(func() {
		e.ForceClose()
		<-e.Done()
	})
	return e
}

type locked struct {
	mu *sync.Mutex
	w  *bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// SND-01, SND-02: one loop from the start on, under Java's thread name, and none after the end.
func TestOneLoopRunsUnderJavasName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{}
		e := start(t, s, new(bytes.Buffer))
		synctest.Wait()
		if s.count() != 1 {
			t.Errorf("%d turns before anything happened, want the first", s.count())
		}
		var stacks bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&stacks, 1); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(stacks.String(), "kafka-producer-network-thread | producer-1"); n == 0 {
			t.Error("no goroutine has the loop's label")
		}
		e.ForceClose()
		<-e.Done()
	})
}

// SND-04, SND-36: the loop sleeps until something comes or its time is there, and each of them wakes it.
func TestTheLoopWakesForWhateverComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wake := clock.Never
		s := &script{}
		s.step = func(clock.Instant, []sender.Event) *sender.Effects { return &sender.Effects{WakeAt: wake} }
		e := start(t, s, new(bytes.Buffer))
		synctest.Wait()
		before := s.count()
		time.Sleep(time.Hour) // virtual: nothing happens
		if s.count() != before {
			t.Fatalf("%d turns in an hour without an event", s.count()-before)
		}
		wakers := []struct {
			name string
			act  func()
		}{
			{"an append", e.Nudge}, {"a flush", func() { e.acc.Flush() }}, {"a caller that waits for a topic", func() { e.WantTopic("t") }},
			{"a close", e.BeginClose},
		}
		for _, w := range wakers {
			before := s.count()
			w.act()
			synctest.Wait()
			if s.count() != before+1 {
				t.Errorf("%s: %d turns, want one", w.name, s.count()-before)
			}
		}
		wake = e.clk.Now().Add(time.Minute)
		e.Nudge()
		synctest.Wait()
		before, wake = s.count(), clock.Never
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if s.count() != before {
			t.Error("a turn before its time")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if s.count() != before+1 {
			t.Errorf("%d turns at the instant that the machine asked for, want one", s.count()-before)
		}
	})
}

// SND-05: a turn that panics is logged with its stack, what it had decided is carried out, and the loop goes on.
func TestAFaultInOneTurnIsLoggedAndTheLoopGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{}
		faulty := true
		s.step = func(clock.Instant, []sender.Event) *sender.Effects {
			if faulty {
				faulty = false
				panic("a broken invariant")
			}
			return &sender.Effects{WakeAt: clock.Never}
		}
		var log bytes.Buffer
		start(t, s, &log)
		time.Sleep(time.Second)
		synctest.Wait()
		if s.rescues != 1 || s.count() != 2 {
			t.Errorf("%d rescues and %d turns, want the rescue and the turn after its pause", s.rescues, s.count())
		}
		if text := log.String(); !strings.Contains(text, "a broken invariant") || !strings.Contains(text, "engine_test.go") {
			t.Errorf("the log does not tell of the fault and where it was:\n%s", text)
		}
	})
}

// Whoever asks an engine that has ended leaves nothing behind: no event waits for a loop that never comes.
func TestNothingIsPostedToAnEngineThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		view := &metadata.View{Cluster: metadata.NewCluster(1, "", nil, nil), Fatal: errors.New("no broker lets us in")}
		s := &script{step: func(clock.Instant, []sender.Event) *sender.Effects {
			return &sender.Effects{View: view, WakeAt: clock.Never}
		}}
		e := start(t, s, new(bytes.Buffer))
		synctest.Wait()
		e.acc.Close()
		e.ForceClose()
		<-e.Done()
		for range 10 {
			if _, _, _, err := e.WaitTopic(t.Context(), "t", AnyPartition, time.Second); !errors.Is(err, view.Fatal) {
				t.Errorf("got %v", err)
			}
			e.WantTopic("t")
			e.BeginClose()
		}
		if n := len(e.inbox.take()); n != 0 {
			t.Errorf("%d events wait for a loop that has ended", n)
		}
	})
}
