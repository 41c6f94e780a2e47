package clock

import "time"

type realClock struct {
	birth time.Time
}

// Real returns a clock on the machine's time, or on the bubble's inside testing/synctest.
func Real() Clock {
	return &realClock{birth: time.Now()}
}

func (c *realClock) Now() Instant { return Instant(time.Since(c.birth)) }

func (c *realClock) WallMs() int64 { return time.Now().UnixMilli() }

func (c *realClock) Both() (Instant, int64) {
	t := time.Now()
	return Instant(t.Sub(c.birth)), t.UnixMilli()
}

func (c *realClock) NewTimer(d time.Duration) Timer {
	return realTimer{time.NewTimer(d)}
}

type realTimer struct{ t *time.Timer }

func (t realTimer) C() <-chan time.Time        { return t.t.C }
func (t realTimer) Stop() bool                 { return t.t.Stop() }
func (t realTimer) Reset(d time.Duration) bool { return t.t.Reset(d) }
