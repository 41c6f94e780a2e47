package accumulator

import "linger/internal/clock"

// deadlines is a binary heap of queues by instant. Each queue stands in it at most once and knows its place (slot[which]),
// so that it can be moved or taken out in O(log n). Ties are broken by the queues' own order: the same calls give the
// same order, always.
type deadlines struct {
	which int // which of a queue's places this heap keeps
	heap  []deadline
}

type deadline struct {
	at clock.Instant
	q  *Queue
}

// The two heaps that a queue can stand in.
const (
	heapWaiting = iota
	heapExpiry
	heapCount
)

func (h *deadlines) less(i, j int) bool {
	a, b := h.heap[i], h.heap[j]
	return a.at < b.at || a.at == b.at && a.q.order < b.q.order
}

// top is the earliest instant, clock.Never when the heap is empty.
func (h *deadlines) top() clock.Instant {
	if len(h.heap) == 0 {
		return clock.Never
	}
	return h.heap[0].at
}

func (h *deadlines) first() *Queue { return h.heap[0].q }

// place of q in the heap, -1 when it is not there. Places are kept plus one, so that the zero Queue stands nowhere.
func (h *deadlines) place(q *Queue) int { return int(q.places[h.which]) - 1 }

// at is the instant that q stands at; it must be in the heap.
func (h *deadlines) at(q *Queue) clock.Instant { return h.heap[h.place(q)].at }

// set puts q at an instant, wherever it stood before.
func (h *deadlines) set(q *Queue, at clock.Instant) {
	i := h.place(q)
	if i < 0 {
		h.heap = append(h.heap, deadline{at, q})
		i = len(h.heap) - 1
		q.places[h.which] = int32(i + 1)
	}
	h.heap[i].at = at
	if !h.up(i) {
		h.down(i)
	}
}

// remove takes q out, if it is there.
func (h *deadlines) remove(q *Queue) {
	i := h.place(q)
	if i < 0 {
		return
	}
	last := len(h.heap) - 1
	h.swap(i, last)
	h.heap[last] = deadline{}
	h.heap = h.heap[:last]
	q.places[h.which] = 0
	if i < last && !h.up(i) {
		h.down(i)
	}
}

func (h *deadlines) up(i int) (moved bool) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(i, parent) {
			return moved
		}
		h.swap(i, parent)
		i, moved = parent, true
	}
	return moved
}

func (h *deadlines) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h.heap) {
			return
		}
		if right := child + 1; right < len(h.heap) && h.less(right, child) {
			child = right
		}
		if !h.less(child, i) {
			return
		}
		h.swap(i, child)
		i = child
	}
}

func (h *deadlines) swap(i, j int) {
	h.heap[i], h.heap[j] = h.heap[j], h.heap[i]
	h.heap[i].q.places[h.which] = int32(i + 1)
	h.heap[j].q.places[h.which] = int32(j + 1)
}
