package kerr

import (
	"strconv"
	"strings"
)

// Error is an error that is about an operation, and mostly one that a broker named.
//
// An Error is not changed after it was handed out, so any goroutine may read it.
type Error struct {
	// Op is what was being done: "send", "commit transaction".
	Op string
	// Topic is the topic it was about; empty when it was about none.
	Topic string
	// Partition is the partition of Topic, or -1 when it was not about one. It is not looked at without a Topic.
	Partition int32
	// Code is Kafka's number; None when no code fits and Err says what happened.
	Code Code
	// Class is what the application can do. ClassNone takes the class of Code or, without a code, of Err.
	Class Class
	// Msg is the explanation: the broker's own, or ours with times and limits. Empty takes the text of Code.
	Msg string
	// Err is the cause, and may be nil.
	Err error
}

// Error gives what, where and why, such as
//
//	send orders-3: NOT_LEADER_OR_FOLLOWER, 4 tries, 2m (delivery.timeout.ms)
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Topic != "" {
		space(&b)
		b.WriteString(e.Topic)
		if e.Partition >= 0 {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(int(e.Partition)))
		}
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	e.writeReason(&b)
	return b.String()
}

func (e *Error) writeReason(b *strings.Builder) {
	cause := e.Err
	if s, ok := cause.(*Situation); ok && (e.Msg != "" || e.Code != None && s.code == e.Code) {
		cause = nil // the sentinel has nothing to say that the code or the explanation does not
	}
	switch {
	case e.Code != None && e.Msg != "":
		b.WriteString(e.Code.Name() + ", " + e.Msg)
	case e.Code != None:
		b.WriteString(e.Code.Name() + ": " + e.Code.Message())
	case e.Msg != "":
		b.WriteString(e.Msg)
	case cause != nil:
		b.WriteString(cause.Error())
		return
	default:
		b.WriteString("failed")
	}
	if cause != nil {
		b.WriteString(": " + cause.Error())
	}
}

func space(b *strings.Builder) {
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is compare codes: an Error is every Error of the same code and, when it has one, every sentinel that
// stands for its code (ErrFenced for PRODUCER_FENCED) or its kind (ErrAuthorization).
func (e *Error) Is(target error) bool {
	if e.Code == None {
		return false
	}
	switch t := target.(type) {
	case *Error:
		return t.Code == e.Code
	case *Situation:
		return t.covers(e.Code)
	}
	return false
}

// situation is the sentinel that Err is, when it says more exactly what Code says: an exhausted buffer is a time-out of
// its own kind. It is nil otherwise.
func (e *Error) situation() *Situation {
	if s, ok := e.Err.(*Situation); ok && s.code == e.Code {
		return s
	}
	return nil
}

func (e *Error) class() Class {
	if e.Class != ClassNone {
		return e.Class
	}
	if s := e.situation(); s != nil {
		return s.class
	}
	return e.Code.Class()
}

func (e *Error) exception() string {
	if s := e.situation(); s != nil {
		return s.exception
	}
	return e.Code.Exception()
}

// message is empty when only the cause has one.
func (e *Error) message() string {
	if e.Msg != "" {
		return e.Msg
	}
	if s := e.situation(); s != nil {
		return s.text
	}
	if e.Code == None {
		return ""
	}
	return e.Code.Message()
}
