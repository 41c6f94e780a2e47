package linger

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"unsafe"
)

// Kafka's built-in serializers: each makes the bytes of Java's serializer of that name. Numbers are big-endian. They are for
// types without a null where Go has none; Nullable adds it.
//
// They are safe for concurrent use and need no closing.
var (
	// String is UTF-8: the string's bytes as they are. Other character sets come with serializer.encoding, see
	// NewRegistry. Its bytes are the string's own memory, so nobody may write to them.
	String Serializer[string] = utf8Serializer{}
	// Short is 2 bytes.
	Short Serializer[int16] = shortSerializer{}
	// Integer is 4 bytes.
	Integer Serializer[int32] = integerSerializer{}
	// Long is 8 bytes.
	Long Serializer[int64] = longSerializer{}
	// Float is the 4 bytes of IEEE 754; every NaN keeps its bits.
	Float Serializer[float32] = floatSerializer{}
	// Double is the 8 bytes of IEEE 754; every NaN becomes the one that Java writes.
	Double Serializer[float64] = doubleSerializer{}
	// Boolean is one byte, 1 or 0.
	Boolean Serializer[bool] = booleanSerializer{}
	// UUID is the 36 characters of the usual notation, such as 6ba7b810-9dad-11d1-80b4-00c04fd430c8. See UUIDOf.
	UUID Serializer[[16]byte] = UUIDOf[[16]byte]()
	// ByteArray passes bytes through; nil is null.
	ByteArray Serializer[[]byte] = byteArraySerializer{}
	// Bytes is ByteArray: Java's Bytes is a wrapper for what a slice is in Go.
	Bytes Serializer[[]byte] = byteArraySerializer{}
	// Void makes null of everything, for records without a key or without a value.
	Void Serializer[struct{}] = voidSerializer{}
	// ByteBuffer is a reader's whole content from its start, whatever was read before, and leaves it at its start, as
	// Java's does with a buffer up to its limit; a nil reader is null. A reader is changed by it, so each record needs its own.
	ByteBuffer Serializer[*bytes.Reader] = byteBufferSerializer{}
)

// UUIDOf is UUID for a type of 16 bytes, such as the UUID types of other packages.
func UUIDOf[T ~[16]byte]() Serializer[T] { return uuidSerializer[T]{} }

type utf8Serializer struct{}

// Serialize takes the bytes from where they are. Copying them first, []byte(v), is the plain twin; it costs one allocation and
// one copy a record more.
func (utf8Serializer) Serialize(_ string, _ []Header, v string) ([]byte, error) {
	if v == "" {
		return []byte{}, nil // not null
	}
	return unsafe.Slice(unsafe.StringData(v), len(v)), nil
}

type shortSerializer struct{}

func (shortSerializer) Serialize(_ string, _ []Header, v int16) ([]byte, error) {
	return binary.BigEndian.AppendUint16(make([]byte, 0, 2), uint16(v)), nil
}

func (shortSerializer) fixedSize() bool { return true }

type integerSerializer struct{}

func (integerSerializer) Serialize(_ string, _ []Header, v int32) ([]byte, error) {
	return binary.BigEndian.AppendUint32(make([]byte, 0, 4), uint32(v)), nil
}

func (integerSerializer) fixedSize() bool { return true }

type longSerializer struct{}

func (longSerializer) Serialize(_ string, _ []Header, v int64) ([]byte, error) {
	return binary.BigEndian.AppendUint64(make([]byte, 0, 8), uint64(v)), nil
}

func (longSerializer) fixedSize() bool { return true }

type floatSerializer struct{}

func (floatSerializer) Serialize(_ string, _ []Header, v float32) ([]byte, error) {
	return binary.BigEndian.AppendUint32(make([]byte, 0, 4), math.Float32bits(v)), nil
}

func (floatSerializer) fixedSize() bool { return true }

// javaNaN is the NaN of Java's Double.doubleToLongBits, which the double serializer uses; the float one uses raw bits.
const javaNaN = 0x7ff8000000000000

type doubleSerializer struct{}

func (doubleSerializer) Serialize(_ string, _ []Header, v float64) ([]byte, error) {
	bits := math.Float64bits(v)
	if v != v {
		bits = javaNaN
	}
	return binary.BigEndian.AppendUint64(make([]byte, 0, 8), bits), nil
}

func (doubleSerializer) fixedSize() bool { return true }

type booleanSerializer struct{}

func (booleanSerializer) Serialize(_ string, _ []Header, v bool) ([]byte, error) {
	if v {
		return []byte{1}, nil
	}
	return []byte{0}, nil
}

type uuidSerializer[T ~[16]byte] struct{}

func (uuidSerializer[T]) Serialize(_ string, _ []Header, v T) ([]byte, error) {
	return appendUUID(make([]byte, 0, 36), v), nil
}

func (uuidSerializer[T]) fixedSize() bool { return true }

// appendUUID writes 8-4-4-4-12 hexadecimal digits.
func appendUUID(dst []byte, u [16]byte) []byte {
	const digits = "0123456789abcdef"
	for i, b := range u {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, digits[b>>4], digits[b&15])
	}
	return dst
}

type byteArraySerializer struct{}

func (byteArraySerializer) Serialize(_ string, _ []Header, v []byte) ([]byte, error) { return v, nil }

type voidSerializer struct{}

func (voidSerializer) Serialize(string, []Header, struct{}) ([]byte, error) { return nil, nil }

type byteBufferSerializer struct{}

func (byteBufferSerializer) Serialize(_ string, _ []Header, v *bytes.Reader) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	if _, err := v.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	b := make([]byte, v.Size())
	_, err := v.ReadAt(b, 0)
	if err == io.EOF { // of an empty reader
		err = nil
	}
	return b, err
}

// passesThrough reports whether s gives back the very bytes it gets, so that the producer need not ask it.
func passesThrough(s any) bool {
	_, ok := s.(byteArraySerializer)
	return ok
}
