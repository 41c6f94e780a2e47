package accumulator

import (
	"linger/internal/invariant"
)

// Complete ends a batch, once: it leaves its queue if it still stood there, and its records go out for delivery. Its
// memory stays where it is; see MayFree.
func (s *Schedule) Complete(b *Batch, e Ending) Completion {
	invariant.Check(!b.ended, "a batch of %s-%d ends twice", b.Queue.Topic.Name, b.Queue.Partition)
	s.end(b)
	c := Completion{
		Result: b.result, Slots: b.slots, Ending: e,
		base: b.builder.BaseTimestamp(), far: b.far, acc: s.acc, stage: b.stage,
	}
	b.result, b.slots, b.far, b.stage = nil, nil, nil, nil
	return c
}

// end takes the batch out of everything but the hands of who holds its memory.
func (s *Schedule) end(b *Batch) {
	b.ended = true
	s.acc.incomplete.Add(-1)
	if b.holder == HeldBySealer && s.unseal(b) {
		b.holder = HeldByQueue
	}
	if q := b.Queue; b.queued {
		q.mu.Lock()
		q.remove(b)
		g := s.glance(q, s.now)
		q.mu.Unlock()
		s.conclude(q, g)
	}
	if b.holder == HeldByQueue {
		b.holder = HeldByNobody
	}
}

// MayFree reports whether the batch's memory may go home, because it has ended and nobody holds it; it says so once. Give
// the batch to Free then, after this turn.
func (s *Schedule) MayFree(b *Batch) bool {
	if !b.ended || b.given || b.holder != HeldByNobody {
		return false
	}
	b.given = true
	return true
}

// DropHolder forgets who holds the batch: a planted bug, for the simulation to find.
func (s *Schedule) DropHolder(b *Batch) { b.holder = HeldByNobody }

// Unended appends to dst every batch that has not ended: queue by queue those in flight, then those queued or with a
// sealer. They stay where they are; ending them takes them out. Call Refresh before: a queue that was never looked at is
// not seen.
func (s *Schedule) Unended(dst []*Batch) []*Batch {
	return s.collect(dst, func(*Batch) bool { return true })
}

// Queued appends to dst the batches that never left their queue, so that no broker can have seen them (Java:
// abortUndrainedBatches). Pieces of a batch that was sent with sequences are not among them. What else holds for Unended
// holds here.
func (s *Schedule) Queued(dst []*Batch) []*Batch {
	return s.collect(dst, func(b *Batch) bool { return b.queued && b.Attempts == 0 && !b.Stamp.Has })
}

func (s *Schedule) collect(dst []*Batch, want func(*Batch) bool) []*Batch {
	for _, q := range s.queues {
		for _, b := range q.InFlight {
			if !b.ended && want(b) {
				dst = append(dst, b)
			}
		}
		q.mu.Lock()
		for i := range q.batches.len() {
			if b := q.batches.at(i); want(b) {
				dst = append(dst, b)
			}
		}
		q.mu.Unlock()
	}
	return dst
}
