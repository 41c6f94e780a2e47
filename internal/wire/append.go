package wire

import (
	"encoding/binary"
	"math/bits"
)

func appendInt16(dst []byte, v int16) []byte { return binary.BigEndian.AppendUint16(dst, uint16(v)) }
func appendInt32(dst []byte, v int32) []byte { return binary.BigEndian.AppendUint32(dst, uint32(v)) }
func appendInt64(dst []byte, v int64) []byte { return binary.BigEndian.AppendUint64(dst, uint64(v)) }

func appendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func uvarintLen(v uint32) int { return (bits.Len32(v|1) + 6) / 7 }

// appendCount writes the count of an array; compact ones plus one.
func appendCount(dst []byte, n int, flexible bool) []byte {
	if flexible {
		return binary.AppendUvarint(dst, uint64(n)+1)
	}
	return appendInt32(dst, int32(n))
}

func countLen(n int, flexible bool) int {
	if flexible {
		return uvarintLen(uint32(n) + 1)
	}
	return 4
}

func appendString(dst []byte, s string, flexible bool) []byte {
	if flexible {
		dst = binary.AppendUvarint(dst, uint64(len(s))+1)
	} else {
		dst = appendInt16(dst, int16(len(s)))
	}
	return append(dst, s...)
}

func stringLen(s string, flexible bool) int {
	if flexible {
		return uvarintLen(uint32(len(s))+1) + len(s)
	}
	return 2 + len(s)
}

func appendNullableString(dst []byte, s *string, flexible bool) []byte {
	switch {
	case s != nil:
		return appendString(dst, *s, flexible)
	case flexible:
		return append(dst, 0)
	default:
		return appendInt16(dst, -1)
	}
}

func nullableStringLen(s *string, flexible bool) int {
	switch {
	case s != nil:
		return stringLen(*s, flexible)
	case flexible:
		return 1
	default:
		return 2
	}
}

// appendNoTags ends a structure of a flexible version that has no tagged fields.
func appendNoTags(dst []byte, flexible bool) []byte {
	if flexible {
		return append(dst, 0)
	}
	return dst
}
