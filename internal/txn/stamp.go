package txn

import "math"

// Stamp is what a batch carries of the producer's identity: it goes into the batch header at each attempt.
//
// The zero value is a batch without a sequence. Count is set by the batch's owner before Assign; all else is the
// Manager's.
type Stamp struct {
	// ProducerID, Epoch and BaseSequence are valid while Has is true.
	ProducerID   int64
	Epoch        int16
	BaseSequence int32
	// Count is the number of records in the batch: it uses up as many sequences.
	Count int32
	// Has says that a sequence was assigned. Such a batch keeps it through its retries.
	Has bool
	// Rewritten says that the sequence was changed since the batch last left (Java: sequenceHasBeenReset): an answer
	// that comes now speaks of the old one.
	Rewritten bool
	// Transactional says that the batch is part of a transaction.
	Transactional bool

	out       bool // it has left, and no answer has come
	doubt     bool // an attempt under the present identity may have reached the log without our knowing
	overtaken int  // younger batches of the partition that were acknowledged since
}

// Header is what the batch header gets: -1 for all three without a sequence.
func (s *Stamp) Header() (producerID int64, epoch int16, baseSequence int32) {
	if !s.Has {
		return NoProducerID, NoEpoch, NoSequence
	}
	return s.ProducerID, s.Epoch, s.BaseSequence
}

// LastSequence is the sequence of the batch's last record, NoSequence when it has none.
func (s *Stamp) LastSequence() int32 {
	if !s.Has {
		return NoSequence
	}
	return AddSequence(s.BaseSequence, s.Count-1)
}

func (s *Stamp) assign(id ProducerID, sequence int32) {
	s.ProducerID, s.Epoch, s.BaseSequence, s.Has = id.ID, id.Epoch, sequence, true
}

func (s *Stamp) rewrite(id ProducerID, sequence int32) {
	s.assign(id, sequence)
	s.Rewritten = true
}

// What the protocol writes for "none".
const (
	NoProducerID int64 = -1
	NoEpoch      int16 = -1
	NoSequence   int32 = -1
)

// AddSequence is sequence plus n records, n >= 0: after 2147483647 comes 0 (Java: DefaultRecordBatch.incrementSequence).
func AddSequence(sequence, n int32) int32 {
	if sequence > math.MaxInt32-n {
		return n - (math.MaxInt32 - sequence) - 1
	}
	return sequence + n
}

// subSequence undoes AddSequence.
func subSequence(sequence, n int32) int32 {
	if sequence < n {
		return math.MaxInt32 - (n - sequence) + 1
	}
	return sequence - n
}

// after reports whether sequence a lies behind b on the circle of 2^31 sequences, that is less than half a turn ahead.
// At most five batches of one partition are out at a time, so what is compared is never near half a turn apart. Java
// compares as numbers, and after the wrap takes every later sequence for an older one.
func after(a, b int32) bool {
	ahead := (a - b) & math.MaxInt32
	return ahead != 0 && ahead < 1<<30
}
