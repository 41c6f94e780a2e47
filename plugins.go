package linger

import (
	"context"
	"errors"
	"fmt"
	"net"

	"linger/internal/inside"
	"linger/internal/kerr"
)

// plugins are the Go values that options hand in.
type plugins struct {
	partitioner  any   // Partitioner or PartitionerOf[K, V]
	interceptors []any // Interceptor[K, V], in order
	mechanisms   []LoginMechanism
}

// dialer opens connections; nil is the system's.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// WithPartitioner makes p choose partitions (partitioner.class); adaptive partitioning is off then (KIP-794).
func WithPartitioner(p Partitioner) Option {
	return func(o *options) error { o.plugins.partitioner = p; return nil }
}

// WithPartitionerOf is WithPartitioner for one that sees typed records; K and V must be the producer's.
func WithPartitionerOf[K, V any](p PartitionerOf[K, V]) Option {
	return func(o *options) error { o.plugins.partitioner = p; return nil }
}

// WithInterceptors adds interceptors behind those that are there; K and V must be the producer's.
func WithInterceptors[K, V any](list ...Interceptor[K, V]) Option {
	return func(o *options) error {
		for _, ic := range list {
			o.plugins.interceptors = append(o.plugins.interceptors, ic)
		}
		return nil
	}
}

// WithDialer opens connections by dial instead of the system's TCP, for proxies and tests. dial must honour its context
// and may be called from several goroutines. It gets a broker's host and port as the broker gives them: names are looked up
// by dial, or by whom it asks, and never here.
func WithDialer(dial func(ctx context.Context, network, addr string) (net.Conn, error)) Option {
	return func(o *options) error { o.dialer = dial; return nil }
}

// guard calls the application's dialer where its faults stay its own: a panic is the dial's error, and so is the end of its
// goroutine (runtime.Goexit, as a test's FailNow calls it), which nobody would hear of otherwise.
func (c *core) guard(dial dialer) dialer {
	if dial == nil {
		return nil
	}
	return func(ctx context.Context, network, addr string) (conn net.Conn, err error) {
		conn, err = apart(&c.inside, errNoReturn, func() (conn net.Conn, err error) {
			defer recoverTo(&err)
			return dial(ctx, network, addr)
		})
		conn = c.guardConn(conn)
		if err != nil && conn != nil {
			conn.Close()
			conn = nil
		}
		return conn, err
	}
}

// apart runs the application's code on a goroutine of its own and waits for it; lost is the error of code that ends that
// goroutine. The code is inside meanwhile.
func apart[T any](set *inside.Set, lost error, do func() (T, error)) (v T, err error) {
	done := make(chan struct{})
	go func() { // ends with do; waited for below
		defer close(done)
		defer set.Enter()()
		err = lost
		v, err = do()
	}()
	<-done
	return v, err
}

var errNoReturn = errors.New("the dialer did not return")

// configurable is what plug-ins may implement to see the producer's options, by key, before their first use. Secrets are
// hidden.
type configurable interface {
	Configure(values map[string]string) error
}

// serializerFor is given or, when nil, what the option names; only one that an option made is configured, as in Java.
func serializerFor[T any](given Serializer[T], key, class string, r Registry, raw map[string]any, isKey bool) (Serializer[T], error) {
	if given != nil {
		return given, nil
	}
	if class == "" {
		return nil, fmt.Errorf("%w: Missing required configuration %q which has no default value; hand a serializer to New or set the option", kerr.ErrConfig, key)
	}
	made, err := r.lookup(key, class)
	if err != nil {
		return nil, err
	}
	return configuredSerializer[T](made, key, raw, isKey)
}

func configure(key string, plugin any, values map[string]string) error {
	if c, ok := plugin.(configurable); ok {
		if err := configureOne(c, values); err != nil {
			return fmt.Errorf("%w: %s: %T refuses the configuration: %w", kerr.ErrConfig, key, plugin, err)
		}
	}
	return nil
}

// configureOne makes a panic an error that does not quote it: it may be about a value, and that may be a secret.
func configureOne(c configurable, values map[string]string) (err error) {
	defer recoverUnquoted("Configure", &err)
	return c.Configure(values)
}

// recoverUnquoted is recoverTo for code that has secrets in its hands: what it panics with may quote one.
func recoverUnquoted(what string, err *error) {
	if fault := recover(); fault != nil {
		*err = fmt.Errorf("%s panicked with a %T", what, fault)
	}
}

// choosePartitioner splits what the options named into the two forms; both are nil for the built-in logic.
func choosePartitioner[K, V any](o *options, class string, values map[string]string) (Partitioner, PartitionerOf[K, V], error) {
	p := o.plugins.partitioner
	if p == nil && class != "" {
		made, err := o.registry.lookup("partitioner.class", class)
		if err != nil {
			return nil, nil, err
		}
		p = made
	}
	if p == nil {
		return nil, nil, nil
	}
	if err := configure("partitioner.class", p, values); err != nil {
		return nil, nil, err
	}
	switch p := p.(type) {
	case PartitionerOf[K, V]:
		return nil, p, nil
	case Partitioner:
		return p, nil, nil
	}
	return nil, nil, fmt.Errorf("%w: Invalid value %T for configuration partitioner.class: it is no Partitioner of this producer's key and value types", kerr.ErrConfig, p)
}

// interceptorsFor joins what interceptor.classes names and what the options handed in, in that order. With an error it
// returns those before the one that is wrong.
func interceptorsFor[K, V any](o *options, classes []string, values map[string]string) (out []Interceptor[K, V], err error) {
	add := func(v any) error {
		ic, ok := v.(Interceptor[K, V])
		if !ok {
			return fmt.Errorf("%w: Invalid value %T for configuration interceptor.classes: it is no Interceptor of this producer's key and value types", kerr.ErrConfig, v)
		}
		out = append(out, ic)
		return nil
	}
	for _, class := range classes {
		made, err := o.registry.lookup("interceptor.classes", class)
		if err != nil {
			return out, err
		}
		if err := add(made); err != nil {
			return out, err
		}
		if err := configure("interceptor.classes", made, values); err != nil {
			return out, err
		}
	}
	for _, v := range o.plugins.interceptors {
		if err := add(v); err != nil {
			return out, err
		}
	}
	return out, nil
}

// closeAll closes what can be closed, all of it, and joins the errors.
func closeAll(plugins ...any) error {
	var errs []error
	for _, p := range plugins {
		if c, ok := p.(closer); ok {
			if err := closeOne(c); err != nil {
				errs = append(errs, fmt.Errorf("closing %T: %w", p, err))
			}
		}
	}
	return errors.Join(errs...)
}

func closeOne(c closer) (err error) {
	defer recoverTo(&err)
	return c.Close()
}
