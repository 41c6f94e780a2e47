package produce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"linger"
	"linger/cmd/linger/input"
)

// Producer is what a run sends with.
type Producer = linger.Producer[[]byte, []byte]

// Input is a file to send, opened when its turn comes.
type Input struct {
	Name string
	// Size is in bytes, -1 when nobody knows (a pipe).
	Size int64
	Open func() (io.ReadCloser, error)
}

// Options says what to send and how.
type Options struct {
	Topic     string
	Inputs    []Input
	Format    input.Format
	Separator string
	// Partition is for records that name none; input.AnyPartition leaves it to the producer.
	Partition int32
	// SkipBad goes on behind a line that makes no record; otherwise it ends the run.
	SkipBad bool
	// ShowFailed is how many failed records of a reason, and how many skipped lines, are named with file and line.
	ShowFailed int
	// ShutdownLimit is how long records that are under way may take once ctx has ended.
	ShutdownLimit time.Duration
	// Watch, when not nil, is called once sending begins; what it returns is called before the summary is made.
	Watch func(*Run) (stop func())
}

// Run is one run under way.
type Run struct {
	Options
	p          *Producer
	partitions int32
	began      bool

	sent    atomic.Int64 // records
	read    atomic.Int64 // bytes
	skipped atomic.Int64
	stuck   atomic.Bool // a record found no memory
	tally   tally

	turn  sync.Mutex // held while a line is dealt with
	ended bool       // no further line is
	last  place      // the line that was dealt with last
	bad   []*input.BadLine
}

// place is a line of an input.
type place struct {
	file int32 // index into Inputs; -1 before the first
	line int
}

// Do sends everything and shuts the producer down. The summary is complete whenever it is returned, with an error too:
// the error is why the run ended before the end of the input. Failed records are no error; the summary has them.
//
// When ctx ends, so does the reading. The goroutine that reads may then be stuck in its input: it ends with the next line,
// sends nothing, and nobody waits for it.
func Do(ctx context.Context, p *Producer, o Options) (Summary, error) {
	r := &Run{Options: o, p: p, last: place{file: -1}}
	r.tally.begin(o.ShowFailed)
	err := r.findTopic(ctx)
	if err != nil {
		_, _ = p.Shutdown(ctx)
		return r.summary(), err
	}
	stop := func() {}
	if o.Watch != nil {
		stop = o.Watch(r)
	}
	r.tally.start, r.began = time.Now(), true
	err = r.sendAll(ctx)
	r.shutdown(ctx)
	stop()
	return r.summary(), err
}

// findTopic waits for the topic's metadata, so that a missing broker or topic ends the run at once and not line by line.
func (r *Run) findTopic(ctx context.Context) error {
	infos, err := r.p.PartitionsFor(ctx, r.Topic)
	if err != nil {
		return err
	}
	r.partitions = int32(len(infos))
	if r.Partition >= r.partitions {
		return r.noPartition(r.Partition)
	}
	return nil
}

func (r *Run) noPartition(n int32) error {
	return fmt.Errorf("there is no partition %d: topic %s has %d, numbered from 0", n, r.Topic, r.partitions)
}

// sendAll reads and sends on a goroutine of its own, since nobody can call off a read from a pipe.
func (r *Run) sendAll(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- r.feed(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		r.turn.Lock() // a Send under way ends with ctx
		defer r.turn.Unlock()
		r.ended = true
		return r.stopped(interrupted(ctx))
	}
}

func interrupted(ctx context.Context) error { return fmt.Errorf("interrupted (%w)", ctx.Err()) }

// shutdown waits for what is under way: as long as it takes (delivery.timeout.ms bounds it) or, once ctx has ended, up to
// the limit.
func (r *Run) shutdown(ctx context.Context) {
	limited, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(r.ShutdownLimit):
			cancel()
		case <-limited.Done():
		}
	})
	defer stop()
	_, _ = r.p.Shutdown(limited) // the error would be a plug-in's, and there are none
}

func (r *Run) feed(ctx context.Context) error {
	for i := range r.Inputs {
		if err := r.feedFile(ctx, int32(i)); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) feedFile(ctx context.Context, file int32) error {
	in := &r.Inputs[file]
	f, err := in.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	rd := input.NewReader(in.Name, f, r.Format, r.Separator)
	before := r.read.Load()
	for {
		rec, err := rd.Next()
		r.read.Store(before + rd.BytesRead())
		if errors.Is(err, io.EOF) {
			return nil
		}
		more, err := r.dealWith(ctx, place{file, rd.Line()}, &rec, err)
		if err != nil || !more {
			return err
		}
	}
}

// dealWith takes one line's turn: its record, or why it has none. An error ends the run.
func (r *Run) dealWith(ctx context.Context, at place, rec *input.Record, err error) (more bool, _ error) {
	r.turn.Lock()
	defer r.turn.Unlock()
	if r.ended {
		return false, nil
	}
	var bad *input.BadLine
	switch {
	case errors.As(err, &bad):
		err = r.badLine(bad)
	case err != nil:
		err = fmt.Errorf("%s: %w", r.name(at), err)
	default:
		err = r.send(ctx, at, rec)
	}
	if err != nil {
		return false, err
	}
	r.last = at
	return true, nil
}

// send hands over one record. Whether Send blocks is how the brokers push back on the reading.
func (r *Run) send(ctx context.Context, at place, rec *input.Record) error {
	out := linger.Record[[]byte, []byte]{Topic: r.Topic, Key: rec.Key, Value: rec.Value, Headers: rec.Headers, Timestamp: rec.Timestamp}
	start, size := time.Now(), int64(rec.Size())
	n := rec.Partition
	if n == input.AnyPartition {
		n = r.Partition
	}
	if n >= r.partitions { // Send would wait max.block.ms for it to appear
		r.sent.Add(1)
		r.tally.fail(at, r.noPartition(n))
		return nil
	}
	if n != input.AnyPartition {
		out.Partition = linger.On(n)
	}
	r.sent.Add(1)
	_, err := r.p.Send(ctx, out, func(_ linger.RecordMetadata, err error) {
		if err == nil {
			r.tally.deliver(time.Since(start), size)
			return
		}
		if errors.Is(err, linger.ErrBufferExhausted) {
			r.stuck.Store(true)
		}
		r.tally.fail(at, err)
	})
	switch {
	case err != nil && ctx.Err() != nil: // it was not taken
		r.sent.Add(-1)
		return r.stopped(interrupted(ctx))
	case err != nil:
		r.tally.fail(at, err)
	case r.stuck.Load():
		r.last = at
		return r.stopped(errors.New("no memory came free for max.block.ms: the brokers take nothing, or take it too slowly"))
	}
	return nil
}

// badLine notes a line that makes no record.
func (r *Run) badLine(bad *input.BadLine) error {
	if !r.SkipBad {
		return fmt.Errorf("%w\n  stopped there: what stands before it was sent, nothing behind it (--skip-bad goes on)", bad)
	}
	r.skipped.Add(1)
	if len(r.bad) < r.ShowFailed {
		r.bad = append(r.bad, bad)
	}
	return nil
}

// StoppedError is a run that ended early for a reason that does not lie in the input.
type StoppedError struct {
	// After is the last line that was dealt with, file:line; empty when there was none. What follows was not sent.
	After string
	Err   error
}

// Error says how far the run came and why no further.
func (e *StoppedError) Error() string {
	if e.After == "" {
		return fmt.Sprintf("stopped before the first line: %v", e.Err)
	}
	return fmt.Sprintf("stopped after %s: %v", e.After, e.Err)
}

// Unwrap gives the reason.
func (e *StoppedError) Unwrap() error { return e.Err }

func (r *Run) stopped(err error) error {
	e := &StoppedError{Err: err}
	if r.last.file >= 0 {
		e.After = r.name(r.last)
	}
	return e
}

func (r *Run) name(p place) string { return fmt.Sprintf("%s:%d", r.Inputs[p.file].Name, p.line) }
