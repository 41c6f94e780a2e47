package txn

import "linger/internal/kerr"

// Reason says why a batch may not leave now.
type Reason uint8

const (
	// Allowed: it may leave.
	Allowed Reason = iota
	// InFatalError: nothing is sent any more.
	InFatalError
	// NotInTransaction: the partition was not announced to the transaction coordinator yet.
	NotInTransaction
	// NoID: the producer id has not come yet.
	NoID
	// OldIdentity: batches of an older epoch are still in flight in the partition.
	OldIdentity
	// UnresolvedSequence: an expired batch may or may not have reached the broker.
	UnresolvedSequence
	// TooFarAhead: brokers know a batch again among the producer's last five only, and the oldest may have to come again.
	TooFarAhead
	// NotNextInLine: the batch is tried again, and an older one of its partition must go first.
	NotNextInLine
)

// String is the reason in words.
func (r Reason) String() string {
	names := [...]string{
		"allowed", "producer is in a fatal state", "partition is not in the transaction", "no producer id yet",
		"batches of an older epoch are in flight", "an expired batch is unresolved",
		"the oldest batch would be forgotten by the broker", "an older batch must be retried first",
	}
	return names[r]
}

// remembered is how many batches of a producer a partition's leader can know again (ProducerStateEntry.NUM_BATCHES_TO_RETAIN).
const remembered = 5

// MaySend reports whether the batch s, first in p's queue, may leave now, and if not, why.
//
// While a batch is being retried nothing newer of its partition may overtake it, and nothing of a new epoch may start
// while batches of the old one are out: else the broker would see a gap and answer OUT_OF_ORDER_SEQUENCE_NUMBER (in
// Java: RecordAccumulator.shouldStopDrainBatchesForPartition).
func (m *Manager) MaySend(p *Partition, s *Stamp) (ok bool, why Reason) {
	switch {
	case m.state == FatalError:
		why = InFatalError
	case m.Transactional():
		why = NotInTransaction // partitions are not announced to a coordinator yet, so none is in a transaction
	case !m.id.Valid():
		why = NoID
	case !s.Has && len(p.inFlight) > 0 && p.ProducerID() != m.id:
		why = OldIdentity
	case !s.Has && (p.unresolved || p.rewriteWanted):
		why = UnresolvedSequence
	case !s.Has && len(p.inFlight) > 0 && p.inFlight[0].overtaken+len(p.inFlight) >= remembered:
		why = TooFarAhead
	case s.Has && len(p.inFlight) > 0 && s.BaseSequence != p.inFlight[0].BaseSequence:
		why = NotNextInLine
	}
	return why == Allowed, why
}

// Assign stamps a batch as it leaves its queue, which MaySend allowed. A batch that was stamped before keeps its
// sequence. s must stay where it is in memory until its outcome is told by one of the Handle calls.
func (m *Manager) Assign(p *Partition, s *Stamp) {
	s.out = true
	s.Rewritten = false // from here on an answer speaks of the sequence that the batch has now
	if s.Has {
		return
	}
	if !m.Fatal() && p.ProducerID() != m.id && len(p.inFlight) == 0 {
		p.restart(m.id) // the epoch was raised elsewhere: the first batch of the new one starts at 0
	}
	s.assign(m.id, p.next)
	s.Transactional = m.Transactional()
	p.next = AddSequence(p.next, s.Count)
	p.add(s)
}

// AssignPiece gives a piece of a split batch the sequences of its records. The pieces are passed in record order, with
// Count set; whole is the batch that was split, which RemoveInFlight has dropped. It is used up on the way.
func (m *Manager) AssignPiece(p *Partition, whole, piece *Stamp) {
	if !whole.Has {
		return
	}
	piece.assign(ProducerID{whole.ProducerID, whole.Epoch}, whole.BaseSequence)
	piece.Transactional = whole.Transactional
	whole.BaseSequence = AddSequence(whole.BaseSequence, piece.Count)
	whole.Count -= piece.Count
	p.add(piece)
}

// RemoveInFlight drops a batch whose pieces take its place.
func (m *Manager) RemoveInFlight(p *Partition, s *Stamp) { p.remove(s) }

// HandleCompleted takes in that the broker has the batch. baseOffset is -1 when the broker did not say (a duplicate).
func (m *Manager) HandleCompleted(p *Partition, s *Stamp, baseOffset int64) {
	if s.Has {
		p.ackSequence(s.LastSequence())
		p.provenFor = s.ProducerID + 1
	}
	for _, older := range p.inFlight {
		if compareStamps(older, s) >= 0 {
			break
		}
		older.overtaken++
	}
	if baseOffset >= 0 {
		p.ackOffset(baseOffset + int64(s.Count) - 1)
	}
	p.remove(s)
}

// CanRetry reports whether a batch that the broker refused with code should be tried again. It may ask for a new epoch
// on the way. logStartOffset is the answer's, -1 when it had none. Limits of retries and time are the caller's.
func (m *Manager) CanRetry(p *Partition, s *Stamp, code kerr.Code, logStartOffset int64) bool {
	s.noteAnswer(code)
	switch code {
	case kerr.UnknownProducerID:
		if retry, decided := m.retryUnknownProducer(p, s, logStartOffset); decided {
			return retry
		}
	case kerr.OutOfOrderSequenceNumber:
		if retry, decided := m.retryOutOfOrder(p, s); decided {
			return retry
		}
	}
	return code.Retriable()
}

// noteAnswer keeps what an answer says of whether the batch is in the log. A refusal says nothing of earlier attempts,
// unless the broker has looked for the batch among the producer's last ones.
func (s *Stamp) noteAnswer(code kerr.Code) {
	s.out = false
	switch code {
	case kerr.NetworkException, kerr.RequestTimedOut, kerr.NotEnoughReplicasAfterAppend, kerr.KafkaStorageError, kerr.UnknownServerError:
		s.doubt = true
	case kerr.OutOfOrderSequenceNumber, kerr.UnknownProducerID:
		s.doubt = false
	}
}

// retryUnknownProducer: the broker has forgotten the producer, mostly because its records passed their retention time
// (KIP-360).
func (m *Manager) retryUnknownProducer(p *Partition, s *Stamp, logStartOffset int64) (retry, decided bool) {
	if logStartOffset == -1 {
		// The partition moved away while the broker answered. The next answer will have the offset.
		return true, true
	}
	if s.Rewritten {
		// The first of several in flight failed this way and all were numbered anew; this is the echo of the others.
		return true, true
	}
	if last, ok := p.LastAckedOffset(); !ok || last < logStartOffset {
		// The log's head is gone, and the producer's state with it; nothing of ours is missing.
		if m.Transactional() {
			p.restart(m.id)
		} else {
			m.wantBump(p)
		}
		return true, true
	}
	if !m.Transactional() {
		m.wantBump(p)
		return true, true
	}
	return false, false
}

// retryOutOfOrder: the broker misses what came before the batch.
func (m *Manager) retryOutOfOrder(p *Partition, s *Stamp) (retry, decided bool) {
	if !p.unresolved && (s.Rewritten || !p.isNext(s.BaseSequence)) {
		// An older batch is still being tried: this one waits for its turn.
		return true, true
	}
	if m.Transactional() {
		return false, false
	}
	// The batch is the next one, and still the broker sees a gap: what it misses is lost. With an unresolved batch in
	// front that is only certain for the one directly behind it.
	if !p.unresolved || s.BaseSequence == p.afterLost {
		m.wantBump(p)
	}
	return true, true
}
