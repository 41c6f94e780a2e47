package record

import "math"

// compressionFactor is what Java multiplies its estimate by, to be on the safe side.
const compressionFactor float32 = 1.05

// HasRoomFor reports whether a record of these lengths (-1 for null; headersLen as UpperBound has it) would still go in.
// The first record always does, whatever its size; a further one if the estimate with it, uncompressed, stays within the
// write limit (in Java: MemoryRecordsBuilder.hasRoomFor).
func (b *Builder) HasRoomFor(ts int64, keyLen, valueLen, headersLen int) bool {
	return b.roomFor(b.RecordSize(ts, keyLen, valueLen, headersLen))
}

func (b *Builder) roomFor(size int) bool {
	if b.closed {
		return false
	}
	return b.count == 0 || b.writeLimit >= b.estimate()+size
}

// IsFull reports whether the batch is closed or has reached its write limit; one without a record has not.
func (b *Builder) IsFull() bool {
	return b.closed || (b.count > 0 && b.writeLimit <= b.estimate())
}

// EstimatedSize is the batch's size in bytes with its header: exact when it isn't compressed or has been sealed, else
// an estimate by the expected ratio.
func (b *Builder) EstimatedSize() int {
	if b.sealed > 0 {
		return BatchOverhead + b.sealed
	}
	return b.estimate()
}

// estimate keeps to Java's order of 32-bit operations, since the last bit may decide whether a record goes in.
func (b *Builder) estimate() int {
	if !b.compressed {
		return BatchOverhead + b.written
	}
	size := float32(float32(float32(b.written)*b.ratio) * compressionFactor)
	return BatchOverhead + toInt32(size)
}

// toInt32 converts as Java's cast does: toward zero, saturating, NaN to 0.
func toInt32(f float32) int {
	switch {
	case f >= math.MaxInt32:
		return math.MaxInt32
	case f <= math.MinInt32:
		return math.MinInt32
	case f != f:
		return 0
	}
	return int(f)
}
