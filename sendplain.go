package linger

import (
	"linger/internal/accumulator"
	"linger/internal/partition"
)

// sendPlain is the way of nearly every record: bytes without headers or wishes, of a known topic, for a partition whose
// open batch has room. It waits for nothing and refuses nothing: either it takes the whole record, or ok is false and nothing
// has happened. Then sendStepwise, its plain twin, finds out what is the matter.
//
// The Entry is filled in place, here and on its way down: a copy of something of its size would wait until each field of
// the original has arrived in memory, which once cost as much as the append.
func (p *Producer[K, V]) sendPlain(r *Record[K, V], cb Callback) (f Future, ok bool) {
	if !p.plain || !r.plain() {
		return f, false
	}
	var e accumulator.Entry
	e.Key, e.Value = bytesOf(&r.Key), bytesOf(&r.Value)
	if cb != nil {
		e.Callback = done(cb)
	}
	return p.core.appendOpen(r.Topic, &e)
}

// plain reports whether the record leaves everything to the producer: partition, time stamp, and no headers.
func (r *Record[K, V]) plain() bool {
	return len(r.Headers) == 0 && !r.Partition.chosen && r.Timestamp.IsZero()
}

// bytesOf is *v, which New has seen to be a byte slice.
func bytesOf[T any](v *T) []byte {
	b, _ := any(v).(*[]byte)
	return *b
}

// appendOpen is the bytes' part of sendPlain. What refuses a record is asked in passing: an empty topic is never known, a
// closed producer has no open batch.
func (c *core) appendOpen(topic string, e *accumulator.Entry) (f Future, ok bool) {
	t := c.acc.Lookup(topic)
	if t == nil || len(e.Key)+len(e.Value) > c.plainSize || c.engine.Refusal() != nil {
		return f, false
	}
	n := t.PartitionCount()
	if n <= 0 {
		return f, false
	}
	e.Partition = accumulator.AnyPartition
	if e.Key != nil && !c.ignoreKeys {
		e.Partition = partition.ForKey(e.Key, int(n))
	}
	e.TimestampMs = c.coarse.Load() // fresh as long as a batch is open
	var a accumulator.Appended
	if !t.AppendOpen(e, &a) {
		return f, false
	}
	if a.Wake {
		c.engine.Nudge()
	}
	return Future{result: a.Result, timestampMs: e.TimestampMs, index: a.Index, sizes: sizes{size(e.Key), size(e.Value)}}, true
}
