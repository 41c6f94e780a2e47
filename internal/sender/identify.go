package sender

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/accumulator"
	"linger/internal/client"
	"linger/internal/clock"
	"linger/internal/kerr"
	"linger/internal/txn"
)

// txnOwner owns the one request that the transaction manager may have out.
type txnOwner struct{ request *txn.Request }

// identify does the transaction manager's work of a turn, before any data (Java: the head of Sender.runOnce). It
// reports whether data may follow.
func (s *Sender) identify(now clock.Instant) (mayProduce bool) {
	if s.txn == nil {
		return true
	}
	s.noteIllegal(s.txn.ResolveSequences())
	if s.txn.Fatal() {
		s.dropUndrained(s.txn.LastError())
		return false
	}
	if err := s.txn.AuthorizationError(); err != nil {
		s.dropUndrained(err) // and an id is asked for anew
	}
	if s.txn.Settled() { // better than Java: what may be in the log is not numbered anew
		s.noteIllegal(s.txn.BumpIfNeeded())
	}
	s.askForID(now)
	if s.txn.Fatal() { // the broker speaks no version of ours
		s.dropUndrained(s.txn.LastError())
		return false
	}
	return !s.txn.RequestOut() && !s.txn.HasPending()
}

// askForID sends the manager's next request once its back-off is over and a node can take it.
func (s *Sender) askForID(now clock.Instant) {
	r := s.txn.Peek()
	if r == nil || now < s.retryIDAt {
		return
	}
	node, ok := s.client.LeastLoaded(now)
	if !ok {
		return // a node's back-off or request time-out brings the next turn
	}
	if !s.client.Ready(now, node) {
		s.client.Connect(now, node)
		return
	}
	if r = s.txn.Next(); r == nil {
		return
	}
	version, ok := s.client.Version(node, r.Message.Key(), r.Message.MaxVersion())
	if !ok {
		s.txn.VersionMismatch(r, &kerr.Error{Op: "init producer id", Partition: -1, Code: kerr.UnsupportedVersion, Class: kerr.ClassFatal})
		return
	}
	r.Message.SetVersion(version)
	s.send(now, node, r.Message, txnOwner{r})
}

func (s *Sender) takeTxnAnswer(now clock.Instant, owner txnOwner, a *client.Answer) {
	r := owner.request
	switch a.Kind {
	case client.Answered:
	case client.VersionMismatch:
		s.txn.VersionMismatch(r, a.Err)
		return
	default: // a refused login too: failRefused tells
		s.txn.Disconnected(r)
		s.retryIDAt = now.AddMs(r.BackoffMs)
		return
	}
	resp := r.Message.ResponseKind()
	resp.SetVersion(a.Request.Version)
	if err := resp.ReadFrom(a.Body); err != nil {
		s.client.Disconnect(now, a.Request.Node, err)
		s.txn.Disconnected(r)
		s.retryIDAt = now.AddMs(r.BackoffMs)
		return
	}
	s.throttle(now, a.Request.Node, resp)
	s.noteIllegal(s.txn.Answered(r, resp))
	if s.txn.HasPending() || s.txn.HasError() {
		// Without the permission for an id Java asks again as fast as brokers answer, for as long as it is missing.
		s.retryIDAt = now.AddMs(r.BackoffMs)
	}
}

// throttle obeys the broker's throttle_time_ms (KIP-219).
func (s *Sender) throttle(now clock.Instant, node int32, resp kmsg.Response) {
	if t, ok := resp.(kmsg.ThrottleResponse); ok {
		if ms, _ := t.Throttle(); ms > 0 {
			s.client.Throttle(now, node, ms)
		}
	}
}

// dropUndrained fails what has not left its queue: the producer is in a fatal state, nothing will be sent any more. What
// is in flight waits for its answer (Java: Sender.maybeAbortBatches).
func (s *Sender) dropUndrained(err error) {
	s.batches = s.sched.Queued(s.batches[:0])
	for _, b := range s.batches {
		s.end(b, accumulator.Ending{BaseOffset: -1, LogAppendMs: -1, Err: err})
	}
	clear(s.batches)
}

// noteIllegal logs a transition that the state machine refused: it is in its fatal state by then.
func (s *Sender) noteIllegal(err error) {
	if err != nil && !errors.Is(err, s.illegal) {
		s.illegal = err
		s.log(Error, "the transaction state machine refused a step: %v", err)
	}
}

func (s *Sender) whoami() Identity {
	if s.txn == nil {
		return Identity{State: "none", ProducerID: txn.NoProducerID, Epoch: txn.NoEpoch}
	}
	id := s.txn.ProducerID()
	who := Identity{State: s.txn.State().Word(), ProducerID: id.ID, Epoch: id.Epoch, Err: s.txn.LastError()}
	switch {
	case who.Err == nil:
	case who.Err == s.identity.Err: //nolint:errorlint // the very same value is meant
		who.Refusal = s.identity.Refusal // the same error each time: identities are compared
	default:
		who.Refusal = s.txn.Admit(txn.AddPartition)
	}
	return who
}
