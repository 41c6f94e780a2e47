package accumulator

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"linger/internal/kerr"
)

// With batches of 200 bytes and values of 100 every record has a batch to itself, and the last one is open.
const (
	paceBatch = 200
	paceValue = 100
)

// crowded is an accumulator whose memory has run out once, after which so many closed batches wait in partition 0.
func crowded(t *testing.T, s setup, backlog int64) *fixture {
	t.Helper()
	f := spacious(t, s)
	for {
		_, err := f.acc.TryAppend(f.topic, 0, entry(paceValue))
		if errors.Is(err, kerr.ErrWouldBlock) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.acc.Append(t.Context(), f.topic, 0, entry(paceValue), 0); !errors.Is(err, kerr.ErrBufferExhausted) {
		t.Fatalf("memory did not run out: %v", err)
	}
	for f.acc.backlog() > backlog {
		f.one(t)
	}
	return f
}

func spacious(t *testing.T, s setup) *fixture {
	t.Helper()
	s.batchSize = paceBatch
	orDefault(&s.memory, 100*paceBatch)
	f := newFixture(t, s)
	f.setCluster(leaders4, nil, nil)
	return f
}

// one has a batch sent and answered.
func (f *fixture) one(t *testing.T) {
	t.Helper()
	for _, b := range f.drain(1, 1) {
		f.finish(b, 0)
	}
}

// attempt is an append on a goroutine of its own.
type attempt struct {
	err  error
	done chan struct{}
}

func (f *fixture) attempt(ctx context.Context, n int, budget time.Duration) *attempt {
	a := &attempt{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		_, a.err = f.acc.Append(ctx, f.topic, 0, entry(n), budget)
	}()
	return a
}

// paced waits until the append has ended or n appends wait for their turn, and reports whether it is the latter.
func (a *attempt) paced(f *fixture, n int32) bool {
	for {
		select {
		case <-a.done:
			return false
		default:
		}
		if f.acc.pacer.waiting.Load() == n && f.clk.Timers() >= int(n) {
			return true
		}
		runtime.Gosched()
	}
}

func (a *attempt) mustPass(t *testing.T) {
	t.Helper()
	<-a.done
	if a.err != nil {
		t.Error(a.err)
	}
}

func TestAnAppendLetsHalfOfALongQueueGoFirst(t *testing.T) {
	nudged := make(chan struct{}, 1000)
	f := crowded(t, setup{nudge: func() { nudged <- struct{}{} }}, paceAtLeast)
	for len(nudged) > 0 {
		<-nudged
	}
	a := f.attempt(t.Context(), paceValue, time.Minute)
	if !a.paced(f, 1) {
		t.Fatal("it did not wait")
	}
	<-nudged
	for f.acc.backlog() > paceAtLeast/2+1 {
		f.one(t)
		if f.acc.pacer.waiting.Load() != 1 {
			t.Fatalf("it passed with %d batches before it", f.acc.backlog())
		}
	}
	f.one(t)
	a.mustPass(t)
	if !f.acc.AnyOpen() {
		t.Error("its record is in no open batch")
	}
}

// A limit of so many batches for each partition in use, as far as memory goes.
func TestTheLengthOfAQueueIsMeasuredByThePartitionsInUse(t *testing.T) {
	f := crowded(t, setup{memory: 600 * paceBatch}, paceAtLeast)
	leaders := make([]int32, 100)
	for i := range leaders {
		leaders[i] = 1
	}
	f.setCluster(leaders, nil, nil)
	fill := func(upTo int32) {
		for p := int32(1); p < upTo; p++ {
			if _, err := f.acc.TryAppend(f.topic, p, entry(10)); err != nil {
				t.Fatal(err)
			}
		}
	}
	fill(paceAtLeast) // with partition 0 that makes several times as many batches the limit
	f.attempt(t.Context(), paceValue, time.Minute).mustPass(t)
	if got := f.acc.paceLimit(); got != paceEach*paceAtLeast {
		t.Errorf("the limit is %d batches, want %d", got, paceEach*paceAtLeast)
	}
	fill(80)
	if got := f.acc.paceLimit(); got != 300 {
		t.Errorf("the limit is %d batches, want the 300 that half of the memory holds", got)
	}
}

func TestWhoIsNotPaced(t *testing.T) {
	inside := false
	for name, tt := range map[string]struct {
		s      setup
		before func(f *fixture)
		budget time.Duration
	}{
		"one whose budget is used up": {budget: -1},
		"one inside a callback":       {before: func(*fixture) { inside = true }},
		"one behind a short queue":    {before: func(f *fixture) { f.one(t) }},
		"one long after memory was short": {before: func(f *fixture) {
			f.clk.Advance(paceFor)
		}},
		"one with memory for a few batches": {s: setup{memory: (2*paceAtLeast - 1) * paceBatch}},
	} {
		t.Run(name, func(t *testing.T) {
			inside = false
			f := crowded(t, tt.s, paceAtLeast)
			f.acc.SetInCallback(func() bool { return inside })
			if tt.before != nil {
				tt.before(f)
			}
			orDefault(&tt.budget, time.Minute)
			a := f.attempt(t.Context(), paceValue, tt.budget)
			if a.paced(f, 1) {
				t.Error("it waits")
				f.acc.Close()
			}
			<-a.done
		})
	}
	t.Run("one of a producer whose memory never ran out", func(t *testing.T) {
		f := spacious(t, setup{})
		for range 90 {
			f.send(0, paceValue)
		}
	})
	t.Run("one that may not wait", func(t *testing.T) {
		f := crowded(t, setup{}, paceAtLeast)
		if _, err := f.acc.TryAppend(f.topic, 0, entry(paceValue)); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatElseEndsAPacedAppend(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(f *fixture, cancel func())
		want error
	}{
		"the producer is closed": {func(f *fixture, _ func()) { f.acc.Close() }, kerr.ErrClosedDuringSend},
		"its context ends":       {func(_ *fixture, cancel func()) { cancel() }, kerr.ErrInterrupted},
		"a queue that does not move": {func(f *fixture, _ func()) {
			f.clk.Advance(paceStall)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := crowded(t, setup{}, paceAtLeast)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			a := f.attempt(ctx, paceValue, time.Minute)
			if !a.paced(f, 1) {
				t.Fatal("it did not wait")
			}
			tt.end(f, cancel)
			<-a.done
			if !errors.Is(a.err, tt.want) {
				t.Errorf("got %v, want %v", a.err, tt.want)
			}
			if got := f.acc.pacer.waiting.Load(); got != 0 {
				t.Errorf("%d still wait", got)
			}
		})
	}
}

// A queue that does not move, or grows no shorter, is not helped by waiting: memory fills up as if there were no pacing.
func TestPacingRestsWhenItDoesNotHelp(t *testing.T) {
	for name, move := range map[string]func(t *testing.T, f *fixture, a *attempt){
		"no batch leaves": func(_ *testing.T, f *fixture, _ *attempt) { f.clk.Advance(paceStall) },
		"for each that leaves there is a new one": func(t *testing.T, f *fixture, a *attempt) {
			f.passPatience(t, a, func() {
				f.one(t)
				if _, err := f.acc.TryAppend(f.topic, 0, entry(paceValue)); err != nil {
					t.Fatal(err)
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := crowded(t, setup{}, 2*paceAtLeast)
			a := f.attempt(t.Context(), paceValue, time.Minute)
			if !a.paced(f, 1) {
				t.Fatal("it did not wait")
			}
			move(t, f, a)
			a.mustPass(t)
			for range 20 {
				f.send(0, paceValue) // would hang if it were paced
			}
			f.clk.Advance(paceRest)
			f.mustPace(t)
		})
	}
}

// passPatience lets the longest wait of an append go by, with a move in each part of it.
func (f *fixture) passPatience(t *testing.T, a *attempt, move func()) {
	t.Helper()
	for passed := time.Duration(0); passed < pacePatience; passed += paceStall {
		if !a.paced(f, 1) {
			t.Fatalf("it waited for %v only", passed)
		}
		move()
		f.awaitTimer(paceStall)
		f.clk.Advance(paceStall)
	}
}

// mustPace checks that an append after another one that found no memory is paced.
func (f *fixture) mustPace(t *testing.T) {
	t.Helper()
	f.acc.pacer.press(f.clk.Now())
	a := f.attempt(t.Context(), paceValue, time.Minute)
	if !a.paced(f, 1) {
		t.Error("appends are not paced any more")
		return
	}
	f.acc.Close()
	<-a.done
}

func TestASlowQueueIsShortenedBitByBit(t *testing.T) {
	f := crowded(t, setup{}, 2*paceAtLeast)
	a := f.attempt(t.Context(), paceValue, time.Minute)
	f.passPatience(t, a, func() { f.one(t) })
	a.mustPass(t)
	f.mustPace(t)
}

func TestAnAppendWithLittleTimeEndsItsOwnWaitOnly(t *testing.T) {
	f := crowded(t, setup{}, paceAtLeast)
	a := f.attempt(t.Context(), paceValue, paceStall/10)
	if !a.paced(f, 1) {
		t.Fatal("it did not wait")
	}
	f.clk.Advance(paceStall / 10)
	<-a.done // with memory or without
	f.mustPace(t)
}

// awaitTimer waits until the next timer is so far away: whoever waits has looked at the queue and sleeps again.
func (f *fixture) awaitTimer(d time.Duration) {
	for f.clk.Next() != f.clk.Now().Add(d) {
		runtime.Gosched()
	}
}

func TestNobodyOvertakesAPacedAppend(t *testing.T) {
	f := crowded(t, setup{}, paceAtLeast)
	first := f.attempt(t.Context(), paceValue, time.Minute)
	if !first.paced(f, 1) {
		t.Fatal("it did not wait")
	}
	f.one(t) // below the limit now, and above half of it
	second := f.attempt(t.Context(), paceValue, time.Minute)
	if !second.paced(f, 2) {
		t.Fatal("a later one passed")
	}
	for f.acc.backlog() > paceAtLeast/2 {
		f.one(t)
	}
	first.mustPass(t)
	second.mustPass(t)
}

// Those who waited for the same partition share the batch that the first of them opens.
func TestPacedAppendsShareABatch(t *testing.T) {
	f := crowded(t, setup{}, paceAtLeast)
	opened := f.topic.queue(0).opened
	var all []*attempt
	for n := range int32(2) {
		a := f.attempt(t.Context(), 40, time.Minute) // too much for the open batch
		if !a.paced(f, n+1) {
			t.Fatalf("append %d did not wait", n)
		}
		all = append(all, a)
	}
	for f.acc.backlog() > paceAtLeast/2 {
		f.one(t)
	}
	for _, a := range all {
		a.mustPass(t)
	}
	if got := f.topic.queue(0).opened - opened; got != 1 {
		t.Errorf("%d batches for two records", got)
	}
}
