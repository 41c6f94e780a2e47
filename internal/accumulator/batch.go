package accumulator

import (
	"linger/internal/clock"
	"linger/internal/invariant"
	"linger/internal/record"
	"linger/internal/txn"
)

// State is where a batch stands in its life.
type State uint8

const (
	// Open takes records. All later states are Step's alone.
	Open State = iota
	// Closed takes no records and waits for what comes next.
	Closed
	// Sealing is given to a worker that compresses it.
	Sealing
	// Sealed has its final bytes and waits in its queue.
	Sealed
	// InFlight has been drained: a request holds it.
	InFlight
)

// String is the state in words.
func (s State) String() string {
	return [...]string{"open", "closed", "sealing", "sealed", "in flight"}[s]
}

// becomes says which states may follow which.
var becomes = [...][]State{
	Open:     {Closed},
	Closed:   {Sealing, Sealed},
	Sealing:  {Sealed},
	Sealed:   {InFlight},
	InFlight: {Sealed},
}

// Holder is who may read a batch's memory. It goes home once nobody may and the batch has ended.
type Holder uint8

const (
	// HeldByQueue: it waits in its queue.
	HeldByQueue Holder = iota
	// HeldBySealer: a worker has it.
	HeldBySealer
	// HeldByRequest: a request has it, which may still be written to a socket.
	HeldByRequest
	// HeldByNobody: it is Step's to put back, split or free.
	HeldByNobody
)

// Batch is one batch of one partition. While it is open it belongs to whoever holds its queue's lock, from then on to
// Step; the sealer may call Seal alone, and the engine Free.
type Batch struct {
	Queue *Queue
	// Stamp is the producer's identity and the sequence; Count is set when the batch is closed.
	Stamp txn.Stamp
	// Attempts is how often the batch was put back.
	Attempts int
	// CreatedAt is when the batch was opened; the pieces of a split batch keep it.
	CreatedAt clock.Instant
	// LastAttempt is when the batch was put back last, CreatedAt before.
	LastAttempt clock.Instant
	// FirstSentAt is when it was first drained; 0 before.
	FirstSentAt clock.Instant

	state  State
	holder Holder
	queued bool // stands in its queue
	ended  bool // Complete has been called, or the batch was split
	given  bool // MayFree has said yes
	late   bool // Expired has reported it
	piece  bool // came from a split: its chunks are not the pool's

	word   word // the admission word it was opened under
	stage  *Generation
	result *Result
	slots  []Slot
	far    map[int32]int64 // time stamp deltas that do not fit their slot

	goesWith *node // the node whose drain sent it to be sealed, and waits for it

	builder   record.Builder
	charge    int    // bytes of the pool that go home with the batch, extra chunks not counted
	scratch   []byte // compressed records that did not fit the batch's own memory
	maxRecord int    // of a piece: the upper bound of its largest record, as a batch of its own

	order         int64         // by creation within the queue, then by record for pieces
	retryAt       clock.Instant // end of the back-off
	epoch         int32         // newest leader epoch seen while at the head of its queue, -1 none
	epochAttempts int           // Attempts when that epoch was new
}

// pieceUnit separates the orders of two batches: between them is room for one number a record, for their pieces.
const pieceUnit = 1 << 32

// State is where the batch stands.
func (b *Batch) State() State { return b.state }

// Holder is who may read the batch's memory.
func (b *Batch) Holder() Holder { return b.holder }

// Ended reports whether the batch's outcome is known, or it was split. Its memory may still be held.
func (b *Batch) Ended() bool { return b.ended }

// Queued reports whether the batch stands in its queue, be it for the first time or to be sent again.
func (b *Batch) Queued() bool { return b.queued }

// RecordCount is the number of records.
func (b *Batch) RecordCount() int { return b.builder.Count() }

// Size is the batch's size on the wire in bytes, header included: final once the batch is sealed.
func (b *Batch) Size() int { return b.builder.EstimatedSize() }

// UncompressedSize is Size without compression.
func (b *Batch) UncompressedSize() int { return b.builder.UncompressedSize() }

// Piece reports whether the batch came from a split.
func (b *Batch) Piece() bool { return b.piece }

// Chunks are the batch's bytes behind the header. Both list and bytes are the batch's, valid while it is held.
func (b *Batch) Chunks() [][]byte { return b.builder.Chunks() }

// PutHeader writes the header with the present stamp into dst, record.BatchOverhead bytes that are the caller's.
func (b *Batch) PutHeader(dst []byte) {
	id, epoch, sequence := b.Stamp.Header()
	b.builder.PutHeader(dst, b.Stamp.Transactional, id, epoch, sequence)
}

func (b *Batch) become(next State) {
	if invariant.Enabled {
		ok := false
		for _, s := range becomes[b.state] {
			ok = ok || s == next
		}
		invariant.Check(ok, "batch of %s-%d becomes %v from %v", b.Queue.Topic.Name, b.Queue.Partition, next, b.state)
	}
	b.state = next
}

// close ends appends. The caller holds the queue's lock.
func (b *Batch) close() {
	b.become(Closed)
	b.builder.Close()
	b.Stamp.Count = int32(b.builder.Count())
}

// full reports whether the batch waits for no more records.
func (b *Batch) full() bool { return b.state != Open || b.builder.IsFull() }

// add appends one record if there is room. start is a place or record.NoRoom or record.NeedsChunk.
func (b *Batch) add(e *Entry) (start int) {
	start = b.builder.TryAppend(e.TimestampMs, e.Key, e.Value, e.Headers)
	if start < 0 {
		return start
	}
	b.keep(e, start)
	return start
}

// keep adds the slot of the record that begins at start. It is filled in place: see AppendOpen.
func (b *Batch) keep(e *Entry, start int) {
	n := len(b.slots)
	if n == cap(b.slots) {
		b.slots = append(b.slots, Slot{})
	}
	b.slots = b.slots[:n+1]
	slot := &b.slots[n]
	slot.Callback = e.Callback
	slot.Start, slot.KeySize, slot.ValueSize = uint32(start), size(e.Key), size(e.Value)
	delta := e.TimestampMs - b.builder.BaseTimestamp()
	slot.TimestampDelta = int32(delta)
	if int64(int32(delta)) != delta || int32(delta) == farDelta {
		slot.TimestampDelta = farDelta
		b.setFar(n, delta)
	}
}

// lastSize is the size of the record added last.
func (b *Batch) lastSize() int {
	return b.builder.UncompressedSize() - record.BatchOverhead - int(b.slots[len(b.slots)-1].Start)
}

func (b *Batch) setFar(i int, delta int64) {
	if b.far == nil {
		b.far = make(map[int32]int64)
	}
	b.far[int32(i)] = delta
}

func size(field []byte) int32 {
	if field == nil {
		return -1
	}
	return int32(len(field))
}

// noteLeader keeps the newest leader epoch seen and the attempt at which it came (Java: maybeUpdateLeaderEpoch).
func (b *Batch) noteLeader(epoch int32) {
	if epoch >= 0 && epoch > b.epoch {
		b.epoch, b.epochAttempts = epoch, b.Attempts
	}
}

// backingOff reports whether the batch must wait before its next attempt. A leader that changed since the last one is
// tried at once (KIP-951). A batch that was never tried has no retryAt, and its epochAttempts are 0 as well.
func (b *Batch) backingOff(now clock.Instant) bool {
	return b.epochAttempts != b.Attempts && now < b.retryAt
}
