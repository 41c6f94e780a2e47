package linger

import "io"

// Serializer turns keys or values of type T into bytes.
//
// A nil slice is Kafka's null (for a value: a tombstone), an empty one is empty. The producer only reads the returned bytes
// and is done with them when Send returns, so a serializer may hand out the value's own memory; it must not write to
// what it handed out until then. An error refuses the record: Send returns it within an ErrSerialization, unless it is one
// of this package's kinds already (ErrSerialization, ErrTimeout …), which passes as it is.
//
// Serialize is called from all goroutines that send, at the same time. headers are the record's and must not be changed.
//
// A serializer may also be a SerializerConfigurer, and may have Close() error, which is called once with the producer's.
type Serializer[T any] interface {
	Serialize(topic string, headers []Header, v T) ([]byte, error)
}

// SerializerConfigurer is what a serializer may implement to see the producer's options before its first use. New calls
// Configure once, and only on serializers that it makes from key.serializer or value.serializer; one that was handed to New
// is taken as it is, as in Java. values are the options as they were set, by their Kafka names, unknown ones too; isKey says
// which side the serializer is for. An error is a configuration error of New.
type SerializerConfigurer interface {
	Configure(values map[string]any, isKey bool) error
}

// SerializerFunc is a function as a Serializer.
type SerializerFunc[T any] func(topic string, headers []Header, v T) ([]byte, error)

// Serialize calls f.
func (f SerializerFunc[T]) Serialize(topic string, headers []Header, v T) ([]byte, error) {
	return f(topic, headers, v)
}

// Nullable serializes pointers: nil is Kafka's null, anything else is what s makes of the value pointed to. With it a
// type that has no null, such as a string or a number, gets one:
//
//	p, err := linger.New(linger.String, linger.Nullable(linger.Long))
func Nullable[T any](s Serializer[T]) Serializer[*T] {
	return nullable[T]{inner: s}
}

type nullable[T any] struct{ inner Serializer[T] }

func (n nullable[T]) Serialize(topic string, headers []Header, v *T) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	return n.inner.Serialize(topic, headers, *v)
}

// fixedSize follows the type pointed to: a list of nullable numbers is still one of fixed size to Kafka's list format.
func (n nullable[T]) fixedSize() bool { return isFixedSize(n.inner) }

// Close closes the serializer inside.
func (n nullable[T]) Close() error {
	if c, ok := n.inner.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
