package client

import (
	"fmt"
	"time"

	"linger/internal/clock"
)

// Request is one request on its way. Its fields are the caller's until Send and again after its Answer; in between
// nobody but the machine touches it or the bytes of Vec.
type Request struct {
	Key     int16    // which API
	Version int16    // the version Vec is encoded in, and the answer will be
	Corr    int32    // from NextCorr
	Node    int32    // the broker
	Vec     [][]byte // the whole request with its length prefix
	// NoAnswer says that the broker will not answer (Produce with acks=0): the request is over once it is written.
	NoAnswer bool
	// Timeout is counted from sending; 0 means Options.RequestTimeout.
	Timeout time.Duration
	Owner   any // the caller's, untouched

	// SentAt is set by Send.
	SentAt clock.Instant

	throttled time.Duration // how long the broker made us wait meanwhile: not the request's fault
	written   bool
	answered  bool
	malformed bool
	body      []byte
}

// deadline is when the request is older than its time-out, not counting the time for which the broker throttled us (Java:
// InFlightRequests.hasExpiredRequest).
func (r *Request) deadline() clock.Instant {
	return past(r.SentAt.Add(r.Timeout).Add(r.throttled))
}

// over reports whether the connection has no more to do for r.
func (r *Request) over() bool { return r.written && (r.answered || r.NoAnswer) }

// past is the first instant later than t: Java's time-outs hold when more than their time has passed.
func past(t clock.Instant) clock.Instant { return t.Add(1) }

// AnswerKind says how a request ended.
type AnswerKind uint8

const (
	// Answered: Body is the broker's answer; of a NoAnswer request, that it was written.
	Answered AnswerKind = iota + 1
	// Disconnected: the connection ended before the answer came. The broker may have done what was asked.
	Disconnected
	// TimedOut: no answer within the time-out of a request on this connection, which was closed for it.
	TimedOut
	// VersionMismatch: the broker does not speak the request's version. Nothing was sent.
	VersionMismatch
	// AuthFailed: the connection ended since one side could not prove who it is.
	AuthFailed
	// Malformed: the answer's header could not be read. The connection was closed.
	Malformed
)

func (k AnswerKind) String() string {
	switch k {
	case Answered:
		return "answered"
	case Disconnected:
		return "disconnected"
	case TimedOut:
		return "timed out"
	case VersionMismatch:
		return "version mismatch"
	case AuthFailed:
		return "authentication failed"
	case Malformed:
		return "malformed"
	}
	return fmt.Sprintf("AnswerKind(%d)", uint8(k))
}

// Answer is the end of a request: the connection has let go of its memory.
type Answer struct {
	Request *Request
	Kind    AnswerKind
	Body    []byte // Answered: what follows the response header; the receiver's
	Err     error  // nil when Answered
}
