package linger

import (
	"linger/internal/accumulator"
	"linger/internal/metadata"
	"linger/internal/partition"
)

// Cluster is what the producer knew of the cluster at one moment. It never changes.
type Cluster struct {
	view *metadata.View
	acc  *accumulator.Accumulator
}

// PartitionInfo is one partition of a topic.
type PartitionInfo struct {
	Topic     string
	Partition int32
	// Leader is the leading broker's id, -1 when the partition has none.
	Leader int32
}

// PartitionCount is the number of partitions of topic, 0 when the topic is unknown.
func (c Cluster) PartitionCount(topic string) int32 {
	if t := c.view.Topic(topic); t != nil {
		return int32(len(t.Partitions))
	}
	return 0
}

// Partitions lists the partitions of topic by number.
func (c Cluster) Partitions(topic string) []PartitionInfo {
	t := c.view.Topic(topic)
	if t == nil {
		return nil
	}
	out := make([]PartitionInfo, len(t.Partitions))
	for i, p := range t.Partitions {
		out[i] = PartitionInfo{Topic: topic, Partition: int32(i), Leader: p.Leader}
	}
	return out
}

// ClusterOf makes a cluster with the given numbers of partitions by topic, all led by one broker: for tests of a Partitioner.
func ClusterOf(partitions map[string]int32) Cluster {
	topics := make([]*metadata.Topic, 0, len(partitions))
	for name, n := range partitions {
		topics = append(topics, &metadata.Topic{Name: name, Partitions: make([]metadata.Partition, n)})
	}
	return Cluster{view: &metadata.View{Cluster: metadata.NewCluster(1, "", []metadata.Node{{ID: 0}}, topics)}}
}

// choices is what the partitions of topic may be chosen from, nil when the topic is unknown.
func (c Cluster) choices(topic string) *partition.View {
	if c.acc != nil {
		if t := c.acc.Lookup(topic); t != nil {
			return t.View()
		}
		return nil
	}
	t := c.view.Topic(topic)
	if t == nil {
		return nil
	}
	leader := func(p int32) int32 { return t.Partitions[p].Leader }
	return partition.NewView(int32(len(t.Partitions)), leader, false, "", nil)
}
