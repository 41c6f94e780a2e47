package accumulator

import (
	"sync"
	"sync/atomic"

	"linger/internal/clock"
	"linger/internal/invariant"
	"linger/internal/txn"
)

// Queue is the queue of one partition. Its first fields are shared by both faces; those behind them are Step's.
type Queue struct {
	// Topic and Partition never change.
	Topic     *Topic
	Partition int32

	mu          sync.Mutex // guards what follows, up to the blank line, and the open batch
	open        *Batch     // the last batch, while it takes records; nil: all batches are full
	batches     fifo
	opened      int64         // batches opened so far: their order
	lastCreated clock.Instant // of the batch opened last: creation times never go back within a queue

	signalled atomic.Bool
	next      *Queue // in the stack of signals

	// Seq is the partition's sequences.
	Seq txn.Partition
	// InFlight are the batches that a request holds, in the order of their creation; ended ones among them.
	InFlight []*Batch
	// Muted: nothing may be drained, whatever else holds.
	Muted bool

	known  bool  // the Schedule has seen the queue
	order  int32 // in which it did
	state  queueState
	node   *node // who leads the partition; nil: nobody known
	pos    int   // place among the node's partitions
	epoch  int32 // the leader's, -1 unknown
	length int32 // batches, when the Schedule last looked
	places [heapCount]int32
}

// signal puts the queue on the stack for the Schedule and reports whether it was not there yet: then the engine needs a
// nudge. What the signal is about must have been done, and the lock released or held, before.
func (q *Queue) signal() (first bool) {
	if !q.signalled.CompareAndSwap(false, true) {
		return false
	}
	q.Topic.acc.signals.push(q)
	return true
}

// closeOpen ends appends to the open batch. The caller holds the lock, and signals once it has let go.
func (q *Queue) closeOpen() {
	q.open.close()
	q.open = nil
	q.Topic.acc.open.Add(-1)
}

// remove takes b out of the queue, wherever it stands. The caller holds the lock.
func (q *Queue) remove(b *Batch) {
	invariant.Check(b.queued, "batch of %s-%d is not in its queue", q.Topic.Name, q.Partition)
	if q.open == b {
		q.closeOpen()
	}
	q.batches.remove(b)
	b.queued = false
	a := q.Topic.acc
	a.queued.Add(-1)
	a.left.Add(1)
	if q.batches.len() == 0 {
		a.pacer.queues.Add(-1)
	}
	a.letPass()
}

// put adds b at place i of the queue. The caller holds the lock.
func (q *Queue) put(i int, b *Batch) {
	q.batches.insert(i, b)
	b.queued = true
	if q.batches.len() == 1 {
		q.Topic.acc.pacer.queues.Add(1)
	}
	q.Topic.acc.queued.Add(1)
}

// signals is a stack of queues that anyone may push to and Step empties. A queue is in it at most once.
type signals struct{ head atomic.Pointer[Queue] }

func (s *signals) push(q *Queue) {
	for {
		old := s.head.Load()
		q.next = old
		if s.head.CompareAndSwap(old, q) {
			return
		}
	}
}

// take empties the stack into dst, first pushed first. The queues stay marked: unmark each before looking at it, so that
// what happens after the look signals anew.
func (s *signals) take(dst []*Queue) []*Queue {
	start := len(dst)
	for q := s.head.Swap(nil); q != nil; {
		next := q.next
		q.next = nil
		dst = append(dst, q)
		q = next
	}
	for i, j := start, len(dst)-1; i < j; i, j = i+1, j-1 {
		dst[i], dst[j] = dst[j], dst[i]
	}
	return dst
}

// fifo is a queue's batches: appended at the tail, taken at the head, rarely touched between. Its memory is reused.
type fifo struct {
	list []*Batch
	head int
}

func (f *fifo) len() int { return len(f.list) - f.head }

// at is the batch at place i, 0 being the head.
func (f *fifo) at(i int) *Batch { return f.list[f.head+i] }

func (f *fifo) front() *Batch {
	if f.len() == 0 {
		return nil
	}
	return f.list[f.head]
}

func (f *fifo) popFront() {
	f.list[f.head] = nil
	f.head++
	if f.head == len(f.list) {
		f.list, f.head = f.list[:0], 0
	}
}

func (f *fifo) insert(i int, b *Batch) {
	if i == 0 && f.head > 0 {
		f.head--
		f.list[f.head] = b
		return
	}
	if f.head > 0 && len(f.list) == cap(f.list) {
		n := copy(f.list, f.list[f.head:])
		clear(f.list[n:])
		f.list, f.head = f.list[:n], 0
	}
	f.list = append(f.list, nil)
	at := f.head + i
	copy(f.list[at+1:], f.list[at:])
	f.list[at] = b
}

func (f *fifo) remove(b *Batch) {
	if f.front() == b {
		f.popFront()
		return
	}
	for i := f.head; i < len(f.list); i++ {
		if f.list[i] != b {
			continue
		}
		copy(f.list[i:], f.list[i+1:])
		f.list[len(f.list)-1] = nil
		f.list = f.list[:len(f.list)-1]
		return
	}
	panic("broken invariant: a batch is not in the queue it says it is in")
}
