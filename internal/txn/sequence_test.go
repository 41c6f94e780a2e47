package txn

import (
	"math"
	"testing"

	"linger/internal/kerr"
)

// IDEM-05, IDEM-06, IDEM-07, IDEM-10
func TestSequencesCountRecordsFromZeroInEachPartition(t *testing.T) {
	m := identified(t, ProducerID{7, 0})
	var a, b Partition
	wantHeader(t, "first batch of a", send(t, m, &a, 17), 7, 0, 0)
	wantHeader(t, "second batch of a", send(t, m, &a, 5), 7, 0, 17)
	wantHeader(t, "first batch of b", send(t, m, &b, 1), 7, 0, 0)
	wantHeader(t, "third batch of a", send(t, m, &a, 1), 7, 0, 22)
	if a.NextSequence() != 23 || b.NextSequence() != 1 {
		t.Errorf("next sequences %d and %d, want 23 and 1", a.NextSequence(), b.NextSequence())
	}
}

// IDEM-09
func TestNoIdentityIsMinusOne(t *testing.T) {
	m := New(Options{})
	if m.ProducerID() != (ProducerID{-1, -1}) || m.HasProducerID() {
		t.Errorf("a new manager has %v", m.ProducerID())
	}
	wantHeader(t, "a batch without sequence", new(Stamp), -1, -1, -1)
	if new(Stamp).LastSequence() != -1 {
		t.Error("a batch without sequence has a last one")
	}
	for id, valid := range map[int64]bool{-1: false, 0: true, 1: true} {
		if (ProducerID{id, 0}).Valid() != valid {
			t.Errorf("id %d valid: %v", id, !valid)
		}
	}
}

// IDEM-08
func TestSequenceWrapsToZero(t *testing.T) {
	cases := map[string]struct{ from, n, want int32 }{
		"far from the end":         {0, 5, 5},
		"up to the end":            {math.MaxInt32 - 5, 5, math.MaxInt32},
		"the last one is followed": {math.MaxInt32, 1, 0},
		"across":                   {math.MaxInt32 - 2, 5, 2},
		"a whole turn short":       {math.MaxInt32, math.MaxInt32, math.MaxInt32 - 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := AddSequence(c.from, c.n)
			if got != c.want {
				t.Errorf("%d + %d = %d, want %d", c.from, c.n, got, c.want)
			}
			if back := subSequence(got, c.n); back != c.from {
				t.Errorf("%d - %d = %d, want %d", got, c.n, back, c.from)
			}
		})
	}
}

// CASES B03: one batch straddles the limit and is retried; several are in flight on both sides.
func TestBatchesKeepTheirOrderAcrossTheWrap(t *testing.T) {
	m := identified(t, ProducerID{7, 0})
	var p Partition
	p.StartAt(m.ProducerID(), 2147483640)
	batches := []*Stamp{send(t, m, &p, 5), send(t, m, &p, 5), send(t, m, &p, 3), send(t, m, &p, 3)}
	for i, want := range []int32{2147483640, 2147483645, 2, 5} {
		wantHeader(t, "batch", batches[i], 7, 0, want)
	}
	if last := batches[1].LastSequence(); last != 1 {
		t.Errorf("the batch across the limit ends at %d, want 1", last)
	}
	// All fail once. They may leave again oldest first only, and keep their sequences.
	for i := range batches {
		retried(t, m, &p, batches[i], kerr.NotLeaderOrFollower)
	}
	for i, s := range batches {
		for _, younger := range batches[i+1:] {
			wantHeld(t, m, &p, younger, NotNextInLine)
		}
		before := headerOf(s)
		resend(t, m, &p, s)
		if headerOf(s) != before {
			t.Errorf("the retry carries %v, the first attempt %v", headerOf(s), before)
		}
		m.HandleCompleted(&p, s, int64(i))
		if last, _ := p.LastAckedSequence(); last != s.LastSequence() {
			t.Errorf("last acknowledged is %d after %d", last, s.LastSequence())
		}
	}
	// The next in line that still meets a gap is told apart from one that waits for an older batch, on this side too.
	next := send(t, m, &p, 1)
	retried(t, m, &p, next, kerr.OutOfOrderSequenceNumber)
	turn(t, m)
	wantHeader(t, "batch after the gap", next, 7, 1, 0)
}

// CASES B03, with an answer that never came: the unresolved sequence lies behind the wrap.
func TestExpiredBatchAtTheWrapIsResolvedByTheOneBehindIt(t *testing.T) {
	m := identified(t, ProducerID{7, 0})
	var p Partition
	p.StartAt(m.ProducerID(), math.MaxInt32-1)
	first, second := send(t, m, &p, 2), send(t, m, &p, 2)
	expire(t, m, &p, first)
	turn(t, m)
	wantHeld(t, m, &p, &Stamp{Count: 1}, UnresolvedSequence)
	m.HandleCompleted(&p, second, 10)
	turn(t, m)
	wantHeader(t, "batch after the resolved ones", send(t, m, &p, 1), 7, 0, 2)
}

// IDEM-11, IDEM-16
func TestRetryKeepsIdentityAndSequence(t *testing.T) {
	m := identified(t, ProducerID{7, 0})
	var p Partition
	for i := range 2 {
		m.HandleCompleted(&p, send(t, m, &p, 1), int64(i))
	}
	third := send(t, m, &p, 1)
	for range 3 {
		retried(t, m, &p, third, kerr.NetworkException)
		turn(t, m)
		resend(t, m, &p, third)
		wantHeader(t, "the retry", third, 7, 0, 2)
	}
	m.HandleCompleted(&p, third, 2)
	if offset, ok := p.LastAckedOffset(); !ok || offset != 2 {
		t.Errorf("last acknowledged offset %d, want 2", offset)
	}
}

// IDEM-17
func TestRetriedBatchesLeaveInSequenceOrder(t *testing.T) {
	m := identified(t, ProducerID{7, 0})
	var p Partition
	var batches []*Stamp
	for range 5 {
		batches = append(batches, send(t, m, &p, 2))
	}
	if p.InFlight() != 5 || p.FirstInFlight() != batches[0] {
		t.Fatalf("%d in flight", p.InFlight())
	}
	// Answers come in any order: the youngest is refused first.
	for _, i := range []int{4, 1, 3, 2, 0} {
		code := kerr.OutOfOrderSequenceNumber
		if i == 0 {
			code = kerr.NotLeaderOrFollower
		}
		retried(t, m, &p, batches[i], code)
	}
	turn(t, m)
	if m.ProducerID().Epoch != 0 {
		t.Fatalf("batches behind a retried one raised the epoch to %d", m.ProducerID().Epoch)
	}
	for i, s := range batches {
		if i+1 < len(batches) {
			wantHeld(t, m, &p, batches[i+1], NotNextInLine)
		}
		resend(t, m, &p, s)
		m.HandleCompleted(&p, s, int64(2*i))
	}
	wantHeader(t, "the next new batch", send(t, m, &p, 1), 7, 0, 10)
}

// IDEM-14
func TestNothingLeavesBeforeTheProducerIDCame(t *testing.T) {
	m := New(Options{RetryBackoffMs: 100})
	var p Partition
	s := &Stamp{Count: 1}
	wantHeld(t, m, &p, s, NoID)
	turn(t, m)
	wantHeld(t, m, &p, s, NoID)
	give(t, m, ProducerID{9, 0})
	resend(t, m, &p, s)
	wantHeader(t, "the batch that waited", s, 9, 0, 0)
}

// A split batch gives its sequences to its pieces, in record order, also across the wrap.
func TestPiecesOfASplitBatchShareItsSequences(t *testing.T) {
	m := identified(t, ProducerID{7, 0})
	var p Partition
	p.StartAt(m.ProducerID(), math.MaxInt32-3)
	whole, behind := send(t, m, &p, 7), send(t, m, &p, 1)
	m.RemoveInFlight(&p, whole)
	pieces := []*Stamp{{Count: 3}, {Count: 3}, {Count: 1}}
	for _, s := range pieces {
		m.AssignPiece(&p, whole, s)
	}
	for i, want := range []int32{math.MaxInt32 - 3, math.MaxInt32, 2} {
		wantHeader(t, "piece", pieces[i], 7, 0, want)
	}
	wantHeader(t, "the batch behind", behind, 7, 0, 3)
	for _, s := range append(pieces, behind) {
		if p.FirstInFlight() != s {
			t.Fatalf("first in flight is %v, want %v", p.FirstInFlight(), s)
		}
		resend(t, m, &p, s)
		m.HandleCompleted(&p, s, -1)
	}
	if p.InFlight() != 0 {
		t.Errorf("%d still in flight", p.InFlight())
	}
}

// A duplicate is success without an offset: the offset known before stays.
func TestDuplicateKeepsTheLastOffset(t *testing.T) {
	m := identified(t, ProducerID{7, 0})
	var p Partition
	m.HandleCompleted(&p, send(t, m, &p, 3), -1)
	if offset, ok := p.LastAckedOffset(); ok {
		t.Errorf("last acknowledged offset %d before any was told", offset)
	}
	m.HandleCompleted(&p, send(t, m, &p, 3), 100)
	m.HandleCompleted(&p, send(t, m, &p, 3), -1)
	if offset, ok := p.LastAckedOffset(); !ok || offset != 102 {
		t.Errorf("last acknowledged offset %d %v, want 102", offset, ok)
	}
	if last, ok := p.LastAckedSequence(); !ok || last != 8 {
		t.Errorf("last acknowledged sequence %d, want 8", last)
	}
}
