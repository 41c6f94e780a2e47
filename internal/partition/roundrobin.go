package partition

import (
	"sync"
	"sync/atomic"
)

// RoundRobin gives each record of a topic the next partition in turn, key or not, over the partitions with a leader, or
// over all when none has one. The zero RoundRobin is ready; any goroutine may use it.
//
// Java's note about uneven spread (KAFKA-9965: a second call for the same record when a batch was opened) doesn't apply:
// Next is called once a record.
type RoundRobin struct {
	turns sync.Map // topic → *atomic.Int32
}

// Next is the partition of topic's next record, -1 when v has no partitions. The turn passes in either case.
func (r *RoundRobin) Next(topic string, v *View) int32 {
	n := ToPositive(r.turn(topic).Add(1) - 1)
	if len(v.Available) > 0 {
		return v.Available[int(n)%len(v.Available)]
	}
	if v.Count > 0 {
		return n % v.Count
	}
	return -1
}

// GiveBack takes topic's last turn back: its record was not sent. Turns that passed meanwhile stay as they are.
func (r *RoundRobin) GiveBack(topic string) { r.turn(topic).Add(-1) }

func (r *RoundRobin) turn(topic string) *atomic.Int32 {
	turn, ok := r.turns.Load(topic)
	if !ok {
		turn, _ = r.turns.LoadOrStore(topic, new(atomic.Int32))
	}
	return turn.(*atomic.Int32)
}
