package linger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"linger/internal/accumulator"
	"linger/internal/backoff"
	"linger/internal/bufferpool"
	"linger/internal/client"
	"linger/internal/clock"
	"linger/internal/compress"
	"linger/internal/config"
	"linger/internal/engine"
	"linger/internal/kerr"
	"linger/internal/logs"
	"linger/internal/metadata"
	"linger/internal/sasl"
	"linger/internal/sender"
	"linger/internal/transport"
	"linger/internal/txn"
)

// maxUndelivered is how many batches may wait for their callbacks before nothing more is sent: callbacks that can't
// keep up push back on the senders through buffer.memory instead of growing a queue.
const maxUndelivered = 1000

// New makes a producer and starts it; no broker is needed for that. key and value turn the record's sides into bytes;
// one that is nil is made from key.serializer or value.serializer.
//
// The error is an ErrConfig that names the option, its value and the remedy; nothing is left behind then.
func New[K, V any](key Serializer[K], value Serializer[V], opts ...Option) (*Producer[K, V], error) {
	p, err := construct(key, value, opts)
	if err != nil {
		return nil, fmt.Errorf("failed to construct producer: %w", err)
	}
	return p, nil
}

func construct[K, V any](key Serializer[K], value Serializer[V], opts []Option) (*Producer[K, V], error) {
	o := options{logger: slog.Default(), registry: NewRegistry()}
	for i, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("%w: option number %d is nil", kerr.ErrConfig, i+1)
		}
		if err := opt(&o); err != nil {
			return nil, err
		}
	}
	cfg, err := config.ParseWith(o.allSettings(key != nil, value != nil), config.Outside{ClassKnown: o.registry.knows, Provider: o.registry.configProvider})
	if err != nil {
		return nil, withRemedy(err)
	}
	o.logger = named(o.logger, cfg)
	p := new(Producer[K, V])
	p.core.listen(&o)
	if err := p.plugIn(&o, cfg, key, value); err != nil {
		_ = closeAll(p.core.plugins...)
		return nil, err
	}
	read := p.core.extrasRead(&o, cfg, key == nil, value == nil)
	if err := p.core.build(&o, cfg, read); err != nil {
		_ = closeAll(p.core.plugins...)
		return nil, err
	}
	return p, nil
}

// withRemedy adds to Java's text about a name that nobody knows what can be done here.
func withRemedy(err error) error {
	e, ok := errors.AsType[*config.Error](err)
	if ok && isPluginKey(e.Key) && strings.HasSuffix(e.Message, "could not be found.") {
		return fmt.Errorf("%w Register the name with linger.WithRegistry, or hand New the value itself.", err)
	}
	return err
}

func isPluginKey(key string) bool {
	return key == "key.serializer" || key == "value.serializer" || key == "partitioner.class"
}

// extrasRead are the options unknown to Kafka's table that somebody reads: a built-in serializer that was named its own, a
// plug-in with a Configure method possibly any.
func (c *core) extrasRead(o *options, cfg *config.Config, namedKey, namedValue bool) (read []string) {
	for _, plugin := range c.plugins {
		_, textual := plugin.(configurable)
		_, typed := plugin.(SerializerConfigurer)
		if textual || typed {
			return slices.Collect(maps.Keys(cfg.Extras()))
		}
	}
	if namedKey {
		read = append(read, "key.serializer.encoding", "default.list.key.serde.inner", "default.list.key.serde.type")
	}
	if namedValue {
		read = append(read, "value.serializer.encoding", "default.list.value.serde.inner", "default.list.value.serde.type")
	}
	if namedKey || namedValue {
		read = append(read, "serializer.encoding")
	}
	return read
}

// listen puts the queue in front of the application's log handler.
func (c *core) listen(o *options) {
	c.logs = logs.New(o.logger.Handler(), &c.inside)
	c.log = slog.New(c.logs)
}

// named is a logger whose lines tell whose they are (Java: the prefix [Producer clientId=…, transactionalId=…]).
func named(l *slog.Logger, cfg *config.Config) *slog.Logger {
	l = l.With("client.id", cfg.Shown("client.id"))
	if cfg.HasTransactionalID {
		l = l.With("transactional.id", cfg.Shown("transactional.id"))
	}
	return l
}

func (c *core) logLine(l config.Line) { c.log.Log(context.Background(), l.Level, l.Text) }

// allSettings adds to what the options set the objects that stand where a class name could.
func (o *options) allSettings(key, value bool) []config.Setting {
	all := o.settings
	add := func(k, name string) {
		all = append(all, config.Setting{Key: k, Value: config.Instance(name), Source: "New"})
	}
	if key {
		add("key.serializer", "given to New")
	}
	if value {
		add("value.serializer", "given to New")
	}
	if o.plugins.partitioner != nil {
		add("partitioner.class", typeName(o.plugins.partitioner))
	}
	return all
}

// plugIn makes and checks what the options name. core.plugins lists all that was made, even when it fails.
func (p *Producer[K, V]) plugIn(o *options, cfg *config.Config, key Serializer[K], value Serializer[V]) (err error) {
	values, raw := textValues(cfg), rawValues(cfg)
	var list []Interceptor[K, V]
	defer func() {
		for _, ic := range list {
			p.core.plugins = append(p.core.plugins, ic)
		}
		p.core.plugins = append(p.core.plugins, p.key, p.value, p.partitioner, p.partitionerOf)
		if passesThrough(p.key) {
			p.key = nil
		}
		if passesThrough(p.value) {
			p.value = nil
		}
	}()
	class := cfg.PartitionerClass
	if o.plugins.partitioner != nil {
		class = ""
	}
	if p.partitioner, p.partitionerOf, err = choosePartitioner[K, V](o, class, values); err != nil {
		return err
	}
	p.choosesItself = p.partitioner != nil || p.partitionerOf != nil
	if p.key, err = serializerFor(key, "key.serializer", cfg.KeySerializer, o.registry, raw, true); err != nil {
		return err
	}
	if p.value, err = serializerFor(value, "value.serializer", cfg.ValueSerializer, o.registry, raw, false); err != nil {
		return err
	}
	if list, err = interceptorsFor[K, V](o, cfg.InterceptorClasses, values); err != nil {
		return err
	}
	if len(list) > 0 {
		p.interceptors = &chain[K, V]{list: list, log: p.core.log}
	}
	p.plain = passesThrough(p.key) && passesThrough(p.value) && !p.choosesItself && p.interceptors == nil
	return nil
}

// build makes the rooms and starts the engine. read are the unknown options that somebody reads.
func (c *core) build(o *options, cfg *config.Config, read []string) error {
	v := &cfg.Values
	if v.HasTransactionalID {
		return fmt.Errorf("%w: transactional.id: transactions are not supported by this version yet; leave the option out", kerr.ErrConfig)
	}
	codec, err := codecOf(v)
	if err != nil {
		return err
	}
	c.config, c.clk = cfg, clock.Real()
	for _, l := range cfg.Lines {
		c.logLine(l)
	}
	if int64(v.BatchSize) > v.BufferMemory && !v.IncrementalAllocation {
		c.log.Warn(fmt.Sprintf("batch.size=%d is larger than buffer.memory=%d: no batch gets memory, and every send fails; lower the one or raise the other", v.BatchSize, v.BufferMemory))
	}
	if o.dialer != nil && o.names.Resolver == nil {
		o.names.Resolver = asItIs
	}
	servers, err := bootstrapServers(v, o.names, c.log)
	if err != nil {
		return err
	}
	login, err := c.saslMechanism(o, cfg)
	if err != nil {
		return err
	}
	security, err := c.buildTLS(o, cfg)
	if err != nil {
		return err
	}
	c.coarse = clock.NewCoarse(c.clk)
	c.maxBlock = clock.Ms(v.MaxBlockMs)
	c.maxRequestSize, c.bufferMemory, c.ignoreKeys = v.MaxRequestSize, v.BufferMemory, v.IgnoreKeys
	c.plainSize = int(min(int64(v.MaxRequestSize), v.BufferMemory)) - mostOverhead
	c.closed = make(chan struct{})
	rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	c.buildMemory(v, codec, rng)
	store := metadata.New(metadata.Options{
		MaxAgeMs: v.MetadataMaxAgeMs, MaxIdleMs: v.MetadataMaxIdleMs, Backoff: retryBackoff(v), ReconnectBackoffMs: v.ReconnectBackoffMs,
		Rebootstrap: v.Rebootstrap, RebootstrapTriggerMs: v.RebootstrapTriggerMs, Random: rng.Float64,
	})
	if v.BootstrapResolveTimeoutMs == 0 {
		store.Bootstrap(addresses(servers))
		servers = nil
	}
	if l, ok := cfg.Unused(read...); ok {
		c.logLine(l)
	}
	c.engine = engine.Start(engine.Options{
		Clock: c.clk, Coarse: c.coarse, Accumulator: c.acc, Codec: codec, View: store.View(), Logs: c.logs,
		Name:      "kafka-producer-network-thread | " + cfg.Shown("client.id"),
		Transport: transport.Options{Dialer: c.guard(o.dialer), Resolver: o.names.Resolver, SASL: login, TLS: security},
		Sender:    c.newSender(clientOptions(cfg, rng, login), cfg, servers, store),
	})
	return nil
}

// buildMemory makes the pool and the accumulator.
func (c *core) buildMemory(v *config.Values, codec compress.Codec, rng *rand.Rand) {
	mode, poolable := bufferpool.Full, v.BatchSize
	if v.IncrementalAllocation {
		mode, poolable = bufferpool.Incremental, config.ChunkSize
	}
	c.pool = bufferpool.New(v.BufferMemory, poolable, mode, c.clk)
	c.acc = accumulator.New(accumulator.Options{
		BatchSize: v.BatchSize, Linger: clock.Ms(v.LingerMs), DeliveryTimeout: clock.Ms(v.DeliveryTimeoutMs),
		RetryBackoff: retryBackoff(v), Jitter: rng.Float64, Codec: codec, Pool: c.pool, Clock: c.clk, Coarse: c.coarse,
		Adaptive: v.Adaptive, AvailabilityTimeout: clock.Ms(v.AvailabilityTimeoutMs), RackAware: v.RackAware, Rack: v.ClientRack,
		Random: func() int32 { return int32(rand.Uint32()) }, Idempotent: v.EnableIdempotence, Incremental: v.IncrementalAllocation,
	})
}

// newSender makes the step machine with its client and its sequences. unresolved are the bootstrap servers that it has to
// look up itself.
func (c *core) newSender(connections client.Options, cfg *config.Config, unresolved []client.HostPort, store *metadata.Store) *sender.Sender {
	v := &cfg.Values
	var manager *txn.Manager
	if v.EnableIdempotence {
		manager = txn.New(txn.Options{RetryBackoffMs: v.RetryBackoffMs})
	}
	return sender.New(sender.Options{
		Acks: v.Acks, Retries: v.Retries, MaxRequestSize: v.MaxRequestSize, RequestTimeoutMs: int32(v.RequestTimeoutMs),
		KeepOrder: v.MaxInFlight == 1, MaxUndelivered: maxUndelivered, Counters: &c.counters,
		Unresolved: unresolved, ResolveTimeout: clock.Ms(v.BootstrapResolveTimeoutMs),
		Accumulator: c.acc, Client: client.New(connections), Metadata: store, Txn: manager,
	})
}

func clientOptions(cfg *config.Config, rng *rand.Rand, login sasl.Mechanism) client.Options {
	v := &cfg.Values
	mechanism, unsecured := "", v.SecurityProtocol
	if login != nil {
		mechanism, unsecured = login.Name(), ""
	}
	return client.Options{
		SASL: mechanism, Unsecured: unsecured,
		ClientID: v.ClientID, SoftwareVersion: Version, MaxInFlight: v.MaxInFlight, RequestTimeout: clock.Ms(v.RequestTimeoutMs),
		MaxIdle: clock.Ms(v.ConnectionsMaxIdleMs), ReconnectBackoffMs: v.ReconnectBackoffMs, ReconnectBackoffMaxMs: v.ReconnectBackoffMaxMs,
		SetupTimeoutMs: v.SocketSetupTimeoutMs, SetupTimeoutMaxMs: v.SocketSetupTimeoutMaxMs, SendBuf: sendBuffer(cfg), RecvBuf: v.ReceiveBufferBytes,
		RetryBackoff: clock.Ms(v.RetryBackoffMs), Rebootstrap: v.Rebootstrap, ClusterCheck: v.ClusterCheck, Rand: rng,
	}
}

// leastSendBuffer in bytes holds a request of six batches of 64 KiB.
const leastSendBuffer = 512 << 10

// sendBuffer is the size of a socket's send buffer. A request of full batches for a few partitions is larger than Java's
// default: written in pieces, each of which waits for the one before, it costs a tenth more CPU. So the default is a lower bound.
func sendBuffer(cfg *config.Config) int {
	if cfg.IsSet("send.buffer.bytes") {
		return cfg.SendBufferBytes
	}
	return max(cfg.SendBufferBytes, leastSendBuffer)
}

func retryBackoff(v *config.Values) backoff.Exponential {
	return backoff.NewExponential(v.RetryBackoffMs, backoff.RetryMultiplier, v.RetryBackoffMaxMs, backoff.RetryJitter)
}

func codecOf(v *config.Values) (compress.Codec, error) {
	t, err := compress.ParseType(v.Compression)
	if err != nil {
		return compress.Codec{}, fmt.Errorf("%w: Invalid value %s for configuration compression.type: %w", kerr.ErrConfig, v.Compression, err)
	}
	codec := t.Default()
	if v.HasCompressionLevel {
		codec.Level = v.CompressionLevel
	}
	return codec, codec.Validate()
}

// rawValues are the options as a serializer sees them: what was given, under its own type.
func rawValues(cfg *config.Config) map[string]any {
	values := make(map[string]any)
	for _, k := range config.Keys() {
		values[k.Name], _ = cfg.Get(k.Name)
	}
	for k, v := range cfg.Extras() {
		values[k] = v
	}
	return values
}

// textValues are the options as a plug-in's Configure sees them.
func textValues(cfg *config.Config) map[string]string {
	values := make(map[string]string)
	for _, k := range config.Keys() {
		values[k.Name] = cfg.Text(k.Name)
	}
	for k, v := range cfg.Extras() {
		values[k] = strings.TrimSpace(fmt.Sprint(v))
	}
	return values
}
