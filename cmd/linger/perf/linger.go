package perf

import (
	"context"
	"errors"
	"sync"

	"linger"
)

// lingerClient measures this library.
type lingerClient struct {
	run   *Run
	p     *linger.Producer[[]byte, []byte]
	topic string
	plain linger.Callback // of records whose latency does not count
	timed sync.Pool       // of *timed
}

// timed is a record whose latency counts. It is used again, so that what is measured is the client's own garbage.
type timed struct {
	client *lingerClient
	at     int64
	done   linger.Callback
}

func (c *lingerClient) newTimed() any {
	t := &timed{client: c}
	t.done = func(_ linger.RecordMetadata, err error) { t.finish(err) }
	return t
}

func (t *timed) finish(err error) {
	c, at := t.client, t.at
	c.timed.Put(t)
	c.run.Done(at, err)
}

// OpenLinger makes linger's client; more options win over the workload's.
func OpenLinger(more ...linger.Option) func(*Run) (Client, error) {
	return func(r *Run) (Client, error) {
		opts := []linger.Option{
			linger.Set("bootstrap.servers", r.Bootstrap), linger.Set("acks", r.Acks), linger.Set("enable.idempotence", r.Idempotence),
			linger.Set("compression.type", r.Compression), linger.Set("batch.size", r.BatchSize), linger.Set("linger.ms", r.LingerMs),
			linger.Set("buffer.memory", r.BufferMemory), linger.Set("max.in.flight.requests.per.connection", r.MaxInFlight),
		}
		p, err := linger.New(linger.ByteArray, linger.ByteArray, append(opts, more...)...)
		if err != nil {
			return nil, err
		}
		if err := p.Warm(context.Background(), r.Topic); err != nil { // else each Send of the warm-up would wait max.block.ms
			return nil, errors.Join(err, p.Close())
		}
		c := &lingerClient{run: r, p: p, topic: r.Topic}
		c.plain = func(_ linger.RecordMetadata, err error) { r.Done(0, err) }
		c.timed.New = c.newTimed
		return c, nil
	}
}

func (c *lingerClient) NewSender() Sender { return c }

func (c *lingerClient) Send(key, value []byte, at int64) {
	cb := c.plain
	if at != 0 {
		t := c.timed.Get().(*timed)
		t.at = at
		cb = t.done
	}
	if _, err := c.p.Send(context.Background(), linger.Record[[]byte, []byte]{Topic: c.topic, Key: key, Value: value}, cb); err != nil {
		c.run.Done(0, err)
	}
}

func (c *lingerClient) Flush() {}

func (c *lingerClient) Close() error { return c.p.Close() }
