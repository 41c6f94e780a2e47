package linger

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"linger/internal/accumulator"
	"linger/internal/bufferpool"
	"linger/internal/clock"
	"linger/internal/config"
	"linger/internal/engine"
	"linger/internal/inside"
	"linger/internal/kerr"
	"linger/internal/logs"
	"linger/internal/metrics"
	"linger/internal/tlsconf"
)

// Producer sends records to Kafka. Its methods are safe for concurrent use; one producer per process is usually right,
// since batches are fuller and connections fewer. Close it: records that are buffered live in memory only.
type Producer[K, V any] struct {
	core          core
	key           Serializer[K] // nil: K is []byte and passes through
	value         Serializer[V]
	interceptors  *chain[K, V] // nil when there are none
	partitioner   Partitioner  // nil for the built-in logic
	partitionerOf PartitionerOf[K, V]
	choosesItself bool // one of the two is there
	plain         bool // keys and values are bytes already, and nobody chooses or intercepts: see sendPlain
}

// core is the producer below the generic skin: it knows bytes alone.
type core struct {
	config *config.Config
	logs   *logs.Queue
	log    *slog.Logger // writes to logs
	clk    clock.Clock
	coarse *clock.Coarse
	pool   *bufferpool.Pool
	acc    *accumulator.Accumulator
	engine *engine.Engine
	tls    *tlsconf.Source // nil: plain connections

	maxBlock       time.Duration
	maxRequestSize int
	plainSize      int // of key and value together: up to here no limit needs a closer look
	bufferMemory   int64
	ignoreKeys     bool

	headerBuffers buffers
	counters      metrics.Sender
	refused       atomic.Int64
	sendErrors    atomic.Int64 // of the refused, those that Java's sensors count
	closing       sync.Once
	closed        chan struct{} // closed once everything of the producer has ended
	closeErr      error
	plugins       []any      // closed with the producer, in this order
	inside        inside.Set // goroutines in code of the application's that Close waits for; callbacks not among them
}

// PartitionsFor lists topic's partitions, waiting for metadata like Send, at most max.block.ms or until ctx ends. After
// Close it tells what is known and fetches nothing more.
func (p *Producer[K, V]) PartitionsFor(ctx context.Context, topic string) ([]PartitionInfo, error) {
	ctx = orBackground(ctx)
	c := &p.core
	if topic == "" {
		return nil, illegal("partitions", "", "topic cannot be empty")
	}
	if err := unsendable("partitions", topic); err != nil {
		return nil, err
	}
	_, _, _, err := c.engine.WaitTopic(ctx, topic, engine.AnyPartition, c.maxBlock)
	if errors.Is(err, kerr.ErrClosedDuringSend) {
		return nil, &kerr.Error{Op: "partitions", Topic: topic, Partition: -1, Class: kerr.ClassFatal, Msg: "Requested metadata update after close", Err: kerr.ErrClosedDuringSend}
	}
	if err != nil {
		return nil, err
	}
	return c.cluster().Partitions(topic), nil
}

// Warm fetches the metadata of topics, all at once, so that the first Send does not wait for it. It waits for each like Send
// and returns the first error.
func (p *Producer[K, V]) Warm(ctx context.Context, topics ...string) error {
	for _, topic := range topics {
		if p.core.acc.Lookup(topic) == nil && topic != "" && unsendable("partitions", topic) == nil {
			p.core.engine.WantTopic(topic)
		}
	}
	for _, topic := range topics {
		if _, err := p.PartitionsFor(ctx, topic); err != nil {
			return err
		}
	}
	return nil
}

// Config is each option's effective value and where it came from; secrets are masked.
func (p *Producer[K, V]) Config() []config.Effective { return p.core.config.Effective() }

// cluster is what is known now.
func (c *core) cluster() Cluster { return Cluster{view: c.engine.View(), acc: c.acc} }

// buffers recycles the scratch that headers are encoded in.
type buffers struct{ pool sync.Pool }

func (b *buffers) get() *[]byte {
	if v, ok := b.pool.Get().(*[]byte); ok {
		return v
	}
	return new([]byte)
}

// keepHeaderBytes bounds what one idle scratch may hold on to.
const keepHeaderBytes = 64 << 10

func (b *buffers) put(buf *[]byte) {
	if cap(*buf) <= keepHeaderBytes {
		b.pool.Put(buf)
	}
}

// Identity is who the producer is to the brokers (KIP-98).
type Identity struct {
	// State is "none" without idempotence, else the transaction manager's state in small letters: "uninitialized",
	// "initializing", "ready", "in_transaction", "prepared", "committing", "aborting", "abortable" or "fatal".
	State string
	// ProducerID and Epoch are -1 until a broker has given them.
	ProducerID int64
	Epoch      int16
	// Err is why the state is "abortable" or "fatal".
	Err error
}

// Identity is the producer's identity as of the sender's last turn.
func (p *Producer[K, V]) Identity() Identity {
	id := p.core.engine.Identity()
	return Identity{State: id.State, ProducerID: id.ProducerID, Epoch: id.Epoch, Err: id.Err}
}

// Counters are totals since the producer was made; see Report for how it ended.
type Counters struct {
	// RecordsSent counts records in requests, each attempt; RecordsRetried those of further attempts (record-send-total,
	// record-retry-total).
	RecordsSent, RecordsRetried int64
	// RecordsDelivered and RecordsFailed count outcomes, RecordsRefused what Send turned away.
	RecordsDelivered, RecordsFailed, RecordsRefused int64
	// RecordErrors is record-error-total: what failed, and what Send turned away for another reason than an illegal
	// argument, an illegal state or a plug-in's own error.
	RecordErrors int64
	// Requests counts Produce requests, Batches the batches in them; Bytes and UncompressedBytes are their sizes.
	Requests, Batches, Bytes, UncompressedBytes int64
	// BatchSplits counts batches cut because a broker found them too large, BufferExhausted sends that found no memory.
	BatchSplits, BufferExhausted int64
}

// Counters reads the totals; it costs no lock.
func (p *Producer[K, V]) Counters() Counters {
	c := &p.core
	s := c.counters.Snapshot()
	return Counters{
		RecordsSent: s.RecordsSent, RecordsRetried: s.RecordRetries, RecordsDelivered: s.RecordsDelivered, RecordsFailed: s.RecordsFailed,
		RecordsRefused: c.refused.Load(), RecordErrors: s.RecordsFailed + c.sendErrors.Load(), Requests: s.ProduceRequests, Batches: s.BatchesSent, Bytes: s.BytesSent,
		UncompressedBytes: s.UncompressedBytes, BatchSplits: s.BatchSplits, BufferExhausted: c.pool.Stats().Exhausted,
	}
}
