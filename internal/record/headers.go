package record

import (
	"errors"
	"fmt"
)

// Header is one header of a record. A nil Value is Kafka's null. Key is UTF-8.
type Header struct {
	Key   string
	Value []byte
}

// AppendHeaders appends the encoded form that Builder takes: the count and each header. No headers is one zero byte.
func AppendHeaders(dst []byte, hs []Header) []byte {
	dst = AppendHeaderCount(dst, len(hs))
	for i := range hs {
		dst = AppendHeader(dst, hs[i])
	}
	return dst
}

// AppendHeaderCount appends what stands before n headers.
func AppendHeaderCount(dst []byte, n int) []byte { return appendVarint(dst, int64(n)) }

// AppendHeader appends one header; AppendHeaderCount has told how many there are.
func AppendHeader(dst []byte, h Header) []byte {
	dst = appendVarint(dst, int64(len(h.Key)))
	dst = append(dst, h.Key...)
	dst = appendVarint(dst, int64(nullableLen(h.Value)))
	return append(dst, h.Value...)
}

// HeadersLen is the length of what AppendHeaders appends.
func HeadersLen(hs []Header) int {
	n := varintLen(int64(len(hs)))
	for _, h := range hs {
		n += fieldLen(len(h.Key)) + fieldLen(nullableLen(h.Value))
	}
	return n
}

// DecodeHeaders is the reverse of AppendHeaders; encoded must hold exactly one list. Values alias encoded. No headers
// gives nil.
func DecodeHeaders(encoded []byte) ([]Header, error) {
	if len(encoded) == 1 && encoded[0] == 0 {
		return nil, nil
	}
	c := cursor{b: encoded}
	n := c.varint32()
	if n < 0 {
		return nil, fmt.Errorf("%w: %d headers", ErrCorrupt, n)
	}
	var hs []Header // not made for n: that may be any number
	for i := int32(0); i < n && c.err == nil; i++ {
		key := c.field()
		if c.err == nil && key == nil {
			return nil, fmt.Errorf("%w: header without key", ErrCorrupt)
		}
		hs = append(hs, Header{Key: string(key), Value: c.field()})
	}
	if c.err == nil && len(c.b) > 0 {
		c.err = fmt.Errorf("%w: %d bytes behind the headers", ErrCorrupt, len(c.b))
	}
	if c.err != nil {
		return nil, c.err
	}
	return hs, nil
}

// ErrCorrupt: the bytes are not what the format allows.
var ErrCorrupt = errors.New("corrupt record batch")

// A cursor walks over b. The first error stays and makes everything after it zero.
type cursor struct {
	b   []byte
	err error
}

func (c *cursor) varint(maxBytes int) int64 {
	u, n := uvarint(c.b, maxBytes)
	if n == 0 {
		c.fail("number cut off or too long")
		return 0
	}
	c.b = c.b[n:]
	return unzigzag(u)
}

func (c *cursor) varint32() int32 {
	n := c.varint(5)
	if n != int64(int32(n)) {
		c.fail("number beyond 32 bits")
		return 0
	}
	return int32(n)
}

// field reads a length and that many bytes; -1 is nil, 0 is empty and not nil. The bytes alias c.b, with no capacity
// beyond them.
func (c *cursor) field() []byte {
	n := int(c.varint32())
	switch {
	case c.err != nil || n == -1:
		return nil
	case n < 0 || n > len(c.b):
		c.fail("field longer than what is left")
		return nil
	}
	f := c.b[:n:n]
	c.b = c.b[n:]
	return f
}

func (c *cursor) fail(what string) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s", ErrCorrupt, what)
	}
	c.b = nil
}
