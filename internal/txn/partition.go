package txn

import (
	"slices"
	"strconv"
)

// ProducerID is a producer id with its epoch; NoProducer() stands for none.
type ProducerID struct {
	ID    int64
	Epoch int16
}

// NoProducer is the identity of a producer that has none yet.
func NoProducer() ProducerID { return ProducerID{NoProducerID, NoEpoch} }

// Valid reports whether a broker gave the id.
func (p ProducerID) Valid() bool { return p.ID > NoProducerID }

// String is Java's form of it.
func (p ProducerID) String() string {
	return "(producerId=" + strconv.FormatInt(p.ID, 10) + ", epoch=" + strconv.Itoa(int(p.Epoch)) + ")"
}

// Partition keeps the sequences of one partition. The zero value is a partition that has sent nothing yet; Topic and
// Index may be set by the owner and are used in messages only.
//
// It must not be copied once it is in use: the Manager remembers its address while something is unresolved.
type Partition struct {
	Topic string
	Index int32

	started bool       // id is set: otherwise NoProducer
	id      ProducerID // what the sequences below count for
	next    int32      // base sequence of the next batch

	acked         bool // lastAcked is set
	lastAcked     int32
	ackedOffset   bool // lastOffset is set
	lastOffset    int64
	inFlight      []*Stamp // by id, epoch, sequence
	unresolved    bool     // a batch expired after it was sent: its fate is unknown
	afterLost     int32    // while unresolved: the sequence behind the batch that expired last
	rewriteWanted bool     // in the Manager's rewrite list

	// provenFor is the producer id, plus one, of which the broker has taken a batch: from then on it checks sequences.
	provenFor int64
}

// ProducerID is the identity that the partition's sequences count for.
func (p *Partition) ProducerID() ProducerID {
	if !p.started {
		return NoProducer()
	}
	return p.id
}

// NextSequence is the base sequence of the next batch.
func (p *Partition) NextSequence() int32 { return p.next }

// LastAckedSequence is the last sequence that a broker acknowledged under the current identity.
func (p *Partition) LastAckedSequence() (sequence int32, ok bool) {
	if !p.acked {
		return NoSequence, false
	}
	return p.lastAcked, true
}

// LastAckedOffset is the offset of the last record that a broker acknowledged.
func (p *Partition) LastAckedOffset() (offset int64, ok bool) {
	if !p.ackedOffset {
		return -1, false
	}
	return p.lastOffset, true
}

// InFlight is how many batches have a sequence and no outcome: out, or back in the queue for another try.
func (p *Partition) InFlight() int { return len(p.inFlight) }

// FirstInFlight is the batch with the oldest sequence that has no outcome yet, nil when there is none.
func (p *Partition) FirstInFlight() *Stamp {
	if len(p.inFlight) == 0 {
		return nil
	}
	return p.inFlight[0]
}

// Unresolved reports whether a batch expired after it was sent and it is not known yet whether a broker took it.
func (p *Partition) Unresolved() bool { return p.unresolved }

// StartAt makes sequence the next one. It is for tests that want to be near the wrap (CASES B03), and must be called
// before the first batch leaves.
func (p *Partition) StartAt(id ProducerID, sequence int32) {
	p.started, p.id, p.next = true, id, sequence
	p.acked, p.lastAcked = true, subSequence(sequence, 1)
	p.provenFor = id.ID + 1
}

// Proven reports whether a broker has taken a batch of the producer id, so that it checks sequences from then on.
//
// Brokers up to 4.4 take any sequence as the first of a producer that they don't know (KAFKA-15591). The story: batches
// 0–16 and 17–21 go to a fresh partition, 0–16 is refused as its leader was only just elected, 17–21 is taken; every
// retry of 0–16 is then out of order, until delivery.timeout.ms fails it. Whoever lets a partition's first batch go
// alone until it is Proven is safe from that, for one round trip once per partition.
func (p *Partition) Proven(id ProducerID) bool { return p.provenFor == id.ID+1 }

// isNext reports whether sequence follows the last acknowledged one directly.
func (p *Partition) isNext(sequence int32) bool {
	if !p.acked {
		return sequence == 0
	}
	return sequence == AddSequence(p.lastAcked, 1)
}

func (p *Partition) ackSequence(sequence int32) {
	if !p.acked || after(sequence, p.lastAcked) {
		p.acked, p.lastAcked = true, sequence
	}
}

func (p *Partition) ackOffset(offset int64) {
	if !p.ackedOffset || offset > p.lastOffset {
		p.ackedOffset, p.lastOffset = true, offset
	}
}

func (p *Partition) add(s *Stamp) {
	at, _ := slices.BinarySearchFunc(p.inFlight, s, compareStamps)
	p.inFlight = slices.Insert(p.inFlight, at, s)
}

func (p *Partition) remove(s *Stamp) {
	if at := slices.Index(p.inFlight, s); at >= 0 {
		p.inFlight = slices.Delete(p.inFlight, at, at+1)
	}
}

// compareStamps orders by identity first: after a bump batches of two epochs can be in flight, and comparing sequences
// alone would mix them up (Java: TxnPartitionEntry.PRODUCER_BATCH_COMPARATOR).
func compareStamps(a, b *Stamp) int {
	switch {
	case a.ProducerID != b.ProducerID:
		return order(a.ProducerID < b.ProducerID)
	case a.Epoch != b.Epoch:
		return order(a.Epoch < b.Epoch)
	case a.BaseSequence == b.BaseSequence:
		return 0
	default:
		return order(after(b.BaseSequence, a.BaseSequence))
	}
}

func order(less bool) int {
	if less {
		return -1
	}
	return 1
}

// restart numbers everything in flight again from 0 under the identity id, oldest first, and the next batch behind it.
func (p *Partition) restart(id ProducerID) {
	sequence := int32(0)
	for _, s := range p.inFlight {
		s.rewrite(id, sequence)
		s.doubt, s.overtaken = false, 0
		sequence = AddSequence(sequence, s.Count)
	}
	p.started, p.id, p.next = true, id, sequence
	p.acked, p.lastAcked = false, 0
}

// closeGap moves everything behind a batch that a broker refused for good down by its records, so that the sequences
// stay without a gap (Java: adjustSequencesDueToFailedBatch; only inside a transaction).
func (p *Partition) closeGap(base, count int32) {
	if !p.started && len(p.inFlight) == 0 {
		return // nothing is tracked: the partition was forgotten since
	}
	p.next = subSequence(p.next, count)
	for _, s := range p.inFlight {
		if s.BaseSequence == base || after(s.BaseSequence, base) {
			s.rewrite(ProducerID{s.ProducerID, s.Epoch}, subSequence(s.BaseSequence, count))
		}
	}
}

// forget drops every sequence, as if the partition had sent nothing (Java: TxnPartitionMap.remove). What stays is its
// name and its place in the Manager's list of partitions to rewrite.
func (p *Partition) forget() {
	*p = Partition{Topic: p.Topic, Index: p.Index, rewriteWanted: p.rewriteWanted, unresolved: p.unresolved, afterLost: p.afterLost}
	// provenFor goes, too: the broker has forgotten the producer, and will take any sequence as its first again.
}
