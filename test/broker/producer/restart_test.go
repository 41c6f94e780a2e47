//go:build unix

package producer_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"linger"
	"linger/test/broker/kafkatest"
)

// load sends numbered records to the partitions of a topic, one goroutine a partition, until it is stopped.
type load struct {
	p      *bytesProducer
	topic  string
	sent   []atomic.Int64 // by partition: numbers below are accepted
	acked  atomic.Int64
	failed chan error
	stop   chan struct{}
	ended  chan struct{} // one token a partition
}

// every is the pause between two records of a partition: the load is for order and loss, not for speed.
const every = 2 * time.Millisecond

// startsWithin is how long a record may take that finds a node away: until the node is there again, however busy the machine.
const startsWithin = 3 * patience

func startLoad(p *bytesProducer, topic string, partitions int) *load {
	l := &load{p: p, topic: topic, sent: make([]atomic.Int64, partitions), failed: make(chan error, 1000), stop: make(chan struct{}), ended: make(chan struct{}, partitions)}
	for partition := range partitions {
		go l.run(partition)
	}
	return l
}

func (l *load) run(partition int) {
	defer func() { l.ended <- struct{}{} }()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
		}
		n := l.sent[partition].Load()
		_, err := l.p.Send(context.Background(), record{Topic: l.topic, Partition: linger.On(int32(partition)), Value: strconv.AppendInt(nil, n, 10)}, l.outcome)
		if err != nil {
			l.fail(err)
			return
		}
		l.sent[partition].Add(1)
	}
}

func (l *load) outcome(_ linger.RecordMetadata, err error) {
	if err != nil {
		l.fail(err)
		return
	}
	l.acked.Add(1)
}

func (l *load) fail(err error) {
	select {
	case l.failed <- err:
	default: // enough are known
	}
}

// advance waits until n more records are acknowledged.
func (l *load) advance(t *testing.T, n int64) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for want := l.acked.Load() + n; l.acked.Load() < want; {
		select {
		case err := <-l.failed:
			t.Fatalf("a record failed: %v", err)
		case <-deadline:
			t.Fatalf("%d acknowledged records and no more", l.acked.Load())
		case <-tick.C:
		}
	}
}

// finish stops the load, waits for all outcomes, and compares the log: every number once and in order in its partition.
func (l *load) finish(t *testing.T, c *kafkatest.Cluster) {
	t.Helper()
	close(l.stop)
	for range l.sent {
		<-l.ended
	}
	if err := l.p.Flush(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-l.failed:
		t.Fatalf("a record failed: %v", err)
	default:
	}
	next := make([]int64, len(l.sent))
	for _, r := range kafkatest.ReadAll(t, c, l.topic) {
		if got := string(r.Value); got != fmt.Sprint(next[r.Partition]) {
			t.Fatalf("partition %d offset %d holds %s, want %d", r.Partition, r.Offset, got, next[r.Partition])
		}
		next[r.Partition]++
	}
	var total int64
	for partition := range next {
		if sent := l.sent[partition].Load(); next[partition] != sent {
			t.Errorf("partition %d holds %d records of %d", partition, next[partition], sent)
		}
		total += next[partition]
	}
	if acked := l.acked.Load(); acked != total {
		t.Errorf("%d records were acknowledged, the log holds %d", acked, total)
	}
	t.Logf("%d records, %d sent again, none lost or doubled", total, l.p.Counters().RecordsRetried)
}

// The only node goes away in order and by force, and answers get lost in between: what was acknowledged is in the log, once and
// in order (IDEM-28).
//
// One request in flight: of a producer's last five batches, a broker that starts again knows the last one only, since its
// snapshots hold no more (ProducerSnapshot). With several in doubt it answers OUT_OF_ORDER_SEQUENCE_NUMBER to the first, the
// producer goes on with a new epoch, as Java's does, and the batches are there twice. Replicas keep all five in memory; see
// TestThreeNodesComeAndGo.
func TestNothingIsLostOverRestartsOfTheOnlyNode(t *testing.T) {
	c := restless(t)
	restore(t, c)
	node := c.Node(1)
	topic := c.NewTopic(t, 3, nil)
	cut := newCutter()
	p := newProducer(t, c, linger.WithDialer(cut.dial), linger.Linger(5*time.Millisecond),
		linger.MaxInFlightRequestsPerConnection(1), linger.DeliveryTimeout(startsWithin), linger.WithLogger(nil))
	l := startLoad(p, topic, 3)
	for i, end := range []func() error{node.Stop, node.Kill} {
		l.advance(t, 300)
		cut.loseAnswers(3)
		cut.awaitLost(within(t, patience), t, 3*(i+1))
		l.advance(t, 300)
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	l.advance(t, 300)
	l.finish(t, c)
	if cut.lost() != 6 {
		t.Errorf("%d answers were lost, want 6", cut.lost())
	}
}

// A cluster of three: under load one leader goes in order and one is killed, and both come back (B33 in small, IDEM-28); then
// too few replicas for min.insync.replicas (RESP-13, BRK-09). Three replicas, two of which must have a record, and acks=all are
// the strongest setting there is: what was acknowledged outlives a leader, and what could not is refused (TUNE-04).
func TestThreeNodesComeAndGo(t *testing.T) {
	c := three(t) // starting three nodes is dear: this test gives the shared ones back as they were
	restore(t, c)
	t.Run("nothing is lost when leaders restart", func(t *testing.T) {
		topic := c.NewTopic(t, 3, map[string]string{"min.insync.replicas": "2"})
		cut := newCutter()
		p := newProducer(t, c, linger.WithDialer(cut.dial), linger.Linger(5*time.Millisecond), linger.DeliveryTimeout(startsWithin), linger.WithLogger(nil))
		l := startLoad(p, topic, 3)
		for _, end := range []func(*kafkatest.Node) error{(*kafkatest.Node).Stop, (*kafkatest.Node).Kill} {
			node := c.Leader(t, topic, 0)
			l.advance(t, 300)
			cut.loseAnswers(2)
			if err := end(node); err != nil {
				t.Fatal(err)
			}
			l.advance(t, 300) // the others have taken over
			if err := node.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			waitInSync(t, c, topic, 3)
		}
		l.advance(t, 300)
		l.finish(t, c)
	})
	t.Run("too few replicas reach the application", func(t *testing.T) { tooFewReplicas(t, c) })
}

// restore starts, when the test ends, the nodes that it left stopped.
func restore(t *testing.T, c *kafkatest.Cluster) {
	t.Cleanup(func() {
		for _, node := range c.Nodes() {
			if node.Running() {
				continue
			}
			if err := node.Start(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		}
	})
}

// tooFewReplicas stops one node in order, which takes it out of the set of replicas in sync, where all three are asked for. Two
// of three stay, so that there is somebody to tell the leader.
func tooFewReplicas(t *testing.T, c *kafkatest.Cluster) {
	topic := c.NewTopic(t, 1, map[string]string{"min.insync.replicas": "3"})
	impatient := newProducer(t, c, linger.Acks("all"), linger.Retries(2), linger.WithLogger(nil))
	patient := newProducer(t, c, linger.DeliveryTimeout(startsWithin), linger.WithLogger(nil))
	ctx := within(t, startsWithin)
	waitInSync(t, c, topic, 3)
	for _, p := range []*bytesProducer{impatient, patient} {
		if _, err := p.SendSync(ctx, record{Topic: topic, Value: []byte("all there")}); err != nil {
			t.Fatal(err)
		}
	}
	leader := c.Leader(t, topic, 0)
	away := c.Node(leader.ID()%3 + 1)
	if err := away.Stop(); err != nil {
		t.Fatal(err)
	}
	// The leader may hear of it after the node has gone. Until then it takes records.
	const notEnoughReplicas = 19
	for client := c.Client(t, kgo.SeedBrokers(leader.Addr())); ; {
		if code := produceRaw(t, client, topic, -1, -1, -1); code == notEnoughReplicas {
			break
		}
	}
	// With retries used up the broker's word is the outcome; nothing was written.
	_, err := impatient.SendSync(ctx, record{Topic: topic, Value: []byte("refused")})
	e, ok := errors.AsType[*linger.ProducerError](err)
	if !ok || e.Code.Name() != "NOT_ENOUGH_REPLICAS" || linger.ClassOf(err) != linger.ClassRetriable {
		t.Errorf("with a node away: %v (%v), want NOT_ENOUGH_REPLICAS", err, linger.ClassOf(err))
	}
	if retried := impatient.Counters().RecordsRetried; retried != 2 {
		t.Errorf("%d retries, want 2", retried)
	}
	// Within delivery.timeout.ms it is retried until the replicas are back.
	later, err := patient.Send(ctx, record{Topic: topic, Value: []byte("taken later")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for patient.Counters().RecordsRetried == 0 {
		select {
		case <-later.Done():
			t.Fatal("the record ended although a replica is away")
		case <-time.After(10 * time.Millisecond):
		}
	}
	if err := away.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := later.Wait(ctx); err != nil {
		t.Errorf("with the node back: %v", err)
	}
	waitInSync(t, c, topic, 3)
	for _, r := range kafkatest.ReadAll(t, c, topic) {
		if string(r.Value) == "refused" {
			t.Error("the refused record is in the log")
		}
	}
}
