//go:build unix

package producer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"linger"
	"linger/test/broker/kafkatest"
)

// waitInSync waits until every partition of the topic has n replicas in sync.
func waitInSync(t *testing.T, c *kafkatest.Cluster, topic string, n int) {
	t.Helper()
	admin, ctx := kadm.NewClient(c.Client(t)), within(t, patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for behind := true; behind; <-tick.C {
		topics, err := admin.ListTopics(ctx, topic)
		if err != nil {
			t.Fatal(err)
		}
		behind = len(topics[topic].Partitions) == 0
		for _, p := range topics[topic].Partitions {
			behind = behind || len(p.ISR) < n
		}
	}
}

// A topic is deleted and made again under a running producer: offsets begin anew, and every record has an outcome (B19).
func TestATopicIsMadeAnew(t *testing.T) {
	c := one(t)
	topic := c.NewTopic(t, 1, nil)
	p := newProducer(t, c)
	ctx := within(t, patience)
	for life := range 2 {
		for i := range int64(3) {
			md, err := p.SendSync(ctx, record{Topic: topic, Value: fmt.Appendf(nil, "%d/%d", life, i)})
			if err != nil || md.Offset != i {
				t.Fatalf("life %d, record %d: offset %d, %v", life, i, md.Offset, err)
			}
		}
		if life == 1 {
			break
		}
		c.DeleteTopic(t, topic)
		c.CreateTopic(t, topic, 1, nil)
	}
	got := kafkatest.ReadAll(t, c, topic)
	if len(got) != 3 || string(got[0].Value) != "1/0" || string(got[2].Value) != "1/2" {
		t.Errorf("the log holds %v", got)
	}
}

// Partitions that are added are usable at once; one that never comes ends at max.block.ms, with topic, partition and count in
// the text (B20).
func TestPartitionsAreAdded(t *testing.T) {
	c := one(t)
	topic := c.NewTopic(t, 1, nil)
	p := newProducer(t, c)
	ctx := within(t, patience)
	if _, err := p.SendSync(ctx, record{Topic: topic, Value: []byte("v")}); err != nil {
		t.Fatal(err)
	}
	admin := kadm.NewClient(c.Client(t))
	if resp, err := admin.UpdatePartitions(ctx, 3, topic); err != nil || resp.Error() != nil {
		t.Fatal(err, resp.Error())
	}
	md, err := p.SendSync(ctx, record{Topic: topic, Partition: linger.On(2), Value: []byte("v")})
	if err != nil || md.Partition != 2 || md.Offset != 0 {
		t.Errorf("the new partition: %+v, %v", md, err)
	}
	brief := newProducer(t, c, linger.MaxBlock(300*time.Millisecond))
	for err := brief.Warm(ctx, topic); err != nil; err = brief.Warm(ctx, topic) { // a busy broker takes longer than that
		if !errors.Is(err, linger.ErrTimeout) || ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	_, err = brief.SendSync(ctx, record{Topic: topic, Partition: linger.On(99), Value: []byte("v")})
	want := fmt.Sprintf("Partition 99 of topic %s with partition count 3 is not present in metadata after 300 ms.", topic)
	if !errors.Is(err, linger.ErrTimeout) || !strings.Contains(err.Error(), want) {
		t.Errorf("partition 99: %v, want %q", err, want)
	}
}

// The broker ends idle connections after 3 s: the next send opens another one and no error reaches the caller, not even
// without retries (B23).
func TestTheBrokerEndsIdleConnections(t *testing.T) {
	c := restless(t)
	topic := c.NewTopic(t, 1, nil)
	type side struct {
		p   *bytesProducer
		cut *cutter
	}
	var sides []side
	for _, opts := range [][]linger.Option{{}, {linger.Acks("1"), linger.Retries(0), linger.EnableIdempotence(false)}} {
		cut := newCutter()
		sides = append(sides, side{newProducer(t, c, append(opts, linger.WithDialer(cut.dial))...), cut})
	}
	ctx := within(t, patience)
	for round := range 3 {
		for _, s := range sides {
			if _, err := s.p.SendSync(ctx, record{Topic: topic, Value: []byte("v")}); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		for _, s := range sides {
			for s.cut.open() > 0 {
				select {
				case <-s.cut.closed:
				case <-time.After(10 * time.Millisecond):
				case <-ctx.Done():
					t.Fatal("the broker keeps idle connections")
				}
			}
		}
	}
	if got := len(kafkatest.ReadAll(t, c, topic)); got != 6 {
		t.Errorf("%d records in the log, want 6", got)
	}
}
