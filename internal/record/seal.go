package record

import "hash/crc32"

// Close ends appends: the batch is full from now on. Closing twice is allowed.
func (b *Builder) Close() {
	if !b.closed && b.sumNext != neverSum {
		b.sum()
	}
	b.closed = true
}

// Closed reports whether appends have ended.
func (b *Builder) Closed() bool { return b.closed }

// Count is the number of records.
func (b *Builder) Count() int { return b.count }

// BaseTimestamp is the first record's timestamp in milliseconds, -1 without a record.
func (b *Builder) BaseTimestamp() int64 { return b.baseTs }

// MaxTimestamp is the largest timestamp of the records in milliseconds, -1 without a record.
func (b *Builder) MaxTimestamp() int64 { return b.maxTs }

// UncompressedSize is the size of the batch in bytes as if it had no compression, header included.
func (b *Builder) UncompressedSize() int { return BatchOverhead + b.written }

// Size is the exact size of the batch in bytes as it stands, header included: compressed once Compressed or ReplaceChunks
// was called. A batch without records has no bytes at all.
func (b *Builder) Size() int {
	switch {
	case b.count == 0:
		return 0
	case b.sealed > 0:
		return BatchOverhead + b.sealed
	}
	return BatchOverhead + b.written
}

// CompressionRatio is compressed over uncompressed size of the records, without the header; 1 for a batch that isn't
// compressed. It is what Estimator learns from.
func (b *Builder) CompressionRatio() float32 {
	if b.sealed == 0 || b.written == 0 {
		return 1
	}
	return float32(b.sealed) / float32(b.written)
}

// Codec is the number of the codec the records are compressed with, 0 for none.
func (b *Builder) Codec() uint8 { return b.codec }

// Chunks is the batch's bytes behind the header, in order, compressed once that was done. Both list and bytes are the
// builder's: read them, and ask anew after any call that writes. Don't call it from two goroutines at once.
func (b *Builder) Chunks() [][]byte {
	if b.sealed > 0 {
		return b.views
	}
	return b.cutViews(b.usable, b.written)
}

// Memory is the list of chunks as they were lent, for giving them back. It stays valid until Reset.
func (b *Builder) Memory() [][]byte { return b.chunks }

// Compressed puts data, the records as codec compressed them, in the place of the records, in the builder's own chunks.
// It reports false, and has done nothing, when data is empty or doesn't fit: then see ReplaceChunks. data is copied, and
// must not be part of the chunks. Count and timestamps stay. It ends appends.
func (b *Builder) Compressed(codec uint8, data []byte) bool {
	room := 0
	for _, c := range b.chunks {
		room += len(c)
	}
	if len(data) == 0 || len(data) > room {
		return false
	}
	rest := data
	for _, c := range b.chunks {
		rest = rest[copy(c, rest):]
	}
	b.become(codec, len(data), data)
	b.cutViews(b.chunks, len(data))
	return true
}

// ReplaceChunks puts views, the records as codec compressed them, in the place of the records. The bytes stay where they
// are and must not change before the batch is done with; the list is copied. Count and timestamps stay. It ends appends.
func (b *Builder) ReplaceChunks(codec uint8, views [][]byte) {
	size := 0
	for _, v := range views {
		size += len(v)
	}
	b.become(codec, size, views...)
	b.views = append(b.views[:0], views...)
}

func (b *Builder) become(codec uint8, size int, bytes ...[]byte) {
	b.codec, b.sealed, b.closed = codec, size, true
	b.crc, b.summed, b.sumNext = 0, size, neverSum
	for _, p := range bytes {
		b.crc = crc32.Update(b.crc, castagnoli, p)
	}
}

// cutViews makes views the first size bytes of from.
func (b *Builder) cutViews(from [][]byte, size int) [][]byte {
	b.views = b.views[:0]
	for _, c := range from {
		if size == 0 {
			break
		}
		n := min(size, len(c))
		if n > 0 {
			b.views = append(b.views, c[:n:n])
		}
		size -= n
	}
	return b.views
}
