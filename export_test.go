package linger

import (
	"context"

	"linger/internal/transport"
)

// WithNames gives a producer of a test its own name service.
func WithNames(forward, reverse func(ctx context.Context, name string) ([]string, error)) Option {
	return func(o *options) error {
		o.names = transport.Names{Resolver: forward, Reverse: reverse}
		return nil
	}
}

// Turns counts the turns of the sender's loop.
func (p *Producer[K, V]) Turns() int64 { return p.core.engine.Turns() }

// MemoryAvailable is what is left of buffer.memory, in bytes.
func MemoryAvailable[K, V any](p *Producer[K, V]) int64 { return p.core.pool.Available() }

// Lent is how many bytes of buffer.memory are in use.
func (p *Producer[K, V]) Lent() int64 {
	s := p.core.pool.Stats()
	return s.Total - s.Available
}
