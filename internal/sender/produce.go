package sender

import (
	"errors"
	"fmt"

	"linger/internal/accumulator"
	"linger/internal/client"
	"linger/internal/clock"
	"linger/internal/kerr"
	"linger/internal/wire"
)

// produce expires what is too old, then turns what is ready into requests (Java: Sender.sendProducerData).
func (s *Sender) produce(now clock.Instant, mayProduce bool) {
	s.expire(now)
	if lag := s.undelivered > s.o.MaxUndelivered && !s.acc.CallbackStarves(); s.forced || lag || !mayProduce {
		return // callbacks that lag behind bring the next turn by a Delivered event
	}
	for _, topic := range s.sched.UnknownLeaders() {
		s.meta.Add(topic, now)
		s.meta.RequestUpdate()
	}
	s.nodes = s.sched.Ready(now, s.nodes[:0])
	for _, node := range s.nodes {
		if !s.client.Ready(now, node) {
			s.client.Connect(now, node)
			s.sched.NodeLatency(node, now, false)
			continue
		}
		s.sched.NodeLatency(node, now, true)
		s.sendTo(now, node)
	}
	s.fx.Seals = s.sched.Seals(s.fx.Seals)
	s.sealing += len(s.fx.Seals)
}

// sendTo drains one ready node into one request.
func (s *Sender) sendTo(now clock.Instant, node int32) {
	version, ok := s.client.Version(node, wire.KeyProduce, wire.MaxProduceVersion)
	r := s.idleRequest()
	r.batches = s.sched.Drain(now, node, s.o.MaxRequestSize, s, r.batches)
	if len(r.batches) == 0 {
		s.recycle(r)
		return
	}
	s.inFlight += len(r.batches)
	if s.o.KeepOrder && !s.o.Faults.SkipMuting {
		for _, b := range r.batches {
			s.sched.Mute(b.Queue)
		}
	}
	if !ok {
		s.refuseVersion(now, r)
		return
	}
	s.frameBatches(r)
	if version >= firstTopicIDVersion && !allHaveIDs(r) {
		version = firstTopicIDVersion - 1
	}
	corr := s.client.NextCorr()
	if err := wire.AppendProduce(&r.frame, version, corr, s.client.ClientID(), nil, s.o.Acks, s.o.RequestTimeoutMs, r.topics); err != nil {
		s.log(Error, "%v", err) // the limits of options and names keep this from happening
		s.refuseVersion(now, r)
		return
	}
	r.client = client.Request{Key: wire.KeyProduce, Version: version, Corr: corr, Node: node, Vec: r.frame.Vec, NoAnswer: s.o.Acks == 0, Owner: r}
	s.countRequest(r)
	s.client.Send(now, &r.client)
}

// firstTopicIDVersion of Produce names topics by id (KIP-516).
const firstTopicIDVersion = 13

// MaySend is the schedule's question under the queue lock: may this batch leave now?
func (s *Sender) MaySend(q *accumulator.Queue, b *accumulator.Batch) bool {
	if s.txn == nil {
		return true
	}
	if !b.Stamp.Has && q.Seq.InFlight() > 0 && !q.Seq.Proven(s.txn.ProducerID()) {
		return false // better than Java: a partition's first batch goes alone, see Proven
	}
	ok, _ := s.txn.MaySend(&q.Seq, &b.Stamp)
	return ok
}

// Stamp gives the batch its producer id, epoch and sequence as it leaves its queue, under the queue lock.
func (s *Sender) Stamp(q *accumulator.Queue, b *accumulator.Batch) {
	if s.txn != nil {
		s.txn.Assign(&q.Seq, &b.Stamp)
	}
}

func allHaveIDs(r *produceRequest) bool {
	for i := range r.topics {
		if r.topics[i].ID == ([16]byte{}) {
			return false
		}
	}
	return true
}

// refuseVersion fails the batches of a broker that speaks no Produce version of ours.
func (s *Sender) refuseVersion(now clock.Instant, r *produceRequest) {
	for _, b := range r.batches {
		s.answer(now, b, noAnswer(kerr.UnsupportedVersion))
	}
	s.recycle(r)
}

// expire fails the batches that have reached delivery.timeout.ms. One that a request still holds fails as well, but its
// memory stays charged until the request lets go (KAFKA-19012).
func (s *Sender) expire(now clock.Instant) {
	s.batches = s.sched.Expired(now, s.batches[:0])
	for _, b := range s.batches {
		s.giveUp(b, expiryError(b, now, s.troubleOf(b)))
	}
	clear(s.batches)
}

// giveUp fails a batch that nobody answered for. If it was sent, a broker may have it: its sequence is in doubt then.
func (s *Sender) giveUp(b *accumulator.Batch, err error) {
	sent := b.Stamp.Has
	s.failBatch(b, accumulator.Ending{BaseOffset: -1, LogAppendMs: -1, Err: err}, err, false)
	if s.txn != nil && sent {
		s.txn.MarkUnresolved(&b.Queue.Seq, &b.Stamp)
	}
}

// troubleOf is why the batch's leader answers nothing, nil when that is not the connection's fault.
func (s *Sender) troubleOf(b *accumulator.Batch) error {
	return s.client.Trouble(s.meta.Cluster().Leader(b.Queue.Topic.Name, b.Queue.Partition), b.CreatedAt)
}

// unreached tells why the leader did not answer. Java's exception has no such cause: errors.Is and errors.As find what is
// inside, the names of Java's causes leave it out.
type unreached struct{ err error }

func (u unreached) Error() string        { return u.err.Error() }
func (u unreached) Is(target error) bool { return errors.Is(u.err, target) }
func (u unreached) As(target any) bool   { return errors.As(u.err, target) }

func expiryError(b *accumulator.Batch, now clock.Instant, trouble error) error {
	var cause error = kerr.ErrTimeout
	if trouble != nil {
		cause = unreached{trouble}
	}
	return &kerr.Error{
		Op: "send", Topic: b.Queue.Topic.Name, Partition: b.Queue.Partition, Code: kerr.RequestTimedOut, Class: kerr.ClassRetriable,
		Msg: fmt.Sprintf("Expiring %d record(s) for %s-%d:%d ms has passed since batch creation. The request has not been sent, or no server response has been received yet.",
			b.RecordCount(), b.Queue.Topic.Name, b.Queue.Partition, now.Sub(b.CreatedAt).Milliseconds()),
		Err: cause,
	}
}
