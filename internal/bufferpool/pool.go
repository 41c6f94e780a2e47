package bufferpool

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"linger/internal/clock"
	"linger/internal/invariant"
)

// Mode is how a pool lends memory to batches; it accepts the calls of its mode only.
type Mode uint8

const (
	// Full lends one buffer a batch: Allocate.
	Full Mode = iota
	// Incremental lends a list of chunks of the poolable size: AllocateChunks.
	Incremental
)

// String is Java's name of the mode.
func (m Mode) String() string {
	if m == Incremental {
		return "INCREMENTAL"
	}
	return "FULL"
}

// Pool lends memory within a limit, first come, first served. All methods are safe for any goroutine.
type Pool struct {
	total    int64
	poolable int
	mode     Mode
	clk      clock.Clock
	make     func(n int) []byte

	waiting   atomic.Int32 // length of the queue, for readers without the lock
	waitNs    atomic.Int64
	exhausted atomic.Int64

	mu        sync.Mutex
	free      [][]byte // each of exactly poolable bytes; the hot end is the last
	allowance int64    // bytes neither lent nor in a free buffer
	odd       oddBuffers
	waiters   queue
	idle      []*waiter // to be used again
	closed    bool
}

// New returns a pool of total bytes (buffer.memory) whose buffers of poolable bytes (batch.size) are reused. No memory is
// taken yet. A poolable size above total is allowed: no such buffer can then be had. Chunks are of one byte at least.
func New(total int64, poolable int, mode Mode, clk clock.Clock) *Pool {
	if mode == Incremental {
		poolable = max(poolable, 1)
	}
	return &Pool{
		total: total, poolable: poolable, mode: mode, clk: clk, allowance: total,
		make: func(n int) []byte { return make([]byte, n) },
	}
}

// Total is buffer.memory in bytes.
func (p *Pool) Total() int64 { return p.total }

// Poolable is the size in bytes of the buffers that are kept for reuse.
func (p *Pool) Poolable() int { return p.poolable }

// HasWaiters reports whether anybody waits for memory, without taking the lock: the sender asks in each ready check.
//
//gcassert:inline
func (p *Pool) HasWaiters() bool { return p.waiting.Load() > 0 }

// Waiters is how many callers wait for memory.
func (p *Pool) Waiters() int { return int(p.waiting.Load()) }

// Available is how many bytes could be lent now: the allowance and the free buffers.
func (p *Pool) Available() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.available()
}

// Unallocated is the allowance: bytes for which no buffer exists.
func (p *Pool) Unallocated() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.allowance
}

// Free is how many free buffers are kept for reuse.
func (p *Pool) Free() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.free)
}

// Stats is a snapshot of what the pool has counted.
type Stats struct {
	WaitTime  time.Duration // all callers' time spent waiting, ended waits only (bufferpool-wait-time-ns-total)
	Exhausted int64         // requests refused for want of memory (buffer-exhausted-total)
	Available int64         // bytes
	Total     int64         // bytes
	Waiters   int
}

// Stats is a snapshot for metrics and the inspector.
func (p *Pool) Stats() Stats {
	return Stats{
		WaitTime: time.Duration(p.waitNs.Load()), Exhausted: p.exhausted.Load(),
		Available: p.Available(), Total: p.total, Waiters: p.Waiters(),
	}
}

// CountExhausted counts a record dropped for want of memory. AllocateChunks leaves that to its caller, who may have been
// able to do without.
func (p *Pool) CountExhausted() { p.exhausted.Add(1) }

// Close makes all waiting and later requests fail. Memory may still be given back.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for w := p.waiters.first(); w != nil; w = p.waiters.first() {
		p.giveBackCollected(w)
		p.leave(w, errClosed())
	}
}

func (p *Pool) available() int64 {
	return p.allowance + int64(len(p.free))*int64(p.poolable)
}

// freeUp turns free buffers into allowance until size bytes of it are there or no buffer is left, coldest first.
func (p *Pool) freeUp(size int64) {
	missing := size - p.allowance
	if missing <= 0 || len(p.free) == 0 {
		return
	}
	n := len(p.free)
	if p.poolable > 0 {
		n = int(min(int64(n), (missing+int64(p.poolable)-1)/int64(p.poolable)))
	}
	p.allowance += int64(n) * int64(p.poolable)
	rest := copy(p.free, p.free[n:])
	clear(p.free[rest:])
	p.free = p.free[:rest]
}

// takeFree lends the hottest free buffer; there must be one.
func (p *Pool) takeFree() []byte {
	last := len(p.free) - 1
	b := p.free[last]
	p.free[last] = nil
	p.free = p.free[:last]
	checkPoison(b)
	return b
}

// check holds at the end of each call, under the lock.
func (p *Pool) check() {
	if !invariant.Enabled {
		return
	}
	available := p.available()
	invariant.Check(p.allowance >= 0 && available <= p.total,
		"pool of %d bytes: allowance %d, available %d", p.total, p.allowance, available)
	invariant.Check(int32(p.waiters.len) == p.waiting.Load(), "%d waiters, %d counted", p.waiters.len, p.waiting.Load())
}

const poison = 0xdb

// putPoison overwrites released memory, so that who still reads it finds nonsense.
func putPoison(b []byte) {
	if invariant.Enabled {
		for i := range b {
			b[i] = poison
		}
	}
}

// checkPoison finds out who still wrote into released memory.
func checkPoison(b []byte) {
	if invariant.Enabled {
		for i, c := range b {
			invariant.Check(c == poison, "byte %d of a free buffer was written after its release", i)
		}
	}
}

// milliseconds of a limit, as Java's texts give it. A begun one counts: what is left of max.block.ms a moment later is still
// all of it on Java's clock.
func milliseconds(d time.Duration) int64 {
	if d > math.MaxInt64-time.Millisecond {
		return math.MaxInt64
	}
	return (d + time.Millisecond - 1).Milliseconds()
}
