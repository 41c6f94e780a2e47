package partition

import "encoding/binary"

// Murmur2 is the 32-bit MurmurHash2 of key with the seed all Kafka clients share. A nil key hashes as an empty one.
func Murmur2(key []byte) int32 {
	const (
		seed = 0x9747b28c
		m    = 0x5bd1e995
		r    = 24
	)
	h := uint32(seed) ^ uint32(len(key))
	for len(key) >= 4 {
		k := binary.LittleEndian.Uint32(key) * m
		k ^= k >> r
		h = h*m ^ k*m
		key = key[4:]
	}
	switch len(key) {
	case 3:
		h ^= uint32(key[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(key[1]) << 8
		fallthrough
	case 1:
		h = (h ^ uint32(key[0])) * m
	}
	h = (h ^ h>>13) * m
	return int32(h ^ h>>15)
}

// ToPositive clears the sign bit. It is not the absolute value: that of the smallest int32 would be negative.
//
//gcassert:inline
func ToPositive(n int32) int32 { return n & 0x7fffffff }

// ForKey is the partition of a record with this serialized key among n partitions, n >= 1. All partitions of the topic
// count, not only those with a leader: a key must keep its partition while a broker is away.
func ForKey(key []byte, n int) int32 {
	return int32(int(ToPositive(Murmur2(key))) % n)
}
