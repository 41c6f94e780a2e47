package accumulator

import (
	"sync"
	"sync/atomic"

	"linger/internal/clock"
	"linger/internal/metadata"
	"linger/internal/partition"
	"linger/internal/record"
)

// Topic is a topic's queues and its built-in partitioner. Callers hold on to it: it costs an append no map lookup.
type Topic struct {
	Name string

	acc     *Accumulator
	number  int // by when it was made
	sticky  *partition.Sticky
	view    atomic.Pointer[partition.View]          // what choices are drawn from; nil before metadata knew the topic
	count   atomic.Int32                            // partitions; 0 while metadata does not know the topic
	made    atomic.Int32                            // queues
	queues  atomic.Pointer[[]atomic.Pointer[Queue]] // by partition; replaced when it grows
	touched atomic.Int64                            // a clock.Instant
	ratio   record.Estimator                        // of this topic's batches

	mu sync.Mutex // guards the making of queues

	meta *metadata.Topic // guarded by topicsMu

	step topicStep
}

// PartitionCount is how many partitions the topic has, 0 while that is not known.
func (t *Topic) PartitionCount() int32 { return t.count.Load() }

// View is what partitioners may look at: the partitions and who has a leader. Nil before metadata knew the topic.
func (t *Topic) View() *partition.View { return t.view.Load() }

// LastUsed is when a batch of the topic was last opened; 0 if never.
func (t *Topic) LastUsed() clock.Instant { return clock.Instant(t.touched.Load()) }

// publish takes what the cluster says of the topic. A topic that left the cluster keeps its last view: an append that
// is on its way still needs a partition.
func (t *Topic) publish(c *metadata.Cluster) {
	m := c.Topic(t.Name)
	if m == nil {
		t.count.Store(0)
		return
	}
	if m != t.meta || t.acc.o.RackAware {
		t.view.Store(t.acc.viewOf(m, c))
	}
	t.meta = m
	t.count.Store(int32(len(m.Partitions)))
}

// viewOf lists the partitions with a leader in the metadata's order, which is the order that Java draws from.
func (a *Accumulator) viewOf(m *metadata.Topic, c *metadata.Cluster) *partition.View {
	v := &partition.View{Count: int32(len(m.Partitions))}
	for i := range m.Partitions {
		p := int32(i)
		if m.Listed != nil {
			if i >= len(m.Listed) {
				break
			}
			p = m.Listed[i]
		}
		leader := m.Partitions[p].Leader
		if leader == metadata.NoLeader {
			continue
		}
		v.Available = append(v.Available, p)
		if !a.o.RackAware || a.o.Rack == "" {
			continue
		}
		if n, _ := c.NodeByID(leader); n.Rack == a.o.Rack {
			v.InRack = append(v.InRack, p)
		}
	}
	return v
}

// at is the queue of a partition, nil if it has none yet.
func (t *Topic) at(p int32) *Queue {
	queues := *t.queues.Load()
	if uint32(p) >= uint32(len(queues)) {
		return nil
	}
	return queues[p].Load()
}

// queue is the queue of a partition, made if need be. Racing callers get one and the same.
func (t *Topic) queue(p int32) *Queue {
	if q := t.at(p); q != nil {
		return q
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if q := t.at(p); q != nil {
		return q
	}
	queues := *t.queues.Load()
	if int(p) >= len(queues) {
		grown := make([]atomic.Pointer[Queue], max(int(p)+1, int(t.count.Load()), len(queues)*2))
		for i := range queues {
			grown[i].Store(queues[i].Load())
		}
		queues = grown
		t.queues.Store(&grown)
	}
	q := &Queue{Topic: t, Partition: p}
	q.Seq.Topic, q.Seq.Index = t.Name, p
	queues[p].Store(q)
	t.made.Add(1)
	return q
}
