package bufferpool

import (
	"context"
	"fmt"
	"time"
)

// Allocate lends a buffer of size bytes, waiting up to maxBlock for memory. The buffer's content is arbitrary. It goes
// back by Release with the same size. A pool in incremental mode refuses.
//
// Errors: kerr.ErrIllegalArgument for a size above the total, at once; kerr.ErrBufferExhausted when maxBlock passed;
// kerr.ErrClosedAllocating; the context's error within kerr.ErrInterrupted. After an error nothing is held.
func (p *Pool) Allocate(ctx context.Context, size int, maxBlock time.Duration) ([]byte, error) {
	if err := p.admit(size); err != nil {
		return nil, err
	}
	p.mu.Lock()
	if err := p.refuse(size); err != nil {
		p.mu.Unlock()
		return nil, err
	}
	b, ok := p.reserve(size)
	if ok {
		p.serve() // what is left goes to the first in line
		p.check()
		p.mu.Unlock()
		return p.materialize(b, size)
	}
	w := p.join(int64(size), 0)
	p.mu.Unlock()
	b, _, err := p.await(ctx, w, maxBlock, nil, func() error {
		p.exhausted.Add(1)
		return p.errExhausted(size, maxBlock)
	})
	if err != nil {
		return nil, err
	}
	return p.materialize(b, size)
}

// TryAllocate is Allocate without waiting: ok is false when there is too little memory, and nothing was taken. Like
// Allocate it takes what it finds, even if others wait for more than that.
func (p *Pool) TryAllocate(size int) (b []byte, ok bool, err error) {
	if err := p.admit(size); err != nil {
		return nil, false, err
	}
	p.mu.Lock()
	if err := p.refuse(size); err != nil {
		p.mu.Unlock()
		return nil, false, err
	}
	if b, ok = p.reserve(size); ok {
		p.serve()
	}
	p.check()
	p.mu.Unlock()
	if !ok {
		return nil, false, nil
	}
	b, err = p.materialize(b, size)
	return b, err == nil, err
}

// admit refuses what could never be lent.
func (p *Pool) admit(size int) error {
	switch {
	case p.mode != Full:
		return illegalState("allocate() is not supported in INCREMENTAL allocation mode; use allocateChunks()")
	case int64(size) > p.total:
		return illegalArgument(fmt.Sprintf(
			"Attempt to allocate %d bytes, but there is a hard limit of %d on memory allocations.", size, p.total))
	}
	return nil
}

// refuse is what else speaks against a request, in Java's order; under the lock.
func (p *Pool) refuse(size int) error {
	switch {
	case p.closed:
		return errClosed()
	case size < 0:
		return illegalArgument(fmt.Sprintf("capacity < 0: (%d < 0)", size))
	}
	return nil
}

// reserve takes size bytes if they are there: a free buffer when it has that size, else allowance, for which the buffer
// is yet to be made (b is nil).
func (p *Pool) reserve(size int) (b []byte, ok bool) {
	if size == p.poolable && len(p.free) > 0 {
		return p.takeFree(), true
	}
	if p.available() < int64(size) {
		return nil, false
	}
	p.freeUp(int64(size))
	p.allowance -= int64(size)
	b = p.odd.take(size)
	p.odd.trim(p.allowance)
	return b, true
}

// materialize makes the buffer for reserved allowance, outside the lock. When that fails the reservation goes back.
func (p *Pool) materialize(b []byte, size int) ([]byte, error) {
	if b != nil {
		return b, nil
	}
	made := false
	defer func() {
		if !made {
			p.giveBack(int64(size))
		}
	}()
	b = p.make(size)
	made = true
	return b, nil
}

// giveBack returns reserved bytes that no buffer was made for.
func (p *Pool) giveBack(size int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allowance += size
	p.serve()
	p.check()
}
