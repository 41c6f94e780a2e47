package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/bench/nullbroker"
)

// topic is a topic of a running cluster, made for one run.
type topic struct {
	client     *kgo.Client
	name       string
	partitions int
}

const (
	topicTimeoutMs = 30_000
	retryAfter     = 100 * time.Millisecond
)

func makeTopic(ctx context.Context, servers string, w workload) (t *topic, err error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(servers, ",")...))
	if err != nil {
		return nil, err
	}
	t = &topic{client: client, name: "compare-" + w.name + "-" + rand.Text(), partitions: w.partitions}
	defer func() {
		if err != nil {
			_, _ = t.stop() // it may have been made
			err = fmt.Errorf("topic %s: %w", t.name, err)
		}
	}()
	one := kmsg.NewCreateTopicsRequestTopic()
	one.Topic, one.NumPartitions, one.ReplicationFactor = t.name, int32(w.partitions), -1
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics, req.TimeoutMillis = append(req.Topics, one), topicTimeoutMs
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return t, err
	}
	for _, r := range resp.Topics {
		err = errors.Join(err, kerr.ErrorForCode(r.ErrorCode))
	}
	if err != nil {
		return t, err
	}
	for { // until its leaders know that they are
		if _, err = t.ends(ctx); err == nil || !kerr.IsRetriable(err) {
			return t, err
		}
		select {
		case <-ctx.Done():
			return t, errors.Join(err, ctx.Err())
		case <-time.After(retryAfter):
		}
	}
}

// stop counts what is in the topic and deletes it.
func (t *topic) stop() (seen nullbroker.Seen, err error) {
	defer t.client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), runTimeout)
	defer cancel()
	seen.Records, err = t.ends(ctx)
	one := kmsg.NewDeleteTopicsRequestTopic()
	one.Topic = &t.name
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.Topics, req.TopicNames, req.TimeoutMillis = append(req.Topics, one), append(req.TopicNames, t.name), topicTimeoutMs
	resp, derr := req.RequestWith(ctx, t.client)
	if derr != nil {
		return seen, errors.Join(err, derr)
	}
	for _, r := range resp.Topics {
		err = errors.Join(err, kerr.ErrorForCode(r.ErrorCode))
	}
	return seen, err
}

// ends is the sum of the partitions' end offsets.
func (t *topic) ends(ctx context.Context) (sum int64, err error) {
	of := kmsg.NewListOffsetsRequestTopic()
	of.Topic = t.name
	for i := range t.partitions {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = int32(i), -1
		of.Partitions = append(of.Partitions, p)
	}
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID, req.Topics = -1, append(req.Topics, of)
	for _, shard := range t.client.RequestSharded(ctx, req) {
		if shard.Err != nil {
			return 0, shard.Err
		}
		for _, r := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics {
			for _, p := range r.Partitions {
				sum += p.Offset
				err = errors.Join(err, kerr.ErrorForCode(p.ErrorCode))
			}
		}
	}
	return sum, err
}
