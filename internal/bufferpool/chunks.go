package bufferpool

import (
	"context"
	"fmt"
	"time"
)

// AllocateChunks appends to dst as many chunks of the poolable size as hold size bytes, waiting up to maxBlock for all of
// them. They go back by Release or ReleaseChunks. A pool in full mode refuses. Errors are those of Allocate, but an
// exhausted pool is not counted (CountExhausted); after an error dst is as it was.
func (p *Pool) AllocateChunks(ctx context.Context, dst [][]byte, size int, maxBlock time.Duration) ([][]byte, error) {
	count, err := p.admitChunks(size)
	if err != nil {
		return dst, err
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return dst, errClosed()
	}
	if p.available() >= int64(count)*int64(p.poolable) {
		lent := p.reserveChunks(dst, count)
		p.serve()
		p.check()
		p.mu.Unlock()
		return p.materializeChunks(lent, len(dst), count), nil
	}
	w := p.join(int64(count)*int64(p.poolable), count)
	p.mu.Unlock()
	_, chunks, err := p.await(ctx, w, maxBlock, dst, func() error { return p.errExhaustedChunks(count, maxBlock) })
	if err != nil {
		return dst, err
	}
	return p.materializeChunks(chunks, len(dst), count), nil
}

// TryAllocateChunks is AllocateChunks that never stands in line: ok is false, and nothing was taken, when there is too
// little memory, or when others wait for it.
func (p *Pool) TryAllocateChunks(dst [][]byte, size int) (chunks [][]byte, ok bool, err error) {
	count, err := p.admitChunks(size)
	if err != nil {
		return dst, false, err
	}
	p.mu.Lock()
	switch {
	case p.closed:
		p.mu.Unlock()
		return dst, false, errClosed()
	case p.waiters.len > 0, p.available() < int64(count)*int64(p.poolable):
		p.mu.Unlock()
		return dst, false, nil
	}
	lent := p.reserveChunks(dst, count)
	p.check()
	p.mu.Unlock()
	return p.materializeChunks(lent, len(dst), count), true, nil
}

// TryChunk lends one more buffer of the poolable size, in either mode, for a batch that compresses better than expected.
// It never waits, and it never takes what others wait for. It is not ok when there is none, or the pool is closed.
func (p *Pool) TryChunk() (b []byte, ok bool) {
	p.mu.Lock()
	if p.closed || p.waiters.len > 0 || p.available() < int64(p.poolable) {
		p.mu.Unlock()
		return nil, false
	}
	b, _ = p.reserve(p.poolable)
	p.check()
	p.mu.Unlock()
	b, err := p.materialize(b, p.poolable)
	return b, err == nil
}

// ReleaseChunks gives back chunks of the poolable size. The list stays the caller's.
func (p *Pool) ReleaseChunks(chunks [][]byte) {
	for _, c := range chunks {
		p.Release(c, p.poolable)
	}
}

func (p *Pool) admitChunks(size int) (count int, err error) {
	switch {
	case p.mode != Incremental:
		return 0, illegalState("allocateChunks() is not supported in FULL allocation mode; use allocate()")
	case size <= 0:
		return 0, illegalArgument(fmt.Sprintf("totalSize must be positive: %d", size))
	}
	count = (size + p.poolable - 1) / p.poolable
	if whole := int64(count) * int64(p.poolable); whole > p.total {
		return 0, illegalArgument(fmt.Sprintf(
			"Attempt to allocate %d bytes (%d chunks of %d = %d bytes), but the hard limit on memory allocations is %d.",
			size, count, p.poolable, whole, p.total))
	}
	return count, nil
}

// reserveChunks takes count chunks that are known to be there: free buffers first, allowance for the rest.
func (p *Pool) reserveChunks(dst [][]byte, count int) [][]byte {
	for count > 0 && len(p.free) > 0 {
		dst = append(dst, p.takeFree())
		count--
	}
	p.allowance -= int64(count) * int64(p.poolable)
	p.odd.trim(p.allowance)
	return dst
}

// materializeChunks makes the chunks that are still missing: lent[from:] is to hold count. When making one fails all of
// the reservation becomes allowance; the buffers themselves are dropped.
func (p *Pool) materializeChunks(lent [][]byte, from, count int) [][]byte {
	made := false
	defer func() {
		if !made {
			p.giveBack(int64(count) * int64(p.poolable))
		}
	}()
	for len(lent)-from < count {
		lent = append(lent, p.make(p.poolable))
	}
	made = true
	return lent
}
