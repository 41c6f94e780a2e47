package franz

import (
	"context"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"linger/cmd/linger/perf"
)

// Open makes franz-go's client for a run.
func Open(r *perf.Run) (perf.Client, error) {
	opts, err := options(&r.Workload)
	if err != nil {
		return nil, err
	}
	kafka, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, err
	}
	c := &client{kafka: kafka, run: r}
	c.idle.New = func() any { return c.newRecord() }
	return c, nil
}

const recordOverhead = 1024 // room for one record of the workload in a batch that is smaller than it

func options(w *perf.Workload) ([]kgo.Opt, error) {
	opts := []kgo.Opt{
		kgo.SeedBrokers(w.Brokers()...),
		kgo.DefaultProduceTopic(w.Topic),
		kgo.ProducerLinger(w.Linger()),
		kgo.ProducerBatchMaxBytes(int32(max(w.BatchSize, w.RecordSize+recordOverhead))),
		kgo.MaxBufferedBytes(w.BufferMemory),
		kgo.RecordPartitioner(kgo.UniformBytesPartitioner(w.BatchSize, true, true, nil)),
	}
	switch w.Acks {
	case "1":
		opts = append(opts, kgo.RequiredAcks(kgo.LeaderAck()))
	case "0":
		opts = append(opts, kgo.RequiredAcks(kgo.NoAck()))
	}
	if !w.Idempotence {
		opts = append(opts, kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(w.MaxInFlight))
	}
	switch w.Compression {
	case "none":
		return append(opts, kgo.ProducerBatchCompression(kgo.NoCompression())), nil
	case "gzip":
		return append(opts, kgo.ProducerBatchCompression(kgo.GzipCompression())), nil
	case "snappy":
		return append(opts, kgo.ProducerBatchCompression(kgo.SnappyCompression())), nil
	case "lz4":
		return append(opts, kgo.ProducerBatchCompression(kgo.Lz4Compression())), nil
	case "zstd":
		return append(opts, kgo.ProducerBatchCompression(kgo.ZstdCompression())), nil
	}
	return nil, fmt.Errorf("compression %q", w.Compression)
}

type client struct {
	kafka *kgo.Client
	run   *perf.Run
	idle  sync.Pool
}

// record is a record with its promise, made once and used again.
type record struct {
	kgo.Record
	at      int64
	promise func(*kgo.Record, error)
}

func (c *client) newRecord() *record {
	r := new(record)
	r.promise = func(_ *kgo.Record, err error) {
		at := r.at
		r.Record = kgo.Record{}
		c.idle.Put(r)
		c.run.Done(at, err)
	}
	return r
}

func (c *client) NewSender() perf.Sender { return c }

func (c *client) Send(key, value []byte, at int64) {
	r := c.idle.Get().(*record)
	r.Key, r.Value, r.at = key, value, at
	c.kafka.Produce(context.Background(), &r.Record, r.promise)
}

func (c *client) Flush() {}

func (c *client) Close() error { c.kafka.Close(); return nil }
