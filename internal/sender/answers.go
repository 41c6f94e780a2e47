package sender

import (
	"fmt"

	"linger/internal/client"
	"linger/internal/clock"
	"linger/internal/kerr"
	"linger/internal/wire"
)

// metadataOwner owns the one metadata request that may be out. A produce request owns itself.
type metadataOwner struct{}

// takeAnswers gives each answer to whoever asked. Answers come in the order of their requests per connection.
func (s *Sender) takeAnswers(now clock.Instant) {
	s.answers = s.client.Answers(s.answers[:0])
	for i := range s.answers {
		a := &s.answers[i]
		switch owner := a.Request.Owner.(type) {
		case *produceRequest:
			s.takeProduceAnswer(now, owner, a)
		case metadataOwner:
			s.takeMetadataAnswer(now, a)
		case txnOwner:
			s.takeTxnAnswer(now, owner, a)
		}
	}
	clear(s.answers)
}

// failureCode is the error that stands for an answer that did not come (Java: Sender.handleProduceResponse).
func failureCode(k client.AnswerKind) kerr.Code {
	switch k {
	case client.TimedOut:
		return kerr.RequestTimedOut
	case client.VersionMismatch:
		return kerr.UnsupportedVersion
	case client.Disconnected, client.Malformed, client.AuthFailed:
		return kerr.NetworkException
	}
	return kerr.None
}

// lossText is what Java says of a produce request whose connection ended.
func lossText(k client.AnswerKind, node int32) string {
	switch k {
	case client.TimedOut:
		return fmt.Sprintf("Disconnected from node %d due to timeout", node)
	case client.Disconnected, client.AuthFailed:
		return fmt.Sprintf("Disconnected from node %d", node)
	}
	return ""
}

// takeProduceAnswer goes through the batches of a request that has let go of them.
func (s *Sender) takeProduceAnswer(now clock.Instant, r *produceRequest, a *client.Answer) {
	defer s.recycle(r)
	if code := failureCode(a.Kind); code != kerr.None {
		pa := noAnswer(code)
		pa.message = lossText(a.Kind, r.client.Node)
		for _, b := range r.batches {
			s.answer(now, b, pa)
		}
		return
	}
	if r.client.NoAnswer {
		for _, b := range r.batches {
			s.answer(now, b, noAnswer(kerr.None))
		}
		return
	}
	if err := s.readAnswer(now, r, a.Body); err != nil {
		s.log(Warn, "produce answer of broker %d can't be read, its connection is closed: %v", r.client.Node, err)
		s.client.Disconnect(now, r.client.Node, err)
	}
}

// readAnswer matches what the broker says to what was sent, by place and not by today's names (KAFKA-19397). A batch
// that a readable answer leaves out counts as lost with the connection, and so do all when the answer can't be read.
func (s *Sender) readAnswer(now clock.Instant, r *produceRequest, body []byte) error {
	resp := &s.response
	err := resp.Read(r.client.Version, body)
	if err == nil && resp.ThrottleMs > 0 {
		s.client.Throttle(now, r.client.Node, resp.ThrottleMs)
	}
	s.leaders = s.leaders[:0]
	for i, b := range r.batches {
		pa := noAnswer(kerr.NetworkException)
		if err == nil {
			if p := findPartition(resp, r, i); p != nil {
				pa = answerOf(p)
			} else {
				s.log(Warn, "produce answer of broker %d says nothing of %s-%d, which is tried again", r.client.Node, b.Queue.Topic.Name, b.Queue.Partition)
			}
		}
		s.noteLeader(b, pa)
		s.answer(now, b, pa)
	}
	if len(s.leaders) > 0 {
		s.takeLeaders(now, resp)
	}
	return err
}

// findPartition is the answer for the i-th batch: usually at the same place, else wherever it stands.
func findPartition(resp *wire.ProduceResponse, r *produceRequest, i int) *wire.ProducedPartition {
	b := r.batches[i]
	fits := func(p *wire.ProducedPartition) bool {
		if p.Partition != b.Queue.Partition {
			return false
		}
		if r.client.Version >= firstTopicIDVersion {
			return p.TopicID == r.topicOf(i).ID
		}
		return string(p.Topic) == b.Queue.Topic.Name
	}
	if i < len(resp.Partitions) && fits(&resp.Partitions[i]) {
		return &resp.Partitions[i]
	}
	for j := range resp.Partitions {
		if fits(&resp.Partitions[j]) {
			return &resp.Partitions[j]
		}
	}
	return nil
}

func (r *produceRequest) topicOf(i int) *wire.ProduceTopic {
	for j := range r.topics {
		if i < len(r.topics[j].Partitions) {
			return &r.topics[j]
		}
		i -= len(r.topics[j].Partitions)
	}
	return nil
}

// answerOf is what the broker says of one batch, in the sender's terms.
func answerOf(p *wire.ProducedPartition) partitionAnswer {
	a := partitionAnswer{
		code: kerr.Code(p.ErrorCode), message: p.Message, baseOffset: p.BaseOffset, logAppendMs: p.LogAppendTime,
		logStartOffset: p.LogStartOffset, leader: p.LeaderID, leaderEpoch: p.LeaderEpoch,
	}
	a.recordErrs = p.RecordErrors // good until the next answer is read
	return a
}
