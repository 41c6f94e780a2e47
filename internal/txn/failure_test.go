package txn

import (
	"math"
	"testing"

	"linger/internal/kerr"
)

// IDEM-19, CASES B02
func TestOutOfOrderRestartsThePartitionAndOthersWhenIdle(t *testing.T) {
	m := identified(t, ProducerID{7, 0})
	var a, b, c Partition
	for _, p := range []*Partition{&a, &b, &c} {
		m.HandleCompleted(p, send(t, m, p, 10), 0)
	}
	out := send(t, m, &c, 1) // c has something in flight all along
	head, second, third := send(t, m, &a, 2), send(t, m, &a, 3), send(t, m, &a, 1)
	retried(t, m, &a, head, kerr.OutOfOrderSequenceNumber)
	turn(t, m)
	if m.ProducerID() != (ProducerID{7, 1}) || m.State() != Ready {
		t.Fatalf("identity %v in %v, want the epoch raised without a request", m.ProducerID(), m.State())
	}
	wantHeader(t, "a's head", head, 7, 1, 0)
	wantHeader(t, "a's second", second, 7, 1, 2)
	wantHeader(t, "a's third", third, 7, 1, 5)
	// The others in flight were sent with old sequences: their refusals are echoes, not another gap.
	retried(t, m, &a, second, kerr.OutOfOrderSequenceNumber)
	retried(t, m, &a, third, kerr.OutOfOrderSequenceNumber)
	turn(t, m)
	if m.ProducerID().Epoch != 1 {
		t.Fatalf("the echoes raised the epoch to %d", m.ProducerID().Epoch)
	}
	for i, s := range []*Stamp{head, second, third} {
		resend(t, m, &a, s)
		m.HandleCompleted(&a, s, int64(10+i))
	}
	wantHeader(t, "a's next", send(t, m, &a, 1), 7, 1, 6)
	wantHeader(t, "b's next", send(t, m, &b, 1), 7, 1, 0)
	// c goes on with the old epoch until nothing of it is out.
	wantHeader(t, "c's batch in flight", out, 7, 0, 10)
	waiting := &Stamp{Count: 1}
	wantHeld(t, m, &c, waiting, OldIdentity)
	m.HandleCompleted(&c, out, 10)
	resend(t, m, &c, waiting)
	wantHeader(t, "c's next", waiting, 7, 1, 0)
}

// IDEM-21
func TestOutOfOrderBehindAnOlderBatchIsNoGap(t *testing.T) {
	m := identified(t, ProducerID{7, 0})
	var p Partition
	m.HandleCompleted(&p, send(t, m, &p, 1), 0)
	first, second := send(t, m, &p, 1), send(t, m, &p, 1)
	retried(t, m, &p, second, kerr.OutOfOrderSequenceNumber)
	turn(t, m)
	if m.ProducerID().Epoch != 0 {
		t.Fatal("a batch that waits for an older one raised the epoch")
	}
	m.HandleCompleted(&p, first, 1)
	resend(t, m, &p, second)
	wantHeader(t, "the second", second, 7, 0, 2)
}

// IDEM-20
func TestAfterAFinalRefusalTheRestIsNumberedAnewAndSent(t *testing.T) {
	m := identified(t, ProducerID{7, 0})
	var p Partition
	refused, behind := send(t, m, &p, 4), send(t, m, &p, 2)
	if m.CanRetry(&p, refused, kerr.InvalidTopicException, -1) {
		t.Fatal("an invalid topic is tried again")
	}
	fail(t, m, &p, refused, kerr.InvalidTopicException, true)
	turn(t, m)
	wantHeader(t, "the batch behind", behind, 7, 1, 0)
	retried(t, m, &p, behind, kerr.OutOfOrderSequenceNumber) // its first attempt met the gap
	resend(t, m, &p, behind)
	m.HandleCompleted(&p, behind, 0)
	wantHeader(t, "the next new batch", send(t, m, &p, 1), 7, 1, 2)
	if m.HasError() {
		t.Errorf("the producer is in %v", m.State())
	}
}

// FAULTS idem_retries_exhausted: nobody knows whether the broker took the batch, so its sequence is not given again;
// the next batch meets the gap, fails too, and only that raises the epoch.
func TestExhaustedRetriesDoNotRaiseTheEpoch(t *testing.T) {
	m := identified(t, ProducerID{7, 0})
	var p Partition
	m.HandleCompleted(&p, send(t, m, &p, 1), 0)
	lost := send(t, m, &p, 1)
	fail(t, m, &p, lost, kerr.NotLeaderOrFollower, false)
	turn(t, m)
	next := send(t, m, &p, 1)
	wantHeader(t, "the next batch", next, 7, 0, 2)
	fail(t, m, &p, next, kerr.OutOfOrderSequenceNumber, false)
	turn(t, m)
	wantHeader(t, "the one after", send(t, m, &p, 1), 7, 1, 0)
}

// IDEM-24
func TestExpiredBatchHoldsItsPartitionUntilItsFateIsKnown(t *testing.T) {
	t.Run("a batch behind it succeeds, so the broker has it", func(t *testing.T) {
		m := identified(t, ProducerID{7, 0})
		var p Partition
		lost, behind := send(t, m, &p, 1), send(t, m, &p, 1)
		retried(t, m, &p, lost, kerr.RequestTimedOut)
		expire(t, m, &p, lost)
		turn(t, m)
		wantHeld(t, m, &p, &Stamp{Count: 1}, UnresolvedSequence)
		m.HandleCompleted(&p, behind, 1)
		turn(t, m)
		wantHeader(t, "the next batch", send(t, m, &p, 1), 7, 0, 2)
	})
	t.Run("nothing behind it succeeds, so the epoch is raised", func(t *testing.T) {
		m := identified(t, ProducerID{7, 0})
		var p, other Partition
		m.HandleCompleted(&p, send(t, m, &p, 1), 0)
		elsewhere := send(t, m, &other, 1)
		lost := send(t, m, &p, 1)
		expire(t, m, &p, lost)
		turn(t, m)
		wantHeader(t, "the next batch", send(t, m, &p, 1), 7, 1, 0)
		wantHeader(t, "another partition's batch", elsewhere, 7, 0, 0)
		if p.Unresolved() {
			t.Error("still unresolved after the bump")
		}
	})
	t.Run("the one behind it is refused as out of order, so there is a gap", func(t *testing.T) {
		m := identified(t, ProducerID{7, 0})
		var p Partition
		m.HandleCompleted(&p, send(t, m, &p, 1), 0)
		lost, behind, last := send(t, m, &p, 1), send(t, m, &p, 1), send(t, m, &p, 1)
		expire(t, m, &p, lost)
		retried(t, m, &p, last, kerr.OutOfOrderSequenceNumber) // not the one directly behind: it may still resolve
		turn(t, m)
		if m.ProducerID().Epoch != 0 {
			t.Fatal("the epoch was raised too early")
		}
		retried(t, m, &p, behind, kerr.OutOfOrderSequenceNumber)
		turn(t, m)
		wantHeader(t, "the one behind", behind, 7, 1, 0)
		wantHeader(t, "the last", last, 7, 1, 1)
		wantHeader(t, "a new batch, since nothing is open any more", send(t, m, &p, 1), 7, 1, 2)
	})
	t.Run("of two that expired across the wrap the younger counts", func(t *testing.T) {
		m := identified(t, ProducerID{7, 0})
		var p Partition
		p.StartAt(m.ProducerID(), math.MaxInt32-1)
		first, second, third := send(t, m, &p, 1), send(t, m, &p, 1), send(t, m, &p, 1)
		expire(t, m, &p, first)
		expire(t, m, &p, second)
		retried(t, m, &p, third, kerr.OutOfOrderSequenceNumber)
		turn(t, m)
		wantHeader(t, "the one behind both", third, 7, 1, 0)
	})
	t.Run("a batch that never left uses up no sequence", func(t *testing.T) {
		m := identified(t, ProducerID{7, 0})
		var p Partition
		expire(t, m, &p, &Stamp{Count: 3})
		turn(t, m)
		wantHeader(t, "the next batch", send(t, m, &p, 1), 7, 0, 0)
	})
}

// IDEM-25
func TestUnknownProducerID(t *testing.T) {
	cases := map[string]struct {
		logStart  int64
		wantEpoch int16
		rewritten bool
	}{
		"without a log start it is tried again as it is":                 {logStart: -1, wantEpoch: 0},
		"with the log start past what was acknowledged it starts afresh": {logStart: 500, wantEpoch: 1},
		"with the log start before, the broker lost it: afresh as well":  {logStart: 100, wantEpoch: 1},
		"as an echo of a batch that was numbered anew it is tried again": {logStart: 500, wantEpoch: 0, rewritten: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := identified(t, ProducerID{7, 0})
			var p Partition
			m.HandleCompleted(&p, send(t, m, &p, 10), 100)
			s := send(t, m, &p, 5)
			s.Rewritten = c.rewritten
			if !m.CanRetry(&p, s, kerr.UnknownProducerID, c.logStart) {
				t.Fatal("not tried again")
			}
			turn(t, m)
			if got := m.ProducerID().Epoch; got != c.wantEpoch {
				t.Errorf("epoch %d, want %d", got, c.wantEpoch)
			}
		})
	}
}

// IDEM-23
func TestExhaustedEpochFetchesAnotherProducerID(t *testing.T) {
	m := identified(t, ProducerID{7, 32766})
	var p Partition
	fail(t, m, &p, send(t, m, &p, 1), kerr.InvalidRecord, true)
	turn(t, m)
	if m.ProducerID() != (ProducerID{7, 32767}) {
		t.Fatalf("identity %v, want the last epoch", m.ProducerID())
	}
	refused, behind := send(t, m, &p, 1), send(t, m, &p, 1)
	fail(t, m, &p, refused, kerr.InvalidRecord, true)
	turn(t, m)
	if m.HasProducerID() || m.State() != Initializing {
		t.Fatalf("identity %v in %v, want a new one to be asked for", m.ProducerID(), m.State())
	}
	wantHeld(t, m, &p, behind, NoID)
	if !m.CanRetry(&p, behind, kerr.UnknownProducerID, 0) { // its answer comes meanwhile, and asks for a new epoch
		t.Fatal("not tried again")
	}
	turn(t, m)
	give(t, m, ProducerID{8, 0})
	turn(t, m)
	resend(t, m, &p, behind)
	wantHeader(t, "the batch that was in flight", behind, 8, 0, 0)
	m.HandleCompleted(&p, behind, 0)
	wantHeader(t, "the next batch", send(t, m, &p, 1), 8, 0, 1)
}

// FAULTS idem_out_of_order_always: each attempt of the batch next in line raises the epoch.
func TestAGapAfterEachAttemptRaisesTheEpochEachTime(t *testing.T) {
	m := identified(t, ProducerID{7, 0})
	var p Partition
	m.HandleCompleted(&p, send(t, m, &p, 1), 0)
	s := send(t, m, &p, 1)
	for epoch := int16(1); epoch < 4; epoch++ {
		retried(t, m, &p, s, kerr.OutOfOrderSequenceNumber)
		turn(t, m)
		resend(t, m, &p, s)
		wantHeader(t, "the attempt", s, 7, epoch, 0)
	}
}

// CASES B03: the last acknowledged sequence is the very last one.
func TestAGapRightBehindTheWrapIsSeen(t *testing.T) {
	m := identified(t, ProducerID{7, 0})
	var p Partition
	p.StartAt(m.ProducerID(), math.MaxInt32-4)
	m.HandleCompleted(&p, send(t, m, &p, 5), 0)
	s := send(t, m, &p, 1)
	wantHeader(t, "the batch", s, 7, 0, 0)
	retried(t, m, &p, s, kerr.OutOfOrderSequenceNumber)
	turn(t, m)
	wantHeader(t, "the batch", s, 7, 1, 0)
}

// CASES B04, parity: brokers up to 4.4 accept any first sequence of a fresh partition. The first batch can then never
// be appended, and is not reported as written: it fails when its time is up.
func TestFirstBatchBehindAnAcceptedSecondFailsAtLast(t *testing.T) {
	m := identified(t, ProducerID{7, 0})
	var p Partition
	first, second := send(t, m, &p, 17), send(t, m, &p, 5)
	wantHeader(t, "the second", second, 7, 0, 17)
	retried(t, m, &p, first, kerr.NotLeaderOrFollower)
	m.HandleCompleted(&p, second, 0)
	for range 3 {
		resend(t, m, &p, first)
		wantHeader(t, "the first", first, 7, 0, 0)
		retried(t, m, &p, first, kerr.OutOfOrderSequenceNumber)
		turn(t, m)
	}
	if m.ProducerID().Epoch != 0 {
		t.Errorf("the epoch was raised to %d: the first batch would be appended behind the second", m.ProducerID().Epoch)
	}
	expire(t, m, &p, first)
	turn(t, m)
	wantHeader(t, "the next batch", send(t, m, &p, 1), 7, 0, 22)
	if p.InFlight() != 1 || m.HasError() {
		t.Errorf("%d in flight, state %v", p.InFlight(), m.State())
	}
}

// IDEM-22, as far as the batch is concerned.
func TestOutOfOrderInATransactionIsAbortable(t *testing.T) {
	m := New(Options{TransactionalID: "t"})
	m.state, m.id, m.version2 = InTransaction, ProducerID{7, 0}, true
	var p Partition
	s := &Stamp{Count: 1}
	m.Assign(&p, s)
	if m.CanRetry(&p, s, kerr.OutOfOrderSequenceNumber, -1) {
		t.Fatal("a gap in a transaction is tried again")
	}
	fail(t, m, &p, s, kerr.OutOfOrderSequenceNumber, true)
	if m.State() != AbortableError || kerr.CodeOf(m.LastError()) != kerr.OutOfOrderSequenceNumber {
		t.Errorf("state %v, error %v", m.State(), m.LastError())
	}
}

func TestUnknownProducerIDInATransactionForgetsThePartition(t *testing.T) {
	m := New(Options{TransactionalID: "t"})
	m.state, m.id, m.version2 = InTransaction, ProducerID{7, 0}, true
	var p Partition
	lost, s := &Stamp{Count: 1}, &Stamp{Count: 1}
	m.Assign(&p, lost)
	m.Assign(&p, s)
	expire(t, m, &p, lost)
	fail(t, m, &p, s, kerr.UnknownProducerID, true)
	if p.Unresolved() || p.NextSequence() != 0 || p.ProducerID() != NoProducer() || len(m.unresolved) != 0 {
		t.Errorf("unresolved %v, next %d, id %v", p.Unresolved(), p.NextSequence(), p.ProducerID())
	}
}

func TestClientSideBumpIsNotAskedForWhileTheTransactionCompletes(t *testing.T) {
	for state, want := range map[State]bool{InTransaction: true, CommittingTransaction: false} {
		m := New(Options{TransactionalID: "t"})
		m.state, m.coordinatorBumpsEpoch = state, true
		if err := m.NoteError(&kerr.Error{Code: kerr.InvalidRecord}); err != nil {
			t.Fatal(err)
		}
		if m.bumpWanted != want {
			t.Errorf("from %v: bump wanted %v", state, m.bumpWanted)
		}
	}
}
