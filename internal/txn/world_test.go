package txn

import (
	"testing"

	"linger/internal/kerr"
	"linger/internal/wire"
)

// identified is a manager that a broker gave the identity id.
func identified(t testing.TB, id ProducerID) *Manager {
	t.Helper()
	m := New(Options{RetryBackoffMs: 100})
	turn(t, m)
	give(t, m, id)
	return m
}

// turn is what the sender does before it drains.
func turn(t testing.TB, m *Manager) {
	t.Helper()
	if err := m.ResolveSequences(); err != nil {
		t.Fatal(err)
	}
	if err := m.BumpIfNeeded(); err != nil {
		t.Fatal(err)
	}
}

// give answers the request for a producer id.
func give(t testing.TB, m *Manager, id ProducerID) {
	t.Helper()
	r := m.Next()
	if r == nil {
		t.Fatal("no producer id is asked for")
	}
	if err := m.Answered(r, &wire.InitProducerIDResponse{ProducerID: id.ID, ProducerEpoch: id.Epoch}); err != nil {
		t.Fatal(err)
	}
}

// send drains a batch of count records, which must be allowed.
func send(t testing.TB, m *Manager, p *Partition, count int32) *Stamp {
	t.Helper()
	s := &Stamp{Count: count}
	resend(t, m, p, s)
	return s
}

// resend drains a batch that may have been out before.
func resend(t testing.TB, m *Manager, p *Partition, s *Stamp) {
	t.Helper()
	if ok, why := m.MaySend(p, s); !ok {
		t.Fatalf("a batch may not leave: %v", why)
	}
	m.Assign(p, s)
}

// retried refuses a batch with a code, which must be one to try again.
func retried(t testing.TB, m *Manager, p *Partition, s *Stamp, code kerr.Code) {
	t.Helper()
	if !m.CanRetry(p, s, code, -1) {
		t.Fatalf("%v is not tried again", code)
	}
}

func fail(t testing.TB, m *Manager, p *Partition, s *Stamp, code kerr.Code, adjust bool) {
	t.Helper()
	if err := m.HandleFailed(p, s, &kerr.Error{Op: "send", Code: code}, adjust); err != nil {
		t.Fatal(err)
	}
}

// expire ends a batch by delivery.timeout.ms as the sender does.
func expire(t testing.TB, m *Manager, p *Partition, s *Stamp) {
	t.Helper()
	fail(t, m, p, s, kerr.RequestTimedOut, false)
	if s.Has {
		m.MarkUnresolved(p, s)
	}
}

type header struct {
	id       int64
	epoch    int16
	sequence int32
}

func headerOf(s *Stamp) header {
	id, epoch, sequence := s.Header()
	return header{id, epoch, sequence}
}

func wantHeader(t testing.TB, what string, s *Stamp, id int64, epoch int16, sequence int32) {
	t.Helper()
	if got, want := headerOf(s), (header{id, epoch, sequence}); got != want {
		t.Errorf("%s carries %v, want %v", what, got, want)
	}
}

func wantHeld(t testing.TB, m *Manager, p *Partition, s *Stamp, want Reason) {
	t.Helper()
	if ok, why := m.MaySend(p, s); ok || why != want {
		t.Errorf("the batch may leave: %v (%v), want it held because: %v", ok, why, want)
	}
}
