package accumulator

import (
	"linger/internal/clock"
	"linger/internal/invariant"
)

// queueState is what a queue waits for. It is the outcome of Java's RecordAccumulator.batchReady, kept until one of its
// inputs changes: the queue's head, the leader, muting, time.
type queueState uint8

const (
	queueIdle    queueState = iota // no batch
	queueUnknown                   // a leader
	queueMuted                     // its batch to come back
	queueBackoff                   // the back-off of its head to end: nothing else makes it ready
	queueLinger                    // linger.ms to pass, or a reason to send early
	queueReady                     // to be drained
)

// glance is what a look at a queue under its lock brings out.
type glance struct {
	length  int32
	until   clock.Instant // of the back-off or of linger.ms
	expires clock.Instant // of the head
	state   queueState    // Idle, Backoff, Linger or Ready
}

// look evaluates a queue again.
func (s *Schedule) look(q *Queue, now clock.Instant) {
	q.mu.Lock()
	g := s.glance(q, now)
	q.mu.Unlock()
	s.conclude(q, g)
}

// glance is the part of look under the lock. Batches that are complete go out to be sealed, in order, before anybody
// asks for them.
func (s *Schedule) glance(q *Queue, now clock.Instant) glance {
	g := glance{length: int32(q.batches.len())}
	if g.length == 0 {
		return g
	}
	head := q.batches.front()
	head.noteLeader(q.epoch)
	g.expires = head.CreatedAt.Add(s.acc.o.DeliveryTimeout)
	linger := head.LastAttempt.Add(s.acc.o.Linger)
	switch {
	case head.backingOff(now):
		g.state, g.until = queueBackoff, head.retryAt
	case g.length > 1 || head.full() || linger <= now:
		g.state = queueReady
	default:
		g.state, g.until = queueLinger, linger
	}
	if s.acc.compresses() {
		for i := range q.batches.len() {
			if b := q.batches.at(i); b.state == Closed {
				s.sendToSeal(b)
			}
		}
	}
	return g
}

// conclude keeps what a glance brought out.
func (s *Schedule) conclude(q *Queue, g glance) {
	if g.length != q.length {
		q.length = g.length
		s.reload(q.Topic)
	}
	s.leave(q)
	if g.state == queueIdle {
		return
	}
	s.expireBy(q, g.expires)
	switch {
	case q.node == nil:
		q.state = queueUnknown
		s.addUnknown(q.Topic)
		return
	case q.Muted:
		q.state = queueMuted
	default:
		q.state = g.state
	}
	q.node.active.set(q.pos)
	switch q.state {
	case queueReady:
		q.node.ready++
	case queueLinger:
		q.node.lingering++
		s.waiting.set(q, g.until)
	case queueBackoff:
		s.waiting.set(q, g.until)
	}
}

// leave takes a queue out of the state it is in, to queueIdle.
func (s *Schedule) leave(q *Queue) {
	switch q.state {
	case queueIdle:
		return
	case queueUnknown:
		s.dropUnknown(q.Topic)
		q.state = queueIdle
		return
	case queueReady:
		q.node.ready--
	case queueLinger:
		q.node.lingering--
		s.waiting.remove(q)
	case queueBackoff:
		s.waiting.remove(q)
	}
	q.node.active.unset(q.pos)
	q.state = queueIdle
	invariant.Check(q.node.ready >= 0 && q.node.lingering >= 0, "node %d counts below zero", q.node.id)
}

func (s *Schedule) addUnknown(t *Topic) {
	if t.step.unknown++; t.step.unknown == 1 {
		s.unknown = append(s.unknown, t)
	}
}

func (s *Schedule) dropUnknown(t *Topic) {
	if t.step.unknown--; t.step.unknown > 0 {
		return
	}
	for i, other := range s.unknown {
		if other == t {
			s.unknown = append(s.unknown[:i], s.unknown[i+1:]...)
			return
		}
	}
}

// Mute keeps the queue from being drained until Unmute: with at most one request in flight, while its batch is out.
func (s *Schedule) Mute(q *Queue) { s.setMuted(q, true) }

// Unmute ends Mute.
func (s *Schedule) Unmute(q *Queue) { s.setMuted(q, false) }

func (s *Schedule) setMuted(q *Queue, muted bool) {
	if q.Muted == muted {
		return
	}
	q.Muted = muted
	if q.known {
		s.look(q, s.now)
	}
}
