package bufferpool

import (
	"context"
	"time"

	"linger/internal/clock"
	"linger/internal/kerr"
)

// A waiter is one caller in line. The pool's mu guards all of it but wake.
type waiter struct {
	need      int64    // bytes asked for
	chunks    [][]byte // collected buffers, when chunks are asked for
	wantCount int      // chunks asked for; 0: one buffer
	collected int64    // allowance taken so far
	buf       []byte   // the free buffer that filled the request at once

	err        error // how it ended, once it left the queue; nil for well
	left       bool
	wake       chan struct{} // holds one token once it left
	timer      clock.Timer
	prev, next *waiter
}

// maxIdleWaiters bounds the waiters that are kept for the next wait. A producer that is held up by its brokers waits for
// each batch anew.
const maxIdleWaiters = 16

// join puts a request for need bytes at the end of the line; in wantCount chunks, or in one buffer when that is 0. It
// collects nothing yet, even when it is the first: as in Java, what there was too little of stays for a smaller newcomer
// until memory next comes back.
func (p *Pool) join(need int64, wantCount int) *waiter {
	var w *waiter
	if last := len(p.idle) - 1; last >= 0 {
		w = p.idle[last]
		p.idle = p.idle[:last]
	} else {
		w = &waiter{wake: make(chan struct{}, 1)}
	}
	w.need, w.wantCount = need, wantCount
	p.waiters.push(w)
	p.waiting.Add(1)
	return w
}

// leave ends w's wait, well or not, and wakes it.
func (p *Pool) leave(w *waiter, err error) {
	p.waiters.remove(w)
	p.waiting.Add(-1)
	w.err, w.left = err, true
	w.wake <- struct{}{}
}

// forget ends the use of a waiter that has left; its buffers are taken. The caller holds mu.
func (p *Pool) forget(w *waiter) {
	select {
	case <-w.wake: // who gave up did not hear that
	default:
	}
	if len(p.idle) < maxIdleWaiters {
		*w = waiter{wake: w.wake, timer: w.timer, chunks: w.chunks[:0]}
		p.idle = append(p.idle, w)
	}
}

// await waits until w has been served, maxBlock has passed, ctx has ended or the pool was closed, whichever is first; a
// request that was served in the same moment counts as served. It returns the buffer, if one filled the request at once, or
// appends the chunks to dst; w may not be looked at any more. exhausted makes the error of a time-out.
//
// A sleeping waiter is woken once, when its wait is over, so there is no remaining time to compute anew.
func (p *Pool) await(ctx context.Context, w *waiter, maxBlock time.Duration, dst [][]byte, exhausted func() error) (buf []byte, chunks [][]byte, err error) {
	start := p.clk.Now()
	if w.timer == nil {
		w.timer = p.clk.NewTimer(maxBlock)
	} else {
		w.timer.Reset(maxBlock)
	}
	var giveUp func() error
	select {
	case <-w.wake:
	case <-w.timer.C():
		giveUp = exhausted
	case <-ctx.Done():
		giveUp = func() error { return kerr.Interrupted(ctx, "memory (buffer.memory)") }
	}
	w.timer.Stop()
	p.waitNs.Add(max(0, int64(p.clk.Now().Sub(start))))
	p.mu.Lock()
	defer p.mu.Unlock()
	if giveUp != nil && !w.left {
		// The text of the error tells what was available, which doesn't count what w had collected.
		err := giveUp()
		p.giveBackCollected(w)
		p.leave(w, err)
		p.serve()
	}
	p.check()
	buf, chunks, err = w.buf, append(dst, w.chunks...), w.err
	p.forget(w)
	return buf, chunks, err
}

// giveBackCollected returns what w had so far; others are not served yet.
func (p *Pool) giveBackCollected(w *waiter) {
	p.allowance += w.collected
	p.free = append(p.free, w.chunks...)
	for _, c := range w.chunks {
		putPoison(c)
	}
	clear(w.chunks)
	w.collected, w.chunks = 0, w.chunks[:0]
}

// serve hands what is available to the waiters, the first one first, and lets go who has all.
func (p *Pool) serve() {
	for w := p.waiters.first(); w != nil && p.feed(w); w = p.waiters.first() {
		p.leave(w, nil)
	}
}

// feed hands w what there is of what it still lacks, and reports whether it has all now.
func (p *Pool) feed(w *waiter) (done bool) {
	if w.wantCount > 0 {
		return p.feedChunks(w)
	}
	if w.collected == 0 && w.need == int64(p.poolable) && len(p.free) > 0 {
		w.buf = p.takeFree()
		return true
	}
	missing := w.need - w.collected
	p.freeUp(missing)
	got := min(missing, p.allowance)
	p.allowance -= got
	w.collected += got
	if done = w.collected == w.need; done {
		w.buf = p.odd.take(int(w.need))
	}
	p.odd.trim(p.allowance)
	return done
}

// feedChunks gives free buffers first; one that takes the place of a chunk reserved as allowance returns that. The rest
// is reserved in whole chunks, so that collected is always a multiple of the poolable size.
func (p *Pool) feedChunks(w *waiter) (done bool) {
	size := int64(p.poolable)
	for len(w.chunks) < w.wantCount && len(p.free) > 0 {
		w.chunks = append(w.chunks, p.takeFree())
		if w.collected > 0 {
			w.collected -= size
			p.allowance += size
		}
	}
	missing := int64(w.wantCount-len(w.chunks)) - w.collected/size
	if n := min(missing, p.allowance/size); n > 0 {
		p.allowance -= n * size
		w.collected += n * size
		missing -= n
		p.odd.trim(p.allowance)
	}
	return missing == 0
}

// A queue is a doubly linked list: who gives up leaves from the middle.
type queue struct {
	head, tail *waiter
	len        int
}

func (q *queue) first() *waiter { return q.head }

func (q *queue) push(w *waiter) {
	w.prev = q.tail
	if q.tail == nil {
		q.head = w
	} else {
		q.tail.next = w
	}
	q.tail = w
	q.len++
}

func (q *queue) remove(w *waiter) {
	if w.prev == nil {
		q.head = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		q.tail = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.prev, w.next = nil, nil
	q.len--
}
