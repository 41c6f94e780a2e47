package linger

import (
	"context"
	"time"

	"linger/internal/accumulator"
	"linger/internal/kerr"
)

// Future is the pending outcome of one record. It is a small value: copy it freely. Its methods are safe for
// concurrent use. The zero Future never completes; a Future that Send returned always does.
//
// When Wait returns, the record's callback has run.
type Future struct {
	result      *accumulator.Result
	timestampMs int64
	index       int32
	sizes       sizes
}

// sizes of a record's key and value in bytes, -1 for null. They are a struct of their own because the compiler keeps a
// Future in registers as long as it has no more than four fields.
type sizes struct{ key, value int32 }

// Wait blocks until the record has an outcome or ctx ends. With ctx's error, within an ErrInterrupted, the record is still
// on its way.
//
// Inside a callback only a record that is Ready may be waited for: the outcome of any other comes behind that callback, so that
// Wait would not return before ctx ends.
//
// The error is what the callback got: a *ProducerError for whatever brokers and time-outs say. Metadata names topic and
// partition in any case.
func (f Future) Wait(ctx context.Context) (RecordMetadata, error) {
	ctx = orBackground(ctx)
	if f.result == nil {
		<-ctx.Done()
		return RecordMetadata{Partition: -1, Offset: -1, KeySize: -1, ValueSize: -1}, kerr.Interrupted(ctx, "the outcome of no record")
	}
	if err := f.result.Wait(ctx, f.index); err != nil {
		return f.placeholder(), err
	}
	return f.outcome()
}

// Done is closed once the record has an outcome. The channel is made on first use.
func (f Future) Done() <-chan struct{} {
	if f.result == nil {
		return nil
	}
	return f.result.Done(f.index)
}

// Ready reports whether Wait would return at once.
func (f Future) Ready() bool { return f.result != nil && f.result.Ready(f.index) }

func (f Future) outcome() (RecordMetadata, error) {
	offset, logAppendMs, err, _ := f.result.At(f.index)
	if err != nil {
		return f.placeholder(), err
	}
	md := RecordMetadata{Topic: f.result.Topic(), Partition: f.result.Partition(), Offset: offset, KeySize: f.sizes.key, ValueSize: f.sizes.value}
	ms := f.timestampMs
	if logAppendMs >= 0 {
		ms = logAppendMs
	}
	md.Timestamp = time.UnixMilli(ms)
	return md, nil
}

// placeholder is the metadata of a failed record: topic and partition are the best known, the rest is unknown.
func (f Future) placeholder() RecordMetadata {
	return RecordMetadata{Topic: f.result.Topic(), Partition: f.result.Partition(), Offset: -1, KeySize: -1, ValueSize: -1}
}

// done adapts a Callback to what the accumulator calls.
type done Callback

// Done hands the outcome to the callback. The metadata is made where it is handed over: it is larger than what a function
// returns in registers, and a copy of it would wait for its fields to arrive in memory.
func (d done) Done(o *accumulator.Outcome) {
	if o.Err != nil {
		d(metadataOf(o), o.Err)
		return
	}
	d(RecordMetadata{
		Topic: o.Topic, Partition: o.Partition, Offset: o.Offset, Timestamp: time.UnixMilli(o.TimestampMs),
		KeySize: o.KeySize, ValueSize: o.ValueSize,
	}, nil)
}

func metadataOf(o *accumulator.Outcome) RecordMetadata {
	if o.Err != nil {
		return RecordMetadata{Topic: o.Topic, Partition: o.Partition, Offset: -1, KeySize: -1, ValueSize: -1}
	}
	return RecordMetadata{
		Topic: o.Topic, Partition: o.Partition, Offset: o.Offset, Timestamp: time.UnixMilli(o.TimestampMs),
		KeySize: o.KeySize, ValueSize: o.ValueSize,
	}
}
