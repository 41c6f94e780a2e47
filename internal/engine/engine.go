package engine

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"runtime/pprof"
	"sync/atomic"
	"time"

	"linger/internal/accumulator"
	"linger/internal/clock"
	"linger/internal/compress"
	"linger/internal/deliver"
	"linger/internal/link"
	"linger/internal/logs"
	"linger/internal/metadata"
	"linger/internal/seal"
	"linger/internal/sender"
	"linger/internal/transport"
)

// Options are the parts and limits of an engine.
type Options struct {
	Clock       clock.Clock
	Accumulator *accumulator.Accumulator
	// Coarse is refreshed by each turn, and each millisecond while a batch takes records.
	Coarse *clock.Coarse
	// Sender is the step machine; it belongs to the engine from then on.
	Sender Stepper
	// Transport carries what concerns connections; Post is set by the engine.
	Transport transport.Options
	// Codec and SealWorkers say how batches are compressed.
	Codec       compress.Codec
	SealWorkers int
	// View is the metadata view before the first answer.
	View *metadata.View
	// Logs takes the log lines. The engine starts it, and stops it as the last of all.
	Logs *logs.Queue
	// Name is the loop's label in profiles: Java's thread name.
	Name string
}

// Stepper is what the loop asks what to do: *sender.Sender, or a test's stand-in.
type Stepper interface {
	// Step takes one turn; see sender.Sender.
	Step(now clock.Instant, events []sender.Event) *sender.Effects
	// Rescue gives what a turn that panicked had decided by then.
	Rescue(now clock.Instant) *sender.Effects
}

// Engine runs one producer. Its methods are safe for concurrent use.
type Engine struct {
	clk    clock.Clock
	coarse *clock.Coarse
	acc    *accumulator.Accumulator
	sender Stepper
	links  *transport.Transport
	seals  *seal.Pool[*accumulator.Batch]
	out    *deliver.Deliverer
	inbox  *inbox
	board  *board
	logs   *logs.Queue
	log    *slog.Logger // writes to logs

	identity atomic.Pointer[sender.Identity]
	refusal  atomic.Pointer[error] // nil while sends are taken

	turns atomic.Int64

	done chan struct{} // closed when the loop has ended and everything it started with it
}

// Start runs an engine. Shutdown ends it: the loop ends once the sender says Done, then waits for the delivery
// goroutine, the workers and the links; Done closes after them.
func Start(o Options) *Engine {
	e := &Engine{
		clk: o.Clock, coarse: o.Coarse, acc: o.Accumulator, sender: o.Sender, inbox: newInbox(), board: newBoard(o.View),
		logs: o.Logs, log: slog.New(o.Logs), done: make(chan struct{}),
	}
	e.logs.Start()
	o.Transport.Post = func(ev link.Event) { e.inbox.post(sender.Event{Kind: sender.Link, Link: ev}) }
	e.links = transport.New(o.Transport)
	e.seals = seal.New(o.SealWorkers, o.Codec, func(b *accumulator.Batch, c *compress.Compressor) {
		b.Seal(c)
		e.inbox.post(sender.Event{Kind: sender.Sealed, Batch: b})
	})
	e.out = deliver.New(e.log, func(n int) { e.inbox.post(sender.Event{Kind: sender.Delivered, N: n}) })
	e.acc.SetNudge(e.Nudge)
	e.acc.SetInCallback(e.OnDeliveryGoroutine)
	go pprof.Do(context.Background(), pprof.Labels("linger", o.Name), func(context.Context) { e.run() })
	return e
}

// run is the loop. It is stopped by the sender's Done and waited for through e.done.
func (e *Engine) run() {
	defer close(e.done)
	timer := e.clk.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		e.turns.Add(1)
		fx := e.turn()
		e.carryOut(fx)
		if fx.Done {
			break
		}
		e.wait(timer, fx.WakeAt)
	}
	e.inbox.close()
	e.seals.Stop()
	e.out.Stop()
	e.links.Wait()
	e.logs.Stop()
}

// coarseTick is how old the coarse clock may become while a batch takes records.
const coarseTick = time.Millisecond

// wait returns when there is something to take, or at instant at. Meanwhile it keeps the coarse clock fresh for default
// timestamps, as long as a batch takes records: every other record refreshes the clock itself.
func (e *Engine) wait(timer clock.Timer, at clock.Instant) {
	for e.acc.AnyOpen() {
		tick := e.clk.Now().Add(coarseTick)
		if at <= tick {
			break
		}
		if woken := e.inbox.waitUntil(e.clk, timer, tick); woken {
			return
		}
		e.coarse.Refresh()
	}
	e.inbox.waitUntil(e.clk, timer, at)
}

// turn steps once. A fault of the machine is logged and the loop goes on, as Java's does, with whatever the turn had
// decided before: better a producer that limps and says so than records that nobody hears of again.
func (e *Engine) turn() (fx *sender.Effects) {
	now, _ := e.coarse.Refresh()
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("uncaught fault in the sender, which goes on", "fault", fmt.Sprint(p), "stack", string(debug.Stack()))
			fx = e.sender.Rescue(now)
		}
	}()
	return e.sender.Step(now, e.inbox.take())
}

func (e *Engine) carryOut(fx *sender.Effects) {
	if fx.View != nil {
		e.board.publish(fx.View)
	}
	if fx.Identity != nil {
		e.identify(fx.Identity)
	}
	e.links.Do(fx.Orders)
	for _, b := range fx.Seals {
		e.seals.Submit(b)
	}
	for _, b := range fx.Free {
		e.acc.Free(b)
	}
	if len(fx.Completions) > 0 {
		e.out.Push(fx.Completions)
	}
	for i := range fx.Logs {
		e.log.Log(context.Background(), level(fx.Logs[i].Level), fx.Logs[i].Text)
	}
}

func level(l sender.Level) slog.Level {
	switch l {
	case sender.Debug:
		return slog.LevelDebug
	case sender.Info:
		return slog.LevelInfo
	case sender.Warn:
		return slog.LevelWarn
	}
	return slog.LevelError
}

// Nudge tells the loop that an append left something to do.
func (e *Engine) Nudge() { e.inbox.nudge() }

// BeginClose asks for an orderly end: everything buffered is sent first.
func (e *Engine) BeginClose() { e.inbox.post(sender.Event{Kind: sender.CloseBegin}) }

// ForceClose fails whatever is left.
func (e *Engine) ForceClose() { e.inbox.post(sender.Event{Kind: sender.CloseForce}) }

// Done closes when the engine has ended with all its goroutines.
func (e *Engine) Done() <-chan struct{} { return e.done }

// OnDeliveryGoroutine reports whether the caller runs inside a callback.
func (e *Engine) OnDeliveryGoroutine() bool { return e.out.OnDeliveryGoroutine() }

// Identity is who the producer was at the end of the last turn that changed it.
func (e *Engine) Identity() sender.Identity {
	if id := e.identity.Load(); id != nil {
		return *id
	}
	return sender.Identity{State: "none", ProducerID: -1, Epoch: -1}
}

// Refusal is why sends are refused, nil while they are taken. Each Send asks.
func (e *Engine) Refusal() error {
	if err := e.refusal.Load(); err != nil {
		return *err
	}
	return nil
}

func (e *Engine) identify(id *sender.Identity) {
	e.identity.Store(id)
	if id.Refusal == nil {
		e.refusal.Store(nil)
		return
	}
	e.refusal.Store(&id.Refusal)
}

// Turns counts the turns of the loop: one that spins shows here.
func (e *Engine) Turns() int64 { return e.turns.Load() }

// WantTopic asks for the topic's metadata without waiting for it.
func (e *Engine) WantTopic(name string) {
	e.inbox.post(sender.Event{Kind: sender.RefreshWanted, Topic: name})
}

// View is the newest metadata view.
func (e *Engine) View() *metadata.View { return e.board.current().view }
