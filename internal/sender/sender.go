package sender

import (
	"time"

	"linger/internal/accumulator"
	"linger/internal/client"
	"linger/internal/clock"
	"linger/internal/metadata"
	"linger/internal/metrics"
	"linger/internal/txn"
	"linger/internal/wire"
)

// Options are the sender's limits and the parts it owns from now on.
type Options struct {
	// Acks is 0, 1 or -1 (acks).
	Acks int16
	// Retries is how often a batch may be tried again (retries).
	Retries int
	// MaxRequestSize bounds the batches of one request, in bytes (max.request.size).
	MaxRequestSize int
	// RequestTimeoutMs goes into produce requests (request.timeout.ms).
	RequestTimeoutMs int32
	// KeepOrder mutes a partition while its batch is out (max.in.flight.requests.per.connection = 1).
	KeepOrder bool
	// Unresolved are the bootstrap servers when their names are to be resolved by the sender, for at most ResolveTimeout
	// (bootstrap.resolve.timeout.ms); empty when Metadata knows the bootstrap nodes already.
	Unresolved     []client.HostPort
	ResolveTimeout time.Duration
	// MaxUndelivered stops draining while more batches wait for their callbacks.
	MaxUndelivered int
	// Faults plants bugs for the simulation to catch; the zero value plants none.
	Faults Faults

	// Counters are written by the sender alone.
	Counters *metrics.Sender

	Accumulator *accumulator.Accumulator
	Client      *client.Machine
	Metadata    *metadata.Store
	// Txn is nil without idempotence.
	Txn *txn.Manager
}

// Faults are deliberate bugs: the simulation proves its worth by catching each of them.
type Faults struct {
	// SkipMuting forgets to mute a partition that must keep its order.
	SkipMuting bool
	// RequeueAtTail puts a retried batch behind younger ones.
	RequeueAtTail bool
	// FreeAtExpiry sends an expired batch's memory home while a request still holds it.
	FreeAtExpiry bool
}

// Sender is the step machine. Only one goroutine may call it.
type Sender struct {
	o      Options
	acc    *accumulator.Accumulator
	sched  *accumulator.Schedule
	client *client.Machine
	meta   *metadata.Store
	txn    *txn.Manager

	fx          Effects
	inFlight    int // batches that a request holds
	sealing     int // batches that a worker holds
	undelivered int // batches whose completion is not delivered yet
	started     bool
	resolving   bool // the bootstrap names
	closing     bool
	forced      bool
	finished    bool
	refused     bool // a broker has just refused to let us in
	viewVersion int64

	retryIDAt clock.Instant // when the transaction manager's next request may leave
	illegal   error         // the last refused transition, logged once
	identity  Identity      // as last published
	response  wire.ProduceResponse

	// scratch, reused from turn to turn
	nodes      []int32
	batches    []*accumulator.Batch
	answers    []client.Answer
	requests   []*produceRequest // idle ones
	leaders    []metadata.LeaderHint
	losses     []client.Loss
	topics     []*accumulator.Topic
	clientLogs []client.LogLine
}

// New makes a sender. Everything in o belongs to it.
func New(o Options) *Sender {
	return &Sender{o: o, acc: o.Accumulator, sched: o.Accumulator.Schedule(), client: o.Client, meta: o.Metadata, txn: o.Txn}
}

// Step takes one turn at instant now. It reads no clock, touches no socket and starts no goroutine: everything it
// wants done is in the effects, including when it wants to be woken.
func (s *Sender) Step(now clock.Instant, events []Event) *Effects {
	s.fx.reset()
	if !s.started {
		s.begin(now)
	}
	for i := range events {
		s.take(now, &events[i])
	}
	s.client.Tick(now)
	s.takeBootstrap(now)
	s.takeLosses(now)
	s.takeAnswers(now)
	if !s.finished {
		s.sched.Refresh(now)
		s.failRefused()
		s.fetchMetadata(now)
		s.produce(now, s.identify(now))
		s.close(now)
	}
	s.takeAnswers(now) // a request that no link could take is answered at once
	s.publish()
	s.fx.Orders = s.client.Orders(s.fx.Orders)
	s.takeLogs()
	s.fx.WakeAt = s.nextWake(now)
	return &s.fx
}

// Rescue gives what a turn that panicked had decided by then, and asks for the next one after a pause: the sender must
// neither forget orders and outcomes nor spin on its fault.
func (s *Sender) Rescue(now clock.Instant) *Effects {
	s.fx.Orders = s.client.Orders(s.fx.Orders)
	s.fx.WakeAt = now.AddMs(rescuePauseMs)
	return &s.fx
}

const rescuePauseMs = 100

func (s *Sender) take(now clock.Instant, e *Event) {
	switch e.Kind {
	case Nudge:
	case Link:
		s.client.Handle(now, e.Link)
	case Sealed:
		s.sealing--
		s.sched.Sealed(e.Batch)
		s.letGoIfEnded(e.Batch)
	case Delivered:
		s.undelivered -= e.N
	case TopicWanted:
		s.meta.Add(e.Topic, now)
	case RefreshWanted:
		s.meta.Add(e.Topic, now)
		s.meta.RequestTopic(e.Topic)
	case CloseBegin:
		s.closing = true
	case CloseForce:
		s.closing, s.forced = true, true
	}
}

// nextWake is the earliest instant at which time alone changes something.
func (s *Sender) nextWake(now clock.Instant) clock.Instant {
	if s.finished {
		return clock.Never
	}
	at := min(s.client.NextWake(), s.sched.NextCheck())
	at = min(at, s.meta.WakeAt(now))
	if s.txn != nil && s.txn.Peek() != nil && s.retryIDAt > now {
		at = min(at, s.retryIDAt)
	}
	return max(at, now)
}
