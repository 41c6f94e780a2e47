package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"linger/internal/clock"
	"linger/internal/sender"
)

// inbox collects events for the loop from any goroutine. Posting never blocks; nudges fold into one.
type inbox struct {
	mu     sync.Mutex
	events []sender.Event
	spare  []sender.Event // what the loop took the time before
	shut   bool           // the loop has ended: nobody takes events any more

	nudged atomic.Bool
	wake   chan struct{} // holds one token while there is something to take
}

func newInbox() *inbox { return &inbox{wake: make(chan struct{}, 1)} }

// post adds one event and wakes the loop. After the loop's end it does nothing: callers may come for ever.
func (b *inbox) post(e sender.Event) {
	b.mu.Lock()
	if !b.shut {
		b.events = append(b.events, e)
	}
	b.mu.Unlock()
	b.ring()
}

// close drops what is left and what still comes.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut, b.events, b.spare = true, nil, nil
}

// nudge tells the loop to look at the accumulator. Only the first nudge since the last turn costs more than a load.
func (b *inbox) nudge() {
	if !b.nudged.Load() && b.nudged.CompareAndSwap(false, true) {
		b.ring()
	}
}

func (b *inbox) ring() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take returns the events since the last take; the slice is the loop's until the next one.
//
// The nudge is cleared before the turn looks at the signals: an append that signals later nudges again, one that
// signalled before is seen by this turn.
func (b *inbox) take() []sender.Event {
	b.nudged.Store(false)
	b.mu.Lock()
	clear(b.spare)
	taken := b.events
	b.events = b.spare[:0]
	b.spare = taken
	b.mu.Unlock()
	return taken
}

// waitUntil returns when there is something to take, or at instant at; woken says that it was the former.
func (b *inbox) waitUntil(clk clock.Clock, timer clock.Timer, at clock.Instant) (woken bool) {
	if at == clock.Never {
		<-b.wake
		return true
	}
	d := at.Sub(clk.Now())
	if d <= 0 {
		select {
		case <-b.wake:
			return true
		default:
			return false
		}
	}
	timer.Reset(roundUp(d))
	select {
	case <-b.wake:
		timer.Stop()
		return true
	case <-timer.C():
		return false
	}
}

// roundUp keeps a timer that fires a little early from costing an empty turn.
func roundUp(d time.Duration) time.Duration { return d + 10*time.Microsecond }
