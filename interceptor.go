package linger

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"

	"linger/internal/accumulator"
)

// Interceptor sees every record before it is sent and hears how it ended (KIP-42). Calls come from many goroutines at
// once. What an interceptor does wrong is logged and never hurts delivery: an error or a panic in OnSend leaves the
// record as the interceptor before left it.
type Interceptor[K, V any] interface {
	// OnSend runs in Send before anything else and returns the record to go on with, changed or not.
	OnSend(r Record[K, V]) (Record[K, V], error)
	// OnAck hears the outcome before the record's callback does, on the delivery goroutine; for a record refused inside
	// Send, on the caller's. It comes once for each OnSend: a try of TrySend that takes nothing ends with ErrWouldBlock. The
	// headers are the record's and must not be changed.
	OnAck(md RecordMetadata, headers []Header, err error)
}

// closer is what plug-ins may implement to be closed with the producer.
type closer interface{ Close() error }

// chain calls interceptors in order and keeps their faults away from the records.
type chain[K, V any] struct {
	list []Interceptor[K, V]
	log  *slog.Logger
}

func (c *chain[K, V]) onSend(r Record[K, V]) Record[K, V] {
	for _, ic := range c.list {
		next, err := c.dress(ic, r)
		if err != nil {
			c.log.Warn("interceptor failed before the send, the record goes on without it", "interceptor", typeName(ic), "topic", r.Topic, "err", err)
			continue
		}
		r = next
	}
	return r
}

func (c *chain[K, V]) dress(ic Interceptor[K, V], r Record[K, V]) (next Record[K, V], err error) {
	defer recoverTo(&err)
	return ic.OnSend(r)
}

// onAck tells each in turn. One that ends its goroutine (runtime.Goexit) keeps the outcome from nobody behind it.
func (c *chain[K, V]) onAck(md RecordMetadata, headers []Header, err error) {
	c.onAckFrom(0, md, headers, err)
}

func (c *chain[K, V]) onAckFrom(i int, md RecordMetadata, headers []Header, err error) {
	if i == len(c.list) {
		return
	}
	defer c.onAckFrom(i+1, md, headers, err)
	if fault := c.tell(c.list[i], md, headers, err); fault != nil {
		c.log.Warn("interceptor failed on an outcome", "interceptor", typeName(c.list[i]), "topic", md.Topic, "err", fault)
	}
}

func (c *chain[K, V]) tell(ic Interceptor[K, V], md RecordMetadata, headers []Header, err error) (fault error) {
	defer recoverTo(&fault)
	ic.OnAck(md, headers, err)
	return nil
}

// acked is the completion of one intercepted record: the chain first, then the callback.
type acked[K, V any] struct {
	chain    *chain[K, V]
	headers  []Header
	callback Callback
}

// Done implements accumulator.Callback.
func (a *acked[K, V]) Done(o *accumulator.Outcome) {
	md := metadataOf(o)
	if a.callback != nil {
		defer a.callback(md, o.Err)
	}
	a.chain.onAck(md, a.headers, o.Err)
}

// wrap keeps what the outcome's hearers need; the headers are copied, values too, since the record's stay the caller's.
func (c *chain[K, V]) wrap(headers []Header, cb Callback) accumulator.Callback {
	return &acked[K, V]{chain: c, headers: cloneHeaders(headers), callback: cb}
}

func cloneHeaders(headers []Header) []Header {
	out := slices.Clone(headers)
	for i := range out {
		out[i].Value = bytes.Clone(out[i].Value)
	}
	return out
}

func recoverTo(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v", p)
	}
}

func typeName(v any) string { return fmt.Sprintf("%T", v) }
