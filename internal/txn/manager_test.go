package txn

import (
	"errors"
	"math"
	"slices"
	"testing"

	"linger/internal/kerr"
	"linger/internal/wire"
)

// IDEM-13
func TestProducerIDIsAskedOfAnyBrokerWithoutTransactionalID(t *testing.T) {
	m := New(Options{RetryBackoffMs: 100})
	if m.Peek() != nil || m.Next() != nil {
		t.Fatal("a request before the first turn")
	}
	turn(t, m)
	turn(t, m) // asking once is enough
	r := m.Next()
	q := r.Message.(*wire.InitProducerIDRequest)
	if r.Coordinator != AnyNode || q.TransactionalID != nil || q.TransactionTimeoutMs != math.MaxInt32 || q.ProducerID != -1 || q.ProducerEpoch != -1 {
		t.Errorf("request to %v: %+v", r.Coordinator, q)
	}
	if m.Next() != nil || !m.RequestOut() || m.HasPending() {
		t.Error("there is a second request, or the first is not out")
	}
}

func TestRefusedRequestForAProducerIDIsTriedAgain(t *testing.T) {
	m := New(Options{RetryBackoffMs: 100})
	turn(t, m)
	for _, refuse := range []func(*Request){
		m.Disconnected,
		func(r *Request) {
			if err := m.Answered(r, &wire.InitProducerIDResponse{ErrorCode: int16(kerr.CoordinatorLoadInProgress)}); err != nil {
				t.Error(err)
			}
		},
	} {
		refuse(m.Next())
		if r := m.Peek(); r == nil || !r.Retry || r.BackoffMs != 100 || m.State() != Initializing {
			t.Fatalf("next request %+v in %v", r, m.State())
		}
	}
	give(t, m, ProducerID{9, 0})
	if m.State() != Ready || m.ProducerID() != (ProducerID{9, 0}) {
		t.Errorf("%v with %v", m.State(), m.ProducerID())
	}
}

// FAULTS: without permission for idempotent writes what is buffered fails, and the producer asks again.
func TestMissingAuthorizationIsReportedOnceAndAskedAgain(t *testing.T) {
	m := New(Options{})
	turn(t, m)
	if err := m.AuthorizationError(); err != nil {
		t.Fatal(err)
	}
	if err := m.Answered(m.Next(), &wire.InitProducerIDResponse{ErrorCode: int16(kerr.ClusterAuthorizationFailed)}); err != nil {
		t.Fatal(err)
	}
	if err := m.AuthorizationError(); !errors.Is(err, kerr.ErrAuthorization) || kerr.CodeOf(err) != kerr.ClusterAuthorizationFailed {
		t.Fatalf("error %v", err)
	}
	if err := m.AuthorizationError(); err != nil || m.State() != Uninitialized || m.LastError() != nil {
		t.Fatalf("a second error %v in %v", err, m.State())
	}
	turn(t, m)
	give(t, m, ProducerID{9, 0})
}

// IDEM-12, TXN-73
func TestTransactionalCallsOfAnIdempotentProducerAreRefused(t *testing.T) {
	m := identified(t, ProducerID{7, 0})
	for _, op := range []Operation{InitTransactions, BeginTransaction, PrepareTransaction, CommitTransaction, AbortTransaction, SendOffsets} {
		if err := m.Admit(op); !errors.Is(err, kerr.ErrIllegalState) {
			t.Errorf("operation %d: %v, want an illegal state", op, err)
		}
	}
	if err := m.Admit(AddPartition); err != nil {
		t.Errorf("a send is refused: %v", err)
	}
	if m.State() != Ready {
		t.Errorf("a refused call left the state %v", m.State())
	}
}

// TXN-02, TXN-15: the table itself is compared with Java's for all 81 pairs in TestOracleTxnStates.
func TestIllegalTransitionNamesBothStates(t *testing.T) {
	if New(Options{}).State() != Uninitialized {
		t.Fatal("a new manager is not uninitialized")
	}
	cases := map[string]struct {
		forApplication bool
		want           State
	}{
		"asked by the application it leaves the state alone": {true, Ready},
		"attempted by the sender it is fatal":                {false, FatalError},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := identified(t, ProducerID{7, 0})
			m.forApplication = c.forApplication
			err := m.become(PreparedTransaction, nil)
			const text = "Invalid transition attempted from state READY to state PREPARED_TRANSACTION"
			if !errors.Is(err, kerr.ErrIllegalState) || kerr.JavaMessage(err) != text {
				t.Errorf("error %v", err)
			}
			if m.State() != c.want {
				t.Errorf("state %v, want %v", m.State(), c.want)
			}
		})
	}
}

func TestFatalErrorEndsTheProducer(t *testing.T) {
	for _, code := range []kerr.Code{
		kerr.ClusterAuthorizationFailed, kerr.ProducerFenced, kerr.UnsupportedVersion, kerr.InvalidProducerIDMapping,
		kerr.TransactionalIDAuthorizationFailed,
	} {
		m := identified(t, ProducerID{7, 0})
		var p Partition
		s, behind := send(t, m, &p, 1), send(t, m, &p, 1)
		fail(t, m, &p, s, code, true)
		wantHeld(t, m, &p, &Stamp{Count: 1}, InFatalError)
		turn(t, m)
		if m.State() != FatalError || kerr.CodeOf(m.LastError()) != code || m.ProducerID().Epoch != 0 {
			t.Errorf("%v: %v, %v, %v", code, m.State(), m.LastError(), m.ProducerID())
		}
		m.HandleCompleted(&p, behind, 1) // what is out may still succeed
		if p.InFlight() != 0 {
			t.Errorf("%v: %d in flight", code, p.InFlight())
		}
		want := []string{"KafkaException", code.Exception()}
		if code == kerr.ProducerFenced {
			want = want[1:] // Java makes the same exception anew, without a cause
		}
		if got := kerr.JavaNames(m.Admit(AddPartition)); !slices.Equal(got, want) {
			t.Errorf("%v: a send is refused with %v, want %v", code, got, want)
		}
	}
}

// SND-34: what finds a coordinator goes first, then a producer id, partitions and offsets, the end of the transaction, and
// the bump of the epoch.
func TestRequestsWaitByPriorityThenByAge(t *testing.T) {
	m := New(Options{})
	for i, p := range []Priority{EndTxn, InitProducerID, AddPartitionsOrOffsets, FindCoordinator, AddPartitionsOrOffsets, EpochBump} {
		m.enqueue(&Request{Priority: p, BackoffMs: int64(i)})
	}
	var got []int64
	for r := m.Next(); r != nil; r = m.Next() {
		got = append(got, r.BackoffMs)
		m.inFlight = nil
	}
	for i, want := range []int64{3, 1, 2, 4, 0, 5} {
		if i >= len(got) || got[i] != want {
			t.Fatalf("requests leave in the order %v", got)
		}
	}
}

func TestRequestsAreDroppedInAnErrorState(t *testing.T) {
	m := New(Options{})
	turn(t, m)
	m.FailPending(kafkaError("no"))
	if m.State() != AbortableError {
		t.Fatalf("state %v", m.State())
	}
	if r := m.Next(); r != nil || m.HasPending() || m.RequestOut() {
		t.Errorf("next request %v, pending %v, out %v", r, m.HasPending(), m.RequestOut())
	}
}
