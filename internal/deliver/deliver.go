package deliver

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"linger/internal/accumulator"
	"linger/internal/inside"
)

// reportEvery is how many batches may be through before the sender hears of them: it is woken once for all of them.
const reportEvery = 32

// Deliverer runs callbacks on a goroutine of its own. Its methods may be called from any goroutine.
type Deliverer struct {
	log    *slog.Logger
	report func(batches int)
	done   chan struct{} // closed when the goroutine has ended

	// Only the delivery goroutine touches these; they outlive it when a callback ends it.
	taken  []accumulator.Completion // taken[batch:] are to be delivered
	batch  int
	record int // in taken[batch]: callbacks before it have run
	silent int // delivered, not yet reported

	outcome accumulator.Outcome // what the callback at hand is told

	goroutine atomic.Uint64 // the number of the delivery goroutine
	busy      atomic.Bool   // callbacks may be running

	mu      sync.Mutex
	more    sync.Cond // something was pushed, or the end
	queue   []accumulator.Completion
	stopped bool
}

// New starts the delivery goroutine; Stop ends it. log must not wait for anything. report is called on it with the number of
// batches that are through since the call before, and must not block.
func New(log *slog.Logger, report func(batches int)) *Deliverer {
	d := &Deliverer{log: log, report: report, done: make(chan struct{})}
	d.more.L = &d.mu
	go d.loop()
	return d
}

// Push hands ended batches over, to be delivered in this order. It never waits; the slice stays the caller's. The sender
// bounds what waits here by what it takes out of the accumulator. Push must not follow Stop.
func (d *Deliverer) Push(ended []accumulator.Completion) {
	d.mu.Lock()
	d.queue = append(d.queue, ended...)
	d.mu.Unlock()
	d.more.Signal()
}

// Stop returns when everything pushed is delivered and the goroutine has ended. It waits as long as callbacks take, and
// must not be called from one.
func (d *Deliverer) Stop() {
	d.mu.Lock()
	d.stopped = true
	d.mu.Unlock()
	d.more.Signal()
	<-d.done
}

// loop is the delivery goroutine. Stop stops it and waits for it.
func (d *Deliverer) loop() {
	d.goroutine.Store(inside.Goroutine())
	ended := false
	defer func() {
		if ended {
			close(d.done)
			return
		}
		// A callback called runtime.Goexit: this goroutine is lost, the callbacks after that one are not.
		d.logFault("callback ended its goroutine, delivery goes on with the next record", "runtime.Goexit")
		d.record++
		go d.loop()
	}()
	for d.take() {
		for d.batch < len(d.taken) {
			d.deliver(&d.taken[d.batch])
			d.batch++
			d.record = 0
			if d.silent++; d.silent == reportEvery {
				d.tell()
			}
		}
		d.tell()
	}
	ended = true
}

// take makes taken what was pushed, when it is used up; false at the end.
func (d *Deliverer) take() bool {
	if d.batch < len(d.taken) {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.queue) == 0 {
		if d.stopped {
			return false
		}
		d.busy.Store(false)
		d.more.Wait()
	}
	d.busy.Store(true)
	d.queue, d.taken, d.batch = d.taken[:0], d.queue, 0
	return true
}

// OnDeliveryGoroutine reports whether the caller is inside a callback (KIP-1118 needs to know for flush). While
// callbacks run it costs about a microsecond, so it is for calls that are rare.
func (d *Deliverer) OnDeliveryGoroutine() bool {
	if !d.busy.Load() {
		return false
	}
	n := inside.Goroutine()
	return n != 0 && n == d.goroutine.Load()
}

func (d *Deliverer) tell() {
	if d.silent > 0 {
		d.report(d.silent)
		d.silent = 0
	}
}

// deliver ends one batch: callbacks, futures, flushes.
func (d *Deliverer) deliver(c *accumulator.Completion) {
	for d.record < len(c.Slots) {
		d.call(c)
	}
	c.Finish()
}

// call runs callbacks from d.record on, up to the first that panics.
func (d *Deliverer) call(c *accumulator.Completion) {
	defer func() {
		if fault := recover(); fault != nil {
			d.logFault("callback panicked", fault)
			d.record++
		}
	}()
	for ; d.record < len(c.Slots); d.record++ {
		if cb := c.Slots[d.record].Callback; cb != nil {
			c.Outcome(int32(d.record), &d.outcome)
			cb.Done(&d.outcome)
		}
	}
}

func (d *Deliverer) logFault(what string, fault any) {
	r := d.taken[d.batch].Result
	d.log.Error(what, "topic", r.Topic(), "partition", r.Partition(), "record", d.record, "fault", fmt.Sprint(fault), "stack", string(debug.Stack()))
}
