package linger

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// List serializes slices in the format of Kafka's ListSerializer (KIP-466), for Kafka's ListDeserializer to read. A nil
// slice is null. An element for which inner makes nil is a null element.
//
// The format, big-endian; the first one is Kafka's choice for lists of Short, Integer, Long, Float, Double and UUID:
//
//	0 | number of nulls | index of each null | number of elements | the elements that are not null
//	1 | number of elements | for each: length (-1 null) and bytes
func List[T any](inner Serializer[T]) Serializer[[]T] {
	return listSerializer[T]{inner: inner, fixed: isFixedSize(inner)}
}

// fixedSizer marks serializers whose bytes are always as long.
type fixedSizer interface{ fixedSize() bool }

func isFixedSize(s any) bool {
	f, ok := s.(fixedSizer)
	return ok && f.fixedSize()
}

// How the elements are laid out (in Java: Serdes.ListSerde.SerializationStrategy).
const (
	constantSize = 0
	variableSize = 1
)

const nullElement = -1

type listSerializer[T any] struct {
	inner Serializer[T]
	fixed bool
}

// Serialize makes one element after the other and puts what is known only at the end in front: with fixed sizes
// the indices of nulls.
func (s listSerializer[T]) Serialize(topic string, headers []Header, list []T) ([]byte, error) {
	if list == nil {
		return nil, nil
	}
	if len(list) > math.MaxInt32 {
		return nil, fmt.Errorf("a list of %d elements is longer than the format allows", len(list))
	}
	if s.fixed {
		return s.constant(topic, headers, list)
	}
	return s.variable(topic, headers, list)
}

func (s listSerializer[T]) constant(topic string, headers []Header, list []T) ([]byte, error) {
	var elements, nulls []byte
	for i, v := range list {
		b, err := s.element(topic, headers, i, v)
		if err != nil {
			return nil, err
		}
		if b == nil {
			nulls = binary.BigEndian.AppendUint32(nulls, uint32(i))
		}
		elements = append(elements, b...)
	}
	out := make([]byte, 0, 9+len(nulls)+len(elements))
	out = append(out, constantSize)
	out = binary.BigEndian.AppendUint32(out, uint32(len(nulls)/4))
	out = append(out, nulls...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(list)))
	return append(out, elements...), nil
}

func (s listSerializer[T]) variable(topic string, headers []Header, list []T) ([]byte, error) {
	out := []byte{variableSize}
	out = binary.BigEndian.AppendUint32(out, uint32(len(list)))
	for i, v := range list {
		b, err := s.element(topic, headers, i, v)
		if err != nil {
			return nil, err
		}
		length := int32(len(b))
		if b == nil {
			length = nullElement
		}
		out = append(binary.BigEndian.AppendUint32(out, uint32(length)), b...)
	}
	return out, nil
}

func (s listSerializer[T]) element(topic string, headers []Header, i int, v T) ([]byte, error) {
	b, err := s.inner.Serialize(topic, headers, v)
	if err != nil {
		return nil, fmt.Errorf("element %d of the list: %w", i, err)
	}
	return b, nil
}

// Close closes the serializer of the elements.
func (s listSerializer[T]) Close() error {
	if c, ok := s.inner.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
