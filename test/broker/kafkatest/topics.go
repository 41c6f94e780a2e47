//go:build unix

package kafkatest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var notInTopics = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// TopicName is a new topic name that begins with the test's name, so that tests can share a cluster.
func TopicName(tb testing.TB) string {
	name := notInTopics.ReplaceAllString(strings.ToLower(tb.Name()), "-")
	return name[:min(len(name), 200)] + "-" + strings.ToLower(rand.Text()[:6])
}

// NewTopic is CreateTopic with a TopicName, which it returns.
func (c *Cluster) NewTopic(tb testing.TB, partitions int32, configs map[string]string) string {
	tb.Helper()
	name := TopicName(tb)
	c.CreateTopic(tb, name, partitions, configs)
	return name
}

// CreateTopic makes a topic with as many replicas as the cluster has nodes, at most three, and waits until every running
// node knows a leader for each partition, and each leader knows it is one: a client that asks any of them then never sees
// UNKNOWN_TOPIC_OR_PARTITION, nor NOT_LEADER_OR_FOLLOWER from a node that is told of its part a moment after its metadata are.
func (c *Cluster) CreateTopic(tb testing.TB, topic string, partitions int32, configs map[string]string) {
	tb.Helper()
	values := map[string]*string{}
	for k, v := range configs {
		values[k] = &v
	}
	admin := kadm.NewClient(c.Client(tb))
	if _, err := admin.CreateTopic(tb.Context(), partitions, int16(min(len(c.nodes), 3)), values, topic); err != nil {
		tb.Fatalf("kafkatest: create topic %s: %v", topic, err)
	}
	c.await(tb, func(ctx context.Context, n *Node) error { return n.knowsTopic(ctx, topic, partitions) })
	c.await(tb, func(ctx context.Context, n *Node) error { return n.leads(ctx, topic) })
}

// DeleteTopic deletes a topic and waits until no running node knows it any more.
func (c *Cluster) DeleteTopic(tb testing.TB, topic string) {
	tb.Helper()
	resp, err := kadm.NewClient(c.Client(tb)).DeleteTopics(tb.Context(), topic)
	if err = errors.Join(err, resp.Error()); err != nil {
		tb.Fatalf("kafkatest: delete topic %s: %v", topic, err)
	}
	c.await(tb, func(ctx context.Context, n *Node) error {
		if _, err := n.leaders(ctx, topic); !errors.Is(err, kerr.UnknownTopicOrPartition) {
			return errors.Join(fmt.Errorf("knows topic %s still", topic), err)
		}
		return nil
	})
}

// await asks every running node until what it says is no error any more.
func (c *Cluster) await(tb testing.TB, good func(context.Context, *Node) error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), startPatience)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for _, n := range c.nodes {
		for n.Running() {
			err := good(ctx, n)
			if err == nil {
				break
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				tb.Fatal(n.failure(err))
			}
		}
	}
}

// Leader is the node that leads the partition now, as the first running node sees it.
func (c *Cluster) Leader(tb testing.TB, topic string, partition int32) *Node {
	tb.Helper()
	leaders, err := c.anyRunning(tb).leaders(tb.Context(), topic)
	if err != nil {
		tb.Fatalf("kafkatest: leader of %s-%d: %v", topic, partition, err)
	}
	id, ok := leaders[partition]
	if !ok {
		tb.Fatalf("kafkatest: %s-%d has no leader", topic, partition)
	}
	return c.Node(id)
}

// anyRunning is the first node that runs.
func (c *Cluster) anyRunning(tb testing.TB) *Node {
	tb.Helper()
	for _, n := range c.nodes {
		if n.Running() {
			return n
		}
	}
	tb.Fatal("kafkatest: no node runs")
	return nil
}

// knowsTopic is an error as long as the node does not know a leader for each partition.
func (n *Node) knowsTopic(ctx context.Context, topic string, partitions int32) error {
	leaders, err := n.leaders(ctx, topic)
	if err == nil && len(leaders) == int(partitions) {
		return nil
	}
	return errors.Join(fmt.Errorf("knows %d leaders of %d for topic %s", len(leaders), partitions, topic), err)
}

// leads is an error as long as the node does not serve each partition that it leads: it is asked for their ends.
func (n *Node) leads(ctx context.Context, topic string) error {
	leaders, err := n.leaders(ctx, topic)
	if err != nil {
		return err
	}
	asked := kmsg.NewListOffsetsRequestTopic()
	asked.Topic = topic
	for partition, leader := range leaders {
		if leader == n.id {
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.Partition, p.Timestamp = partition, -1
			asked.Partitions = append(asked.Partitions, p)
		}
	}
	if len(asked.Partitions) == 0 {
		return nil
	}
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID, req.Topics = -1, []kmsg.ListOffsetsRequestTopic{asked}
	resp, err := n.ask(ctx, req)
	if err != nil {
		return err
	}
	for _, t := range resp.(*kmsg.ListOffsetsResponse).Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("leads %s-%d: %w", topic, p.Partition, err)
			}
		}
	}
	return nil
}

// leaders are the partitions of a topic that have a leader, as this node sees them.
func (n *Node) leaders(ctx context.Context, topic string) (map[int32]int32, error) {
	md, err := n.metadata(ctx, []string{topic})
	if err != nil {
		return nil, err
	}
	leaders := map[int32]int32{}
	for _, t := range md.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return nil, err
		}
		for _, p := range t.Partitions {
			if p.ErrorCode == 0 && p.Leader >= 0 {
				leaders[p.Partition] = p.Leader
			}
		}
	}
	return leaders, nil
}
