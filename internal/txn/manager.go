package txn

import (
	"fmt"
	"math"

	"linger/internal/kerr"
)

// Options of a Manager.
type Options struct {
	// TransactionalID is transactional.id; empty makes a producer that is idempotent only.
	TransactionalID string
	// TransactionTimeoutMs is transaction.timeout.ms; not used without TransactionalID.
	TransactionTimeoutMs int32
	// RetryBackoffMs is retry.backoff.ms: how long a refused request of the Manager's waits before it goes out again.
	RetryBackoffMs int64
}

// Manager is the state of one idempotent or transactional producer. Only one goroutine may call it.
type Manager struct {
	o     Options
	state State
	err   error // why, in the two error states
	id    ProducerID

	pending  []*Request // by priority, ties in order of arrival
	inFlight *Request   // the one request that is out

	// bumpWanted says that the epoch must be raised by the client (Java: clientSideEpochBumpRequired).
	bumpWanted bool
	// rewrite are the partitions whose in-flight batches start again at 0 with the next epoch, in order of request.
	rewrite []*Partition
	// unresolved are the partitions where a batch expired after it was sent, in order of expiry. No new sequence is
	// given there until it is known whether the broker took it.
	unresolved []*Partition

	// forApplication is set while a call of the application's runs: there an illegal transition is the caller's mistake
	// and leaves the state alone. In the sender's own steps it is ours, and makes the state fatal (KAFKA-14831).
	forApplication bool

	// Of the transactional producer, known once its coordinator is.
	coordinatorBumpsEpoch bool // InitProducerId v3 and up (KIP-360)
	version2              bool // transaction.version >= 2 (KIP-890)
}

// New makes a manager in state Uninitialized.
func New(o Options) *Manager {
	return &Manager{o: o, id: NoProducer()}
}

// State is where the machine stands.
func (m *Manager) State() State { return m.state }

// LastError is why the machine is in an error state, nil in all others.
func (m *Manager) LastError() error { return m.err }

// ProducerID is the current identity, NoProducer() before a broker gave one.
func (m *Manager) ProducerID() ProducerID { return m.id }

// HasProducerID reports whether batches can be stamped.
func (m *Manager) HasProducerID() bool { return m.id.Valid() }

// Transactional reports whether the producer has a transactional.id.
func (m *Manager) Transactional() bool { return m.o.TransactionalID != "" }

// HasError reports whether the machine is in one of its error states.
func (m *Manager) HasError() bool { return m.state == AbortableError || m.state == FatalError }

// Fatal reports whether nothing but closing is left.
func (m *Manager) Fatal() bool { return m.state == FatalError }

// completing reports whether a commit or abort is under way.
func (m *Manager) completing() bool {
	return m.state == CommittingTransaction || m.state == AbortingTransaction
}

// bumpsOnClient reports whether an error has the client raise the epoch itself: with version 2 each EndTxn does it.
func (m *Manager) bumpsOnClient() bool { return m.coordinatorBumpsEpoch && !m.version2 }

// survivesAbort reports whether the producer can go on after an aborted transaction whose sequences are in doubt.
func (m *Manager) survivesAbort() bool { return m.coordinatorBumpsEpoch || m.version2 }

// become makes target the state, err being the reason when it is an error state and nil otherwise. A transition that
// is not in the table is refused with an illegal-state error; whether it also makes the state fatal depends on who
// asked (see forApplication).
func (m *Manager) become(target State, err error) error {
	if !m.state.MayBecome(target) {
		who := ""
		if m.Transactional() {
			who = "TransactionalId " + m.o.TransactionalID + ": "
		}
		illegal := illegalState(who + "Invalid transition attempted from state " + m.state.String() + " to state " + target.String())
		if !m.forApplication {
			m.state, m.err = FatalError, illegal
		}
		return illegal
	}
	m.state, m.err = target, err
	return nil
}

// becomeAbortable is become(AbortableError); while a transaction is being aborted anyway the error is let go.
func (m *Manager) becomeAbortable(err error) error {
	if m.state == AbortingTransaction {
		return nil
	}
	return m.become(AbortableError, err)
}

// BecomeFatal ends the producer's life with err: every later call of it fails.
func (m *Manager) BecomeFatal(err error) {
	_ = m.become(FatalError, err) // legal from every state
}

// BecomeUninitialized starts over, so that a new producer id is asked for. It is legal from Ready and AbortableError.
func (m *Manager) BecomeUninitialized() error { return m.become(Uninitialized, nil) }

// NoteError takes in an error that a batch or a send has ended with. Some are the end of the producer; all others make
// a transaction abortable, and leave an idempotent producer as it is (Java: maybeTransitionToErrorState).
func (m *Manager) NoteError(err error) error {
	if endsProducer(err) {
		m.BecomeFatal(err)
		return nil
	}
	if !m.Transactional() {
		return nil
	}
	if retriable(err) || is(err, kerr.InvalidTxnState) {
		err = &kerr.Error{
			Op: "send", Code: kerr.TransactionAbortable, Class: kerr.ClassAbortable,
			Msg: "Transaction Request was aborted after exhausting retries.", Err: err,
		}
	}
	if m.bumpsOnClient() && !m.completing() {
		m.bumpWanted = true
	}
	return m.becomeAbortable(err)
}

func endsProducer(err error) bool {
	return is(err, kerr.ClusterAuthorizationFailed) || is(err, kerr.TransactionalIDAuthorizationFailed) ||
		is(err, kerr.ProducerFenced) || is(err, kerr.UnsupportedVersion) || is(err, kerr.InvalidProducerIDMapping)
}

// is reports whether err, and not only something it wraps, is what Java throws for code.
func is(err error, code kerr.Code) bool { return kerr.JavaName(err) == code.Exception() }

func retriable(err error) bool {
	c := kerr.ClassOf(err)
	return c == kerr.ClassRetriable || c == kerr.ClassRefreshRetriable
}

// AuthorizationError is the error that keeps the producer from getting an id, nil when there is none. The machine has
// started over by then: the caller fails what is buffered with the error and later asks again
// (Java: Sender.shouldHandleAuthorizationError).
func (m *Manager) AuthorizationError() error {
	err := m.err
	if m.state != AbortableError || !(is(err, kerr.TransactionalIDAuthorizationFailed) || is(err, kerr.ClusterAuthorizationFailed)) {
		return nil
	}
	m.FailPending(fmt.Errorf("%w: %w", kerr.ErrAuthentication, err))
	if m.BecomeUninitialized() != nil {
		return nil // FailPending found the machine past saving
	}
	return err
}

// refuse is how a transactional call ends in an error state, nil in all others (Java: maybeFailWithError).
func (m *Manager) refuse() error {
	if !m.HasError() {
		return nil
	}
	name := m.o.TransactionalID
	if !m.Transactional() {
		name = "null" // an idempotent producer may have been told that it is fenced, too
	}
	who := "Producer with transactionalId '" + name + "' and " + m.id.String()
	switch {
	case is(m.err, kerr.ProducerFenced): // the same error in other words, so it is not its own cause
		return &kerr.Error{Code: kerr.ProducerFenced, Msg: who + " has been fenced by another producer with the same transactionalId"}
	case is(m.err, kerr.InvalidProducerEpoch):
		return &kerr.Error{Code: kerr.InvalidProducerEpoch, Msg: who + " attempted to produce with an old epoch"}
	case kerr.JavaName(m.err) == kerr.ErrIllegalState.JavaException():
		return &kerr.Error{
			Msg: who + " cannot execute transactional method because of previous invalid state transition attempt",
			Err: fmt.Errorf("%w: %w", kerr.ErrIllegalState, m.err),
		}
	}
	return fmt.Errorf("%w: %w", kerr.ErrInErrorState, m.err)
}

func illegalState(text string) error {
	return &kerr.Error{Class: kerr.ClassFatal, Msg: text, Err: kerr.ErrIllegalState}
}

func kafkaError(text string) error {
	return &kerr.Error{Class: kerr.ClassFatal, Msg: text, Err: kerr.ErrKafka}
}

const maxEpoch = math.MaxInt16
