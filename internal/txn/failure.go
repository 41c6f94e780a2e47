package txn

import (
	"slices"

	"linger/internal/kerr"
)

// HandleFailed takes in that the batch ended with err. adjustSequences says that the broker refused it for good, so
// that its sequences are free; not so when retries or time ran out, since then the broker may have the batch.
//
// The error that comes back is an illegal transition of the transaction's state, which is fatal by then.
func (m *Manager) HandleFailed(p *Partition, s *Stamp, err error, adjustSequences bool) error {
	illegal := m.NoteError(err)
	p.remove(s)
	switch {
	case illegal != nil:
		return illegal
	case m.Fatal():
	case lostSequence(err) && !m.Transactional():
		// There is a gap in the log: the rest goes on under another epoch.
		m.wantBump(p)
	case is(err, kerr.UnknownProducerID):
		// The broker takes sequence 0 from a producer that it does not know. Whatever else is in flight will fail the
		// same way, so the partition goes on from 0 after the abort.
		m.resolved(p)
		p.forget()
	case !adjustSequences:
	case m.Transactional():
		p.closeGap(s.BaseSequence, s.Count)
	default:
		m.wantBump(p)
	}
	return nil
}

// lostSequence: in Java an unknown producer id is a special case of a sequence out of order.
func lostSequence(err error) bool {
	return is(err, kerr.OutOfOrderSequenceNumber) || is(err, kerr.UnknownProducerID)
}

// wantBump asks for a new epoch, under which p's in-flight batches start again at 0.
func (m *Manager) wantBump(p *Partition) {
	m.bumpWanted = true
	if !p.rewriteWanted {
		p.rewriteWanted = true
		m.rewrite = append(m.rewrite, p)
	}
}

// BumpIfNeeded raises the epoch if a failure asked for it, and asks for a producer id if there is none. It is called at
// the start of each turn; for a transactional producer it does nothing (Java: bumpIdempotentEpochAndResetIdIfNeeded).
func (m *Manager) BumpIfNeeded() error {
	if m.Transactional() {
		return nil
	}
	if m.bumpWanted && m.id.Valid() {
		if err := m.bump(); err != nil {
			return err
		}
	}
	if m.state == Initializing || m.id.Valid() {
		return nil
	}
	if err := m.become(Initializing, nil); err != nil {
		return err
	}
	m.enqueue(m.initIdempotent())
	return nil
}

// Settled reports whether no batch that a bump would number anew may be in the log. The oldest one of each partition
// tells: while it is not in the log nothing behind it can be. One that is out will be answered, and one in doubt is tried
// again under its own sequence until a broker says whether it has it, or its time is up.
//
// Java numbers them anew at once, and one that was appended while its answer was lost is then in the log twice. Whoever
// calls BumpIfNeeded only when Settled is safe from that.
func (m *Manager) Settled() bool {
	for _, p := range m.rewrite {
		if len(p.inFlight) > 0 && (p.inFlight[0].out || p.inFlight[0].doubt) {
			return false
		}
	}
	return true
}

// bump raises the epoch without asking a broker: no other producer has this id. Only the partitions that failed are
// numbered anew at once; others follow when nothing of theirs is in flight (see Assign).
//
// An epoch that can't be raised ends the id's use, and a new one is fetched. The partitions that failed then wait for
// it. Java rewrites their batches at once, to the id -1, and so sends them without idempotence.
func (m *Manager) bump() error {
	if m.id.Epoch == maxEpoch {
		m.id = NoProducer()
		m.bumpWanted = false
		return m.become(Uninitialized, nil)
	}
	m.id.Epoch++
	m.restartFailed()
	return nil
}

// restartFailed numbers what is in flight in the partitions that failed anew, under the identity just taken on.
func (m *Manager) restartFailed() {
	for _, p := range m.rewrite {
		p.restart(m.id)
		m.resolved(p)
		p.rewriteWanted = false
	}
	clear(m.rewrite)
	m.rewrite = m.rewrite[:0]
	m.bumpWanted = false
}

// MarkUnresolved notes that a batch with a sequence expired after HandleFailed took it: whether the broker has it is
// open, so p gets no new sequences until ResolveSequences knows.
func (m *Manager) MarkUnresolved(p *Partition, s *Stamp) {
	next := AddSequence(s.LastSequence(), 1)
	switch {
	case !p.unresolved:
		p.unresolved, p.afterLost = true, next
		m.unresolved = append(m.unresolved, p)
	case after(next, p.afterLost):
		p.afterLost = next
	}
}

// ResolveSequences settles the partitions where nothing is in flight any more. If all that came behind the expired
// batches was acknowledged, the broker must have them; else the sequences are in doubt, and the epoch is raised or the
// transaction becomes abortable. It is called at the start of each turn (Java: maybeResolveSequences).
func (m *Manager) ResolveSequences() error {
	var illegal error
	for i := 0; i < len(m.unresolved); {
		p := m.unresolved[i]
		if len(p.inFlight) > 0 {
			i++
			continue
		}
		m.resolved(p)
		if p.isNext(p.next) {
			continue
		}
		if !m.Transactional() {
			m.wantBump(p)
			continue
		}
		if err := m.becomeAbortableOrFatal(); err != nil {
			illegal = err
		}
	}
	return illegal
}

func (m *Manager) becomeAbortableOrFatal() error {
	const text = "The client hasn't received acknowledgment for some previously sent messages and can no longer retry them. "
	if !m.survivesAbort() {
		m.BecomeFatal(kafkaError(text + "It isn't safe to continue."))
		return nil
	}
	if m.bumpsOnClient() {
		m.bumpWanted = true
	}
	return m.becomeAbortable(kafkaError(text + "It is safe to abort the transaction and continue."))
}

// resolved takes p out of the unresolved ones.
func (m *Manager) resolved(p *Partition) {
	if !p.unresolved {
		return
	}
	p.unresolved = false
	at := slices.Index(m.unresolved, p)
	m.unresolved = slices.Delete(m.unresolved, at, at+1)
}
