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
// can stall all its partitions until delivery.timeout.ms.
//
// With compression a head that is still open is closed and sent to be sealed instead. Those of one drain go together:
// until the last of them is sealed the node is not drained. If they went one by one as they come back, a request would
// hold one batch, and the connection's few requests in flight would be used up by the first five partitions. Java
// compresses them one after the other before it sends any.
func (s *Schedule) Drain(now clock.Instant, nodeID int32, maxBytes int, gate Gate, dst []*Batch) []*Batch {
	n := s.nodes[nodeID]
	if n == nil || len(n.queues) == 0 || n.sealing > 0 {
		return dst
	}
	d := drain{now: now, node: n, left: maxBytes, leftToSeal: maxBytes, gate: gate, dst: dst, before: len(dst)}
	places := len(n.queues)
	start := n.drainAt % places
	// Java stores each place before it looks at it. So after a whole turn the next drain starts at the last place of
	// this one, and after a batch that was too big it starts with that one.
	n.drainAt = (start + places - 1) % places
	for _, leg := range [2][2]int{{start, places}, {0, start}} {
		for pos := n.active.next(leg[0], leg[1]); pos < leg[1]; pos = n.active.next(pos+1, leg[1]) {
			if s.drainQueue(n.queues[pos], &d) == tooBig {
				n.drainAt = pos
				return d.dst
			}
		}
	}
	if d.first() && d.toSeal > 0 {
		n.drainAt = start // nothing went: what was sent to be sealed keeps its turn
	}
	return d.dst
}

// drain is one call of Drain on its way.
type drain struct {
	now        clock.Instant
	node       *node
	left       int // bytes that the request still takes
	leftToSeal int // bytes, estimated, that the next one will take of those that are sealed first
	toSeal     int // how many those are
	gate       Gate
	dst        []*Batch
	before     int // length of dst when the drain began
}

func (d *drain) first() bool { return len(d.dst) == d.before }

// taking is what became of a head.
type taking uint8

const (
	skipped      taking = iota
	taken               // into the request
	sealedFirst         // it must be compressed before it goes
	tooBig              // for what is left of the request: nothing behind it goes
	tooBigToSeal        // for the next request: it stays open
)

// drainQueue takes the head of q if it may go.
func (s *Schedule) drainQueue(q *Queue, d *drain) taking {
	if q.Muted {
		return skipped
	}
	q.mu.Lock()
	b := q.batches.front()
	size := 0
	if b != nil && b.state != Sealing { // while a worker compresses it nobody else looks at it
		size = b.Size() // while it is open and to be compressed: Java's estimate
	}
	t := s.takeHead(q, b, d)
	var g glance
	if t == taken || t == sealedFirst {
		g = s.glance(q, d.now)
	}
	q.mu.Unlock()
	switch t {
	case taken:
		s.conclude(q, g)
		q.addInFlight(b)
		if b.FirstSentAt == 0 {
			b.FirstSentAt = d.now
		}
		if b.Attempts > 0 && s.acc.compresses() {
			q.Topic.ratio.Observe(b.builder.CompressionRatio()) // Java learns from each attempt
		}
		d.left -= size
		d.dst = append(d.dst, b)
	case sealedFirst:
		s.conclude(q, g)
		d.leftToSeal -= size
		d.toSeal++
	}
	return t
}

// takeHead is drainQueue under the lock.
func (s *Schedule) takeHead(q *Queue, b *Batch, d *drain) taking {
	if b == nil || b.state == Sealing {
		return skipped
	}
	b.noteLeader(q.epoch)
	if b.backingOff(d.now) || d.gate != nil && !d.gate.MaySend(q, b) {
		return skipped
	}
	if s.acc.compresses() && b.state != Sealed {
		if b.Size() > d.leftToSeal && d.toSeal > 0 {
			return tooBigToSeal
		}
		if b.state == Open {
			q.closeOpen()
		}
		s.sendToSeal(b)
		b.goesWith = d.node
		d.node.sealing++
		return sealedFirst
	}
	if b.Size() > d.left && !d.first() {
		return tooBig
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
	return taken
}

// addInFlight keeps InFlight in the order of creation: a batch that is tried again may leave after a younger one.
func (q *Queue) addInFlight(b *Batch) {
	q.InFlight = append(q.InFlight, b)
	for i := len(q.InFlight) - 1; i > 0 && q.InFlight[i-1].order-b.order > 0; i-- {
		q.InFlight[i-1], q.InFlight[i] = q.InFlight[i], q.InFlight[i-1]
	}
}
