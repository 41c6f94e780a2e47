package backoff

import (
	"math"
	"testing"
	"time"
)

// CFG-20, CFG-52: doubled with each attempt up to the ceiling.
func TestBackoffDoublesUpToItsMaximum(t *testing.T) {
	e := NewExponential(100, RetryMultiplier, 1000, 0)
	for attempts, want := range []int64{100, 200, 400, 800, 1000, 1000} {
		if got := e.Ms(int64(attempts), 0.9); got != want {
			t.Errorf("attempt %d: %d ms, want %d", attempts, got, want)
		}
	}
	if got := e.Duration(1, 0); got != 200*time.Millisecond {
		t.Errorf("duration %v, want 200ms", got)
	}
}

// CFG-20, CFG-52: the jitter.
func TestJitterIsAFifthEitherWayAndNeverAboveTheMaximum(t *testing.T) {
	e := NewExponential(100, RetryMultiplier, 1000, RetryJitter)
	almostOne := math.Nextafter(1, 0)
	tests := []struct {
		attempts int64
		unit     float64
		want     int64
	}{
		{0, 0, 80}, {0, 0.5, 100}, {0, almostOne, 119},
		{1, 0, 160}, {1, almostOne, 239},
		{50, 0, 800}, {50, 0.4, 960}, {50, 0.5, 1000}, {50, almostOne, 1000},
	}
	for _, tt := range tests {
		if got := e.Ms(tt.attempts, tt.unit); got != tt.want {
			t.Errorf("attempt %d with %v: %d ms, want %d", tt.attempts, tt.unit, got, tt.want)
		}
	}
}

// CFG-20, CFG-52: a first wait above the ceiling.
func TestMaximumBelowTheInitialIntervalIsConstant(t *testing.T) {
	for _, initial := range []int64{50, 51, 1000} {
		e := NewExponential(initial, 2, 50, 0.2)
		if e.InitialMs() != 50 {
			t.Errorf("initial %d: first back-off %d, want 50", initial, e.InitialMs())
		}
		for attempts := range int64(4) {
			if got := e.Ms(attempts, 0); got != 50 {
				t.Errorf("initial %d, attempt %d: %d ms, want 50 without jitter", initial, attempts, got)
			}
		}
	}
}

func TestRangeOfOptions(t *testing.T) {
	tests := map[string]struct {
		e        Exponential
		attempts int64
		want     int64
	}{
		"no back-off at all":            {NewExponential(0, 2, 0, 0), 7, 0},
		"none to begin with stays so":   {NewExponential(0, 2, 1000, 0), 7, 0},
		"the largest maximum":           {NewExponential(1, 2, math.MaxInt64, 0), 62, 1 << 62},
		"saturates at it":               {NewExponential(1, 2, math.MaxInt64, 0), 1000, math.MaxInt64},
		"a multiplier of 1 is constant": {NewExponential(7, 1, 1000, 0), 1000, 7},
	}
	for name, tt := range tests {
		if got := tt.e.Ms(tt.attempts, 0.5); got != tt.want {
			t.Errorf("%s: %d ms, want %d", name, got, tt.want)
		}
	}
}

// At the cap the exact power decides whether the last millisecond is there: both ways round, as Java has it.
func TestCapIsCutAsInJava(t *testing.T) {
	for _, tt := range []struct {
		initial       int64
		multiplier    int
		maximum, want int64
	}{
		{10000, 2, 30000, 30000}, {33475, 2, 167375, 167374}, {50, 2, 1000, 1000}, {100, 2, 1000, 1000},
		{850, 3, 23000, 22999}, {81369, 2, 1847882, 1847881}, {62, 3, 2604, 2604}, {1, 2, 6, 6},
	} {
		if got := NewExponential(tt.initial, tt.multiplier, tt.maximum, 0).Ms(1000, 0); got != tt.want {
			t.Errorf("%d up to %d: %d ms, want %d", tt.initial, tt.maximum, got, tt.want)
		}
	}
}

func TestLogarithmAndPowerAreRight(t *testing.T) {
	for _, x := range []float64{1, 2, 3, 0.1, 20, 1e300, 1e-300, math.E} {
		if got, want := ln(x), math.Log(x); math.Abs(got-want) > 1e-15*math.Abs(want) {
			t.Errorf("ln %v = %v, math has %v", x, got, want)
		}
		if x <= 1 || x > 100 {
			continue
		}
		for _, y := range []float64{0, 1, 0.5, 1.584962500721156, 9.97, 50} {
			if got, want := pow(x, y), math.Pow(x, y); math.Abs(got-want) > 1e-14*want {
				t.Errorf("%v to the %v = %v, math has %v", x, y, got, want)
			}
		}
	}
}
