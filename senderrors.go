package linger

import (
	"errors"
	"fmt"

	"linger/internal/kerr"
)

// illegal is an ErrIllegalArgument with an explanation.
func illegal(op, topic, format string, args ...any) error {
	return &kerr.Error{Op: op, Topic: topic, Partition: -1, Class: kerr.ClassFatal, Msg: fmt.Sprintf(format, args...), Err: kerr.ErrIllegalArgument}
}

// serializationError is what Send says of a serializer's error. One that names its kind, such as an ErrSerialization or an
// ErrTimeout, passes as it is: an API error is an outcome then, anything else Send's own error. Every other one is taken
// for a value that the serializer can't convert (in Java, which has types at run time only: a ClassCastException).
func serializationError(err error, side, topic string, v, ser any) error {
	if namesItself(err) {
		return err
	}
	msg := fmt.Sprintf("Can't convert %s of class %T to class %T specified in %s.serializer", side, v, ser, side)
	return &kerr.Error{Op: "send", Topic: topic, Partition: -1, Class: kerr.ClassFatal, Msg: msg, Err: &because{kerr.ErrSerialization, err}}
}

// serializerPanicked is a panic as Send's error. It names itself as far as the value it panicked with does.
func serializerPanicked(side, topic string, ser, fault any) error {
	msg := fmt.Sprintf("The %s serializer %T panicked: %v", side, ser, fault)
	return &kerr.Error{Op: "send", Topic: topic, Partition: -1, Class: kerr.ClassFatal, Msg: msg, Err: kerr.ErrSerialization}
}

func namesItself(err error) bool {
	switch kerr.JavaName(err) {
	case "ClassCastException":
		return false
	case "RuntimeException": // also of an error that names nothing
		var named interface{ JavaException() string }
		return errors.As(err, &named)
	}
	return true
}

// because is a situation and what led to it; in words only the latter.
type because struct {
	situation *kerr.Situation
	cause     error
}

func (b *because) Error() string   { return b.cause.Error() }
func (b *because) Unwrap() []error { return []error{b.situation, b.cause} }

// countsAsError reports whether an error that is no outcome is still a record error to Java's sensors: interruption and
// Kafka's own exceptions are, an illegal state or argument and what plug-ins throw are not (KafkaProducer.doSend).
func countsAsError(err error) bool {
	switch kerr.JavaName(err) {
	case "KafkaException", "SerializationException", "InterruptException", "ConfigException":
		return true
	}
	return false
}
