package accumulator

import (
	"context"
	"errors"
	"sync"

	"linger/internal/clock"
	"linger/internal/invariant"
	"linger/internal/kerr"
	"linger/internal/record"
)

// memory is what an append has taken from the pool for a batch that is not open yet.
type memory struct {
	first []byte
	more  [][]byte // incremental mode: further chunks of the poolable size
	limit int      // size at which the batch will be full
}

func (m *memory) held() bool { return m.first != nil }

// allocate takes memory for a batch that begins with e: in Java, the larger of batch.size and what e can take at most.
// It blocks until deadline if it may, else it fails with kerr.ErrWouldBlock.
func (a *Accumulator) allocate(ctx context.Context, e *Entry, deadline clock.Instant, block bool) (memory, error) {
	need := record.UpperBound(int(size(e.Key)), int(size(e.Value)), len(e.Headers))
	limit := max(a.batchSize, need)
	if a.o.Incremental {
		return a.allocateChunks(ctx, need, limit, deadline, block)
	}
	buf, ok, err := a.o.Pool.TryAllocate(limit)
	switch {
	case err != nil:
		return memory{}, err
	case ok:
		return memory{first: buf, limit: limit}, nil
	case !block:
		return memory{}, kerr.ErrWouldBlock
	}
	inside := a.starve()
	defer a.sated(inside)
	buf, err = a.o.Pool.Allocate(ctx, limit, max(0, deadline.Sub(a.o.Clock.Now())))
	if err != nil {
		return memory{}, err
	}
	return memory{first: buf, limit: limit}, nil
}

func (a *Accumulator) allocateChunks(ctx context.Context, need, limit int, deadline clock.Instant, block bool) (memory, error) {
	chunks, ok, err := a.o.Pool.TryAllocateChunks(nil, need)
	if err == nil && !ok {
		if !block {
			return memory{}, kerr.ErrWouldBlock
		}
		inside := a.starve()
		defer a.sated(inside)
		chunks, err = a.o.Pool.AllocateChunks(ctx, nil, need, max(0, deadline.Sub(a.o.Clock.Now())))
		if errors.Is(err, kerr.ErrBufferExhausted) {
			a.o.Pool.CountExhausted()
		}
	}
	if err != nil {
		return memory{}, err
	}
	return memory{first: chunks[0], more: chunks[1:], limit: limit}, nil
}

// Exhausted reports that no record can be appended without waiting: no batch takes records, and there is no memory for the
// smallest one.
func (a *Accumulator) Exhausted() bool {
	if a.open.Load() > 0 {
		return false
	}
	if a.o.Incremental {
		return a.o.Pool.HasWaiters() || a.o.Pool.Available() < int64(a.o.Pool.Poolable())
	}
	return a.o.Pool.Available() < int64(a.batchSize)
}

// starve makes the engine send whatever holds memory, ready or not, until sated is called with what it returns: 1 for a
// caller inside a callback.
func (a *Accumulator) starve() (inside int32) {
	if a.o.InCallback != nil && a.o.InCallback() {
		inside = 1
	}
	a.pacer.press(a.o.Clock.Now())
	a.starving.Add(1)
	a.callbacks.Add(inside)
	a.nudge()
	return inside
}

func (a *Accumulator) sated(inside int32) {
	a.starving.Add(-1)
	a.callbacks.Add(-inside)
}

// giveBack returns memory that no batch was opened with.
func (a *Accumulator) giveBack(m *memory) {
	if m.held() {
		a.o.Pool.Release(m.first, len(m.first))
		a.o.Pool.ReleaseChunks(m.more)
	}
}

// grow lends an open batch more chunks until it can take n more bytes; false when the pool has none to spare. A batch
// that compresses well holds more than batch.size uncompressed, and all of it is charged.
func (a *Accumulator) grow(b *Batch, n int) bool {
	for b.builder.Remaining() < n {
		if a.o.Pool.Poolable() <= 0 {
			return false
		}
		chunk, ok := a.o.Pool.TryChunk()
		if !ok {
			return false
		}
		b.builder.AddChunk(chunk)
	}
	return true
}

// Free returns the batch's memory and the batch itself. The engine calls it once for each batch for which MayFree said
// yes; nobody may look at the batch afterwards. Any goroutine may call it.
func (a *Accumulator) Free(b *Batch) {
	invariant.Check(b.ended && b.given, "a batch is freed that may not be")
	chunks := b.builder.Memory()
	switch {
	case b.piece:
		a.o.Pool.Release(nil, b.charge) // its chunks never were the pool's
	case b.charge > 0:
		a.o.Pool.Release(chunks[0], b.charge)
		a.o.Pool.ReleaseChunks(chunks[1:])
	}
	a.batches.put(b)
}

// Bounds of what is kept for reuse.
const (
	maxIdleBatches = 4096
	bytesPerSlot   = 64      // of buffer.memory for each idle slot: what records are seldom smaller than
	leastIdleSlots = 1 << 12 // whatever buffer.memory is
)

// batchStore keeps batches for reuse. Their Results are not used again, but made several at a time: a future that is kept
// keeps that many.
type batchStore struct {
	mu      sync.Mutex
	idle    []*Batch
	results []Result
}

const resultsAtOnce = 16

// get is a new batch of a partition, with its Result.
func (s *batchStore) get(topic string, partition int32) *Batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b *Batch
	if n := len(s.idle); n > 0 {
		b = s.idle[n-1]
		s.idle[n-1] = nil
		s.idle = s.idle[:n-1]
	} else {
		b = &Batch{epoch: -1}
	}
	if len(s.results) == 0 {
		s.results = make([]Result, resultsAtOnce)
	}
	b.result = &s.results[0]
	s.results = s.results[1:]
	b.result.topic, b.result.partition = topic, partition
	return b
}

func (s *batchStore) put(b *Batch) {
	if invariant.Enabled {
		b.state = State(255) // not reused: whoever still uses it finds a state that may not be
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.idle) < maxIdleBatches {
		b.clear()
		s.idle = append(s.idle, b)
	}
}

// clear makes b a new batch but for the builder's own lists, which its next Reset empties.
func (b *Batch) clear() {
	b.builder.Reset(nil, 0, false, 1)
	*b = Batch{builder: b.builder, epoch: -1}
}

// slotStore keeps slices of slots for reuse.
type slotStore struct {
	mu    sync.Mutex
	idle  [][]Slot
	total int // capacity of all
	most  int // that total may be
	usual int // records of recent batches: the room of a new slice
}

// get is an empty slice. A new one has room for as many records as batches have had lately: grown record by record it
// would cost three times its memory, most of it garbage, while the producer's memory fills up for the first time.
func (s *slotStore) get() []Slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.idle)
	if n == 0 {
		if s.usual == 0 {
			return nil
		}
		return make([]Slot, 0, s.usual)
	}
	slots := s.idle[n-1]
	s.idle[n-1] = nil
	s.idle = s.idle[:n-1]
	s.total -= cap(slots)
	return slots
}

func (s *slotStore) put(slots []Slot) {
	n := len(slots)
	clear(slots)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usual = max(n, s.usual-s.usual/forgetSlots)
	if cap(slots) > 0 && s.total+cap(slots) <= s.most {
		s.total += cap(slots)
		s.idle = append(s.idle, slots[:0])
	}
}

// forgetSlots says how fast the usual number gives way to smaller ones: by this part of it a batch.
const forgetSlots = 8
