package wire

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// MaxInitProducerIDVersion is the newest version spoken here: v6 brings two-phase commit (KIP-939). A broker serves it
// only when told to (unstable.api.versions.enable in 4.4).
const MaxInitProducerIDVersion int16 = 6

const (
	initFlexible int16 = 2
	initBump     int16 = 3 // KIP-360
	initTwoPhase int16 = 6 // KIP-939
)

var (
	_ kmsg.Request  = (*InitProducerIDRequest)(nil)
	_ kmsg.Response = (*InitProducerIDResponse)(nil)
)

// InitProducerIDRequest asks for a producer id and epoch. It is a kmsg.Request, so AppendRequest takes it.
type InitProducerIDRequest struct {
	Version int16
	// TransactionalID is nil for a producer without transactions.
	TransactionalID *string
	// TransactionTimeoutMs is how long a transaction may stay open before the coordinator aborts it.
	TransactionTimeoutMs int32
	// ProducerID and ProducerEpoch are what the producer has, -1 when nothing (v3, KIP-360).
	ProducerID    int64
	ProducerEpoch int16
	// Enable2PC says that the transaction is part of another one and never times out (v6).
	Enable2PC bool
	// KeepPreparedTxn asks to find a prepared transaction as it was (v6).
	KeepPreparedTxn bool
}

// NewInitProducerIDRequest is a request of a producer that has no id yet.
func NewInitProducerIDRequest(version int16) *InitProducerIDRequest {
	return &InitProducerIDRequest{Version: version, ProducerID: -1, ProducerEpoch: -1}
}

// Key is Kafka's number of the message.
func (*InitProducerIDRequest) Key() int16 { return KeyInitProducerID }

// MaxVersion is the newest version spoken here.
func (*InitProducerIDRequest) MaxVersion() int16 { return MaxInitProducerIDVersion }

// SetVersion sets the version to write and read.
func (q *InitProducerIDRequest) SetVersion(version int16) { q.Version = version }

// GetVersion is the version to write and read.
func (q *InitProducerIDRequest) GetVersion() int16 { return q.Version }

// IsFlexible reports whether the version has tagged fields (KIP-482).
func (q *InitProducerIDRequest) IsFlexible() bool { return q.Version >= initFlexible }

// ResponseKind is an empty response of the same version.
func (q *InitProducerIDRequest) ResponseKind() kmsg.Response {
	return &InitProducerIDResponse{
		Version: q.Version, ProducerID: -1, OngoingTxnProducerID: -1, OngoingTxnProducerEpoch: -1,
	}
}

// AppendTo appends the request's body.
func (q *InitProducerIDRequest) AppendTo(dst []byte) []byte {
	flexible := q.IsFlexible()
	dst = appendNullableString(dst, q.TransactionalID, flexible)
	dst = appendInt32(dst, q.TransactionTimeoutMs)
	if q.Version >= initBump {
		dst = appendInt64(dst, q.ProducerID)
		dst = appendInt16(dst, q.ProducerEpoch)
	}
	if q.Version >= initTwoPhase {
		dst = appendBool(dst, q.Enable2PC)
		dst = appendBool(dst, q.KeepPreparedTxn)
	}
	return appendNoTags(dst, flexible)
}

// ReadFrom takes a body apart, as a broker does.
func (q *InitProducerIDRequest) ReadFrom(body []byte) error {
	*q = *NewInitProducerIDRequest(q.Version)
	r := reader{src: body}
	flexible := q.IsFlexible()
	if id, ok := str(r.nullableString(flexible, "transactional id")); ok {
		q.TransactionalID = &id
	}
	q.TransactionTimeoutMs = r.int32("transaction timeout")
	if q.Version >= initBump {
		q.ProducerID = r.int64("producer id")
		q.ProducerEpoch = r.int16("producer epoch")
	}
	if q.Version >= initTwoPhase {
		q.Enable2PC = r.bool("enable two-phase commit")
		q.KeepPreparedTxn = r.bool("keep prepared transaction")
	}
	r.skipTags(flexible, "request")
	if r.err != nil {
		return fmt.Errorf("init producer id request: %w", r.err)
	}
	return nil
}

// InitProducerIDResponse gives a producer id and epoch. It is a kmsg.Response.
type InitProducerIDResponse struct {
	Version int16
	// ThrottleMs is how long the broker wants this client to be silent.
	ThrottleMs int32
	// ErrorCode is Kafka's number; 0 is success.
	ErrorCode     int16
	ProducerID    int64
	ProducerEpoch int16
	// OngoingTxnProducerID and OngoingTxnProducerEpoch belong to the prepared transaction that was kept, -1 when there
	// is none (v6).
	OngoingTxnProducerID    int64
	OngoingTxnProducerEpoch int16
}

// Key is Kafka's number of the message.
func (*InitProducerIDResponse) Key() int16 { return KeyInitProducerID }

// MaxVersion is the newest version spoken here.
func (*InitProducerIDResponse) MaxVersion() int16 { return MaxInitProducerIDVersion }

// SetVersion sets the version to write and read.
func (p *InitProducerIDResponse) SetVersion(version int16) { p.Version = version }

// GetVersion is the version to write and read.
func (p *InitProducerIDResponse) GetVersion() int16 { return p.Version }

// IsFlexible reports whether the version has tagged fields (KIP-482).
func (p *InitProducerIDResponse) IsFlexible() bool { return p.Version >= initFlexible }

// RequestKind is an empty request of the same version.
func (p *InitProducerIDResponse) RequestKind() kmsg.Request {
	return NewInitProducerIDRequest(p.Version)
}

// Throttle is ThrottleMs, and whether the broker throttles after it answered.
func (p *InitProducerIDResponse) Throttle() (ms int32, afterResponse bool) {
	return p.ThrottleMs, p.Version >= 1
}

// AppendTo appends the response's body, as a broker does.
func (p *InitProducerIDResponse) AppendTo(dst []byte) []byte {
	dst = appendInt32(dst, p.ThrottleMs)
	dst = appendInt16(dst, p.ErrorCode)
	dst = appendInt64(dst, p.ProducerID)
	dst = appendInt16(dst, p.ProducerEpoch)
	if p.Version >= initTwoPhase {
		dst = appendInt64(dst, p.OngoingTxnProducerID)
		dst = appendInt16(dst, p.OngoingTxnProducerEpoch)
	}
	return appendNoTags(dst, p.IsFlexible())
}

// ReadFrom takes a body apart, which is what ResponseBody gave.
func (p *InitProducerIDResponse) ReadFrom(body []byte) error {
	r := reader{src: body}
	*p = InitProducerIDResponse{Version: p.Version, OngoingTxnProducerID: -1, OngoingTxnProducerEpoch: -1}
	p.ThrottleMs = r.int32("throttle time")
	p.ErrorCode = r.int16("error code")
	p.ProducerID = r.int64("producer id")
	p.ProducerEpoch = r.int16("producer epoch")
	if p.Version >= initTwoPhase {
		p.OngoingTxnProducerID = r.int64("ongoing producer id")
		p.OngoingTxnProducerEpoch = r.int16("ongoing producer epoch")
	}
	r.skipTags(p.IsFlexible(), "response")
	if r.err != nil {
		return fmt.Errorf("init producer id response: %w", r.err)
	}
	return nil
}
