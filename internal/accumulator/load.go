package accumulator

import (
	"linger/internal/clock"
	"linger/internal/metadata"
)

// loadStats is memory for one topic's load, reused from topic to topic.
type loadStats struct {
	queues, partitions []int32
	racks              []string
}

func (l *loadStats) resize(n int) {
	if cap(l.queues) < n {
		*l = loadStats{make([]int32, n), make([]int32, n), make([]string, n)}
	}
	l.queues, l.partitions, l.racks = l.queues[:n], l.partitions[:n], l.racks[:n]
	clear(l.queues)
	clear(l.partitions)
	clear(l.racks)
}

// reload has the topic's load table renewed by the next Refresh: a queue of it changed its length, or a node its
// availability. (Java renews each table in each turn; the table only changes when these do.)
func (s *Schedule) reload(t *Topic) {
	if s.acc.o.Adaptive && !t.step.inLoad {
		t.step.inLoad = true
		s.load = append(s.load, t)
	}
}

func (s *Schedule) renewLoad() {
	for i, t := range s.load {
		t.step.inLoad = false
		s.renew(t)
		s.load[i] = nil
	}
	s.load = s.load[:0]
}

// renew tells the topic's partitioner how long the queues are (Java: RecordAccumulator.partitionReady). Until every
// partition has a queue the choice stays uniform: one without a queue would never be chosen.
func (s *Schedule) renew(t *Topic) {
	m := s.topic(t)
	queues := int(t.made.Load())
	if m == nil || queues < len(m.Partitions) {
		t.sticky.UpdateLoad(nil, nil, nil, 0)
		return
	}
	s.place(t) // its queues may all be new
	n := s.gatherLoad(t, m, queues)
	l := &s.loadStats
	t.sticky.UpdateLoad(l.queues, l.partitions, l.racks, n)
}

// gatherLoad fills loadStats with the queues whose leader is known and not left out, and returns how many they are. As in
// Java the slices are as long as there are queues, so that a partition left out or without leader makes the table differ
// from "all equal"; an empty queue is never left out; and one that takes the place of a partition left out just before
// it weighs as that one did.
func (s *Schedule) gatherLoad(t *Topic, m *metadata.Topic, queues int) int {
	l := &s.loadStats
	l.resize(queues)
	n := 0
	for p := range int32(len(m.Partitions)) {
		q := t.at(p)
		if q == nil || q.node == nil && t.step.places[p].node == nil {
			continue
		}
		lead := t.step.places[p].node
		l.partitions[n], l.racks[n] = p, lead.rack
		if q.length > 0 {
			l.queues[n] = q.length
			if s.leftOut(lead) {
				continue
			}
		}
		n++
	}
	return n
}

// leftOut: the node has been ready for long without being drained.
func (s *Schedule) leftOut(n *node) bool {
	timeout := s.acc.o.AvailabilityTimeout
	return timeout > 0 && n.latency && n.readyAt.Sub(n.drainedAt) > timeout
}

// NodeLatency says that the node was ready at now, and whether it could be drained. A node that is ready for longer than
// AvailabilityTimeout without being drained loses its partitions in the load tables until it is (Java:
// updateNodeLatencyStats).
func (s *Schedule) NodeLatency(nodeID int32, now clock.Instant, canDrain bool) {
	if s.acc.o.AvailabilityTimeout <= 0 {
		return
	}
	n := s.node(nodeID)
	before := s.leftOut(n)
	if canDrain || !n.latency {
		n.drainedAt = now
	}
	n.latency, n.readyAt = true, now
	if s.leftOut(n) != before {
		for _, t := range s.acc.topics.Load().ordered {
			s.reload(t)
		}
	}
}
