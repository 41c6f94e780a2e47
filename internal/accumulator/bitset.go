package accumulator

import "math/bits"

// bitset is a set of small numbers.
type bitset []uint64

func (b bitset) resize(n int) bitset {
	words := (n + 63) / 64
	if cap(b) < words {
		return make(bitset, words)
	}
	b = b[:words]
	clear(b)
	return b
}

func (b bitset) set(i int)   { b[i/64] |= 1 << (i % 64) }
func (b bitset) unset(i int) { b[i/64] &^= 1 << (i % 64) }

// next is the smallest member from i on and below end, or end.
func (b bitset) next(i, end int) int {
	for i < end {
		if w := b[i/64] >> (i % 64); w != 0 {
			return min(i+bits.TrailingZeros64(w), end)
		}
		i = (i/64 + 1) * 64
	}
	return end
}
