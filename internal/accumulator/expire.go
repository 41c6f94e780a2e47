package accumulator

import (
	"cmp"
	"slices"

	"linger/internal/clock"
)

// Expired appends to dst the batches that have reached delivery.timeout.ms, each once: topic by topic and partition by
// partition first those in flight, which stay where they are, then those queued, which leave their queue; both in the
// order of their creation, up to the first that has time left. The caller ends them. What a request or a sealer holds keeps
// its memory until that lets go: Holder says.
func (s *Schedule) Expired(now clock.Instant, dst []*Batch) []*Batch {
	s.now = now
	before := len(dst)
	for s.expiry.top() <= now {
		q := s.expiry.first()
		dst = s.expireQueue(q, now, dst)
		s.watch(q)
	}
	slices.SortStableFunc(dst[before:], func(a, b *Batch) int {
		return cmp.Or(cmp.Compare(a.Queue.Topic.number, b.Queue.Topic.number), cmp.Compare(a.Queue.Partition, b.Queue.Partition))
	})
	return dst
}

func (s *Schedule) expireQueue(q *Queue, now clock.Instant, dst []*Batch) []*Batch {
	for _, b := range q.InFlight {
		if b.ended || b.late {
			continue
		}
		if !s.DeliveryTimedOut(b, now) {
			break
		}
		b.late = true
		dst = append(dst, b)
	}
	before := len(dst)
	q.mu.Lock()
	for b := q.batches.front(); b != nil && s.DeliveryTimedOut(b, now); b = q.batches.front() {
		q.remove(b)
		if b.holder == HeldByQueue {
			b.holder = HeldByNobody
		}
		b.late = true
		dst = append(dst, b)
	}
	g := s.glance(q, now)
	q.mu.Unlock()
	if len(dst) > before {
		s.conclude(q, g)
	}
	return dst
}

// DeliveryTimedOut reports whether the batch has reached delivery.timeout.ms, counted from its creation.
func (s *Schedule) DeliveryTimedOut(b *Batch, now clock.Instant) bool {
	return b.CreatedAt.Add(s.acc.o.DeliveryTimeout) <= now
}

// NextExpiry is when the next batch expires, queued or in flight; clock.Never when none will.
//
// The heap holds for each queue an instant no later than that of any batch in flight and of the head: batches come and go
// many times before one expires, and only here, when a queue comes up first, is its place put right.
func (s *Schedule) NextExpiry() clock.Instant {
	for {
		top := s.expiry.top()
		if top == clock.Never {
			return top
		}
		if q := s.expiry.first(); s.oldest(q) != top {
			s.watch(q)
			continue
		}
		return top
	}
}

// expireBy makes sure that the queue comes up no later than at.
func (s *Schedule) expireBy(q *Queue, at clock.Instant) {
	if at != clock.Never && (s.expiry.place(q) < 0 || s.expiry.at(q) > at) {
		s.expiry.set(q, at)
	}
}

// watch puts the queue where its oldest batch belongs.
func (s *Schedule) watch(q *Queue) {
	if at := s.oldest(q); at != clock.Never {
		s.expiry.set(q, at)
	} else {
		s.expiry.remove(q)
	}
}

// oldest is the expiry of the queue's oldest batch that has not been reported.
func (s *Schedule) oldest(q *Queue) clock.Instant {
	at := clock.Never
	for _, b := range q.InFlight {
		if !b.ended && !b.late {
			at = b.CreatedAt.Add(s.acc.o.DeliveryTimeout)
			break
		}
	}
	q.mu.Lock()
	if b := q.batches.front(); b != nil {
		at = min(at, b.CreatedAt.Add(s.acc.o.DeliveryTimeout))
	}
	q.mu.Unlock()
	return at
}
