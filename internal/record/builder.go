package record

// What Append answers instead of a start.
const (
	// NeedsChunk: the record didn't fit in the chunks the builder has, and nothing was written. Add a chunk, try again.
	NeedsChunk = -1
	// NoRoom: the batch is closed, or full by Java's estimate with this record (TryAppend only). Nothing was written.
	NoRoom = -2
)

// Builder gathers the records of one batch in chunks of memory that the caller owns and lends. It belongs to one
// goroutine at a time (in the accumulator: the holder of the partition queue's lock). It must not be copied once Reset.
//
// The accounting is Java's, where the header stands in the same buffer: BatchOverhead bytes at the end of the first
// chunk stay unused, so that a chunk of batch.size bytes holds exactly the records that a Java batch of that size would.
// Nobody may write or release a chunk before the batch is done with.
type Builder struct {
	tail    []byte // chunk being written, cut to its usable length
	at      int    // bytes of tail that are written
	spare   int    // usable bytes in the chunks behind tail
	written int    // record bytes in all
	count   int    // records
	sumNext int    // sum the records when at comes here
	baseTs  int64
	maxTs   int64

	writeLimit int
	ratio      float32
	compressed bool
	closed     bool

	crc    uint32 // of the records' first bytes, summed of them; see sum
	summed int
	sumAt  int // up to here the last chunk is summed

	codec  uint8 // set by Compressed
	sealed int   // record bytes after compression, 0 before

	reserve int      // of BatchOverhead, what no chunk has set aside yet
	tailNo  int      // tail is usable[tailNo]
	chunks  [][]byte // as lent
	usable  [][]byte // of each, the part that takes record bytes
	views   [][]byte // what Chunks returns
	inline  [3][1][]byte
}

// Reset makes b the builder of a new, empty batch that writes into chunk, forgetting all of its last batch but the
// memory of its own lists.
//
// writeLimit is the size in bytes, header included, that the batch is full at: in Java, the size of the buffer it was
// opened with. With compressed, ratio is the expected ratio of compressed to uncompressed size (Estimator).
func (b *Builder) Reset(chunk []byte, writeLimit int, compressed bool, ratio float32) {
	*b = Builder{
		writeLimit: writeLimit, compressed: compressed, ratio: ratio,
		reserve: BatchOverhead, baseTs: -1, maxTs: -1, sumNext: sumBlock,
		chunks: b.chunks, usable: b.usable, views: b.views,
	}
	if compressed {
		b.sumNext = neverSum
	}
	if b.chunks == nil { // nearly every batch has one chunk: its lists need no memory of their own
		b.chunks, b.usable, b.views = b.inline[0][:], b.inline[1][:], b.inline[2][:]
	}
	clear(b.chunks[:cap(b.chunks)])
	clear(b.usable[:cap(b.usable)])
	clear(b.views[:cap(b.views)])
	b.chunks, b.usable, b.views = b.chunks[:0], b.usable[:0], b.views[:0]
	b.AddChunk(chunk)
	b.tail = b.usable[0]
}

// AddChunk lends the builder another chunk. Records go on where they stopped: one may begin in a chunk and end in
// another.
func (b *Builder) AddChunk(chunk []byte) {
	keep := min(b.reserve, len(chunk))
	b.reserve -= keep
	b.chunks = append(b.chunks, chunk)
	b.usable = append(b.usable, chunk[:len(chunk)-keep])
	if len(b.usable) > 1 {
		b.spare += len(chunk) - keep
	}
}

// Append writes one record and returns where it starts in the batch's uncompressed record bytes, or NeedsChunk. ts is
// milliseconds since 1970, or -1. A nil key or value is null. headers is what AppendHeaders makes; nil for none. All are
// copied. Whether there is room by the write limit is not asked: HasRoomFor before, or TryAppend.
func (b *Builder) Append(ts int64, key, value, headers []byte) (start int) {
	if b.closed {
		return NoRoom
	}
	body := b.bodyLen(ts, len(key), len(value), len(headers))
	return b.put(body, ts, key, value, headers)
}

// RecordSize is the exact size that Append would take for such a record; keyLen and valueLen -1 for null, headersLen as
// UpperBound has it.
func (b *Builder) RecordSize(ts int64, keyLen, valueLen, headersLen int) int {
	body := b.bodyLen(ts, max(keyLen, 0), max(valueLen, 0), headersLen)
	return body + lenLen(body)
}

// bodyLen is the record's size without the length in front. Null takes as much as an empty key or value.
func (b *Builder) bodyLen(ts int64, keyLen, valueLen, headersLen int) int {
	return 1 + uvarintLen(b.delta(ts)) + lenLen(b.count) +
		lenLen(keyLen) + keyLen + lenLen(valueLen) + valueLen + max(headersLen, 1)
}

// delta is ts as it is written. The first record's is 0: it sets the base.
func (b *Builder) delta(ts int64) uint64 {
	if b.count == 0 {
		return 0
	}
	return zigzag(ts - b.baseTs)
}

// put writes the record straight into the last chunk, or leaves it to putAcross.
func (b *Builder) put(body int, ts int64, key, value, headers []byte) int {
	size := body + lenLen(body)
	if size > len(b.tail)-b.at {
		return b.putAcross(size, body, ts, key, value, headers)
	}
	dst := b.tail[b.at : b.at+size]
	at := putLen(dst, 0, body)
	dst[at] = 0 // attributes
	at = putUvarint(dst, at+1, b.delta(ts))
	at = putLen(dst, at, b.count)
	at = putField(dst, at, key)
	at = putField(dst, at, value)
	if len(headers) == 0 {
		dst[at] = 0
	} else {
		copy(dst[at:], headers)
	}
	b.at += size
	if b.at >= b.sumNext {
		b.sum()
	}
	return b.wrote(size, ts)
}

// putField writes a length and the bytes; at least they must have room.
func putField(dst []byte, at int, field []byte) int {
	if field == nil {
		dst[at] = 1 // -1
		return at + 1
	}
	at = putLen(dst, at, len(field))
	return at + copy(dst[at:], field)
}

func (b *Builder) wrote(size int, ts int64) (start int) {
	if b.count == 0 {
		b.baseTs = ts
	}
	start = b.written
	b.written += size
	b.count++
	b.maxTs = max(b.maxTs, ts)
	return start
}

// putAcross is put for a record that ends in a later chunk. It comes once a chunk, so it may take its time.
func (b *Builder) putAcross(size, body int, ts int64, key, value, headers []byte) int {
	if size > b.Remaining() {
		return NeedsChunk
	}
	var lead [MaxRecordOverhead + 5]byte
	at := putLen(lead[:], 0, body)
	lead[at] = 0
	at = putUvarint(lead[:], at+1, b.delta(ts))
	at = putLen(lead[:], at, b.count)
	at = putUvarint(lead[:], at, zigzag(int64(nullableLen(key))))
	b.write(lead[:at])
	b.write(key)
	b.write(lead[:putUvarint(lead[:], 0, zigzag(int64(nullableLen(value))))])
	b.write(value)
	if len(headers) == 0 {
		headers = []byte{0}
	}
	b.write(headers)
	return b.wrote(size, ts)
}

// write copies p to the end of the records, stepping from chunk to chunk.
func (b *Builder) write(p []byte) {
	for {
		n := copy(b.tail[b.at:], p)
		b.at += n
		p = p[n:]
		if len(p) == 0 {
			return
		}
		if b.sumNext != neverSum {
			b.sum()
			b.sumAt, b.sumNext = 0, sumBlock
		}
		b.tailNo++
		b.tail, b.at = b.usable[b.tailNo], 0
		b.spare -= len(b.tail)
	}
}

// Remaining is how many more record bytes the chunks can take.
func (b *Builder) Remaining() int { return len(b.tail) - b.at + b.spare }
