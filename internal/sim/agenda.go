package sim

import "linger/internal/clock"

// agenda is what will happen, by time; what is due at one instant happens in the order in which it was put down.
type agenda struct {
	heap []entry
	next uint64
}

type entry struct {
	at clock.Instant
	no uint64
	do func()
}

func (e *entry) before(o *entry) bool {
	return e.at < o.at || e.at == o.at && e.no < o.no
}

func (a *agenda) add(at clock.Instant, do func()) {
	a.heap = append(a.heap, entry{at, a.next, do})
	a.next++
	i := len(a.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !a.heap[i].before(&a.heap[up]) {
			break
		}
		a.heap[i], a.heap[up] = a.heap[up], a.heap[i]
		i = up
	}
}

// due is when the next thing happens, clock.Never when nothing does.
func (a *agenda) due() clock.Instant {
	if len(a.heap) == 0 {
		return clock.Never
	}
	return a.heap[0].at
}

// take removes the next thing.
func (a *agenda) take() func() {
	do := a.heap[0].do
	last := len(a.heap) - 1
	a.heap[0] = a.heap[last]
	a.heap[last] = entry{}
	a.heap = a.heap[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			return do
		}
		if right := down + 1; right < last && a.heap[right].before(&a.heap[down]) {
			down = right
		}
		if !a.heap[down].before(&a.heap[i]) {
			return do
		}
		a.heap[i], a.heap[down] = a.heap[down], a.heap[i]
		i = down
	}
}
