package record

const (
	// shortOverhead is the most a record takes besides the bytes of key, value and headers.
	shortOverhead = MaxRecordOverhead + 2*5 + 1
	// From shortMin bytes of key, value and headers to below shortMax a record's length takes two bytes, below
	// shortMin - shortOverhead one.
	shortMin = 64
	shortMax = 1<<13 - shortOverhead
)

// TryAppend is HasRoomFor and Append in one: NoRoom when the batch is closed or would pass its write limit.
//
// Here is the path of the usual record: not the batch's first, far from the batch's limit and the chunk's end, of 64
// bytes to 8 KiB (so that its length takes two bytes) or of less than 32 (one byte). It need not compute its length
// before it is written, which saves a third of an append. Its plain twin, tryExact, does whatever else comes.
func (b *Builder) TryAppend(ts int64, key, value, headers []byte) (start int) {
	n := len(key) + len(value) + len(headers)
	at := b.at
	most := n + shortOverhead
	if most > len(b.tail)-at || b.estimate()+most > b.writeLimit || b.count == 0 || b.closed {
		return b.tryExact(ts, key, value, headers)
	}
	dst := b.tail[at : at+most]
	var w int
	switch {
	case n < shortMin-shortOverhead:
		w = 1
	case n >= shortMin && n < shortMax:
		w = 2
	default:
		return b.tryExact(ts, key, value, headers)
	}
	dst[w] = 0 // attributes
	at = putUvarint(dst, w+1, zigzag(ts-b.baseTs))
	at = putLen(dst, at, b.count)
	if key == nil {
		dst[at] = 1 // -1
		at++
	} else {
		at = putLen(dst, at, len(key))
		at += copy(dst[at:], key)
	}
	if value == nil {
		dst[at] = 1
		at++
	} else {
		at = putLen(dst, at, len(value))
		at += copy(dst[at:], value)
	}
	if len(headers) == 0 {
		dst[at] = 0
		at++
	} else {
		at += copy(dst[at:], headers)
	}
	if body := uint(at-w) << 1; w == 1 {
		dst[0] = byte(body)
	} else {
		dst[0], dst[1] = byte(body)|0x80, byte(body>>7)
	}
	b.at += at
	if b.at >= b.sumNext {
		b.sum()
	}
	start = b.written
	b.written += at
	b.count++
	b.maxTs = max(b.maxTs, ts)
	return start
}

// tryExact is TryAppend for any record.
func (b *Builder) tryExact(ts int64, key, value, headers []byte) (start int) {
	body := b.bodyLen(ts, len(key), len(value), len(headers))
	if !b.roomFor(body + lenLen(body)) {
		return NoRoom
	}
	return b.put(body, ts, key, value, headers)
}
