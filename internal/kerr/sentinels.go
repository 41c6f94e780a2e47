package kerr

import (
	"context"
	"errors"
	"fmt"
)

// Situation is the type of the sentinels: a thing that only the client knows, under the name that Java gives it. Its
// values are the variables below and nothing else.
type Situation struct {
	text      string
	exception string // empty: Java has none
	code      Code   // None: the protocol has no number for it
	class     Class
	parent    *Situation // what it is a special case of
	kind      traits     // also stands for every code that has all of these
}

// Error is the situation in words.
func (s *Situation) Error() string { return s.text }

// JavaException is the simple name of Java's exception class; empty when Java has no such situation.
func (s *Situation) JavaException() string { return s.exception }

// Is makes errors.Is hold for what the situation is a special case of, and for Errors of its code.
func (s *Situation) Is(target error) bool {
	switch t := target.(type) {
	case *Situation:
		for p := s; p != nil; p = p.parent {
			if p == t {
				return true
			}
		}
		return t.kind != 0 && s.code != None && t.covers(s.code)
	case *Error:
		return s.code != None && s.code == t.Code
	}
	return false
}

// covers reports whether the situation stands for the code. A special case does not stand for the general one:
// REQUEST_TIMED_OUT from a broker is ErrTimeout, yet no ErrBufferExhausted.
func (s *Situation) covers(c Code) bool {
	if s.kind != 0 {
		return c.entry().traits.has(s.kind)
	}
	return s.parent == nil && s.code != None && s.code == c
}

// The producer's own states.
var (
	// ErrClosed: the producer was closed before the call. The two below are special cases of it.
	ErrClosed = &Situation{
		text:      "Cannot perform operation after producer has been closed",
		exception: "IllegalStateException", class: ClassFatal,
	}
	// ErrClosedDuringSend: the producer was closed while Send waited.
	ErrClosedDuringSend = &Situation{
		text:      "Producer closed while send in progress",
		exception: "KafkaException", class: ClassFatal, parent: ErrClosed,
	}
	// ErrClosedAllocating: the producer was closed while Send waited for memory.
	ErrClosedAllocating = &Situation{
		text:      "Producer closed while allocating memory",
		exception: "KafkaException", class: ClassFatal, parent: ErrClosedDuringSend,
	}
	// ErrForceClosed: the producer was closed with records unsent, or its close ran out of time.
	ErrForceClosed = &Situation{
		text:      "Producer is closed forcefully.",
		exception: "KafkaException", class: ClassFatal, parent: ErrClosed,
	}
	// ErrInErrorState: an earlier error of the transaction stands in the way; it is the cause.
	ErrInErrorState = &Situation{
		text:      "Cannot execute transactional method because we are in an error state",
		exception: "KafkaException", class: ClassFatal,
	}
	// ErrTransactionAborted: the record was still unsent when its transaction was aborted.
	ErrTransactionAborted = &Situation{
		text:      "Failing batch since transaction was aborted",
		exception: "TransactionAbortedException", class: ClassAbortable,
	}
	// ErrFenced: a newer producer with the same transactional.id took over.
	ErrFenced = &Situation{
		text:      ProducerFenced.Message(),
		exception: ProducerFenced.Exception(), code: ProducerFenced, class: ClassApplicationRecoverable,
	}
)

// Time, memory and size.
var (
	// ErrTimeout: a time limit passed. The protocol's REQUEST_TIMED_OUT is one of them.
	ErrTimeout = &Situation{
		text:      RequestTimedOut.Message(),
		exception: RequestTimedOut.Exception(), code: RequestTimedOut, class: ClassRetriable,
	}
	// ErrBufferExhausted: buffer.memory stayed full for max.block.ms. It is an ErrTimeout too, as in Java.
	ErrBufferExhausted = &Situation{
		text:      "Failed to allocate memory within the configured max blocking time.",
		exception: "BufferExhaustedException", code: RequestTimedOut, class: ClassRetriable, parent: ErrTimeout,
	}
	// ErrInterrupted: the caller's context ended while a call waited; wrapped together with the context's error
	// by Interrupted. Producer and record are as well as before: the call may be made again with a context that lives.
	ErrInterrupted = &Situation{
		text:      "interrupted",
		exception: "InterruptException", class: ClassRetriable,
	}
	// ErrWouldBlock: TrySend would have had to wait. Nothing was taken. Java has no such call.
	ErrWouldBlock = &Situation{
		text:  "send would block",
		class: ClassRetriable,
	}
	// ErrCancelled: the application cancelled the record while it was still queued. Java has no such call.
	ErrCancelled = &Situation{
		text:      "record was cancelled before it was sent",
		exception: "CancellationException", class: ClassFatal,
	}
	// ErrRecordTooLarge: the record is larger than max.request.size, buffer.memory, or what the broker takes.
	ErrRecordTooLarge = &Situation{
		text:      MessageTooLarge.Message(),
		exception: MessageTooLarge.Exception(), code: MessageTooLarge, class: ClassFatal,
	}
)

// What the caller, the configuration or the cluster got wrong.
var (
	// ErrInvalidTopic: the topic's name is not one that Kafka allows.
	ErrInvalidTopic = &Situation{
		text:      InvalidTopicException.Message(),
		exception: InvalidTopicException.Exception(), code: InvalidTopicException, class: ClassInvalidConfiguration,
	}
	// ErrSerialization: a serializer failed; its error is the cause.
	ErrSerialization = &Situation{
		text:      "serialization failed",
		exception: "SerializationException", class: ClassFatal,
	}
	// ErrIllegalState: the call is not allowed now.
	ErrIllegalState = &Situation{
		text:      "illegal state",
		exception: "IllegalStateException", class: ClassFatal,
	}
	// ErrIllegalArgument: an argument is not allowed at any time.
	ErrIllegalArgument = &Situation{
		text:      "illegal argument",
		exception: "IllegalArgumentException", class: ClassFatal,
	}
	// ErrConfig: the configuration was refused.
	ErrConfig = &Situation{
		text:      "invalid configuration",
		exception: "ConfigException", class: ClassInvalidConfiguration,
	}
	// ErrKafka: an error for which Java has only its general exception.
	ErrKafka = &Situation{
		text:      "producer failed",
		exception: "KafkaException", class: ClassFatal,
	}
	// ErrDisconnected: the connection ended before the answer came. The protocol's NETWORK_EXCEPTION.
	ErrDisconnected = &Situation{
		text:      NetworkException.Message(),
		exception: NetworkException.Exception(), code: NetworkException, class: ClassRefreshRetriable,
	}
	// ErrAuthentication: the client could not prove who it is. It stands for every code of that kind.
	ErrAuthentication = &Situation{
		text:      "authentication failed",
		exception: "AuthenticationException", class: ClassInvalidConfiguration, kind: authentication,
	}
	// ErrAuthorization: the principal may not do what it asked. It stands for every code of that kind.
	ErrAuthorization = &Situation{
		text:      "not authorized",
		exception: "AuthorizationException", class: ClassInvalidConfiguration, kind: authorization,
	}
)

// Interrupted is ErrInterrupted for ctx, which has ended in a wait for what. Visible to errors.Is are how it ended, and the
// cause that whoever ended it gave.
func Interrupted(ctx context.Context, what string) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return fmt.Errorf("%w: waiting for %s: %w", ErrInterrupted, what, err)
}
