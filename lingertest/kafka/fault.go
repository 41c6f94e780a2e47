package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// API is a request type by Kafka's number for it.
type API int16

// The requests a producer sends.
const (
	Produce            API = 0
	Metadata           API = 3
	FindCoordinator    API = 10
	InitProducerID     API = 22
	AddPartitionsToTxn API = 24
	AddOffsetsToTxn    API = 25
	EndTxn             API = 26
	TxnOffsetCommit    API = 28
)

// Fault is an error to answer instead of the truth. Fields left out match everything.
//
// The broker does nothing else with a request it answers so, except for REQUEST_TIMED_OUT (7) and
// NOT_ENOUGH_REPLICAS_AFTER_APPEND (20) on Produce: there the records are appended all the same, as in Kafka.
type Fault struct {
	API   API
	Code  int16 // Kafka's error code, such as 6 for NOT_LEADER_OR_FOLLOWER
	Times int   // requests to answer so; 0 means one, -1 all until Remove

	Topic           string
	Partitions      []int32
	TransactionalID string
}

// Injected is a fault that waits for requests, or has met them.
type Injected struct{ handle *kfake.FaultHandle }

// Hits is the number of requests answered with the fault so far.
func (i *Injected) Hits() int { return i.handle.Hits() }

// Wait waits until n requests were answered with the fault; its error is the context's.
func (i *Injected) Wait(ctx context.Context, n int) error { return i.handle.Wait(ctx, n) }

// Remove ends the fault.
func (i *Injected) Remove() { i.handle.Remove() }

// FailNext answers the next times requests of a kind with an error code. Faults apply in the order they were given.
func (b *Broker) FailNext(api API, code int16, times int) (*Injected, error) {
	return b.Fail(Fault{API: api, Code: code, Times: times})
}

// Fail is FailNext for requests about a topic, partitions or a transactional id. A code that is no error is refused.
func (b *Broker) Fail(f Fault) (*Injected, error) {
	var answer *kerr.Error
	if err := kerr.ErrorForCode(f.Code); !errors.As(err, &answer) || answer.Code != f.Code {
		return nil, fmt.Errorf("embedded broker: %d is not one of Kafka's error codes", f.Code)
	}
	return &Injected{b.cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Key(f.API)}, Err: answer, Count: f.Times,
		Topic: f.Topic, Partitions: f.Partitions, TxnID: f.TransactionalID,
	})}, nil
}
