package config

import "strings"

// Values is what the producer is built from: every option its parts use, checked and settled. Fields whose names end
// in Ms are milliseconds.
type Values struct {
	// Bootstrap is bootstrap.servers, with its syntax checked and no name resolved.
	Bootstrap                 []HostPort
	BootstrapResolveTimeoutMs int64 // 0: resolve while the producer is made
	// DNSLookup is "use_all_dns_ips" or "resolve_canonical_bootstrap_servers_only".
	DNSLookup  string
	ClientID   string // never unset; empty only if the user said so
	ClientRack string

	BatchSize             int // at least 1
	LingerMs              int64
	BufferMemory          int64
	IncrementalAllocation bool // buffer.memory.allocation.strategy, after the rules about it
	MaxRequestSize        int
	MaxBlockMs            int64

	Acks              int16 // -1, 0 or 1
	EnableIdempotence bool
	Retries           int
	MaxInFlight       int
	DeliveryTimeoutMs int64 // at least LingerMs + RequestTimeoutMs, as far as an int32 goes
	RequestTimeoutMs  int64
	RetryBackoffMs    int64
	RetryBackoffMaxMs int64

	// PartitionerClass is the partitioner's name; empty for the built-in choice.
	PartitionerClass      string
	Adaptive              bool // false with a custom partitioner
	AvailabilityTimeoutMs int64
	IgnoreKeys            bool
	RackAware             bool

	// Compression is "none", "gzip", "snappy", "lz4" or "zstd".
	Compression string
	// CompressionLevel is the level of that codec; HasCompressionLevel is false for none and snappy.
	CompressionLevel    int
	HasCompressionLevel bool

	TransactionalID      string
	HasTransactionalID   bool
	TransactionTimeoutMs int64
	TwoPhaseCommit       bool

	MetadataMaxAgeMs     int64
	MetadataMaxIdleMs    int64
	Rebootstrap          bool // metadata.recovery.strategy
	RebootstrapTriggerMs int64
	ClusterCheck         bool // metadata.cluster.check.enable

	SendBufferBytes         int   // -1: the operating system's
	ReceiveBufferBytes      int   // -1: the operating system's
	ConnectionsMaxIdleMs    int64 // negative: never
	SocketSetupTimeoutMs    int64
	SocketSetupTimeoutMaxMs int64
	ReconnectBackoffMs      int64
	ReconnectBackoffMaxMs   int64

	// Names of plug-ins, or of the objects given in their place.
	KeySerializer      string
	ValueSerializer    string
	InterceptorClasses []string

	// SecurityProtocol is PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL, in capitals.
	SecurityProtocol string

	EnableMetricsPush     bool
	MetricsSampleWindowMs int64
	MetricsNumSamples     int
	MetricsRecordingLevel string
}

// built reads the settled values. It and buildMetrics are the only places that know which key fills which field.
func (p *parser) built() Values {
	v := Values{
		Bootstrap:                 p.boot,
		BootstrapResolveTimeoutMs: p.int(bootstrapResolveTimeout),
		DNSLookup:                 p.str(clientDNSLookup),
		ClientID:                  p.str(clientID),
		ClientRack:                p.str(clientRack),

		BatchSize:             int(p.int(batchSize)),
		LingerMs:              p.int(lingerMs),
		BufferMemory:          p.int("buffer.memory"),
		IncrementalAllocation: strings.EqualFold(p.str(allocationStrategy), "incremental"),
		MaxRequestSize:        int(p.int("max.request.size")),
		MaxBlockMs:            p.int("max.block.ms"),

		Acks:              acksCode[p.str(acks)],
		EnableIdempotence: p.bool(enableIdempotence),
		Retries:           int(p.int(retries)),
		MaxInFlight:       int(p.int(maxInFlight)),
		DeliveryTimeoutMs: p.int(deliveryTimeout),
		RequestTimeoutMs:  p.int(requestTimeout),
		RetryBackoffMs:    p.int(retryBackoff),
		RetryBackoffMaxMs: p.int(retryBackoffMax),

		PartitionerClass:      p.plugin(partitionerClass),
		Adaptive:              p.bool(adaptivePartitioning),
		AvailabilityTimeoutMs: p.int(availabilityTimeout),
		IgnoreKeys:            p.bool("partitioner.ignore.keys"),
		RackAware:             p.bool(rackAware),

		Compression: p.str(compressionType),

		TransactionalID:      p.str(transactionalID),
		HasTransactionalID:   p.values[transactionalID] != nil,
		TransactionTimeoutMs: p.int(transactionTimeout),
		TwoPhaseCommit:       p.bool(twoPhaseCommit),

		MetadataMaxAgeMs:     p.int("metadata.max.age.ms"),
		MetadataMaxIdleMs:    p.int("metadata.max.idle.ms"),
		Rebootstrap:          strings.EqualFold(p.str("metadata.recovery.strategy"), "rebootstrap"),
		RebootstrapTriggerMs: p.int("metadata.recovery.rebootstrap.trigger.ms"),
		ClusterCheck:         p.bool("metadata.cluster.check.enable"),

		SendBufferBytes:         int(p.int("send.buffer.bytes")),
		ReceiveBufferBytes:      int(p.int("receive.buffer.bytes")),
		ConnectionsMaxIdleMs:    p.int("connections.max.idle.ms"),
		SocketSetupTimeoutMs:    p.int(setupTimeout),
		SocketSetupTimeoutMaxMs: p.int(setupTimeoutMax),
		ReconnectBackoffMs:      p.int(reconnectBackoff),
		ReconnectBackoffMaxMs:   p.int(reconnectBackoffMax),

		KeySerializer:      p.plugin(keySerializer),
		ValueSerializer:    p.plugin(valueSerializer),
		InterceptorClasses: p.list("interceptor.classes"),

		SecurityProtocol: strings.ToUpper(p.str(securityProtocol)),
	}
	if level, ok := p.values["compression."+v.Compression+".level"].(int64); ok {
		v.CompressionLevel, v.HasCompressionLevel = int(level), true
	}
	p.buildMetrics(&v)
	return v
}

func (p *parser) buildMetrics(v *Values) {
	v.EnableMetricsPush = p.bool("enable.metrics.push")
	v.MetricsSampleWindowMs = p.int("metrics.sample.window.ms")
	v.MetricsNumSamples = int(p.int("metrics.num.samples"))
	v.MetricsRecordingLevel = p.str("metrics.recording.level")
}

// acksCode has one word for each value the validator lets through after "all" became -1.
var acksCode = map[string]int16{"-1": -1, "0": 0, "1": 1}
