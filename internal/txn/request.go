package txn

import (
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/kerr"
	"linger/internal/wire"
)

// Priority orders the requests that wait: a coordinator must be found before anything is asked of it, and a
// transaction ends behind everything that belongs to it.
type Priority uint8

const (
	FindCoordinator Priority = iota
	InitProducerID
	AddPartitionsOrOffsets
	EndTxn
	EpochBump // InitProducerId behind the end of a transaction
)

// Coordinator says which coordinator a request goes to.
type Coordinator uint8

const (
	// AnyNode: the least loaded one will do.
	AnyNode Coordinator = iota
	TransactionCoordinator
	GroupCoordinator
)

// Request is one request that the Manager wants sent. It belongs to the Manager; the caller sets the version of Message
// and encodes it.
type Request struct {
	Priority    Priority
	Coordinator Coordinator
	// Message is the body. Its version is the caller's to choose.
	Message kmsg.Request
	// Retry says that the request has been refused or lost before, so that BackoffMs must pass first.
	Retry bool
	// BackoffMs is how long a retry waits, in milliseconds.
	BackoffMs int64
}

// enqueue puts r behind the waiting requests of its priority.
func (m *Manager) enqueue(r *Request) {
	at := len(m.pending)
	for at > 0 && m.pending[at-1].Priority > r.Priority {
		at--
	}
	m.pending = append(m.pending, nil)
	copy(m.pending[at+1:], m.pending[at:])
	m.pending[at] = r
}

// HasPending reports whether requests wait to be sent.
func (m *Manager) HasPending() bool { return len(m.pending) > 0 }

// RequestOut reports whether a request is out. There is never more than one, and while it is out nothing else of the
// producer's data leaves (Java: Sender.maybeSendAndPollTransactionalRequest).
func (m *Manager) RequestOut() bool { return m.inFlight != nil }

// Peek is the request that Next would give, nil when there is none. It changes nothing.
func (m *Manager) Peek() *Request {
	if m.inFlight != nil || len(m.pending) == 0 {
		return nil
	}
	return m.pending[0]
}

// Next takes the next request to send, nil when there is none. In an error state requests are dropped: their error is
// the state's. The request is out until it is passed to one of Answered, Disconnected, Retry, VersionMismatch or
// Unanswerable.
func (m *Manager) Next() *Request {
	if m.inFlight != nil || len(m.pending) == 0 {
		return nil
	}
	r := m.pending[0]
	m.pending = append(m.pending[:0], m.pending[1:]...)
	if m.HasError() && !(m.state == AbortableError && r.Priority == FindCoordinator) {
		return nil
	}
	m.inFlight = r
	return r
}

// Retry puts back a request that no node could take.
func (m *Manager) Retry(r *Request) {
	m.inFlight = nil
	r.Retry = true
	m.enqueue(r)
}

// Disconnected takes in that the connection ended, or the request timed out, before the answer came.
func (m *Manager) Disconnected(r *Request) { m.Retry(r) }

// VersionMismatch takes in that the node speaks no version of the request's that we do. It is fatal.
func (m *Manager) VersionMismatch(_ *Request, err error) {
	m.inFlight = nil
	m.BecomeFatal(err)
}

// Unanswerable takes in that the request ended in a way that nobody foresaw. It is fatal.
func (m *Manager) Unanswerable(*Request) {
	m.inFlight = nil
	m.BecomeFatal(kafkaError("Could not execute transactional request for unknown reasons"))
}

// FailPending ends the requests that wait with err, which makes the state abortable.
func (m *Manager) FailPending(err error) {
	for range m.pending {
		if m.becomeAbortable(err) != nil {
			return
		}
	}
}

// AuthenticationFailed ends the requests that wait with err, which is fatal.
func (m *Manager) AuthenticationFailed(err error) {
	for range m.pending {
		m.BecomeFatal(err)
	}
}

// Close ends the requests that wait because the producer closes forcefully.
func (m *Manager) Close() { m.AuthenticationFailed(kafkaError("The producer closed forcefully")) }

// initIdempotent asks any broker for an id of our own: no transactional id, and as long a time-out as there is, since
// nothing will ever time out.
func (m *Manager) initIdempotent() *Request {
	body := wire.NewInitProducerIDRequest(0)
	body.TransactionTimeoutMs = math.MaxInt32
	return &Request{Priority: InitProducerID, Coordinator: AnyNode, Message: body, BackoffMs: m.o.RetryBackoffMs}
}

// Answered takes in the broker's answer to r. The error that comes back is an illegal transition, which is fatal by
// then; what the answer itself says is in State and LastError.
func (m *Manager) Answered(r *Request, resp kmsg.Response) error {
	m.inFlight = nil
	switch resp := resp.(type) {
	case *wire.InitProducerIDResponse:
		return m.initialized(r, resp)
	default:
		m.BecomeFatal(kafkaError("Could not execute transactional request for unknown reasons"))
		return nil
	}
}

// initialized takes in the answer to InitProducerId.
func (m *Manager) initialized(r *Request, resp *wire.InitProducerIDResponse) error {
	code := kerr.Code(resp.ErrorCode)
	problem := &kerr.Error{Op: "init producer id", Code: code}
	switch {
	case code == kerr.None:
		m.id = ProducerID{resp.ProducerID, resp.ProducerEpoch}
		if m.Settled() {
			m.restartFailed()
		} else {
			m.bumpWanted = true // its first epoch goes to partitions without doubts
		}
		return m.become(Ready, nil)
	case code.Retriable():
		m.Retry(r)
		return nil
	case code == kerr.TransactionalIDAuthorizationFailed || code == kerr.ClusterAuthorizationFailed || code == kerr.TransactionAbortable:
		return m.becomeAbortable(problem)
	case code == kerr.InvalidProducerEpoch || code == kerr.ProducerFenced:
		m.BecomeFatal(&kerr.Error{Op: problem.Op, Code: kerr.ProducerFenced})
	default:
		m.BecomeFatal(kafkaError("Unexpected error in InitProducerIdResponse; " + code.Message()))
	}
	return nil
}
