package txn

import (
	"testing"

	"linger/internal/kerr"
)

// IDEM-01: a broker knows a batch again among the producer's last five only. While the oldest may have to come again, its
// partition gets no further ahead than that, however many younger ones are acknowledged meanwhile.
func TestAPartitionRunsNoFurtherAheadThanTheBrokerRemembers(t *testing.T) {
	m := identified(t, ProducerID{7, 0})
	var p Partition
	m.HandleCompleted(&p, send(t, m, &p, 1), 0)
	oldest := send(t, m, &p, 1)
	for range remembered - 1 {
		m.HandleCompleted(&p, send(t, m, &p, 1), -1)
	}
	wantHeld(t, m, &p, &Stamp{Count: 1}, TooFarAhead)
	m.HandleCompleted(&p, oldest, -1)
	wantHeader(t, "the batch behind", send(t, m, &p, 1), 7, 0, 6)
}

// IDEM-11, IDEM-19: a batch whose answer was lost may be in the log. It keeps its sequence, and the epoch is not raised over it,
// until a broker has said that it is not there.
func TestWhatMayBeInTheLogIsNotNumberedAnew(t *testing.T) {
	m := identified(t, ProducerID{7, 0})
	var p Partition
	m.HandleCompleted(&p, send(t, m, &p, 1), 0)
	lost, refused := send(t, m, &p, 1), send(t, m, &p, 1)
	retried(t, m, &p, lost, kerr.NetworkException)
	fail(t, m, &p, refused, kerr.InvalidRecord, true) // asks for a new epoch
	if m.Settled() {
		t.Fatal("settled although the oldest batch may be in the log")
	}
	resend(t, m, &p, lost)
	wantHeader(t, "the batch in doubt, sent again", lost, 7, 0, 1)
	if m.Settled() {
		t.Fatal("settled while the batch in doubt is out")
	}
	m.HandleCompleted(&p, lost, 1)
	if !m.Settled() {
		t.Fatal("not settled once nothing is in doubt")
	}
	turn(t, m)
	wantHeader(t, "the next batch", send(t, m, &p, 1), 7, 1, 0)
}

// A refusal by a broker that has looked for the batch among the producer's last ones ends the doubt.
func TestOutOfOrderSaysThatABatchIsNotInTheLog(t *testing.T) {
	m := identified(t, ProducerID{7, 0})
	var p Partition
	m.HandleCompleted(&p, send(t, m, &p, 1), 0)
	s := send(t, m, &p, 1)
	retried(t, m, &p, s, kerr.RequestTimedOut)
	resend(t, m, &p, s)
	retried(t, m, &p, s, kerr.OutOfOrderSequenceNumber) // next in line: asks for a new epoch
	if !m.Settled() {
		t.Fatal("still in doubt")
	}
	turn(t, m)
	resend(t, m, &p, s)
	wantHeader(t, "the batch under the new epoch", s, 7, 1, 0)
}
