package record

import "fmt"

// Record is one record as a Reader found it. Nil key or value is null. The slices alias the batch, or a copy when the
// record crosses a chunk boundary; they stay valid as long as the batch's memory.
type Record struct {
	Timestamp   int64 // milliseconds
	OffsetDelta int32
	Key, Value  []byte
	Headers     []byte // encoded with their count: what Append takes and DecodeHeaders reads
}

// Reader goes over the uncompressed records of a batch, once. It trusts nothing: any bytes end in records or an error.
type Reader struct {
	chunks [][]byte // what is left; the first may be partly read
	left   int      // bytes
	baseTs int64
	count  int // records still to come
	err    error
}

// NewReader reads count records out of chunks. The list is not changed.
func NewReader(chunks [][]byte, baseTimestamp int64, count int) *Reader {
	r := &Reader{baseTs: baseTimestamp, count: count}
	for _, c := range chunks {
		if len(c) > 0 {
			r.chunks = append(r.chunks, c)
			r.left += len(c)
		}
	}
	return r
}

// Reader reads the records that were appended to b, which must not have been compressed.
func (b *Builder) Reader() *Reader { return NewReader(b.Chunks(), b.baseTs, b.count) }

// Next sets rec to the next record. It reports false after the last one and after an error; see Err.
func (r *Reader) Next(rec *Record) bool {
	if r.err != nil {
		return false
	}
	if r.count == 0 {
		if r.left > 0 {
			r.err = fmt.Errorf("%w: %d bytes behind the last record", ErrCorrupt, r.left)
		}
		return false
	}
	n, err := r.recordLen()
	if err == nil {
		err = rec.decode(r.take(n), r.baseTs)
	}
	r.err = err
	r.count--
	return err == nil
}

// Err is what ended the reading, nil when all records were read.
func (r *Reader) Err() error { return r.err }

// recordLen reads the length in front of a record, byte by byte since it may cross a chunk boundary.
func (r *Reader) recordLen() (int, error) {
	var lead [5]byte
	n := 0
	for n < len(lead) && r.left > 0 {
		lead[n] = r.take(1)[0]
		n++
		if lead[n-1] < 0x80 {
			break
		}
	}
	c := cursor{b: lead[:n]}
	size := int(c.varint32())
	switch {
	case c.err != nil:
		return 0, c.err
	case size < 0 || size > r.left:
		return 0, fmt.Errorf("%w: record of %d bytes, %d left", ErrCorrupt, size, r.left)
	}
	return size, nil
}

// take cuts the next n bytes off, n <= left. They alias the chunk unless they cross a boundary.
func (r *Reader) take(n int) []byte {
	r.left -= n
	if n == 0 {
		return nil
	}
	first := r.chunks[0]
	if n < len(first) {
		r.chunks[0] = first[n:]
		return first[:n:n]
	}
	if n == len(first) {
		r.chunks = r.chunks[1:]
		return first[:n:n]
	}
	whole := make([]byte, 0, n)
	for len(whole) < n {
		c := r.chunks[0]
		part := min(len(c), n-len(whole))
		whole = append(whole, c[:part]...)
		if part == len(c) {
			r.chunks = r.chunks[1:]
		} else {
			r.chunks[0] = c[part:]
		}
	}
	return whole
}

// decode reads a record's body, which must hold it and nothing else.
func (rec *Record) decode(body []byte, baseTs int64) error {
	if len(body) == 0 {
		return fmt.Errorf("%w: empty record", ErrCorrupt)
	}
	c := cursor{b: body[1:]} // attributes carry nothing in magic 2
	rec.Timestamp = baseTs + c.varint(10)
	rec.OffsetDelta = c.varint32()
	rec.Key = c.field()
	rec.Value = c.field()
	rec.Headers = c.b[:len(c.b):len(c.b)]
	if c.err != nil {
		return c.err
	}
	_, err := DecodeHeaders(rec.Headers)
	return err
}
