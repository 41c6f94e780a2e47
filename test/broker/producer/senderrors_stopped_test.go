//go:build unix

package producer_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"linger"
	"linger/test/broker/kafkatest"
)

// restless is the cluster of the tests that pause, stop and start the node, one after the other.
func restless(tb testing.TB) *kafkatest.Cluster {
	return brokers.Get(tb, kafkatest.Options{Props: map[string]string{"connections.max.idle.ms": "3000"}})
}

// stopped runs a vector with the broker suspended. The producer knows the topic and has its producer id by then, as Java's
// had.
func (r *sendRun) stopped(c sendCase) {
	r.start(c.Config)
	r.warm()
	node := r.cluster.Node(1)
	if err := node.Pause(); err != nil {
		r.Fatal(err)
	}
	defer func() {
		if err := node.Resume(); err != nil {
			r.Error(err)
		}
		// Not what the vector is about, and its records would only go on now.
		if err := r.p.CloseTimeout(0); err != nil {
			r.Error(err)
		}
	}()
	for _, step := range c.Steps {
		if step.Outcome == nil {
			r.Fatalf("step %q has no outcome", step.Call)
		}
		r.wantResult(step.Call, *step.Outcome, r.call(step.Call))
	}
}

// warm sends one record; with max.block.ms=0 that takes several tries.
func (r *sendRun) warm() {
	r.Helper()
	deadline := time.Now().Add(patience)
	for {
		md, err := r.p.SendSync(context.Background(), anyRecord{Topic: r.topic, Partition: linger.On(0), Value: "warm"})
		if err == nil && md.HasOffset() {
			return
		}
		if time.Now().After(deadline) {
			r.Fatalf("the first record: %v", err)
		}
	}
}

func (r *sendRun) keyed(partition int32, size int) anyRecord {
	return anyRecord{Topic: r.topic, Partition: linger.On(partition), Key: "k", Value: strings.Repeat("x", size)}
}

func (r *sendRun) sendStopped() observed {
	return observed{value: r.finish(r.begin(context.Background(), r.keyed(0, 1)))}
}

func (r *sendRun) sendTwo() observed {
	first := r.begin(context.Background(), r.keyed(0, 1))
	<-time.After(200 * time.Millisecond) // the vector says so
	second := r.begin(context.Background(), r.keyed(0, 1))
	return observed{value: []any{r.observe(r.finish(first), true), r.observe(r.finish(second), true)}}
}

// firstAndSecond is the second of two sends, and whether the first had ended.
type firstAndSecond struct {
	second    *sent
	firstDone bool
}

// fillThenSend takes memory with a record of one size and asks for more with another to the next partition.
func (r *sendRun) fillThenSend(first, second int) observed {
	a := r.begin(context.Background(), r.keyed(0, first))
	if a.thrown != nil {
		return observed{err: a.thrown}
	}
	b := r.finish(r.begin(context.Background(), r.keyed(1, second)))
	return observed{value: firstAndSecond{second: b, firstDone: a.future.Ready()}}
}

func (r *sendRun) sendThenForce() observed {
	s := r.begin(context.Background(), r.keyed(0, 1))
	if s.thrown != nil {
		return observed{err: s.thrown}
	}
	if err := r.p.CloseTimeout(0); err != nil {
		return observed{err: err}
	}
	r.finish(s)
	return observed{value: []any{r.observe(s, true), []any{[]any{s.cbMD.HasOffset(), s.cbErr}}}}
}

func (r *sendRun) closeWhileWaiting() observed {
	if s := r.begin(context.Background(), r.keyed(0, 1000)); s.thrown != nil {
		return observed{err: s.thrown}
	}
	ended := make(chan error, 1)
	go func() {
		_, err := r.p.Send(context.Background(), r.keyed(1, 1000), nil)
		ended <- err
	}()
	r.await(waitsForMemory)
	if err := r.p.CloseTimeout(0); err != nil {
		return observed{err: err}
	}
	return observed{value: observed{err: <-ended}}
}

func (r *sendRun) interruptMemoryWait() observed {
	if s := r.begin(context.Background(), r.keyed(0, 1000)); s.thrown != nil {
		return observed{err: s.thrown}
	}
	return observed{value: r.interrupt(r.keyed(1, 1000), waitsForMemory)}
}
