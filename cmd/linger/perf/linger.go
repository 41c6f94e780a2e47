package perf

import (
	"context"
	"errors"

	"linger"
)

// lingerClient measures this library.
type lingerClient struct {
	run   *Run
	p     *linger.Producer[[]byte, []byte]
	topic string
	plain linger.Callback // of records whose latency does not count
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
		return c, nil
	}
}

func (c *lingerClient) NewSender() Sender { return c }

func (c *lingerClient) Send(key, value []byte, at int64) {
	cb := c.plain
	if at != 0 {
		cb = func(_ linger.RecordMetadata, err error) { c.run.Done(at, err) }
	}
	if _, err := c.p.Send(context.Background(), linger.Record[[]byte, []byte]{Topic: c.topic, Key: key, Value: value}, cb); err != nil {
		c.run.Done(0, err)
	}
}

func (c *lingerClient) Flush() {}

func (c *lingerClient) Close() error { return c.p.Close() }
