package sender

import (
	"linger/internal/kerr"
	"linger/internal/metadata"
)

// failRefused gives up what waits for brokers that don't let us in, in a turn in which one of them said so again.
//
// A broker's refusal is no fault of the network: trying the same again helps nobody, so in Java it ends the wait for
// metadata and the requests of the transaction. Records that are buffered already stay there in Java until delivery.timeout.ms,
// and their error is then a time-out that doesn't say why. Here they fail with the refusal as soon as it is the second in a row
// (client.Refused): one refusal alone may be a change of passwords that has not reached all brokers, or a token that has just run
// out. What is in flight to other brokers is not touched.
func (s *Sender) failRefused() {
	if !s.refused {
		return
	}
	s.refused = false
	all := s.client.AllRefused()
	if all != nil && s.txn != nil && s.txn.Transactional() {
		s.txn.AuthenticationFailed(all)
	}
	s.batches = s.sched.Unended(s.batches[:0])
	for _, b := range s.batches {
		if !b.Queued() {
			continue
		}
		err := all
		if leader := s.meta.Cluster().Leader(b.Queue.Topic.Name, b.Queue.Partition); leader != metadata.NoLeader {
			err = s.client.Refused(leader)
		}
		if err != nil {
			s.giveUp(b, &kerr.Error{Op: "send", Topic: b.Queue.Topic.Name, Partition: b.Queue.Partition, Class: kerr.ClassInvalidConfiguration, Err: err})
		}
	}
	clear(s.batches)
}
