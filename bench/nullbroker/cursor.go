package nullbroker

import "encoding/binary"

// cursor steps through a request without copying. A step past the end sets bad, and everything after it is zero.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.bad, c.b = true, nil
		return nil
	}
	taken := c.b[:n]
	c.b = c.b[n:]
	return taken
}

func (c *cursor) int16() int16 {
	if b := c.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (c *cursor) int32() int32 {
	if b := c.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (c *cursor) uvarint() int {
	u, n := binary.Uvarint(c.b)
	if n <= 0 || u > maxFrame {
		c.bad, c.b = true, nil
		return 0
	}
	c.b = c.b[n:]
	return int(u)
}

// count is the length of an array or of bytes; null counts as none.
func (c *cursor) count(flexible bool) int {
	if flexible {
		return max(0, c.uvarint()-1)
	}
	return max(0, int(c.int32()))
}

func (c *cursor) text(flexible bool) []byte {
	if flexible {
		return c.take(max(0, c.uvarint()-1))
	}
	return c.take(max(0, int(c.int16())))
}

func (c *cursor) bytes(flexible bool) []byte { return c.take(c.count(flexible)) }

func (c *cursor) tags(flexible bool) {
	if !flexible {
		return
	}
	for n := c.uvarint(); n > 0 && !c.bad; n-- {
		c.uvarint()
		c.take(c.uvarint())
	}
}

func appendCount(dst []byte, flexible bool, n int) []byte {
	if flexible {
		return binary.AppendUvarint(dst, uint64(n)+1)
	}
	return binary.BigEndian.AppendUint32(dst, uint32(n))
}

func appendText(dst []byte, flexible bool, s []byte) []byte {
	if flexible {
		dst = binary.AppendUvarint(dst, uint64(len(s))+1)
	} else {
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(s)))
	}
	return append(dst, s...)
}
