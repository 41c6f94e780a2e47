package accumulator

import (
	"context"
	"runtime"
	"time"

	"linger/internal/backoff"
	"linger/internal/bufferpool"
	"linger/internal/clock"
	"linger/internal/compress"
	"linger/internal/metadata"
)

// setup says what a fixture is to be like; the zero value of most fields is a sensible default.
type setup struct {
	topic           string // "t"
	batchSize       int
	linger          time.Duration
	memory          int64         // 1 MiB
	deliveryTimeout time.Duration // 2 min
	backoffMs       int64         // 100
	backoffMaxMs    int64         // 1000
	codec           compress.Type
	adaptive        bool
	availability    time.Duration
	random          func() int32
	idempotent      bool
	incremental     bool
	chunk           int // batchSize; what the pool lends in incremental mode
	nudge           func()
	yields          int                           // of the stress engine to others, before each turn
	watch           func(clock.Clock) clock.Clock // what the accumulator is given for its clock; nil: the clock itself
}

// tester is what a fixture needs of a test, a benchmark or a property.
type tester interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// fixture is an accumulator with a clock of its own and one topic whose partitions are led by nodes 1, 2 and 3.
type fixture struct {
	tb         tester
	clk        *clock.Manual
	pool       *bufferpool.Pool
	acc        *Accumulator
	sched      *Schedule
	topic      *Topic
	compressor *compress.Compressor
	handedOut  []*Batch // with the sealer
}

func newFixture(tb tester, s setup) *fixture {
	tb.Helper()
	orDefault(&s.topic, "t")
	orDefault(&s.memory, 1<<20)
	orDefault(&s.deliveryTimeout, 2*time.Minute)
	orDefault(&s.backoffMs, 100)
	orDefault(&s.backoffMaxMs, 1000)
	if s.random == nil {
		n := int32(-1)
		s.random = func() int32 { n++; return n }
	}
	f := &fixture{tb: tb, clk: clock.NewManual(1000)}
	mode := bufferpool.Full
	if s.incremental {
		mode = bufferpool.Incremental
	}
	orDefault(&s.chunk, s.batchSize)
	f.pool = bufferpool.New(s.memory, s.chunk, mode, f.clk)
	var clk clock.Clock = f.clk
	if s.watch != nil {
		clk = s.watch(clk)
	}
	f.acc = New(Options{
		BatchSize: s.batchSize, Linger: s.linger, DeliveryTimeout: s.deliveryTimeout,
		RetryBackoff: backoff.NewExponential(s.backoffMs, backoff.RetryMultiplier, s.backoffMaxMs, 0),
		Codec:        s.codec.Default(), Pool: f.pool, Incremental: s.incremental, Clock: clk, Coarse: clock.NewCoarse(clk),
		Adaptive: s.adaptive, AvailabilityTimeout: s.availability, Idempotent: s.idempotent, Random: s.random, Nudge: s.nudge,
	})
	f.sched = f.acc.Schedule()
	f.topic = f.acc.Topic(s.topic)
	var err error
	if f.compressor, err = compress.NewCompressor(s.codec.Default()); err != nil {
		tb.Fatal(err)
	}
	return f
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func at(ms int64) clock.Instant { return clock.Instant(0).AddMs(ms) }

// setCluster gives the topic its leaders by partition; listed is the metadata's order, nil for ascending.
func (f *fixture) setCluster(leaders, epochs, listed []int32) {
	nodes := []metadata.Node{{ID: 1}, {ID: 2}, {ID: 3}}
	mt := &metadata.Topic{Name: f.topic.Name, ID: [16]byte{1}, Listed: listed}
	for i, leader := range leaders {
		epoch := int32(0)
		if epochs != nil {
			epoch = epochs[i]
		}
		mt.Partitions = append(mt.Partitions, metadata.Partition{Leader: leader, LeaderEpoch: epoch})
	}
	f.sched.SetCluster(metadata.NewCluster(1, "c", nodes, []*metadata.Topic{mt}), f.clk.Now())
}

// send appends one record with a value of n bytes and fails the test if that fails.
func (f *fixture) send(partition int32, n int) Appended {
	f.tb.Helper()
	r, err := f.acc.Append(context.Background(), f.topic, partition, &Entry{TimestampMs: 1, Value: make([]byte, n)}, 0)
	if err != nil {
		f.tb.Fatal(err)
	}
	return r
}

// ready is a turn's look at what is ready.
func (f *fixture) ready() []int32 {
	f.sched.Refresh(f.clk.Now())
	return f.sched.Ready(f.clk.Now(), nil)
}

// drain seals what is to be sealed and drains the node.
func (f *fixture) drain(node int32, maxBytes int) []*Batch {
	f.sched.Refresh(f.clk.Now())
	out := f.sched.Drain(f.clk.Now(), node, maxBytes, nil, nil)
	if f.seal() {
		out = f.sched.Drain(f.clk.Now(), node, maxBytes, nil, out)
	}
	return out
}

// seal is the workers' part, and reports whether there was any.
func (f *fixture) seal() bool {
	f.handedOut = f.sched.Seals(f.handedOut)
	any := len(f.handedOut) > 0
	for _, b := range f.handedOut {
		b.Seal(f.compressor)
		f.sched.Sealed(b)
	}
	f.handedOut = f.handedOut[:0]
	return any
}

func (f *fixture) land(b *Batch) {
	if b.holder == HeldByRequest {
		f.sched.Landed(b)
	}
}

func (f *fixture) mayFree(b *Batch) *Batch {
	f.tb.Helper()
	if !f.sched.MayFree(b) {
		f.tb.Fatalf("batch of partition %d may not be freed: %v", b.Queue.Partition, b.holder)
	}
	return b
}

// finish ends a batch as a good answer does, and frees it.
func (f *fixture) finish(b *Batch, base int64) {
	f.tb.Helper()
	f.land(b)
	c := f.sched.Complete(b, Ending{BaseOffset: base, LogAppendMs: -1})
	f.acc.Free(f.mayFree(b))
	deliver(&c)
}

// deliver is the delivery goroutine's part.
func deliver(c *Completion) {
	for i := range c.Slots {
		if cb := c.Slots[i].Callback; cb != nil {
			var o Outcome
			c.Outcome(int32(i), &o)
			cb.Done(&o)
		}
	}
	c.Finish()
}

// waitForMemory has a goroutine wait for size bytes until the test ends.
func (f *fixture) waitForMemory(size int) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if buf, err := f.pool.Allocate(ctx, size, time.Hour); err == nil {
			<-ctx.Done()
			f.pool.Release(buf, size)
		}
	}()
	f.tb.Cleanup(func() { cancel(); <-ended })
	for !f.pool.HasWaiters() && f.pool.Available() < int64(size) {
		runtime.Gosched()
	}
}
