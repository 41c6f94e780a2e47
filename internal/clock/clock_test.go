package clock

import (
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestInstantArithmeticSaturates(t *testing.T) {
	const least = Instant(math.MinInt64)
	tests := map[string]struct{ got, want any }{
		"an instant and a duration":           {Instant(5).Add(7), Instant(12)},
		"back in time":                        {Instant(5).Add(-7), Instant(-2)},
		"past the end is never":               {Instant(math.MaxInt64 - 5).Add(7), Never},
		"before the beginning stays there":    {(least + 5).Add(-7), least},
		"never and a duration is never":       {Never.Add(-time.Hour), Never},
		"the longest option is never":         {Instant(1).AddMs(math.MaxInt64), Never},
		"milliseconds":                        {Instant(1).AddMs(2), Instant(2_000_001)},
		"the distance of two":                 {Instant(5).Sub(7), time.Duration(-2)},
		"the distance to never is longest":    {Never.Sub(5), time.Duration(math.MaxInt64)},
		"never to never is nothing":           {Never.Sub(Never), time.Duration(0)},
		"a distance beyond range is longest":  {Instant(math.MaxInt64 - 1).Sub(-5), time.Duration(math.MaxInt64)},
		"a distance beyond range is shortest": {least.Sub(5), time.Duration(math.MinInt64)},
		"milliseconds that fit":               {Ms(-3), -3 * time.Millisecond},
		"milliseconds too many":               {Ms(math.MaxInt64), time.Duration(math.MaxInt64)},
		"milliseconds too few":                {Ms(math.MinInt64), time.Duration(math.MinInt64)},
		"earlier":                             {Instant(1).Before(2), true},
		"not earlier":                         {Instant(2).Before(2), false},
		"later":                               {Never.After(2), true},
		"not later":                           {Instant(2).After(2), false},
	}
	for name, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %v, want %v", name, tt.got, tt.want)
		}
	}
}

func fired(t Timer) bool {
	select {
	case <-t.C():
		return true
	default:
		return false
	}
}

// Both clocks keep the same promises; sleep moves the time.
func eachClock(t *testing.T, test func(t *testing.T, c Clock, sleep func(time.Duration))) {
	t.Run("real, in a bubble", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			test(t, Real(), func(d time.Duration) { time.Sleep(d); synctest.Wait() })
		})
	})
	t.Run("manual", func(t *testing.T) {
		m := NewManual(946_684_800_000) // where bubbles begin
		test(t, m, m.Advance)
	})
}

func TestClockTellsTheTime(t *testing.T) {
	eachClock(t, func(t *testing.T, c Clock, sleep func(time.Duration)) {
		start, wall := c.Both()
		sleep(1500 * time.Microsecond)
		if got := c.Now().Sub(start); got != 1500*time.Microsecond {
			t.Errorf("moved by %v, want 1.5ms", got)
		}
		now, wallNow := c.Both()
		if now != c.Now() || wallNow != c.WallMs() || wallNow != wall+1 {
			t.Errorf("both: %d, %d; one by one: %d, %d; the wall clock began at %d", now, wallNow, c.Now(), c.WallMs(), wall)
		}
	})
}

func TestTimerFiresOnceWhenDue(t *testing.T) {
	eachClock(t, func(t *testing.T, c Clock, sleep func(time.Duration)) {
		timer := c.NewTimer(10 * time.Millisecond)
		sleep(10*time.Millisecond - 1)
		if fired(timer) {
			t.Error("fired early")
		}
		sleep(1)
		if !fired(timer) {
			t.Error("did not fire when due")
		}
		sleep(time.Hour)
		if fired(timer) {
			t.Error("fired twice")
		}
	})
}

func TestTimerOfNoTimeFiresAtOnce(t *testing.T) {
	eachClock(t, func(t *testing.T, c Clock, sleep func(time.Duration)) {
		for _, d := range []time.Duration{0, -time.Hour} {
			timer := c.NewTimer(d)
			sleep(0)
			if !fired(timer) {
				t.Errorf("a timer of %v did not fire", d)
			}
		}
	})
}

func TestStoppedTimerHoldsNoTick(t *testing.T) {
	eachClock(t, func(t *testing.T, c Clock, sleep func(time.Duration)) {
		timer := c.NewTimer(time.Millisecond)
		if !timer.Stop() {
			t.Error("Stop says that it was not going to fire")
		}
		sleep(time.Second)
		if fired(timer) {
			t.Error("fired after Stop")
		}
		if timer.Stop() {
			t.Error("Stop says twice that it was going to fire")
		}
		timer.Reset(time.Millisecond)
		sleep(time.Second)
		timer.Stop()
		if fired(timer) {
			t.Error("the tick outlived Stop")
		}
	})
}

func TestResetStartsAnew(t *testing.T) {
	eachClock(t, func(t *testing.T, c Clock, sleep func(time.Duration)) {
		timer := c.NewTimer(time.Millisecond)
		sleep(time.Second) // it fires, nobody takes the tick
		timer.Reset(time.Minute)
		if fired(timer) {
			t.Error("the tick outlived Reset")
		}
		sleep(time.Minute - 1)
		if fired(timer) {
			t.Error("fired early")
		}
		if !timer.Reset(2) {
			t.Error("Reset says that it was not going to fire")
		}
		sleep(2)
		if !fired(timer) {
			t.Error("did not fire after Reset")
		}
	})
}

func TestManualFiresInOrderOfDeadlines(t *testing.T) {
	c := NewManual(0)
	late, early, tie := c.NewTimer(20), c.NewTimer(10), c.NewTimer(10)
	if c.armed[0] != early.(*manualTimer) || c.armed[1] != tie.(*manualTimer) {
		t.Error("the tie is not in the order of setting")
	}
	if c.Next() != 10 || c.Timers() != 3 {
		t.Fatalf("next at %d of %d timers", c.Next(), c.Timers())
	}
	c.Advance(10)
	if !fired(early) || !fired(tie) || fired(late) {
		t.Error("not those due, or one too many")
	}
	if c.Next() != 20 || c.Timers() != 1 || c.Now() != 10 {
		t.Errorf("next at %d of %d timers, now %d", c.Next(), c.Timers(), c.Now())
	}
	c.Advance(10)
	if c.Next() != Never {
		t.Errorf("next at %d, want never", c.Next())
	}
}

func TestManualWallClockJumpsAlone(t *testing.T) {
	c := NewManual(1000)
	timer := c.NewTimer(time.Second)
	c.Advance(500 * time.Millisecond)
	c.SetWallMs(77)
	if now, wall := c.Both(); now != Instant(500*time.Millisecond) || wall != 77 {
		t.Errorf("now %d, wall %d", now, wall)
	}
	c.Advance(500 * time.Millisecond)
	if !fired(timer) || c.WallMs() != 577 {
		t.Errorf("wall %d, want 577", c.WallMs())
	}
}

func TestManualRefusesToGoBack(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it went back")
		}
	}()
	NewManual(0).Advance(-1)
}

func TestManualIsSafeForManyGoroutines(t *testing.T) {
	c := NewManual(0)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				timer := c.NewTimer(5)
				c.Both()
				timer.Reset(3)
				c.Advance(1)
				timer.Stop()
			}
		})
	}
	wg.Wait()
	if c.Now() != 400 || c.Timers() != 0 {
		t.Errorf("now %d, %d timers left", c.Now(), c.Timers())
	}
}

func TestCoarseStandsStillBetweenRefreshes(t *testing.T) {
	c := NewManual(1000)
	coarse := NewCoarse(c)
	c.Advance(5 * time.Millisecond)
	if got := coarse.Load(); got != 1000 {
		t.Errorf("shows %d before a refresh, want 1000", got)
	}
	if now, wall := coarse.Refresh(); now != Instant(5*time.Millisecond) || wall != 1005 || coarse.Load() != 1005 {
		t.Errorf("now %d, wall %d, shows %d", now, wall, coarse.Load())
	}
	c.SetWallMs(3)
	coarse.Refresh()
	if got := coarse.Load(); got != 3 {
		t.Errorf("shows %d, want the wall clock that was set back to 3", got)
	}
}
