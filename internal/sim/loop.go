package sim

import (
	"time"

	"linger/internal/accumulator"
	"linger/internal/clock"
	"linger/internal/compress"
	"linger/internal/link"
	"linger/internal/sender"
)

// loop plays the engine: it takes what has been posted, lets the machine take its turn, and carries out what it wants.
type loop struct {
	inbox, spare []sender.Event
	turnAt       clock.Instant
	done         bool

	lastTurn clock.Instant
	idle     int // turns in a row at one instant that neither had an event nor an effect

	undelivered []accumulator.Completion
	delivering  bool
	producer    int64 // the newest id, -1 none
}

// maxIdleTurns at one instant is more than a machine takes that is not spinning.
const maxIdleTurns = 3

// post is an event for the machine; it wakes the loop.
func (w *world) post(e sender.Event) {
	w.loop.inbox = append(w.loop.inbox, e)
	delay := time.Duration(w.dice.IntN(50_000))
	if w.set.slowLoop && !w.healed && w.dice.chance(0.01) {
		w.fault(LoopSlow)
		delay = w.dice.ms(1, 40)
	}
	w.loop.turnAt = min(w.loop.turnAt, w.now.Add(delay))
}

func (w *world) takeTurn() {
	l := &w.loop
	l.inbox, l.spare = l.spare[:0], l.inbox
	w.turns++
	fx := w.sender.Step(w.now, l.spare)
	w.trace.note(w.now, "turn", "%d events, %d orders, %d completions", int64(len(l.spare)), int64(len(fx.Orders)), int64(len(fx.Completions)))
	w.watchForSpin(len(l.spare) > 0 || len(fx.Orders)+len(fx.Seals)+len(fx.Free)+len(fx.Completions) > 0 || fx.View != nil)
	clear(l.spare)
	l.turnAt = max(fx.WakeAt, w.now)
	w.carryOut(fx)
	if fx.Done {
		l.done = true
	}
}

func (w *world) watchForSpin(busy bool) {
	l := &w.loop
	if busy || l.lastTurn != w.now {
		l.idle = 0
	}
	l.lastTurn = w.now
	if l.idle++; l.idle > maxIdleTurns {
		w.fail("the machine spins: %d turns at %v with nothing to do", l.idle, time.Duration(w.now))
	}
}

// carryOut does what the engine does, in its order.
func (w *world) carryOut(fx *sender.Effects) {
	if fx.View != nil {
		w.trace.note(w.now, "view", "version %d, %d topics", fx.View.Version, int64(len(fx.View.Topics)))
		w.app.view = fx.View
	}
	if fx.Identity != nil {
		w.meet(fx.Identity)
	}
	for i := range fx.Orders {
		w.net.do(&fx.Orders[i])
	}
	for _, b := range fx.Seals {
		w.seal(b)
	}
	for _, b := range fx.Free {
		w.acc.Free(b)
	}
	if len(fx.Free) > 0 {
		w.trace.note(w.now, "memory", "%d batches freed, %d bytes available", int64(len(fx.Free)), w.pool.Available())
	}
	w.deliverLater(fx.Completions)
	for i := range fx.Logs {
		w.trace.text(w.now, "log", "%s", fx.Logs[i].Text)
	}
	if w.acc.Incomplete() == 0 && w.pool.Available() < w.pool.Total() {
		w.reach(HeldAfterEnd)
	}
}

func (w *world) meet(id *sender.Identity) {
	w.trace.note(w.now, "identity", "producer %d epoch %d", id.ProducerID, int64(id.Epoch))
	w.trace.text(w.now, "identity", "%s %v", id.State, id.Err)
	if w.loop.producer >= 0 && id.ProducerID >= 0 && id.ProducerID != w.loop.producer {
		w.reach(NewProducerID)
	}
	w.loop.producer = max(w.loop.producer, id.ProducerID)
	switch id.State {
	case "none":
		w.reach(StateNone)
	case "initializing":
		w.reach(StateInitializing)
	case "ready":
		w.reach(StateReady)
	case "fatal":
		w.reach(StateFatal)
		w.app.fatal = true
	default:
		w.fail("the producer is in state %q", id.State)
	}
}

// seal compresses a batch: at once, as a loop without workers would, or later and out of order with others.
func (w *world) seal(b *accumulator.Batch) {
	if !w.set.lateSeals {
		b.Seal(w.tools.compressor(w.set.codec))
		w.post(sender.Event{Kind: sender.Sealed, Batch: b})
		return
	}
	delay := w.dice.upTo(2 * time.Millisecond)
	if !w.healed && w.dice.chance(0.03) {
		w.fault(SealsSlow)
		delay = w.dice.ms(20, 400)
	}
	w.sealing++
	w.after(delay, func() {
		w.sealing--
		w.reach(SealedLate)
		b.Seal(w.tools.compressor(w.set.codec))
		w.post(sender.Event{Kind: sender.Sealed, Batch: b})
	})
}

// deliverLater plays the delivery goroutine: callbacks in record order, then the futures, then news for the sender.
func (w *world) deliverLater(completions []accumulator.Completion) {
	l := &w.loop
	l.undelivered = append(l.undelivered, completions...)
	switch {
	case len(l.undelivered) == 0 || l.delivering:
	case !w.set.lateCallbacks:
		w.deliver(len(l.undelivered))
	default:
		l.delivering = true
		delay := w.dice.upTo(time.Millisecond)
		if !w.healed && w.dice.chance(0.02) {
			w.fault(CallbacksSlow)
			delay = w.dice.ms(5, 200)
		}
		w.after(delay, func() {
			l.delivering = false
			w.deliver(w.dice.between(1, len(l.undelivered)))
			w.deliverLater(nil)
		})
	}
}

func (w *world) deliver(n int) {
	l := &w.loop
	for i := range n {
		c := &l.undelivered[i]
		for r := range c.Slots {
			var o accumulator.Outcome
			c.Outcome(int32(r), &o)
			c.Slots[r].Callback.Done(&o)
		}
		c.Finish()
	}
	l.undelivered = l.undelivered[:copy(l.undelivered, l.undelivered[n:])]
	w.app.looksAtFlushes()
	w.post(sender.Event{Kind: sender.Delivered, N: n})
}

// Tools are what worlds use one after the other; one goroutine at a time.
type Tools struct {
	compressors map[compress.Type]*compress.Compressor
}

// NewTools makes tools for one goroutine.
func NewTools() *Tools { return &Tools{compressors: make(map[compress.Type]*compress.Compressor)} }

func (t *Tools) compressor(c compress.Type) *compress.Compressor {
	if t.compressors[c] == nil {
		made, err := compress.NewCompressor(c.Default())
		if err != nil {
			panic(err)
		}
		t.compressors[c] = made
	}
	return t.compressors[c]
}

// event is a link's event on its way into the machine.
func (w *world) event(e link.Event) {
	w.trace.note(w.now, "link", "event %d of link %d, corr %d, %d bytes", int64(e.Kind), int64(e.Link), int64(e.Corr), int64(len(e.Frame)))
	w.trace.text(w.now, "link", "%v", e)
	w.post(sender.Event{Kind: sender.Link, Link: e})
}
