package accumulator

import (
	"sync"
	"sync/atomic"
	"time"

	"linger/internal/backoff"
	"linger/internal/bufferpool"
	"linger/internal/clock"
	"linger/internal/compress"
	"linger/internal/metadata"
	"linger/internal/partition"
)

// Options are an accumulator's limits and parts.
type Options struct {
	// BatchSize is when a batch counts as full, in bytes (batch.size). With 0 each record gets a batch of its own.
	BatchSize int
	// Linger is how long an unfilled batch waits for more records (linger.ms).
	Linger time.Duration
	// DeliveryTimeout is when a batch expires, counted from its creation (delivery.timeout.ms).
	DeliveryTimeout time.Duration
	// RetryBackoff is how long a batch waits between attempts.
	RetryBackoff backoff.Exponential
	// Codec compresses batches; the zero value does not.
	Codec compress.Codec
	// Pool lends the memory. With Incremental it must be in incremental mode, else in full mode.
	Pool *bufferpool.Pool
	// Incremental opens batches with just enough chunks for their first record (buffer.memory.allocation.strategy).
	Incremental bool
	// Clock is read by appends that open a batch, never by the Schedule.
	Clock clock.Clock
	// Coarse is refreshed by appends that open a batch.
	Coarse *clock.Coarse
	// Adaptive weighs partitions by the length of their queues (partitioner.adaptive.partitioning.enable).
	Adaptive bool
	// AvailabilityTimeout leaves out partitions of nodes that were ready but not drained for longer; 0 never does
	// (partitioner.availability.timeout.ms).
	AvailabilityTimeout time.Duration
	// RackAware prefers leaders in Rack (partitioner.rack.aware, client.rack).
	RackAware bool
	Rack      string
	// Idempotent puts batches back in sequence order instead of in front.
	Idempotent bool
	// Random draws sticky choices: uniform over all int32, safe for concurrent use.
	Random func() int32
	// Jitter draws for back-offs: uniform in [0,1). Only Step calls it.
	Jitter func() float64
	// Nudge wakes the engine: called when an append is about to wait for memory or for its turn and when a flush closed
	// batches. It must not block. May be nil, and set later by SetNudge.
	Nudge func()
	// InCallback reports whether the caller is inside a callback; asked when an append is about to wait for memory or its
	// turn. May be nil, and set later by SetInCallback.
	InCallback func() bool
}

// Accumulator is the app's face. All its methods are safe for concurrent use unless they say otherwise.
type Accumulator struct {
	o         Options
	batchSize int
	word      atomic.Uint64 // see word
	gens      generations
	starving  atomic.Int32 // appends that wait for memory
	callbacks atomic.Int32 // those of them that a callback waits in
	topics    atomic.Pointer[directory]
	signals   signals

	open atomic.Int64 // batches that take records

	// Batches that have not ended, and those of them that stand in a queue. Written at both faces.
	incomplete atomic.Int64
	queued     atomic.Int64
	left       atomic.Int64 // how often one has left its queue
	pacer      pacer

	slots     slotStore
	batches   batchStore
	scratches scratchStore

	topicsMu sync.Mutex // guards the making of topics, and cluster
	cluster  *metadata.Cluster

	lending   sync.RWMutex // held for reading by appends that may have memory of their own
	closeOnce sync.Once
	closed    chan struct{}

	schedule Schedule
}

// directory is the copy-on-write list of topics.
type directory struct {
	byName  map[string]*Topic
	ordered []*Topic // as they were made: the order in which a barrier passes them
}

// New makes an accumulator. Pool, Clock and Coarse are shared with it; everything else in o is its own.
func New(o Options) *Accumulator {
	a := &Accumulator{o: o, batchSize: o.BatchSize, closed: make(chan struct{})}
	a.slots.most = int(max(o.Pool.Total()/bytesPerSlot, leastIdleSlots))
	a.gens.start()
	a.topics.Store(&directory{byName: map[string]*Topic{}})
	a.schedule.start(a)
	return a
}

// SetNudge sets Options.Nudge. Call it before the first append.
func (a *Accumulator) SetNudge(nudge func()) { a.o.Nudge = nudge }

// SetInCallback sets Options.InCallback. Call it before the first append.
func (a *Accumulator) SetInCallback(inside func() bool) { a.o.InCallback = inside }

// CallbackStarves reports that a callback waits for memory: then batches must go out however many wait for their callbacks,
// or it would wait for memory that is only given back behind it.
func (a *Accumulator) CallbackStarves() bool { return a.callbacks.Load() > 0 }

// Schedule is the engine's face. There is one; it belongs to Step.
func (a *Accumulator) Schedule() *Schedule { return &a.schedule }

// Lookup is the topic of that name, nil if nothing asked for it yet. It takes no lock. Most producers write to one topic:
// the first one costs no look into the map.
func (a *Accumulator) Lookup(name string) *Topic {
	topics := a.topics.Load()
	if len(topics.ordered) > 0 && topics.ordered[0].Name == name {
		return topics.ordered[0]
	}
	return topics.byName[name]
}

// Topic is the topic of that name, made if need be.
func (a *Accumulator) Topic(name string) *Topic {
	if t := a.Lookup(name); t != nil {
		return t
	}
	a.topicsMu.Lock()
	defer a.topicsMu.Unlock()
	old := a.topics.Load()
	if t := old.byName[name]; t != nil {
		return t
	}
	t := &Topic{Name: name, acc: a, number: len(old.ordered)}
	t.sticky = partition.NewSticky(clampSize(a.batchSize), a.o.RackAware, a.o.Rack, a.o.Random)
	t.queues.Store(&[]atomic.Pointer[Queue]{})
	if a.cluster != nil {
		t.publish(a.cluster)
	}
	next := &directory{byName: make(map[string]*Topic, len(old.byName)+1)}
	for n, other := range old.byName {
		next.byName[n] = other
	}
	next.byName[name] = t
	next.ordered = append(old.ordered[:len(old.ordered):len(old.ordered)], t)
	a.topics.Store(next)
	return t
}

func clampSize(n int) int32 { return int32(min(n, 1<<31-1)) }

// publish makes the cluster the one that sticky choices and partition counts come from.
func (a *Accumulator) publish(c *metadata.Cluster) {
	a.topicsMu.Lock()
	defer a.topicsMu.Unlock()
	a.cluster = c
	for _, t := range a.topics.Load().ordered {
		t.publish(c)
	}
}

// Incomplete is how many batches have not ended.
func (a *Accumulator) Incomplete() int { return int(a.incomplete.Load()) }

// AnyOpen reports whether a batch takes records; while one does, somebody has to keep the coarse clock fresh.
func (a *Accumulator) AnyOpen() bool { return a.open.Load() > 0 }

// Undrained is how many batches stand in queues.
func (a *Accumulator) Undrained() int { return int(a.queued.Load()) }

// exhausted: somebody waits for memory, so that whatever holds some should go (Java: BufferPool.queued() > 0).
func (a *Accumulator) exhausted() bool { return a.starving.Load() > 0 || a.o.Pool.HasWaiters() }

func (a *Accumulator) nudge() {
	if a.o.Nudge != nil {
		a.o.Nudge()
	}
}
