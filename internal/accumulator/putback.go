package accumulator

import (
	"slices"

	"linger/internal/clock"
	"linger/internal/invariant"
)

// Landed says that the request has let go of a drained batch: fully written and answered, or its link closed. From here
// on the batch may be put back, split or freed.
func (s *Schedule) Landed(b *Batch) {
	invariant.Check(b.holder == HeldByRequest, "a batch lands that no request holds")
	b.holder = HeldByNobody
	q := b.Queue
	if i := slices.Index(q.InFlight, b); i >= 0 {
		q.InFlight = slices.Delete(q.InFlight, i, i+1)
	}
}

// PutBack returns a landed batch to its queue for another attempt: in front, or with idempotence where its sequence
// belongs, so that it never overtakes an older one (Java: reenqueue, insertInSequenceOrder). It backs off first, unless
// the partition's leader has changed since its last attempt.
func (s *Schedule) PutBack(b *Batch, now clock.Instant) {
	s.prepare(b, now)
	s.enqueue(b, false)
	s.look(b.Queue, now)
}

// PutBackAtTail is PutBack behind everything else: a planted bug, for the simulation to find.
func (s *Schedule) PutBackAtTail(b *Batch, now clock.Instant) {
	s.prepare(b, now)
	s.enqueue(b, true)
	s.look(b.Queue, now)
}

func (s *Schedule) prepare(b *Batch, now clock.Instant) {
	invariant.Check(b.holder == HeldByNobody && !b.ended, "a batch is put back that is held or has ended")
	s.now = now
	b.Attempts++
	b.LastAttempt = max(b.CreatedAt, now)
	b.retryAt = b.LastAttempt.Add(s.acc.o.RetryBackoff.Duration(int64(b.Attempts-1), s.jitter()))
	b.become(Sealed)
}

func (s *Schedule) jitter() float64 {
	if s.acc.o.Jitter == nil {
		return 0.5
	}
	return s.acc.o.Jitter()
}

// enqueue puts a batch that is Step's into its queue.
//
// Sequences are given in the order in which batches leave their queue, which is the order of their creation; pieces of a
// split batch stand where it stood. So the order of creation is the order of sequences. It wraps as they do, after 2^31
// batches: the difference tells which is older.
func (s *Schedule) enqueue(b *Batch, atTail bool) {
	q := b.Queue
	b.holder = HeldByQueue
	q.mu.Lock()
	at := 0
	switch {
	case atTail:
		at = q.batches.len()
	case s.acc.o.Idempotent:
		for at < q.batches.len() && q.batches.at(at).order-b.order < 0 {
			at++
		}
	}
	q.put(at, b)
	if q.open != nil && q.batches.at(q.batches.len()-1) != q.open {
		q.closeOpen() // only the last batch takes records
	}
	q.mu.Unlock()
}
