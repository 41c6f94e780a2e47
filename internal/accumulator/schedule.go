package accumulator

import (
	"linger/internal/clock"
	"linger/internal/metadata"
)

// Schedule is the engine's face: which nodes have something to send, and the batches to send. It belongs to Step: one
// goroutine, or several that hand it over. It reads no clock, and its only locks are those of queues, one at a time.
//
// The same calls on the same queues give the same answers: nothing depends on the order of a map.
type Schedule struct {
	acc *Accumulator
	now clock.Instant // of the last call that told

	splitSize int // what a batch is cut to when it comes back as too large: batch.size

	cluster *metadata.Cluster // nil before the first
	nodes   map[int32]*node   // every node that ever led something; its drain index outlives its leadership
	order   []*node           // those of the cluster, in its order
	queues  []*Queue          // every queue seen so far, in the order of their first signals
	places  map[string][]place

	waiting deadlines // queues that will be ready when linger.ms or a back-off ends
	expiry  deadlines // queues by the expiry of their oldest batch, or earlier: see NextExpiry
	unknown []*Topic  // with batches for a partition without leader

	toSeal []*Batch // states Sealing, not handed out yet
	load   []*Topic // whose load table may have changed

	taken     []*Queue  // scratch
	names     []string  // scratch
	loadStats loadStats // scratch
}

// node is what the Schedule keeps of a broker.
type node struct {
	id        int32
	rack      string
	queues    []*Queue // by place: the partitions it leads in the order of the metadata; nil where there is no queue yet
	active    bitset   // places whose queue has batches
	ready     int      // queues ready to be drained
	lingering int      // queues that only wait for linger.ms
	sealing   int      // batches that the last drain sent to be sealed and that are not back
	drainAt   int      // place where the next drain starts (Java: nodesDrainIndex)

	// When the node was last seen ready, and when it was last possible to drain it (Java: NodeLatencyStats).
	latency            bool
	readyAt, drainedAt clock.Instant
}

// place is where a partition stands.
type place struct {
	node  *node
	pos   int
	epoch int32
}

// topicStep is the Step's part of a Topic.
type topicStep struct {
	id      [16]byte
	places  []place       // by partition
	unknown int           // queues in state queueUnknown
	inLoad  bool          // stands in Schedule.load
	told    clock.Instant // LastUsed as of the last Touched
}

// ID is the topic's id as of the last SetCluster, zero when unknown. Only Step may ask.
func (t *Topic) ID() [16]byte { return t.step.id }

func (s *Schedule) start(a *Accumulator) {
	s.acc, s.splitSize = a, a.batchSize
	s.nodes = map[int32]*node{}
	s.waiting.which, s.expiry.which = heapWaiting, heapExpiry
}

// SetCluster makes c the cluster to send by, and publishes it to partitioners. Every queue that holds something is
// looked at again.
func (s *Schedule) SetCluster(c *metadata.Cluster, now clock.Instant) {
	s.acc.publish(c)
	s.now = now
	for _, q := range s.queues {
		s.leave(q)
		q.node, q.epoch = nil, -1
	}
	s.layOut(c)
	for _, q := range s.queues {
		s.settle(q)
		if q.length > 0 {
			s.look(q, now)
		}
	}
	for _, t := range s.acc.topics.Load().ordered {
		s.reload(t)
	}
}

// layOut gives each partition of the cluster its place.
func (s *Schedule) layOut(c *metadata.Cluster) {
	s.cluster = c
	for _, n := range s.order {
		n.queues, n.active = n.queues[:0], n.active[:0]
	}
	s.order = s.order[:0]
	s.places = make(map[string][]place, len(c.Topics))
	for _, t := range c.Topics {
		s.places[t.Name] = make([]place, len(t.Partitions))
	}
	for i := range c.Nodes {
		n := s.node(c.Nodes[i].ID)
		n.rack = c.Nodes[i].Rack
		s.order = append(s.order, n)
		led := c.PartitionsForNode(n.id)
		for pos, tp := range led {
			s.places[tp.Topic.Name][tp.Partition] = place{n, pos, tp.Topic.Partitions[tp.Partition].LeaderEpoch}
		}
		n.queues = resize(n.queues, len(led))
		n.active = n.active.resize(len(led))
	}
	for _, t := range s.acc.topics.Load().ordered {
		t.step.places = s.places[t.Name]
		if m := c.Topic(t.Name); m != nil {
			t.step.id = m.ID
		}
	}
}

func resize(queues []*Queue, n int) []*Queue {
	if cap(queues) < n {
		return make([]*Queue, n)
	}
	queues = queues[:n]
	clear(queues)
	return queues
}

func (s *Schedule) node(id int32) *node {
	n := s.nodes[id]
	if n == nil {
		n = &node{id: id}
		s.nodes[id] = n
	}
	return n
}

// Touched appends to dst the topics of which a batch was opened since the last call.
func (s *Schedule) Touched(dst []*Topic) []*Topic {
	for _, t := range s.acc.topics.Load().ordered {
		if used := t.LastUsed(); used != t.step.told {
			t.step.told = used
			dst = append(dst, t)
		}
	}
	return dst
}

// meet takes a queue in that the Schedule sees for the first time.
func (s *Schedule) meet(q *Queue) {
	q.known, q.order, q.epoch = true, int32(len(s.queues)), -1
	s.queues = append(s.queues, q)
	t := q.Topic
	s.place(t)
	s.settle(q)
	s.reload(t)
}

// place gives a topic that the app made since the last SetCluster the places of its partitions.
func (s *Schedule) place(t *Topic) {
	if t.step.places != nil {
		return
	}
	t.step.places = s.places[t.Name]
	if m := s.topic(t); m != nil {
		t.step.id = m.ID
	}
}

// topic is what the cluster knows of t, nil for nothing.
func (s *Schedule) topic(t *Topic) *metadata.Topic {
	if s.cluster == nil {
		return nil
	}
	return s.cluster.Topic(t.Name)
}

// settle gives a queue its place at its leader.
func (s *Schedule) settle(q *Queue) {
	places := q.Topic.step.places
	if int(q.Partition) >= len(places) {
		return
	}
	p := places[q.Partition]
	if p.node == nil {
		return
	}
	q.node, q.pos, q.epoch = p.node, p.pos, p.epoch
	p.node.queues[p.pos] = q
}

// Refresh takes in what happened at the app's face since the last call and what time alone has changed: it looks at the
// queues that signalled and at those whose linger or back-off is over, and renews load tables.
func (s *Schedule) Refresh(now clock.Instant) {
	s.takeIn(now)
	s.renewLoad()
}

func (s *Schedule) takeIn(now clock.Instant) {
	s.now = now
	s.taken = s.acc.signals.take(s.taken[:0])
	for _, q := range s.taken {
		q.signalled.Store(false) // before the look: what happens after it signals anew
		if !q.known {
			s.meet(q)
		}
		s.look(q, now)
	}
	clear(s.taken)
	for s.waiting.top() <= now {
		s.look(s.waiting.first(), now)
	}
}
