package demo

import (
	"context"
	"fmt"
	"time"

	"linger"
	"linger/cmd/linger/human"
	"linger/internal/partition"
	"linger/lingertest/kafka"
)

// send sends everything, with the fault after a third, and waits for every outcome.
func (t *tour) send(ctx context.Context) error {
	if err := t.p.Warm(ctx, topic); err != nil {
		_, _ = t.p.Shutdown(ctx)
		return err
	}
	t.board.start = time.Now()
	stop := t.watch()
	err := t.sendRecords(ctx)
	limited, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	report, _ := t.p.Shutdown(limited) // nothing is plugged in that could fail to close
	stop()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	return t.outcome(report)
}

// outcome tells how the records ended.
func (t *tour) outcome(r linger.Report) error {
	if first := t.failed.Load(); first != nil {
		return fmt.Errorf("%s failed, the first with: %w", human.Plural(r.Failed+r.Refused, "record"), *first)
	}
	if hits := t.board.fault.Load().Hits(); hits != refusals {
		return fmt.Errorf("the fault was met %d times instead of %d", hits, refusals)
	}
	t.screen.say(`
3. Close. Every record has its outcome: %s delivered, %s failed.
   Because of the fault %s travelled again; sequence numbers keep
   duplicates and disorder out.`,
		human.Count(r.Delivered), human.Count(r.Failed), human.Plural(r.Retried, "record"))
	return nil
}

func (t *tour) sendRecords(ctx context.Context) error {
	for i := range t.Records {
		if i == t.Records/3 {
			if err := t.breakBroker(); err != nil {
				return err
			}
		}
		if err := t.pace(ctx, i); err != nil {
			return err
		}
		if err := t.sendOne(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (t *tour) sendOne(ctx context.Context, i int) error {
	key, value := t.book.appendKey(nil, i), t.book.appendValue(nil, i)
	t.board.sent[partition.ForKey(key, partitions)].Add(1)
	_, err := t.p.Send(ctx, linger.Record[[]byte, []byte]{Topic: topic, Key: key, Value: value}, func(md linger.RecordMetadata, err error) {
		if err != nil {
			t.failed.CompareAndSwap(nil, &err)
			return
		}
		t.placed[i] = placement{md.Partition, md.Offset}
		t.board.acked[md.Partition].Add(1)
	})
	return err
}

// pace waits, every few milliseconds' worth of records, until record i is due.
func (t *tour) pace(ctx context.Context, i int) error {
	if t.Rate <= 0 || i%max(1, t.Rate*int(burst/time.Millisecond)/1000) != 0 {
		return nil
	}
	due := t.board.start.Add(time.Duration(float64(i) / float64(t.Rate) * float64(time.Second)))
	select {
	case <-time.After(time.Until(due)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// breakBroker makes the leader of one partition refuse it for a while, as during an election.
func (t *tour) breakBroker() error {
	fault, err := t.broker.Fail(kafka.Fault{API: kafka.Produce, Code: notLeader, Times: refusals, Topic: topic, Partitions: []int32{faulty}})
	if err != nil {
		return err
	}
	t.board.fault.Store(fault)
	t.screen.say(`
2. A fault. The next %d requests for partition %d are answered
   NOT_LEADER_OR_FOLLOWER, as while its leader changes. The producer asks who
   leads now and tries again, with growing pauses; nothing newer of that
   partition may overtake. The other partitions go on.`, refusals, faulty)
	return nil
}

// watch shows the board until stop, and then for the last time.
func (t *tour) watch() (stop func()) {
	every := tellEvery
	if t.screen.terminal {
		every = redrawEvery
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() { // ended by stop, which waits for it
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if t.screen.terminal {
					t.screen.draw(t.board.picture())
				} else {
					t.screen.draw(t.board.line())
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
		t.screen.keep(t.board.picture())
	}
}
