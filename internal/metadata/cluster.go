package metadata

// Node is a broker. Bootstrap addresses are nodes with the ids -1, -2, …
type Node struct {
	ID   int32
	Host string
	Port int32
	Rack string // empty when the broker has none
}

// Partition is who leads a partition.
type Partition struct {
	// Leader is a node of the same snapshot, -1 when there is none.
	Leader int32
	// LeaderEpoch counts the leaders of the partition, -1 when the broker did not say.
	LeaderEpoch int32
}

// Topic is a topic that exists. It is immutable.
type Topic struct {
	Name string
	// ID is the topic's id, zero when the broker is too old to have ids.
	ID       [16]byte
	Internal bool
	// Partitions by their number. One that the broker left out has no leader.
	Partitions []Partition
	// Listed are the partitions in the order of the broker's answer; nil means by number.
	Listed []int32
}

// TopicPartition names a partition of a snapshot's topic.
type TopicPartition struct {
	Topic     *Topic
	Partition int32
}

// Cluster is an immutable snapshot of what is known. Any goroutine may read it; what it returns must not be changed.
type Cluster struct {
	// Version grows with each snapshot of a store.
	Version int64
	// ClusterID is empty before a broker told it.
	ClusterID string
	// Nodes in the order of the broker's answer.
	Nodes []Node
	// Topics that exist and are in use, in the order in which they were listed.
	Topics []*Topic
	// Bootstrap says that no broker has answered yet: Nodes are the addresses of bootstrap.servers.
	Bootstrap bool

	nodes  map[int32]Node
	topics map[string]*Topic
	ids    map[[16]byte]*Topic
	led    map[int32][]TopicPartition
}

// NewCluster makes a snapshot. The slices are the snapshot's from then on, and every leader is among nodes.
func NewCluster(version int64, clusterID string, nodes []Node, topics []*Topic) *Cluster {
	c := &Cluster{
		Version: version, ClusterID: clusterID, Nodes: nodes, Topics: topics,
		nodes:  make(map[int32]Node, len(nodes)),
		topics: make(map[string]*Topic, len(topics)),
		ids:    make(map[[16]byte]*Topic, len(topics)),
		led:    make(map[int32][]TopicPartition, len(nodes)),
	}
	for _, n := range nodes {
		c.nodes[n.ID] = n
	}
	for _, t := range topics {
		c.topics[t.Name] = t
		if t.ID != ([16]byte{}) {
			c.ids[t.ID] = t
		}
		for i := range t.Partitions {
			p := int32(i)
			if t.Listed != nil {
				if i >= len(t.Listed) {
					break
				}
				p = t.Listed[i]
			}
			if leader := t.Partitions[p].Leader; leader != NoLeader {
				c.led[leader] = append(c.led[leader], TopicPartition{t, p})
			}
		}
	}
	return c
}

// NoLeader stands for a partition without leader.
const NoLeader int32 = -1

// Topic is the topic of that name, nil when it is not known or does not exist.
func (c *Cluster) Topic(name string) *Topic { return c.topics[name] }

// TopicByID is the topic with that id, nil when there is none.
func (c *Cluster) TopicByID(id [16]byte) *Topic { return c.ids[id] }

// NodeByID is the broker with that id.
func (c *Cluster) NodeByID(id int32) (Node, bool) {
	n, ok := c.nodes[id]
	return n, ok
}

// Leader is who leads the partition, NoLeader when nobody does or the partition is not known.
func (c *Cluster) Leader(topic string, partition int32) int32 {
	t := c.topics[topic]
	if t == nil || partition < 0 || int(partition) >= len(t.Partitions) {
		return NoLeader
	}
	return t.Partitions[partition].Leader
}

// PartitionsForNode are the partitions that the node leads, in the order in which brokers listed them: that is the
// order of draining.
func (c *Cluster) PartitionsForNode(node int32) []TopicPartition { return c.led[node] }
