package clock

import "sync/atomic"

// Coarse is the wall clock in milliseconds as somebody last saw it. The path of a record loads it (an atomic load, about
// a nanosecond) where a real clock read would cost some 40 ns. It is refreshed by each Step, by each append that opens a
// batch, and by a ticker that runs only while a batch is open; a default timestamp lags 2 ms at most.
type Coarse struct {
	clk Clock
	ms  atomic.Int64
}

// NewCoarse returns a coarse clock over clk that has been refreshed once.
func NewCoarse(clk Clock) *Coarse {
	c := &Coarse{clk: clk}
	c.Refresh()
	return c
}

// Load is the wall clock in milliseconds since 1970, as of the last Refresh of any goroutine.
//
//gcassert:inline
func (c *Coarse) Load() int64 { return c.ms.Load() }

// Refresh reads the clock once, makes Load return its wall clock, and returns both halves of the reading.
//
// Two goroutines may refresh at once, and the older reading may be stored last: Load then lags by the time between them,
// which the next Refresh mends. A wall clock set back is followed, as Java's would be.
func (c *Coarse) Refresh() (now Instant, wallMs int64) {
	now, wallMs = c.clk.Both()
	c.ms.Store(wallMs)
	return now, wallMs
}
