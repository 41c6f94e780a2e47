package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrMalformed is behind every error about bytes that are not what the protocol says.
var ErrMalformed = errors.New("malformed message")

// reader takes a message apart from the front. After the first fault it reads zeroes, and err says what the fault was.
type reader struct {
	src []byte
	err error
}

func (r *reader) fail(what, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s: %s", ErrMalformed, what, fmt.Sprintf(format, args...))
	}
	r.src = nil
}

// take cuts n bytes off the front; nil after a fault. n may be any number a stranger wrote.
func (r *reader) take(n int, what string) []byte {
	if n < 0 || n > len(r.src) {
		r.fail(what, "needs %d bytes, %d remain", n, len(r.src))
		return nil
	}
	b := r.src[:n:n]
	r.src = r.src[n:]
	return b
}

func (r *reader) int8(what string) int8 {
	if b := r.take(1, what); b != nil {
		return int8(b[0])
	}
	return 0
}

func (r *reader) int16(what string) int16 {
	if b := r.take(2, what); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *reader) int32(what string) int32 {
	if b := r.take(4, what); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) int64(what string) int64 {
	if b := r.take(8, what); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (r *reader) bool(what string) bool { return r.int8(what) != 0 }

// uvarint reads an unsigned varint of at most 32 bits, as the protocol's are.
func (r *reader) uvarint(what string) uint32 {
	v, n := binary.Uvarint(r.src)
	if n <= 0 || v > math.MaxUint32 {
		r.fail(what, "no unsigned 32-bit varint in %d remaining bytes", len(r.src))
		return 0
	}
	r.src = r.src[n:]
	return uint32(v)
}

// length reads a length or a count: -1 is null. Compact ones are written plus one (KIP-482).
func (r *reader) length(flexible bool, short bool, what string) int {
	switch {
	case flexible:
		return int(r.uvarint(what)) - 1
	case short:
		return int(r.int16(what))
	default:
		return int(r.int32(what))
	}
}

// count reads the count of an array whose elements take at least minBytes each. What could not possibly fit is
// refused before anybody takes memory for it.
func (r *reader) count(flexible bool, minBytes int, what string) int {
	n := r.length(flexible, false, what)
	if r.err != nil {
		return 0
	}
	if n < 0 {
		r.fail(what, "count is %d", n)
		return 0
	}
	if n > len(r.src)/minBytes {
		r.fail(what, "%d elements of at least %d bytes, %d bytes remain", n, minBytes, len(r.src))
		return 0
	}
	return n
}

// nullableString gives the bytes of a string where they stand in the message; nil is null, empty is not nil.
func (r *reader) nullableString(flexible bool, what string) []byte {
	n := r.length(flexible, true, what)
	if n == -1 || r.err != nil {
		return nil
	}
	return r.take(n, what)
}

func (r *reader) string(flexible bool, what string) []byte {
	b := r.nullableString(flexible, what)
	if b == nil && r.err == nil {
		r.fail(what, "is null")
	}
	return b
}

// tag reads the head of one tagged field: its number and a reader of its bytes alone.
func (r *reader) tag(what string) (number uint32, field reader) {
	number = r.uvarint(what)
	size := r.uvarint(what)
	return number, reader{src: r.take(int(size), what), err: r.err}
}

// tags reads how many tagged fields follow.
func (r *reader) tags(what string) int {
	n := int(r.uvarint(what))
	const minTag = 2 // number and size
	if r.err == nil && n > len(r.src)/minTag {
		r.fail(what, "%d tagged fields, %d bytes remain", n, len(r.src))
		return 0
	}
	return n
}

// skipTags passes over tagged fields that nobody here knows.
func (r *reader) skipTags(flexible bool, what string) {
	if !flexible {
		return
	}
	for range r.tags(what) {
		if r.tag(what); r.err != nil {
			return
		}
	}
}

// str is b as a string, with null told apart.
func str(b []byte) (s string, ok bool) { return string(b), b != nil }
