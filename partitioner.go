package linger

import (
	"fmt"

	"linger/internal/kerr"
	"linger/internal/partition"
)

// Partitioner chooses a partition for records that ask for none (partitioner.class). Calls come from many goroutines.
//
// It may also have Configure(map[string]string) error, called once by New, and Close() error, called with the producer.
type Partitioner interface {
	// Partition returns a number from 0 up; an error or a negative number refuses the record. key and value are the
	// serialized bytes, nil for null, and must neither be changed nor kept.
	Partition(topic string, key, value []byte, cluster Cluster) (int32, error)
}

// PartitionerOf is a Partitioner that wants the record itself too.
type PartitionerOf[K, V any] interface {
	PartitionRecord(r Record[K, V], key, value []byte, cluster Cluster) (int32, error)
}

// PartitionerFunc is a function as a Partitioner.
type PartitionerFunc func(topic string, key, value []byte, cluster Cluster) (int32, error)

// Partition calls f.
func (f PartitionerFunc) Partition(topic string, key, value []byte, cluster Cluster) (int32, error) {
	return f(topic, key, value, cluster)
}

// Murmur2Partition is the partition Kafka gives to key among count partitions: murmur2 of the key, its sign bit
// cleared, modulo count. It panics when count is not positive.
func Murmur2Partition(key []byte, count int32) int32 { return partition.ForKey(key, int(count)) }

// RoundRobin is Kafka's RoundRobinPartitioner: each record of a topic goes to the topic's next partition that has a
// leader (next of all when none has), with or without a key.
func RoundRobin() Partitioner { return new(roundRobin) }

type roundRobin struct{ turns partition.RoundRobin }

// Partition takes the topic's next turn.
func (r *roundRobin) Partition(topic string, _, _ []byte, cluster Cluster) (int32, error) {
	v := cluster.choices(topic)
	if v == nil {
		return 0, fmt.Errorf("%w: round robin: topic %s is not known", kerr.ErrIllegalArgument, topic)
	}
	return r.turns.Next(topic, v), nil
}
