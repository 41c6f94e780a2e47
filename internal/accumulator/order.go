package accumulator

import "slices"

// held is a completion that waits for older batches of its partition to end.
type held struct {
	order      int64
	completion Completion
}

// InOrder appends to dst what may now be delivered of b's queue, once b has been completed with c: completions go in the order
// of the batches' creation, and so callbacks in that of the records, even when brokers acknowledge a batch before an older
// one. That happens without idempotence, and when a broker appends a batch but answers with an error.
//
// A completion that waits has sent its memory home. It waits no longer than an older batch may live, delivery.timeout.ms, and
// no flush or close waits longer for it: they wait for the older batch anyhow.
func (s *Schedule) InOrder(b *Batch, c Completion, dst []Completion) []Completion {
	q := b.Queue
	oldest, any := q.oldest()
	if len(q.held) == 0 && (!any || b.order-oldest < 0) {
		return append(dst, c)
	}
	at := len(q.held)
	for at > 0 && q.held[at-1].order-b.order > 0 {
		at--
	}
	q.held = slices.Insert(q.held, at, held{b.order, c})
	free := 0
	for free < len(q.held) && (!any || q.held[free].order-oldest < 0) {
		dst = append(dst, q.held[free].completion)
		free++
	}
	q.held = slices.Delete(q.held, 0, free)
	return dst
}

// Held is how many completions wait for older batches.
func (q *Queue) Held() int { return len(q.held) }

// oldest is the order of the oldest batch that has not ended. Of the queue only what was tried before and the first that was
// not can be it.
func (q *Queue) oldest() (order int64, any bool) {
	note := func(b *Batch) {
		if !any || b.order-order < 0 {
			order, any = b.order, true
		}
	}
	for _, b := range q.InFlight {
		if !b.ended {
			note(b)
			break
		}
	}
	q.expired = slices.DeleteFunc(q.expired, func(b *Batch) bool { return b.ended })
	for _, b := range q.expired {
		note(b)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.batches.len() {
		b := q.batches.at(i)
		note(b)
		if b.Attempts == 0 && !b.piece {
			break
		}
	}
	return order, any
}
