package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"linger/internal/accumulator"
	"linger/internal/kerr"
	"linger/internal/metadata"
	"linger/internal/sender"
)

// AnyPartition asks WaitTopic for the topic alone.
const AnyPartition int32 = -1

// WaitTopic blocks until metadata knows the topic and, unless it is AnyPartition, the partition: at most for budget,
// until ctx ends, or until the engine closes (Java: KafkaProducer.waitOnMetadata). It returns how many partitions there are
// and how long it waited.
//
// Errors: kerr.ErrTimeout with the topic's last error as its cause; what the broker says of the topic; the fatal error
// of the metadata; kerr.ErrInterrupted around ctx's; kerr.ErrClosedDuringSend.
func (e *Engine) WaitTopic(ctx context.Context, name string, partition int32, budget time.Duration) (t *accumulator.Topic, count int32, waited time.Duration, err error) {
	start := e.clk.Now()
	deadline := start.Add(budget)
	timer := e.clk.NewTimer(budget)
	defer timer.Stop()
	for first := true; ; first = false {
		post := e.board.current()
		t, count, err := e.known(post.view, name, partition, first)
		if err != nil {
			// What a caller is refused for may be over by now: whoever comes next sees a newer view.
			e.inbox.post(sender.Event{Kind: sender.RefreshWanted, Topic: name})
		}
		if t != nil || err != nil {
			return t, count, e.clk.Now().Sub(start), err
		}
		if e.acc.IsClosed() {
			return nil, 0, e.clk.Now().Sub(start), kerr.ErrClosedDuringSend // nobody takes events any more
		}
		// A view that only says that the search begins anew, or why a broker can't be reached, is no answer: asking again
		// because of it would bring the next such view at once, and so on (Java does not wake its waiters then).
		if first || !post.view.Bootstrap {
			e.inbox.post(sender.Event{Kind: sender.RefreshWanted, Topic: name})
		}
		select {
		case <-post.changed:
			if e.clk.Now() < deadline {
				continue
			}
		case <-timer.C():
		case <-ctx.Done():
			return nil, 0, e.clk.Now().Sub(start), kerr.Interrupted(ctx, "metadata of topic "+name)
		case <-e.acc.Closed():
			return nil, 0, e.clk.Now().Sub(start), kerr.ErrClosedDuringSend
		}
		return nil, 0, e.clk.Now().Sub(start), e.missing(name, partition, budget)
	}
}

// Topic is WaitTopic that does not wait: nil without an error when metadata does not know the topic, or the partition.
func (e *Engine) Topic(name string, partition int32) (t *accumulator.Topic, count int32, err error) {
	return e.known(e.View(), name, partition, false)
}

// known is the topic if the view satisfies the caller, or the reason why waiting is no use. Of a view that was there
// before the caller came, only what can't have changed is believed: an invalid name, and that no broker lets us in.
func (e *Engine) known(v *metadata.View, name string, partition int32, old bool) (t *accumulator.Topic, count int32, err error) {
	code := v.TopicErr(name)
	refused := func(text string) error {
		return &kerr.Error{Op: "send", Topic: name, Partition: -1, Code: code, Class: code.Class(), Msg: fmt.Sprintf(text, name)}
	}
	mt := v.Topic(name)
	switch {
	case code == kerr.InvalidTopicException:
		return nil, 0, refused("Invalid topics: [%s]")
	case mt != nil && partition < int32(len(mt.Partitions)) && len(mt.Partitions) > 0:
		return e.acc.Topic(name), int32(len(mt.Partitions)), nil
	case v.Fatal != nil:
		return nil, 0, v.Fatal
	case code == kerr.TopicAuthorizationFailed && !old:
		return nil, 0, refused("Not authorized to access topics: [%s]")
	}
	return nil, 0, nil
}

func (e *Engine) missing(name string, partition int32, budget time.Duration) error {
	v := e.View()
	text := fmt.Sprintf("Topic %s not present in metadata after %d ms.", name, budget.Milliseconds())
	if mt := v.Topic(name); mt != nil && partition >= 0 {
		text = fmt.Sprintf("Partition %d of topic %s with partition count %d is not present in metadata after %d ms.",
			partition, name, len(mt.Partitions), budget.Milliseconds())
	}
	err := &kerr.Error{Op: "send", Topic: name, Partition: partition, Code: kerr.RequestTimedOut, Class: kerr.ClassRetriable, Msg: text, Err: errSpent}
	if code := v.TopicErr(name); code != kerr.None {
		err.Err = &kerr.Error{Op: "metadata", Topic: name, Partition: -1, Code: code, Class: code.Class(), Msg: code.Message()}
	} else if v.LastConnectError != nil {
		err.Err = unreached{v.LastConnectError}
	}
	return err
}

// errSpent stands where there is no better cause: it says in our words which limit Java's text means.
var errSpent = errors.New("max.block.ms is used up")

// unreached tells why no broker answered. Java's exception has no such cause: errors.Is and errors.As find what is
// inside, the names of Java's causes leave it out.
type unreached struct{ err error }

func (u unreached) Error() string        { return "no broker answers within max.block.ms: " + u.err.Error() }
func (u unreached) Is(target error) bool { return errors.Is(u.err, target) }
func (u unreached) As(target any) bool   { return errors.As(u.err, target) }
