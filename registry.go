package linger

import (
	"fmt"
	"maps"
	"strings"

	"linger/internal/kerr"
)

// Registry maps the class names that Kafka's options use (key.serializer, value.serializer, partitioner.class,
// interceptor.classes, config.providers.NAME.class) to Go values. The zero Registry knows none; NewRegistry knows Kafka's
// own. A Registry is a value: the methods return a changed copy.
type Registry struct {
	entries map[string]func() any
}

// NewRegistry knows Kafka's built-in serializers and partitioners by their Java names, with and without package.
func NewRegistry() Registry {
	r := Registry{entries: make(map[string]func() any)}
	for _, b := range builtinSerializers() {
		r.entries[b.class], r.entries[b.name] = b.make, b.make
	}
	roundRobin := func() any { return RoundRobin() }
	r.entries["org.apache.kafka.clients.producer.RoundRobinPartitioner"] = roundRobin
	r.entries["RoundRobinPartitioner"] = roundRobin
	return r
}

// With returns the registry with name standing for what make returns: a Serializer, a Partitioner, an Interceptor or
// a ConfigProvider. A value of the wrong kind or type is a configuration error of New.
func (r Registry) With(name string, make func() any) Registry {
	entries := maps.Clone(r.entries)
	if entries == nil {
		entries = map[string]func() any{}
	}
	entries[name] = make
	return Registry{entries: entries}
}

// lookup makes the value that name stands for.
func (r Registry) lookup(key, name string) (any, error) {
	mk := r.entries[strings.TrimSpace(name)]
	if mk == nil {
		return nil, fmt.Errorf("%w: Invalid value %s for configuration %s: no such name is registered; add it with linger.WithRegistry", kerr.ErrConfig, name, key)
	}
	return mk(), nil
}

// knows reports whether name stands for anything; that it is of the right kind for key is seen when it is made.
func (r Registry) knows(_, name string) bool { return r.entries[strings.TrimSpace(name)] != nil }

// WithRegistry replaces the registry of class names. Default: NewRegistry().
func WithRegistry(r Registry) Option {
	return func(o *options) error { o.registry = r; return nil }
}
