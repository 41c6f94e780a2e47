package accumulator

import "linger/internal/clock"

// Ready appends to dst the nodes that lead a partition with something to send, in the cluster's order: a batch that is
// full, or has lingered, and does not back off; a batch of any kind while somebody waits for memory (in Java:
// RecordAccumulator.ready). Batches of a flush or a close are full. Call Refresh before.
func (s *Schedule) Ready(_ clock.Instant, dst []int32) []int32 {
	exhausted := s.acc.exhausted()
	for _, n := range s.order {
		if n.ready > 0 || exhausted && n.lingering > 0 {
			dst = append(dst, n.id)
		}
	}
	return dst
}

// NextReady is when the next queue becomes ready by time alone: its linger or its back-off ends. clock.Never when none.
func (s *Schedule) NextReady() clock.Instant { return s.waiting.top() }

// NextCheck is when time alone next changes something: a queue becomes ready, or a batch expires.
func (s *Schedule) NextCheck() clock.Instant { return min(s.NextReady(), s.NextExpiry()) }

// UnknownLeaders are the topics that have batches for a partition without a known leader. The slice is the Schedule's,
// valid until the next call.
func (s *Schedule) UnknownLeaders() []string {
	s.names = s.names[:0]
	for _, t := range s.unknown {
		s.names = append(s.names, t.Name)
	}
	return s.names
}

// Incomplete is how many batches have not ended, wherever they are.
func (s *Schedule) Incomplete() int { return s.acc.Incomplete() }

// Undrained is how many batches stand in queues.
func (s *Schedule) Undrained() int { return s.acc.Undrained() }
