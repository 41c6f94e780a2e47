package accumulator

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"linger/internal/clock"
	"linger/internal/kerr"
)

// pacer keeps the standing queue short while the application outruns the brokers.
//
// The plain version is Java's: an append that finds no memory waits for some. Then buffer.memory stays full: a record waits
// behind 32 MiB of others, and its bytes have left the cache when their turn to be written comes, although a small part of
// them would keep the brokers just as busy.
//
// Here such a wait begins a time of pacing. While it lasts, an append that wants a new batch and finds enough closed ones
// waiting to be sent lets half of them go out first. Who does not fill buffer.memory is never paced: bursts are taken at
// once. One append waits for pacePatience at most. If no batch leaves for paceStall, or the queue is no shorter after that
// patience, waiting does not help: pacing rests, and buffer.memory fills as in Java.
type pacer struct {
	until  atomic.Int64 // the Instant up to which appends are paced
	rests  atomic.Int64 // the Instant up to which they are not, whatever is full
	queues atomic.Int64 // that have a batch

	waiting atomic.Int32 // length of waiters, for readers without the lock
	mu      sync.Mutex
	waiters []*paced
	idle    []*paced // to be used again
}

// paced is an append that waits.
type paced struct {
	wake  chan struct{} // gets one value when it may pass
	timer clock.Timer
}

const (
	paceFor      = 10 * time.Second       // after the last time that somebody waited
	paceRest     = 10 * time.Second       // after a queue that did not move
	pacePatience = time.Second            // the longest wait of one append
	paceStall    = 100 * time.Millisecond // a queue that no batch has left for so long does not move
	paceAtLeast  = 32                     // closed batches, however few queues there are
	paceEach     = 4                      // for each queue: with half of them left nearly every queue has one
	maxIdlePaced = 64
)

// backlog is how many batches wait that take no records any more.
func (a *Accumulator) backlog() int64 { return a.queued.Load() - a.open.Load() }

// paceLimit is the backlog from which on appends are paced: as many batches as the queues need, but not more of batch.size
// than half of buffer.memory holds. It is 0, for never, when that is too little to tell a long queue from a short one.
func (a *Accumulator) paceLimit() int64 {
	limit := max(paceAtLeast, paceEach*a.pacer.queues.Load())
	limit = min(limit, a.o.Pool.Total()/2/int64(max(a.batchSize, 1)))
	if limit < paceAtLeast {
		return 0
	}
	return limit
}

// press notes that an append finds no memory, or that one had to wait for its turn.
func (p *pacer) press(now clock.Instant) {
	if int64(now) >= p.rests.Load() {
		p.until.Store(int64(now.Add(paceFor)))
	}
}

// pace is called by an append that may wait and wants a new batch. It returns at once unless it is paced; waited tells that
// it did not, so that another may have opened the batch meanwhile. The error is ctx's, within kerr.ErrInterrupted. A
// callback is never paced: what it waits for may wait for it.
func (a *Accumulator) pace(ctx context.Context, deadline clock.Instant) (waited bool, err error) {
	until := a.pacer.until.Load()
	if until == 0 {
		return false, nil
	}
	limit := a.paceLimit()
	if limit == 0 || a.backlog() < limit && a.pacer.waiting.Load() == 0 { // nobody overtakes who waits
		return false, nil
	}
	now := a.o.Clock.Now()
	if int64(now) >= until || int64(now) < a.pacer.rests.Load() || now >= deadline || a.o.InCallback != nil && a.o.InCallback() {
		return false, nil
	}
	w := a.pacer.join(a.o.Clock)
	defer a.pacer.leave(w)
	a.nudge() // what this append closed may be all that there is to send
	return true, a.awaitTurn(ctx, w, now, deadline)
}

// awaitTurn returns when the append that w stands for may go on, at deadline at the latest.
func (a *Accumulator) awaitTurn(ctx context.Context, w *paced, now, deadline clock.Instant) error {
	before, patience := a.backlog(), now.Add(pacePatience)
	for {
		left := a.left.Load()
		a.letPass() // the last batch may have left before w stood here
		wait := min(patience.Sub(now), deadline.Sub(now), paceStall)
		w.timer.Reset(wait)
		select {
		case <-w.wake:
			a.pacer.press(a.o.Clock.Now())
			return nil
		case <-a.closed:
			return nil
		case <-ctx.Done():
			return kerr.Interrupted(ctx, "a turn, since memory had run out (buffer.memory)")
		case <-w.timer.C():
		}
		now = a.o.Clock.Now()
		switch {
		case wait == paceStall && a.left.Load() == left, now >= patience && a.backlog() >= before:
			a.pacer.rest(now)
			return nil
		case now >= patience: // the queue grows shorter, if slowly: one more batch makes no difference
			a.pacer.press(now)
			return nil
		case now >= deadline:
			return nil
		}
	}
}

// join makes one of those who wait.
func (p *pacer) join(clk clock.Clock) *paced {
	p.mu.Lock()
	defer p.mu.Unlock()
	var w *paced
	if n := len(p.idle); n > 0 {
		w, p.idle[n-1] = p.idle[n-1], nil
		p.idle = p.idle[:n-1]
	} else {
		w = &paced{wake: make(chan struct{}, 1), timer: clk.NewTimer(pacePatience)}
	}
	p.waiters = append(p.waiters, w)
	p.waiting.Store(int32(len(p.waiters)))
	return w
}

// leave ends the wait, whatever ended it.
func (p *pacer) leave(w *paced) {
	w.timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.waiters, w); i >= 0 {
		p.waiters = slices.Delete(p.waiters, i, i+1)
		p.waiting.Store(int32(len(p.waiters)))
	}
	select {
	case <-w.wake: // who gave up did not hear that
	default:
	}
	if len(p.idle) < maxIdlePaced {
		p.idle = append(p.idle, w)
	}
}

// rest lets all pass, and nobody is paced for a while.
func (p *pacer) rest(now clock.Instant) {
	p.rests.Store(int64(now.Add(paceRest)))
	p.until.Store(0)
	p.passAll()
}

func (p *pacer) passAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.waiters {
		w.wake <- struct{}{} // has room: w is told once
	}
	clear(p.waiters)
	p.waiters = p.waiters[:0]
	p.waiting.Store(0)
}

// letPass is called when a batch has left its queue. It lets all pass once half of the limit is left: woken for each batch,
// they would take turns with the engine too often.
func (a *Accumulator) letPass() {
	if a.pacer.waiting.Load() == 0 {
		return
	}
	if limit := a.paceLimit(); limit == 0 || a.backlog() <= limit/2 {
		a.pacer.passAll()
	}
}
