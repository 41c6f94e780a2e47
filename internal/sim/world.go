package sim

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"linger/internal/accumulator"
	"linger/internal/backoff"
	"linger/internal/bufferpool"
	"linger/internal/client"
	"linger/internal/clock"
	"linger/internal/metadata"
	"linger/internal/metrics"
	"linger/internal/sender"
	"linger/internal/txn"
)

// Options of a run.
type Options struct {
	// Planted are bugs to find.
	Planted sender.Faults
	// Guarded brokers keep an idempotent producer from two traps into which the Java producer's rules lead:
	//
	//   - they remember more than five batches of a producer, so that one which comes again is known even when five younger
	//     ones were acknowledged meanwhile;
	//   - they refuse a batch for good only when nothing of the partition is in doubt and nothing older is on its way: the
	//     epoch that such an error begins has batches sent anew that may be in the log already.
	Guarded bool
	// Trace gets a line for each change of state; nil for none.
	Trace io.Writer
}

// Report is what a world came to.
type Report struct {
	Seed uint64
	// Hash stands for everything that happened, in order and in time.
	Hash uint64
	// Failures are broken promises; empty when all were kept.
	Failures []string
	// Faults is how many things went wrong, Counts which, and what else was reached.
	Faults int
	Counts Counts
	// Records were appended, in Turns of the machine, over Virtual time.
	Records, Turns int
	Virtual        time.Duration
	// Mode is what was promised.
	Mode string
}

// Command is how to see the world again.
func (r *Report) Command() string {
	return fmt.Sprintf("go test ./internal/sim -run 'TestWorlds$' -seed=%d -v", r.Seed)
}

// world is one world. Everything in it happens on the caller's goroutine.
type world struct {
	seed   uint64
	o      Options
	set    settings
	dice   dice // the world's own; the machine has dice of its own
	clk    *clock.Manual
	now    clock.Instant
	agenda agenda
	trace  trace
	counts Counts
	failed []string
	healed bool

	loop    loop
	net     network
	cluster cluster
	app     app

	pool    *bufferpool.Pool
	acc     *accumulator.Accumulator
	sender  *sender.Sender
	tally   metrics.Sender
	turns   int
	tools   *Tools
	sealing int // batches that are with a sealer
}

// Run lives through the world of the seed.
func Run(seed uint64, o Options) *Report { return NewTools().Run(seed, o) }

// Run is Run with tools that were used before.
func (t *Tools) Run(seed uint64, o Options) *Report {
	w := newWorld(seed, o, t)
	w.live()
	return &Report{
		Seed: seed, Hash: w.trace.hash, Failures: w.failed, Faults: w.counts.faults(), Counts: w.counts,
		Records: len(w.app.records), Turns: w.turns, Virtual: time.Duration(w.now), Mode: modeNames[w.set.mode],
	}
}

// wallStart is the wall clock at the beginning: some day in 2026.
const wallStart = 1_780_000_000_000

// Actors that draw.
const (
	dieWorld = iota + 1
	dieSettings
	dieMachine
	dieSticky
	dieApp
)

func newWorld(seed uint64, o Options, t *Tools) *world {
	w := &world{seed: seed, o: o, tools: t, set: draw(newDice(seed, dieSettings)), dice: newDice(seed, dieWorld), clk: clock.NewManual(wallStart)}
	w.trace.out = o.Trace
	w.loop.producer = -1
	w.cluster.start(w)
	w.net.start(w)
	w.build()
	w.app.start(w)
	return w
}

// build puts the machine together as the producer does.
func (w *world) build() {
	s := &w.set
	rng := rand.New(rand.NewPCG(w.seed, dieMachine))
	sticky := rand.New(rand.NewPCG(w.seed, dieSticky))
	poolMode := bufferpool.Full
	if s.incremental {
		poolMode = bufferpool.Incremental
	}
	retry := backoff.NewExponential(s.retryBackoffMs, backoff.RetryMultiplier, s.retryBackoffMaxMs, backoff.RetryJitter)
	w.pool = bufferpool.New(s.memory, s.batchSize, poolMode, w.clk)
	w.acc = accumulator.New(accumulator.Options{
		BatchSize: s.batchSize, Linger: s.linger, DeliveryTimeout: s.deliveryTimeout, RetryBackoff: retry,
		Codec: s.codec.Default(), Pool: w.pool, Incremental: s.incremental, Clock: w.clk, Coarse: clock.NewCoarse(w.clk), Adaptive: true,
		Idempotent: s.mode == idempotent, Random: func() int32 { return int32(sticky.Uint32()) }, Jitter: rng.Float64,
		Nudge: func() { w.post(sender.Event{Kind: sender.Nudge}) },
	})
	store := metadata.New(metadata.Options{
		MaxAgeMs: s.metadataAgeMs, MaxIdleMs: 300_000, Backoff: retry, ReconnectBackoffMs: s.reconnectMs,
		Rebootstrap: true, RebootstrapTriggerMs: 300_000, Random: rng.Float64,
	})
	machine := client.New(client.Options{
		ClientID: "sim", MaxInFlight: s.maxInFlight, RequestTimeout: s.requestTimeout, MaxIdle: s.maxIdle,
		ReconnectBackoffMs: s.reconnectMs, ReconnectBackoffMaxMs: s.reconnectMaxMs, SetupTimeoutMs: s.setupMs, SetupTimeoutMaxMs: s.setupMaxMs,
		SendBuf: -1, RecvBuf: -1, RetryBackoff: clock.Ms(s.retryBackoffMs), Rebootstrap: true, Rand: rng,
	})
	var manager *txn.Manager
	if s.mode == idempotent {
		manager = txn.New(txn.Options{RetryBackoffMs: s.retryBackoffMs})
	}
	store.Bootstrap(w.cluster.bootstrap())
	w.sender = sender.New(sender.Options{
		Acks: s.acks, Retries: s.retries, MaxRequestSize: s.maxRequest, RequestTimeoutMs: int32(s.requestTimeout.Milliseconds()),
		KeepOrder: s.maxInFlight == 1, MaxUndelivered: s.undelivered, Faults: w.o.Planted, Counters: &w.tally,
		Accumulator: w.acc, Client: machine, Metadata: store, Txn: manager,
	})
}

// Bounds that a world which makes progress stays far below.
const (
	maxTurns   = 60_000
	maxVirtual = clock.Instant(10 * time.Minute)
)

// live goes on until the machine says Done, then lets the brokers finish, and judges.
func (w *world) live() {
	defer func() {
		if fault := recover(); fault != nil {
			w.fail("panic: %v\n%s", fault, debug.Stack())
		}
	}()
	for !w.loop.done && len(w.failed) == 0 {
		if !w.next() {
			return
		}
	}
	w.afterlife()
	w.judge()
}

// next lets one thing happen: the next on the agenda, or a turn of the machine that is due before it.
func (w *world) next() bool {
	at := w.agenda.due()
	turn := w.loop.turnAt < at
	at = min(at, w.loop.turnAt)
	switch {
	case at == clock.Never:
		w.fail("nothing will ever happen again, and the machine is not done")
		return false
	case at > maxVirtual || w.turns > maxTurns:
		w.fail("the machine is not done after %d turns and %v", w.turns, time.Duration(w.now))
		return false
	}
	w.moveTo(at)
	if turn {
		w.takeTurn()
		return true
	}
	w.agenda.take()()
	return true
}

func (w *world) moveTo(at clock.Instant) {
	if at > w.now {
		w.clk.Advance(at.Sub(w.now))
		w.now = at
	}
}

// after puts something on the agenda.
func (w *world) after(d time.Duration, do func()) { w.agenda.add(w.now.Add(d), do) }

// afterlife lets what is still on its way at the brokers arrive: a copy too many may show only now.
func (w *world) afterlife() {
	for until := w.now.Add(5 * time.Second); w.agenda.due() <= until; {
		w.moveTo(w.agenda.due())
		w.agenda.take()()
	}
}

const mostFailures = 10

func (w *world) fail(format string, args ...any) {
	if len(w.failed) < mostFailures {
		text := fmt.Sprintf(format, args...)
		w.failed = append(w.failed, text)
		w.trace.text(w.now, "FAILURE", "%s", text)
	}
}

// fault counts that something went wrong.
func (w *world) fault(f Fault) {
	w.counts.Faults[f]++
	w.trace.text(w.now, "fault", "%v", f)
	w.trace.mix(uint64(f))
}

func (w *world) reach(p Path) { w.counts.Paths[p]++ }
