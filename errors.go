package linger

import "linger/internal/kerr"

// ProducerError is what brokers, time-outs and limits say.
//
// Op is what was being done ("send", "commit transaction"); Topic and Partition say where (Partition is -1 when no
// partition is meant); Code is Kafka's own number and name, Class what to do about it, Err the cause. Take it out of an
// error with errors.AsType[*linger.ProducerError](err).
type ProducerError = kerr.Error

// Code is a Kafka protocol error: its number on the wire, with Name and Message as Kafka gives them.
type Code = kerr.Code

// Class says what an error asks of the application (KIP-1050).
type Class = kerr.Class

// The classes, from harmless to final. Class belongs to the operation, not to the code alone.
const (
	ClassNone                   = kerr.ClassNone
	ClassRetriable              = kerr.ClassRetriable
	ClassRefreshRetriable       = kerr.ClassRefreshRetriable
	ClassAbortable              = kerr.ClassAbortable
	ClassApplicationRecoverable = kerr.ClassApplicationRecoverable
	ClassInvalidConfiguration   = kerr.ClassInvalidConfiguration
	ClassFatal                  = kerr.ClassFatal
)

// Situations, to be asked for with errors.Is.
var (
	// ErrClosed: the producer is closed; no record is taken any more.
	ErrClosed = kerr.ErrClosed
	// ErrClosedDuringSend: the producer closed while Send waited for metadata or memory.
	ErrClosedDuringSend = kerr.ErrClosedDuringSend
	// ErrForceClosed: the record was still unsent or unanswered when the close ran out of time.
	ErrForceClosed = kerr.ErrForceClosed
	// ErrTimeout: delivery.timeout.ms, max.block.ms or another limit of time has passed; the text says which.
	ErrTimeout = kerr.ErrTimeout
	// ErrBufferExhausted: buffer.memory stayed full for max.block.ms. It is an ErrTimeout as well.
	ErrBufferExhausted = kerr.ErrBufferExhausted
	// ErrRecordTooLarge: the record exceeds max.request.size, buffer.memory or the broker's limit.
	ErrRecordTooLarge = kerr.ErrRecordTooLarge
	// ErrInvalidTopic: the broker refuses the topic's name.
	ErrInvalidTopic = kerr.ErrInvalidTopic
	// ErrSerialization: a serializer failed; it is the cause.
	ErrSerialization = kerr.ErrSerialization
	// ErrIllegalState: the call is not allowed now.
	ErrIllegalState = kerr.ErrIllegalState
	// ErrIllegalArgument: an argument is not allowed at all.
	ErrIllegalArgument = kerr.ErrIllegalArgument
	// ErrConfig: an option has a wrong value or contradicts another one.
	ErrConfig = kerr.ErrConfig
	// ErrAuthentication: a broker refuses who we say we are.
	ErrAuthentication = kerr.ErrAuthentication
	// ErrAuthorization: a broker refuses what we want to do.
	ErrAuthorization = kerr.ErrAuthorization
	// ErrFenced: another producer has taken over.
	ErrFenced = kerr.ErrFenced
	// ErrWouldBlock: TrySend found no metadata or no memory; nothing was taken.
	ErrWouldBlock = kerr.ErrWouldBlock
	// ErrInterrupted: the context ended while a call waited; its error and its cause are visible too. Nothing is lost: the same call
	// may be made again with another context, so the class is ClassRetriable.
	ErrInterrupted = kerr.ErrInterrupted
)

// ClassOf is the class of err, ClassNone when it has none.
func ClassOf(err error) Class { return kerr.ClassOf(err) }
