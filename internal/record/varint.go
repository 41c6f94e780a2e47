package record

import "math/bits"

// Zigzag varints: 0, -1, 1, -2 become 0, 1, 2, 3, then seven bits a byte, lowest first, top bit set on all but the last.

func zigzag(n int64) uint64 { return uint64(n<<1) ^ uint64(n>>63) }

func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// uvarintLen is ceil(bits/7), at least 1; 9/64 is close enough to 1/7 for 64 bits and avoids a division.
func uvarintLen(u uint64) int { return (bits.Len64(u|1)*9 + 64) >> 6 }

// varintLen is how many bytes n takes.
func varintLen(n int64) int { return uvarintLen(zigzag(n)) }

// lenLen is how many bytes the length n >= 0 takes.
func lenLen(n int) int { return uvarintLen(uint64(n) << 1) }

// putLen writes the length n >= 0 at dst[at:] and returns the place behind it. dst must have room.
func putLen(dst []byte, at int, n int) int { return putUvarint(dst, at, uint64(n)<<1) }

// putUvarint writes u at dst[at:] and returns the place behind it. dst must have room.
func putUvarint(dst []byte, at int, u uint64) int {
	if u < 0x80 { // most are: the rest is kept out of line
		dst[at] = byte(u)
		return at + 1
	}
	return putLong(dst, at, u)
}

func putLong(dst []byte, at int, u uint64) int {
	if u < 1<<14 {
		dst[at+1] = byte(u >> 7)
		dst[at] = byte(u) | 0x80
		return at + 2
	}
	for u >= 0x80 {
		dst[at] = byte(u) | 0x80
		u >>= 7
		at++
	}
	dst[at] = byte(u)
	return at + 1
}

func appendVarint(dst []byte, n int64) []byte {
	u := zigzag(n)
	for u >= 0x80 {
		dst = append(dst, byte(u)|0x80)
		u >>= 7
	}
	return append(dst, byte(u))
}

// uvarint reads an unsigned varint of at most max bytes off b. n is how many bytes it took; 0 when b ends too early or
// the number doesn't end in time.
func uvarint(b []byte, max int) (u uint64, n int) {
	for n < len(b) && n < max {
		c := b[n]
		u |= uint64(c&0x7f) << (7 * n)
		n++
		if c < 0x80 {
			return u, n
		}
	}
	return 0, 0
}
