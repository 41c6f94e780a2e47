package linger

import (
	"context"
	"fmt"
	"time"

	"linger/internal/kerr"
)

// Report is what a producer has done in its life, counted in records.
type Report struct {
	// Delivered were acknowledged (with acks=0: written to a connection).
	Delivered int64
	// Failed had an error as their outcome; Aborted of them because the close ran out of time.
	Failed, Aborted int64
	// Refused were turned away by Send.
	Refused int64
	// Retried counts every further attempt, per record.
	Retried int64
	// BytesLeft of buffer.memory did not come home; it is 0 unless there is a bug, and while Unfinished.
	BytesLeft int64
	// Unfinished: the call could not wait, since it came from a callback, a log handler or a dialer, which would have been
	// waited for. The counts are those of the moment; a later Shutdown from elsewhere tells the rest.
	Unfinished bool
}

// Close sends everything that is buffered, waits for every outcome, and ends all the producer owns. Each record is
// bounded by delivery.timeout.ms, and so is Close. Called again it waits for the first call.
//
// Inside a callback, an interceptor's OnAck, a log handler or a dialer it does not wait but ends the producer at once, as
// with a limit of zero, since that code itself would be waited for. Inside the Close of a serializer, a partitioner or an
// interceptor it does nothing. Neither is noticed on a goroutine that such code starts and waits for: that waits for itself.
func (p *Producer[K, V]) Close() error {
	_, err := p.Shutdown(context.Background())
	return err
}

// CloseTimeout is Close that gives up after d: what has no outcome by then fails with ErrForceClosed. A negative d is an
// ErrIllegalArgument and changes nothing.
func (p *Producer[K, V]) CloseTimeout(d time.Duration) error {
	if d < 0 {
		return illegal("close", "", "The timeout cannot be negative.")
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	_, err := p.Shutdown(ctx)
	return err
}

// Shutdown is Close that gives up when ctx ends: what has no outcome by then fails with ErrForceClosed. It returns once
// every outcome is delivered and nothing of the producer runs any more; where Close does not wait, neither does Shutdown, and
// the Report is Unfinished. The error is what closing serializers, partitioner and interceptors gave; running out of time is
// no error, the Report tells.
func (p *Producer[K, V]) Shutdown(ctx context.Context) (Report, error) {
	ctx = orBackground(ctx)
	c := &p.core
	if c.engine.OnDeliveryGoroutine() || c.inside.Has() {
		r := c.report() // of the moment: the end may come at any time from here on
		c.acc.Close()
		c.engine.ForceClose()
		go c.finish() // it waits for the code that calls us, so nobody may wait for it here
		return r, nil
	}
	c.acc.Close()
	c.engine.BeginClose()
	select {
	case <-c.engine.Done():
	case <-ctx.Done():
		c.engine.ForceClose()
		<-c.engine.Done()
	}
	c.finish()
	return c.report(), c.closeErr
}

// finish closes the plug-ins once the engine has ended; the first caller does it, others wait.
func (c *core) finish() {
	c.closing.Do(func() {
		defer close(c.closed) // also when a plug-in ends the goroutine
		<-c.engine.Done()
		if c.closeErr = c.closePlugins(); c.closeErr != nil {
			c.log.Warn("a plug-in failed to close", "err", c.closeErr)
		}
	})
	<-c.closed
}

func (c *core) closePlugins() error {
	defer c.inside.Enter()() // one that closes the producer would wait for itself
	return closeAll(c.plugins...)
}

func (c *core) report() Report {
	t := c.counters.Snapshot()
	r := Report{Delivered: t.RecordsDelivered, Failed: t.RecordsFailed, Aborted: t.RecordsAborted, Refused: c.refused.Load(), Retried: t.RecordRetries}
	select {
	case <-c.engine.Done():
		c.acc.Settle()
		r.BytesLeft = c.pool.Total() - c.pool.Available()
	default:
		r.Unfinished = true // batches, and with them memory, are still on their way
	}
	return r
}

// Flush makes everything buffered ready to send at once and waits until every record whose Send returned before has its
// outcome and its callback has run, or until ctx ends. Inside a callback it returns ErrIllegalState, since the callback
// would wait for itself. After Close it returns at once.
func (p *Producer[K, V]) Flush(ctx context.Context) error {
	ctx = orBackground(ctx)
	c := &p.core
	if c.engine.OnDeliveryGoroutine() {
		return fmt.Errorf("%w: Flush cannot be called from within a callback", kerr.ErrIllegalState)
	}
	flush := c.acc.Flush()
	select {
	case <-flush.Done(): // also when ctx has ended, too
		return nil
	default:
	}
	select {
	case <-flush.Done():
		return nil
	case <-c.engine.Done():
		return nil
	case <-ctx.Done():
		return kerr.Interrupted(ctx, "the outcomes of what is flushed")
	}
}

// callBack runs a callback inside Send; what it panics with is logged, as on the delivery goroutine.
func (c *core) callBack(cb Callback, md RecordMetadata, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("a callback panicked", "topic", md.Topic, "partition", md.Partition, "panic", p)
		}
	}()
	cb(md, err)
}
