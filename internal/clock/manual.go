package clock

import (
	"slices"
	"sync"
	"time"
)

// Manual is a clock that stands still until it is advanced by hand. It starts at Instant 0. It is safe for any number of
// goroutines, and fires timers in order of their deadlines, ties in the order they were set.
type Manual struct {
	mu     sync.Mutex
	now    Instant
	wallMs int64          // at Instant 0, moved by SetWallMs
	armed  []*manualTimer // by deadline, then by age
}

// NewManual returns a manual clock whose wall clock shows wallMs milliseconds since 1970 at Instant 0.
func NewManual(wallMs int64) *Manual {
	return &Manual{wallMs: wallMs}
}

// Now is the instant the clock was advanced to.
func (c *Manual) Now() Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// WallMs is the wall clock in milliseconds; it advances with Now.
func (c *Manual) WallMs() int64 {
	_, wall := c.Both()
	return wall
}

// Both is Now and WallMs of one moment.
func (c *Manual) Both() (Instant, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now, c.wallMs + int64(c.now)/int64(time.Millisecond)
}

// SetWallMs makes the wall clock jump to wallMs. Now and timers don't notice.
func (c *Manual) SetWallMs(wallMs int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wallMs = wallMs - int64(c.now)/int64(time.Millisecond)
}

// Advance moves the clock forward by d and fires every timer that falls due. A negative d panics: monotonic time doesn't
// go back.
func (c *Manual) Advance(d time.Duration) {
	if d < 0 {
		panic("clock: Advance by a negative duration")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	end := c.now.Add(d)
	for len(c.armed) > 0 && c.armed[0].due <= end {
		t := c.armed[0]
		c.armed = slices.Delete(c.armed, 0, 1)
		t.fire()
	}
	c.now = end
}

// Next is the deadline of the earliest timer that is still to fire, Never when there is none.
func (c *Manual) Next() Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.armed) == 0 {
		return Never
	}
	return c.armed[0].due
}

// Timers is how many timers are still to fire.
func (c *Manual) Timers() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.armed)
}

// NewTimer makes a timer that fires when the clock is advanced to d from now, at once when d <= 0.
func (c *Manual) NewTimer(d time.Duration) Timer {
	t := &manualTimer{clock: c, c: make(chan time.Time, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.arm(d)
	return t
}

// A manualTimer is guarded by its clock's mu.
type manualTimer struct {
	clock *Manual
	c     chan time.Time
	due   Instant
}

func (t *manualTimer) C() <-chan time.Time { return t.c }

func (t *manualTimer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	return t.disarm()
}

func (t *manualTimer) Reset(d time.Duration) bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	active := t.disarm()
	t.arm(d)
	return active
}

func (t *manualTimer) arm(d time.Duration) {
	if d <= 0 {
		t.fire()
		return
	}
	t.due = t.clock.now.Add(d)
	at, _ := slices.BinarySearchFunc(t.clock.armed, t.due, func(o *manualTimer, due Instant) int {
		if o.due <= due {
			return -1 // behind its equals, so that ties fire in the order they were set
		}
		return 1
	})
	t.clock.armed = slices.Insert(t.clock.armed, at, t)
}

// disarm reports whether t was still to fire, or had fired without anybody having taken the tick: as with time.Timer,
// an untaken tick counts as not fired and is gone afterwards.
func (t *manualTimer) disarm() bool {
	if at := slices.Index(t.clock.armed, t); at >= 0 {
		t.clock.armed = slices.Delete(t.clock.armed, at, at+1)
		return true
	}
	select {
	case <-t.c:
		return true
	default:
		return false
	}
}

func (t *manualTimer) fire() { t.c <- time.Time{} }
