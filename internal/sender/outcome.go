package sender

import (
	"errors"

	"linger/internal/accumulator"
	"linger/internal/clock"
	"linger/internal/kerr"
	"linger/internal/wire"
)

// partitionAnswer is what a broker, or the lack of one, says of one batch.
type partitionAnswer struct {
	code           kerr.Code
	message        string
	baseOffset     int64
	logAppendMs    int64
	logStartOffset int64
	recordErrs     []wire.RecordError
	leader         int32 // KIP-951 hint, -1 none
	leaderEpoch    int32
}

// noAnswer stands for an answer that did not come, or that acks=0 never brings.
func noAnswer(code kerr.Code) partitionAnswer {
	return partitionAnswer{code: code, baseOffset: -1, logAppendMs: -1, logStartOffset: -1, leader: -1, leaderEpoch: -1}
}

// answer decides what becomes of a batch that its request has let go: done, again, split, or failed
// (Java: Sender.completeBatch). A batch whose result ended earlier, by expiry or a forced close, only gives its memory back.
func (s *Sender) answer(now clock.Instant, b *accumulator.Batch, a partitionAnswer) {
	s.inFlight--
	s.sched.Landed(b)
	switch {
	case a.code == kerr.MessageTooLarge && b.RecordCount() > 1 && !b.Ended():
		s.split(now, b)
	case a.code == kerr.None || a.code == kerr.DuplicateSequenceNumber:
		s.succeed(b, a)
	case s.mayRetry(now, b, a):
		s.log(Warn, "Got error produce response on topic-partition %s-%d, retrying (%d attempts left). Error: %s",
			b.Queue.Topic.Name, b.Queue.Partition, s.o.Retries-b.Attempts-1, errorSummary(a))
		s.retry(now, b)
	default:
		// Sequences are given anew only if the batch did not use up its retries: else nobody knows whether the broker
		// took it, and its sequence must not go to other records.
		e, whole := s.endingOf(b, a)
		s.failBatch(b, e, whole, b.Attempts < s.o.Retries)
	}
	if a.code.InvalidMetadata() {
		s.meta.RequestUpdate()
	}
	if s.o.KeepOrder {
		s.sched.Unmute(b.Queue)
	}
	s.letGoIfEnded(b)
}

// errorSummary is the error in a log line.
func errorSummary(a partitionAnswer) string {
	if a.message != "" {
		return a.code.Name() + ". Error Message: " + a.message
	}
	return a.code.Name()
}

func (s *Sender) mayRetry(now clock.Instant, b *accumulator.Batch, a partitionAnswer) bool {
	if b.Ended() || b.Attempts >= s.o.Retries || s.sched.DeliveryTimedOut(b, now) || s.forced {
		return false
	}
	if s.txn == nil {
		return a.code.Retriable()
	}
	return s.txn.CanRetry(&b.Queue.Seq, &b.Stamp, a.code, a.logStartOffset)
}

// retry puts the batch back in front of what its queue holds, in sequence order with idempotence.
func (s *Sender) retry(now clock.Instant, b *accumulator.Batch) {
	s.o.Counters.RecordRetries.Add(int64(b.RecordCount()))
	if s.o.Faults.RequeueAtTail {
		s.sched.PutBackAtTail(b, now)
		return
	}
	s.sched.PutBack(b, now)
}

// split cuts a batch that the broker finds too large. Attempts are not counted: the pieces start afresh.
func (s *Sender) split(now clock.Instant, b *accumulator.Batch) {
	if s.txn != nil {
		s.txn.RemoveInFlight(&b.Queue.Seq, &b.Stamp)
	}
	s.o.Counters.BatchSplits.Add(1)
	s.sched.Split(b, now, func(piece *accumulator.Batch) {
		if s.txn != nil {
			s.txn.AssignPiece(&b.Queue.Seq, &b.Stamp, &piece.Stamp)
		}
	})
}

func (s *Sender) succeed(b *accumulator.Batch, a partitionAnswer) {
	if s.txn != nil {
		s.txn.HandleCompleted(&b.Queue.Seq, &b.Stamp, a.baseOffset)
	}
	s.end(b, accumulator.Ending{BaseOffset: a.baseOffset, LogAppendMs: a.logAppendMs})
}

// failBatch ends a batch with an error: the transaction state hears of the whole batch's before any record does.
func (s *Sender) failBatch(b *accumulator.Batch, e accumulator.Ending, whole error, adjustSequences bool) {
	if b.Ended() {
		return
	}
	if s.txn != nil {
		s.noteIllegal(s.txn.HandleFailed(&b.Queue.Seq, &b.Stamp, whole, adjustSequences))
	}
	s.end(b, e)
}

// end completes the batch's result, once, and sends its memory home unless a request or a sealer still holds it.
func (s *Sender) end(b *accumulator.Batch, e accumulator.Ending) {
	if b.Ended() {
		return
	}
	s.fx.Completions = append(s.fx.Completions, s.sched.Complete(b, e))
	s.count(b, e) // behind Complete: until then an open batch may still grow
	s.undelivered++
	if s.o.Faults.FreeAtExpiry {
		s.sched.DropHolder(b)
	}
	s.letGoIfEnded(b)
}

// letGoIfEnded frees the memory of a batch that has ended and that nobody holds any more.
func (s *Sender) letGoIfEnded(b *accumulator.Batch) {
	if b.Ended() && s.sched.MayFree(b) {
		s.fx.Free = append(s.fx.Free, b)
	}
}

func (s *Sender) count(b *accumulator.Batch, e accumulator.Ending) {
	n := int64(b.RecordCount())
	switch {
	case e.Err == nil:
		s.o.Counters.RecordsDelivered.Add(n)
	case errors.Is(e.Err, kerr.ErrForceClosed):
		s.o.Counters.RecordsAborted.Add(n)
		fallthrough
	default:
		s.o.Counters.RecordsFailed.Add(n)
	}
}
