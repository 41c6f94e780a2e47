package sender

import (
	"fmt"

	"linger/internal/accumulator"
	"linger/internal/kerr"
)

// endingOf says, record by record where need be, how a batch failed, and of what as a whole: that is what the transaction
// state hears (Java: Sender.failBatch).
func (s *Sender) endingOf(b *accumulator.Batch, a partitionAnswer) (e accumulator.Ending, whole error) {
	whole = s.batchError(b, a)
	e = accumulator.Ending{BaseOffset: -1, LogAppendMs: -1, Err: whole}
	if len(a.recordErrs) == 0 {
		return e, whole
	}
	e.RecordErrs = make(map[int32]error, len(a.recordErrs))
	for _, r := range a.recordErrs {
		text := r.Message
		switch {
		case r.HasMessage:
		case a.message != "":
			text = a.message
		default:
			text = a.code.Message()
		}
		// With one culprit the batch's own code names the fault; with several it may be any record's.
		code := kerr.InvalidRecord
		if len(a.recordErrs) == 1 {
			code = a.code
		}
		e.RecordErrs[r.BatchIndex] = s.errorAt(b, code, text)
	}
	e.Err = &kerr.Error{
		Op: "send", Topic: b.Queue.Topic.Name, Partition: b.Queue.Partition, Class: kerr.ClassRetriable,
		Msg: "Failed to append record because it was part of a batch which had one more more invalid records", Err: kerr.ErrKafka,
	}
	return e, whole
}

func (s *Sender) batchError(b *accumulator.Batch, a partitionAnswer) error {
	switch {
	case a.code == kerr.ClusterAuthorizationFailed:
		return s.errorAt(b, a.code, "The producer is not authorized to do idempotent sends")
	case a.code == kerr.TopicAuthorizationFailed:
		return s.errorAt(b, a.code, fmt.Sprintf("Not authorized to access topics: [%s]", b.Queue.Topic.Name))
	case a.message != "":
		return s.errorAt(b, a.code, a.message)
	}
	return s.errorAt(b, a.code, a.code.Message())
}

func (s *Sender) errorAt(b *accumulator.Batch, code kerr.Code, text string) error {
	return &kerr.Error{Op: "send", Topic: b.Queue.Topic.Name, Partition: b.Queue.Partition, Code: code, Class: code.Class(), Msg: text}
}
