package accumulator

import "math"

// Entry is one record on its way into a batch. It belongs to the caller; the bytes are copied, and nothing of it is kept
// after Append but Callback.
type Entry struct {
	// TimestampMs is the record's time stamp, ms since 1970.
	TimestampMs int64
	// Key and Value are serialized; nil is Kafka's null.
	Key, Value []byte
	// Headers are the record's headers as package record encodes them, count and all; nil for none.
	Headers []byte
	// Callback may be nil.
	Callback Callback
	// Partition is set by Append before each attempt to the partition it tries, so that the caller can name it when the
	// append fails (Java: AppendCallbacks.setPartition).
	Partition int32
}

// Appended says where a record went.
type Appended struct {
	// Result and Index are the record's future.
	Result *Result
	Index  int32
	// Partition is the one that was asked for, or the built-in partitioner's choice.
	Partition int32
	// Bytes is by how much Java's estimate of the batch's size grew; the whole batch's for a new one.
	Bytes int
	// BatchFull: the queue holds a batch that is complete. A lone batch with room does not count.
	BatchFull bool
	// NewBatch: the record opened a batch.
	NewBatch bool
	// Wake: the engine must be nudged. It is false when somebody else has already done so for this queue.
	Wake bool
}

// Slot is what a batch keeps of one record until it is delivered: 32 bytes.
type Slot struct {
	Callback Callback
	// Start is where the record begins in the batch's uncompressed bytes. The top bit is free for a tombstone.
	Start uint32
	// KeySize and ValueSize are -1 for a null.
	KeySize, ValueSize int32
	// TimestampDelta is the record's time stamp minus the batch's first one; farDelta when it does not fit.
	TimestampDelta int32
}

// farDelta marks a slot whose time stamp lies too far from the batch's: it stands in a map beside.
const farDelta = math.MinInt32

// AnyPartition lets the built-in partitioner choose.
const AnyPartition int32 = -1
