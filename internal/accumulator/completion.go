package accumulator

// Callback hears of one record, on the delivery goroutine. The outcome is good until Done returns.
type Callback interface{ Done(o *Outcome) }

// Outcome is what became of one record. With Err the other numbers are -1, as in Java: nothing is known of the record
// but where it was meant to go.
type Outcome struct {
	Topic     string
	Partition int32
	// Offset is -1 when the broker gave none (acks=0).
	Offset int64
	// TimestampMs is the broker's append time when the topic keeps that, else the record's own; ms since 1970.
	TimestampMs int64
	// KeySize and ValueSize are serialized sizes in bytes, -1 for a null.
	KeySize, ValueSize int32
	Err                error
}

// Ending is how a batch ended.
type Ending struct {
	// BaseOffset is the offset of the first record, -1 when unknown.
	BaseOffset int64
	// LogAppendMs is the broker's time stamp for all records, -1 when the topic keeps the producer's.
	LogAppendMs int64
	// Err fails every record that RecordErrs doesn't name; nil when the batch was taken.
	Err error
	// RecordErrs are the errors of single records by index (KIP-467). It must not be written to once handed over.
	RecordErrs map[int32]error
}

// failed reports whether any record may have failed.
func (e *Ending) failed() bool { return e.Err != nil || e.RecordErrs != nil }

// ErrAt is the error of record i.
func (e *Ending) ErrAt(i int32) error {
	if err := e.RecordErrs[i]; err != nil {
		return err
	}
	return e.Err
}

// OffsetAt is the offset of record i, -1 when unknown.
func (e *Ending) OffsetAt(i int32) int64 {
	if e.BaseOffset < 0 {
		return -1
	}
	return e.BaseOffset + int64(i)
}

// Completion is an ended batch on its way to its callbacks: what remains of it once its memory has gone home. Deliver it
// by running the callbacks in record order and then calling Finish, once.
type Completion struct {
	Result *Result
	// Slots are the batch's records in order. They are recycled by Finish.
	Slots  []Slot
	Ending Ending

	base  int64           // time stamp that the slots' deltas count from
	far   map[int32]int64 // deltas that do not fit a slot
	acc   *Accumulator
	stage *Generation
}

// Outcome makes o what record i's callback is told. For all records of a batch the same o is used: with the batch taken,
// each record costs what differs from the one before.
func (c *Completion) Outcome(i int32, o *Outcome) {
	if c.Ending.failed() {
		if err := c.Ending.ErrAt(i); err != nil {
			*o = Outcome{
				Topic: c.Result.topic, Partition: c.Result.partition,
				Offset: -1, TimestampMs: -1, KeySize: -1, ValueSize: -1, Err: err,
			}
			return
		}
	}
	slot := &c.Slots[i]
	ms := c.Ending.LogAppendMs
	if ms < 0 {
		ms = c.timestamp(i)
	}
	o.Topic, o.Partition, o.Err = c.Result.topic, c.Result.partition, nil
	o.Offset, o.TimestampMs = c.Ending.OffsetAt(i), ms
	o.KeySize, o.ValueSize = slot.KeySize, slot.ValueSize
}

func (c *Completion) timestamp(i int32) int64 {
	if delta := c.Slots[i].TimestampDelta; delta != farDelta {
		return c.base + int64(delta)
	}
	return c.base + c.far[i]
}

// Finish completes the futures, then the flushes that waited for the batch, and takes the slots back: c is empty
// afterwards. The callbacks must have run.
func (c *Completion) Finish() {
	c.Result.finish(c.Ending)
	c.acc.slots.put(c.Slots)
	c.acc.gens.leave(c.stage)
	*c = Completion{}
}
