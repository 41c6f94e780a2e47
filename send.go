package linger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"linger/internal/accumulator"
	"linger/internal/kerr"
	"linger/internal/partition"
	"linger/internal/record"
)

// Send hands r to the producer and returns before any broker answers. It may block in two places only, waiting for the
// topic's metadata and for memory: together at most max.block.ms, and no longer than ctx lives.
//
// The outcome comes through the Future and, when cb is not nil, through cb, exactly once each, if and only if the
// returned error is nil. Send's own error is what the Java producer throws from send: a closed producer, a serializer
// or partitioner that fails, ctx's end. What brokers, limits and time-outs say (a record that is too large, full
// memory, an unknown topic) is an outcome, known already when Send returns.
//
// Send is safe for concurrent use. The record's slices may be reused once it has returned.
func (p *Producer[K, V]) Send(ctx context.Context, r Record[K, V], cb Callback) (Future, error) {
	if p.interceptors != nil {
		return p.sendIntercepted(ctx, r, cb, false)
	}
	s := sending[K, V]{p: p, r: &r, callback: cb}
	if cb != nil {
		s.completion = done(cb)
	}
	return s.run(ctx)
}

// TrySend is Send that never blocks: where Send would wait it returns ErrWouldBlock and has taken nothing, so that the
// same record may be tried again.
func (p *Producer[K, V]) TrySend(r Record[K, V], cb Callback) (Future, error) {
	if p.interceptors != nil {
		return p.sendIntercepted(context.Background(), r, cb, true)
	}
	s := sending[K, V]{p: p, r: &r, callback: cb, never: true}
	if cb != nil {
		s.completion = done(cb)
	}
	return s.run(context.Background())
}

// SendSync sends r and waits for its outcome; the error is Send's or the outcome's. When ctx ends first the record may
// still be delivered.
func (p *Producer[K, V]) SendSync(ctx context.Context, r Record[K, V]) (RecordMetadata, error) {
	f, err := p.Send(ctx, r, nil)
	if err != nil {
		return RecordMetadata{Topic: r.Topic, Partition: -1, Offset: -1, KeySize: -1, ValueSize: -1}, err
	}
	return f.Wait(ctx)
}

func (p *Producer[K, V]) sendIntercepted(ctx context.Context, r Record[K, V], cb Callback, never bool) (Future, error) {
	r = p.interceptors.onSend(r)
	s := sending[K, V]{p: p, r: &r, callback: cb, never: never, completion: p.interceptors.wrap(r.Headers, cb)}
	return s.run(ctx)
}

// sending is one record on its way from Send to the accumulator: the steps of Java's doSend, in their order.
type sending[K, V any] struct {
	p          *Producer[K, V]
	r          *Record[K, V]
	callback   Callback
	completion accumulator.Callback
	never      bool // never wait

	topic     *accumulator.Topic
	budget    time.Duration // what is left of max.block.ms
	partition int32         // best known, -1 while the accumulator is to choose
}

func (s *sending[K, V]) run(ctx context.Context) (Future, error) {
	s.partition = -1
	f, err := s.steps(ctx)
	if err != nil {
		return s.refuse(err)
	}
	return f, nil
}

func (s *sending[K, V]) steps(ctx context.Context) (Future, error) {
	c := &s.p.core
	if err := s.check(); err != nil {
		return Future{}, err
	}
	if err := s.findTopic(ctx); err != nil {
		return Future{}, err
	}
	key, err := serialize(s.p.key, "key", s.r.Topic, s.r.Headers, &s.r.Key)
	if err != nil {
		return Future{}, err
	}
	value, err := serialize(s.p.value, "value", s.r.Topic, s.r.Headers, &s.r.Value)
	if err != nil {
		return Future{}, err
	}
	if err := s.choosePartition(key, value); err != nil {
		return Future{}, err
	}
	var headers []byte
	if len(s.r.Headers) > 0 {
		buf := c.headerBuffers.get()
		defer c.headerBuffers.put(buf)
		*buf = appendHeaders((*buf)[:0], s.r.Headers)
		headers = *buf
	}
	e := accumulator.Entry{Key: key, Value: value, Headers: headers, Callback: s.completion}
	if err := c.checkSize(&e); err != nil {
		return Future{}, err
	}
	if s.r.Timestamp.IsZero() {
		e.TimestampMs = c.coarse.Load()
	} else {
		e.TimestampMs = s.r.Timestamp.UnixMilli()
	}
	return s.append(ctx, &e)
}

func (s *sending[K, V]) append(ctx context.Context, e *accumulator.Entry) (Future, error) {
	c := &s.p.core
	var a accumulator.Appended
	var err error
	if s.never {
		a, err = c.acc.TryAppend(s.topic, s.partition, e)
	} else {
		a, err = c.acc.Append(ctx, s.topic, s.partition, e, s.budget)
	}
	if a.Partition >= 0 {
		s.partition = a.Partition
	}
	if err != nil {
		return Future{}, err
	}
	if a.Wake {
		c.engine.Nudge()
	}
	return Future{result: a.Result, timestampMs: e.TimestampMs, index: a.Index, keySize: size(e.Key), valueSize: size(e.Value)}, nil
}

// check refuses what needs no look at the cluster: a closed producer and a record that Java would not even construct.
func (s *sending[K, V]) check() error {
	if s.p.core.acc.IsClosed() {
		return kerr.ErrClosed
	}
	if s.r.Topic == "" {
		return fmt.Errorf("%w: Topic cannot be empty; set Record.Topic", kerr.ErrIllegalArgument)
	}
	if n, chosen := s.r.Partition.Get(); chosen && n < 0 {
		return fmt.Errorf("%w: Invalid partition: %d. Partition number should always be non-negative or null.", kerr.ErrIllegalArgument, n)
	}
	if t := s.r.Timestamp; !t.IsZero() && t.UnixMilli() < 0 {
		return fmt.Errorf("%w: Invalid timestamp: %d. Timestamp should always be non-negative or null.", kerr.ErrIllegalArgument, t.UnixMilli())
	}
	return nil
}

// findTopic is the first of the two places that may block.
func (s *sending[K, V]) findTopic(ctx context.Context) error {
	c := &s.p.core
	s.budget = c.maxBlock
	if s.r.Partition.chosen {
		s.partition = s.r.Partition.number
	}
	if t := c.acc.Lookup(s.r.Topic); t != nil && s.partition < t.PartitionCount() {
		s.topic = t
		return nil
	}
	if s.never {
		c.engine.WantTopic(s.r.Topic)
		return kerr.ErrWouldBlock
	}
	t, waited, err := c.engine.WaitTopic(ctx, s.r.Topic, s.partition, c.maxBlock)
	s.topic, s.budget = t, max(0, c.maxBlock-waited)
	return err
}

// choosePartition walks the four levels: the record's own, the configured partitioner, the key's hash, and last the
// accumulator, which sticks to a partition for a batch (KIP-794).
func (s *sending[K, V]) choosePartition(key, value []byte) error {
	p := s.p
	switch {
	case s.partition >= 0:
	case p.partitioner != nil || p.partitionerOf != nil:
		n, err := s.askPartitioner(key, value)
		if err != nil {
			return err
		}
		if n < 0 {
			return fmt.Errorf("%w: The partitioner generated an invalid partition number: %d. Partition number should always be non-negative.", kerr.ErrIllegalArgument, n)
		}
		if count := s.topic.PartitionCount(); n >= count {
			return fmt.Errorf("%w: The partitioner generated partition number %d, but topic %s has %d partitions.", kerr.ErrIllegalArgument, n, s.r.Topic, count)
		}
		s.partition = n
	case key != nil && !p.core.ignoreKeys:
		s.partition = partition.ForKey(key, int(s.topic.PartitionCount()))
	}
	return nil
}

func (s *sending[K, V]) askPartitioner(key, value []byte) (n int32, err error) {
	defer recoverTo(&err)
	cluster := s.p.core.cluster()
	if s.p.partitionerOf != nil {
		return s.p.partitionerOf.PartitionRecord(*s.r, key, value, cluster)
	}
	return s.p.partitioner.Partition(s.r.Topic, key, value, cluster)
}

// refuse tells everybody who must hear of a record that fails inside Send (Java: the catch clauses of doSend). An
// outcome in the sense of the API goes to the callback and the Future; anything else is Send's error. The interceptors
// hear of both.
func (s *sending[K, V]) refuse(err error) (Future, error) {
	if errors.Is(err, kerr.ErrWouldBlock) {
		return Future{}, err
	}
	c := &s.p.core
	c.refused.Add(1)
	md := RecordMetadata{Topic: s.r.Topic, Partition: s.partition, Offset: -1, KeySize: -1, ValueSize: -1}
	api := kerr.IsAPI(err)
	if api && s.callback != nil {
		c.callBack(s.callback, md, err)
	}
	if s.p.interceptors != nil {
		s.p.interceptors.onAck(md, s.r.Headers, err)
	}
	if !api {
		return Future{}, err
	}
	return Future{result: accumulator.NewFailedResult(s.r.Topic, s.partition, err), keySize: -1, valueSize: -1}, nil
}

// serialize is the bytes of v; byte slices pass as they are when no serializer stands in the way.
func serialize[T any](ser Serializer[T], side, topic string, headers []Header, v *T) ([]byte, error) {
	if ser == nil {
		return *any(v).(*[]byte), nil
	}
	b, err := ser.Serialize(topic, headers, *v)
	if err == nil {
		return b, nil
	}
	if kerr.IsAPI(err) {
		return nil, err
	}
	return nil, fmt.Errorf("%w: Error when serializing %s for topic %q with %T (%s.serializer): %w", kerr.ErrSerialization, side, topic, ser, side, err)
}

func appendHeaders(dst []byte, headers []Header) []byte {
	dst = record.AppendHeaderCount(dst, len(headers))
	for i := range headers {
		dst = record.AppendHeader(dst, record.Header(headers[i]))
	}
	return dst
}

// checkSize compares the upper bound of the record, alone in a batch, with both limits. Equal passes.
func (c *core) checkSize(e *accumulator.Entry) error {
	headers := len(e.Headers)
	if headers == 0 {
		headers = 1 // the count 0
	}
	n := record.UpperBound(int(size(e.Key)), int(size(e.Value)), headers)
	if n <= c.maxRequestSize && int64(n) <= c.bufferMemory {
		return nil
	}
	if n > c.maxRequestSize {
		return tooLarge("The message is %d bytes when serialized which is larger than %d, which is the value of the max.request.size configuration.", n, int64(c.maxRequestSize))
	}
	return tooLarge("The message is %d bytes when serialized which is larger than the total memory buffer you have configured with the buffer.memory configuration: %d bytes.", n, c.bufferMemory)
}

func tooLarge(format string, n int, limit int64) error {
	return &kerr.Error{Op: "send", Partition: -1, Code: kerr.MessageTooLarge, Class: kerr.MessageTooLarge.Class(),
		Msg: fmt.Sprintf(format, n, limit), Err: kerr.ErrRecordTooLarge}
}

// size is the length of b as Kafka counts it: -1 for null.
func size(b []byte) int32 {
	if b == nil {
		return -1
	}
	return int32(min(len(b), math.MaxInt32))
}
