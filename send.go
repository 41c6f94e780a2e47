package linger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"linger/internal/accumulator"
	"linger/internal/kerr"
	"linger/internal/partition"
	"linger/internal/record"
)

// Send hands r to the producer and returns before any broker answers. It may block in two places only, waiting for the
// topic's metadata and for memory, or for its turn once memory had run out: together at most max.block.ms, and no longer
// than ctx lives.
//
// The outcome comes through the Future and, when cb is not nil, through cb, exactly once each, if and only if the
// returned error is nil. Send's own error is what the Java producer throws from send: a closed producer, a serializer
// or partitioner that fails, ctx's end. What brokers, limits and time-outs say (a record that is too large, full
// memory, an unknown topic) is an outcome, known already when Send returns.
//
// Send is safe for concurrent use. The record's slices may be reused once it has returned.
func (p *Producer[K, V]) Send(ctx context.Context, r Record[K, V], cb Callback) (Future, error) {
	if f, ok := p.sendPlain(&r, cb); ok {
		return f, nil
	}
	return p.sendStepwise(orBackground(ctx), &r, cb, false)
}

// SendSync sends r and waits for its outcome; the error is Send's or the outcome's. When ctx ends first the record may
// still be delivered. Inside a callback it sends nothing and returns ErrIllegalState: the outcome would come behind that
// callback.
func (p *Producer[K, V]) SendSync(ctx context.Context, r Record[K, V]) (RecordMetadata, error) {
	if p.core.engine.OnDeliveryGoroutine() {
		return RecordMetadata{Topic: r.Topic, Partition: -1, Offset: -1, KeySize: -1, ValueSize: -1},
			fmt.Errorf("%w: SendSync cannot be called from within a callback", kerr.ErrIllegalState)
	}
	f, err := p.Send(ctx, r, nil)
	if err != nil {
		return RecordMetadata{Topic: r.Topic, Partition: -1, Offset: -1, KeySize: -1, ValueSize: -1}, err
	}
	return f.Wait(ctx)
}

// sendStepwise is Send, or with never TrySend, for any record.
func (p *Producer[K, V]) sendStepwise(ctx context.Context, r *Record[K, V], cb Callback, never bool) (Future, error) {
	if p.interceptors != nil {
		return p.sendIntercepted(ctx, *r, cb, never)
	}
	d := draft{callback: cb, never: never}
	if cb != nil {
		d.entry.Callback = done(cb)
	}
	return p.send(ctx, r, &d)
}

func (p *Producer[K, V]) sendIntercepted(ctx context.Context, r Record[K, V], cb Callback, never bool) (Future, error) {
	r = p.interceptors.onSend(r)
	d := draft{callback: cb, never: never}
	d.entry.Callback = p.interceptors.wrap(r.Headers, cb)
	return p.send(ctx, &r, &d)
}

// draft is what Send finds out about a record on its way to the accumulator. The record itself stays where Send got it:
// it is large, and copying its parts from step to step cost as much as the append.
type draft struct {
	entry    accumulator.Entry // entry.Partition is the one chosen so far, -1 while the accumulator is to choose
	callback Callback
	never    bool  // never wait
	asked    bool  // the configured partitioner has chosen
	told     int32 // what a failure says: the record's own, from the append on the chosen one (Java: AppendCallbacks)

	known  *accumulator.Topic
	count  int32         // its partitions
	budget time.Duration // what is left of max.block.ms
}

// send walks the steps of Java's doSend, in their order.
func (p *Producer[K, V]) send(ctx context.Context, r *Record[K, V], d *draft) (Future, error) {
	d.entry.Partition, d.told = -1, -1
	f, err := p.steps(ctx, r, d)
	if err != nil {
		return p.refuse(r, d, err)
	}
	return f, nil
}

func (p *Producer[K, V]) steps(ctx context.Context, r *Record[K, V], d *draft) (f Future, err error) {
	c := &p.core
	if err := c.check(r.Topic, r.Partition, r.Timestamp); err != nil {
		return Future{}, err
	}
	if err := c.findTopic(ctx, r.Topic, r.Partition, d); err != nil {
		return Future{}, err
	}
	e := &d.entry
	if e.Key, err = serialize(p.key, "key", r.Topic, r.Headers, r.Key); err != nil {
		return Future{}, err
	}
	if e.Value, err = serialize(p.value, "value", r.Topic, r.Headers, r.Value); err != nil {
		return Future{}, err
	}
	if e.Partition < 0 && p.choosesItself {
		if err := p.askPartitioner(r, d); err != nil {
			return Future{}, err
		}
	}
	if len(r.Headers) > 0 {
		return c.appendHeaded(ctx, r.Headers, r.Timestamp, d)
	}
	return c.append(ctx, r.Timestamp, d)
}

// appendHeaded is append for a record with headers, which are encoded into a scratch.
func (c *core) appendHeaded(ctx context.Context, headers []Header, timestamp time.Time, d *draft) (Future, error) {
	buf := c.headerBuffers.get()
	defer c.headerBuffers.put(buf)
	*buf = appendHeaders((*buf)[:0], headers)
	d.entry.Headers = *buf
	return c.append(ctx, timestamp, d)
}

// append is the rest of the way, where a record is only bytes.
func (c *core) append(ctx context.Context, timestamp time.Time, d *draft) (Future, error) {
	// The key's hash is the third level of the choice; without a key the accumulator chooses, and sticks to its choice for
	// a batch (KIP-794).
	e := &d.entry
	if e.Partition < 0 && e.Key != nil && !c.ignoreKeys {
		e.Partition = partition.ForKey(e.Key, int(d.count))
	}
	if err := c.checkSize(e); err != nil {
		return Future{}, err
	}
	// An error that ends the producer refuses its sends, too. Java asks behind the append, and the record that send
	// refused then fails a second time with its batch.
	if err := c.engine.Refusal(); err != nil {
		return Future{}, err
	}
	if timestamp.IsZero() {
		e.TimestampMs = c.nowMs()
	} else {
		e.TimestampMs = timestamp.UnixMilli()
	}
	var a accumulator.Appended
	var err error
	if d.never {
		a, err = c.acc.TryAppend(d.known, e.Partition, e)
	} else {
		a, err = c.acc.Append(ctx, d.known, e.Partition, e, d.budget)
	}
	if err != nil {
		d.told = e.Partition
		return Future{}, err
	}
	if a.Wake {
		c.engine.Nudge()
	}
	return Future{result: a.Result, timestampMs: e.TimestampMs, index: a.Index, sizes: sizes{size(e.Key), size(e.Value)}}, nil
}

// check refuses what needs no look at the cluster: a record that Java would not even construct, in the order of its
// constructor, and a closed producer.
func (c *core) check(topic string, wish Partition, timestamp time.Time) error {
	switch {
	case topic == "":
		return illegal("send", "", "Topic cannot be empty; set Record.Topic")
	case len(topic) > maxTopicBytes:
		return unsendable("send", topic)
	case !timestamp.IsZero() && timestamp.UnixMilli() < 0:
		return illegal("send", topic, "Invalid timestamp: %d. Timestamp should always be non-negative or null.", timestamp.UnixMilli())
	case !timestamp.IsZero() && (timestamp.Unix() < 0 || timestamp.Unix() > math.MaxInt64/1000): // its milliseconds have wrapped
		return illegal("send", topic, "Invalid timestamp: the year %d does not fit milliseconds since 1970 in 64 bits.", timestamp.Year())
	case wish.chosen && wish.number < 0:
		return illegal("send", topic, "Invalid partition: %d. Partition number should always be non-negative or null.", wish.number)
	case c.acc.IsClosed():
		return kerr.ErrClosed
	}
	return nil
}

// orBackground takes a nil context for one that never ends. A nil would only be noticed where a call has to wait, and by
// then it stands in line for memory.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// maxTopicBytes is what a string of the protocol can hold. A longer name would make every metadata request unreadable.
const maxTopicBytes = 1<<15 - 1

// unsendable refuses names that brokers could not give back in their answer. Bytes that are no UTF-8 would be answered under
// another name, so that the topic is asked for again and again.
func unsendable(op, topic string) error {
	switch {
	case len(topic) > maxTopicBytes:
		return illegal(op, "", "Topic of %d bytes is longer than %d, which is what a request can carry; brokers allow 249", len(topic), maxTopicBytes)
	case !utf8.ValidString(topic):
		return illegal(op, "", "Topic %q is not UTF-8; brokers allow letters, digits, '.', '_' and '-'", topic)
	}
	return nil
}

// findTopic is the first of the two places that may block.
func (c *core) findTopic(ctx context.Context, topic string, wish Partition, d *draft) error {
	d.budget = c.maxBlock
	if wish.chosen {
		d.entry.Partition, d.told = wish.number, wish.number
	}
	// The count is read once: it may become 0 at any moment, when the topic leaves the metadata.
	if t := c.acc.Lookup(topic); t != nil {
		if n := t.PartitionCount(); n > 0 && d.entry.Partition < n {
			d.known, d.count = t, n
			return nil
		}
	}
	if err := unsendable("send", topic); err != nil {
		return err
	}
	if d.never {
		return c.tryTopic(topic, d)
	}
	t, n, waited, err := c.engine.WaitTopic(ctx, topic, d.entry.Partition, c.maxBlock)
	if err != nil {
		return err
	}
	d.known, d.count, d.budget = t, n, max(0, c.maxBlock-waited)
	return nil
}

// askPartitioner lets the configured partitioner choose: the second level, behind the record's own wish.
func (p *Producer[K, V]) askPartitioner(r *Record[K, V], d *draft) error {
	n, err := p.asked(r, d.entry.Key, d.entry.Value)
	if err != nil {
		return err
	}
	d.asked = true
	if n < 0 {
		return illegal("send", r.Topic, "The partitioner generated an invalid partition number: %d. Partition number should always be non-negative.", n)
	}
	if n >= d.count {
		return illegal("send", r.Topic, "The partitioner generated partition number %d, but topic %s has %d partitions.", n, r.Topic, d.count)
	}
	d.entry.Partition = n
	return nil
}

func (p *Producer[K, V]) asked(r *Record[K, V], key, value []byte) (n int32, err error) {
	defer recoverTo(&err)
	cluster := p.core.cluster()
	if p.partitionerOf != nil {
		return p.partitionerOf.PartitionRecord(*r, key, value, cluster)
	}
	return p.partitioner.Partition(r.Topic, key, value, cluster)
}

// refuse tells everybody who must hear of a record that fails inside Send (Java: the catch clauses of doSend). An
// outcome in the sense of the API goes to the callback and the Future; anything else is Send's error. The interceptors
// hear of both.
func (p *Producer[K, V]) refuse(r *Record[K, V], d *draft, err error) (Future, error) {
	md := RecordMetadata{Topic: r.Topic, Partition: d.told, Offset: -1, KeySize: -1, ValueSize: -1}
	if errors.Is(err, kerr.ErrWouldBlock) {
		return Future{}, p.untake(r, d, md, err)
	}
	c := &p.core
	c.refused.Add(1)
	api := kerr.IsAPI(err)
	if api || countsAsError(err) {
		c.sendErrors.Add(1)
	}
	if api && d.callback != nil {
		c.callBack(d.callback, md, err)
	}
	if p.interceptors != nil {
		p.interceptors.onAck(md, r.Headers, err)
	}
	if !api {
		return Future{}, err
	}
	return Future{result: accumulator.NewFailedResult(r.Topic, d.told, err), sizes: sizes{-1, -1}}, nil
}

// serialize is the bytes of v; byte slices pass as they are when no serializer stands in the way.
func serialize[T any](ser Serializer[T], side, topic string, headers []Header, v T) ([]byte, error) {
	if ser == nil {
		b, _ := any(v).([]byte) // New has seen to it that T is []byte
		return b, nil
	}
	b, err := callSerializer(ser, side, topic, headers, v)
	if err == nil {
		return b, nil
	}
	return nil, serializationError(err, side, topic, v, ser)
}

// callSerializer makes a panic an error, so that the record's interceptors hear of it.
func callSerializer[T any](ser Serializer[T], side, topic string, headers []Header, v T) (b []byte, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			b, err = nil, serializerPanicked(side, topic, ser, fault)
		}
	}()
	return ser.Serialize(topic, headers, v)
}

func appendHeaders(dst []byte, headers []Header) []byte {
	dst = record.AppendHeaderCount(dst, len(headers))
	for i := range headers {
		dst = record.AppendHeader(dst, record.Header(headers[i]))
	}
	return dst
}

// mostOverhead is the most that record.UpperBound adds to the bytes of key, value and headers: its constants, two lengths
// of five bytes and a header count.
const mostOverhead = record.BatchOverhead + record.MaxRecordOverhead + 2*5 + 1

// checkSize compares the upper bound of the record, alone in a batch, with both limits. Equal passes.
func (c *core) checkSize(e *accumulator.Entry) error {
	// Nearly every record is far below the limits, which a sum shows without a varint's length.
	if most := len(e.Key) + len(e.Value) + len(e.Headers) + mostOverhead; most <= c.maxRequestSize && int64(most) <= c.bufferMemory {
		return nil
	}
	headers := len(e.Headers)
	if headers == 0 {
		headers = 1 // the count 0
	}
	n := record.UpperBound(int(size(e.Key)), int(size(e.Value)), headers)
	if n <= c.maxRequestSize && int64(n) <= c.bufferMemory {
		return nil
	}
	if n > c.maxRequestSize {
		return tooLarge("The message is %d bytes when serialized which is larger than %d, which is the value of the max.request.size configuration.", n, c.maxRequestSize)
	}
	return tooLarge("The message is %d bytes when serialized which is larger than the total memory buffer you have configured with the buffer.memory configuration.", n)
}

func tooLarge(format string, numbers ...any) error {
	return &kerr.Error{Op: "send", Partition: -1, Code: kerr.MessageTooLarge, Class: kerr.MessageTooLarge.Class(),
		Msg: fmt.Sprintf(format, numbers...), Err: kerr.ErrRecordTooLarge}
}

// size is the length of b as Kafka counts it: -1 for null.
func size(b []byte) int32 {
	if b == nil {
		return -1
	}
	return int32(min(len(b), math.MaxInt32))
}
