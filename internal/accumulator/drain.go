package accumulator

import "linger/internal/clock"

// Gate is asked under the queue's lock whether a batch may leave, and stamps it when it does: producer id, epoch and
// sequence are the sender's business. Neither may block nor call the Schedule.
type Gate interface {
	// MaySend: false leaves the batch where it is. Other partitions of the node go on.
	MaySend(q *Queue, b *Batch) bool
	// Stamp is called once for each batch that leaves, at each attempt.
	Stamp(q *Queue, b *Batch)
}

// Drain appends to dst the batches that go to node in one request: the heads of its queues, at most one each, ready or
// not, in the metadata's order from where the last drain stopped, up to maxBytes in all; the first batch may exceed that
// alone (Java: drainBatchesForOneNode). Gate may be nil.
//
// A head that is muted, backs off or is refused by the gate is skipped. In Java a refusal ends the node's drain, which
// can stall all its partitions until delivery.timeout.ms. Heads that are not compressed yet go to be sealed and are not
// drained.
func (s *Schedule) Drain(now clock.Instant, nodeID int32, maxBytes int, gate Gate, dst []*Batch) []*Batch {
	n := s.nodes[nodeID]
	if n == nil || len(n.queues) == 0 {
		return dst
	}
	d := drain{now: now, left: maxBytes, first: true, gate: gate, dst: dst}
	places := len(n.queues)
	start := n.drainAt % places
	// Java stores each place before it looks at it. So after a whole turn the next drain starts at the last place of
	// this one, and after a batch that was too big it starts with that one.
	n.drainAt = (start + places - 1) % places
	for _, leg := range [2][2]int{{start, places}, {0, start}} {
		for pos := n.active.next(leg[0], leg[1]); pos < leg[1]; pos = n.active.next(pos+1, leg[1]) {
			if !s.drainQueue(n.queues[pos], &d) {
				n.drainAt = pos
				return d.dst
			}
		}
	}
	return d.dst
}

// drain is one call of Drain on its way.
type drain struct {
	now   clock.Instant
	left  int  // bytes that the request still takes
	first bool // nothing was taken yet
	gate  Gate
	dst   []*Batch
}

// drainQueue takes the head of q if it may go; false means that it is too big for what is left.
func (s *Schedule) drainQueue(q *Queue, d *drain) (fits bool) {
	if q.Muted || q.state == queueUnknown {
		return true
	}
	q.mu.Lock()
	before := q.batches.front()
	wasOpen := before != nil && before == q.open
	b, fits := s.takeHead(q, d)
	changed := b != nil || wasOpen && q.open != before
	var g glance
	if changed {
		g = s.glance(q, d.now)
	}
	q.mu.Unlock()
	if changed {
		s.conclude(q, g)
	}
	if b == nil {
		return fits
	}
	q.addInFlight(b)
	if b.FirstSentAt == 0 {
		b.FirstSentAt = d.now
	}
	d.left, d.first = d.left-b.Size(), false
	d.dst = append(d.dst, b)
	return true
}

// takeHead is drainQueue under the lock.
func (s *Schedule) takeHead(q *Queue, d *drain) (b *Batch, fits bool) {
	b = q.batches.front()
	if b == nil {
		return nil, true
	}
	b.noteLeader(q.epoch)
	if b.backingOff(d.now) || !s.finalBytes(q, b) || d.gate != nil && !d.gate.MaySend(q, b) {
		return nil, true
	}
	if b.Size() > d.left && !d.first {
		return nil, false
	}
	if b.state == Open {
		q.closeOpen()
	}
	if b.state == Closed {
		b.become(Sealed) // without compression nothing is left to do
	}
	q.remove(b)
	b.become(InFlight)
	b.holder = HeldByRequest
	if d.gate != nil {
		d.gate.Stamp(q, b)
	}
	return b, true
}

// finalBytes reports whether the batch's size is final. If it is only because nobody compressed it yet, somebody will.
func (s *Schedule) finalBytes(q *Queue, b *Batch) bool {
	if !s.acc.compresses() || b.state == Sealed {
		return true
	}
	if b.state == Open {
		q.closeOpen()
	}
	if b.state == Closed {
		s.sendToSeal(b)
	}
	return false
}

// addInFlight keeps InFlight in the order of creation: a batch that is tried again may leave after a younger one.
func (q *Queue) addInFlight(b *Batch) {
	q.InFlight = append(q.InFlight, b)
	for i := len(q.InFlight) - 1; i > 0 && q.InFlight[i-1].order > b.order; i-- {
		q.InFlight[i-1], q.InFlight[i] = q.InFlight[i], q.InFlight[i-1]
	}
}
