package config

// keysOfTheClient are the keys about connections, metadata, metrics and plug-ins.
var keysOfTheClient = []Key{
	{
		Name: "send.buffer.bytes", Type: Int, Default: int64(128 << 10), Valid: atLeast(-1), Importance: Medium,
		Group: Network, Unit: Bytes, Option: "SendBufferBytes",
		Doc: "Size of a socket's send buffer (SO_SNDBUF). -1 leaves it to the operating system. Unless the option is set, " +
			"524288 are asked for, so that a request of full batches goes out in one piece; set it to 131072 for Java's.",
	},
	{
		Name: "receive.buffer.bytes", Type: Int, Default: int64(32 << 10), Valid: atLeast(-1), Importance: Medium,
		Group: Network, Unit: Bytes, Option: "ReceiveBufferBytes",
		Doc: "Size of a socket's receive buffer (SO_RCVBUF). -1 leaves it to the operating system.",
	},
	{
		Name: "max.request.size", Type: Int, Default: int64(1 << 20), Valid: atLeast(0), Importance: Medium, Group: Batching,
		Unit: Bytes, Option: "MaxRequestSize",
		Doc: "How large the batches of one request may be together, and how large one record may be before " +
			"compression. Brokers have a limit of their own (message.max.bytes, max.message.bytes of the topic).",
	},
	{
		Name: reconnectBackoff, Type: Long, Default: int64(50), Valid: atLeast(0), Importance: Low, Group: Network,
		Unit: Millis, Option: "ReconnectBackoff",
		Doc: "Wait before a broker is dialled again after a failed connection. It doubles with each failure, give or " +
			"take a fifth, up to reconnect.backoff.max.ms.",
	},
	{
		Name: reconnectBackoffMax, Type: Long, Default: int64(1000), Valid: atLeast(0), Importance: Low, Group: Network,
		Unit: Millis, Option: "ReconnectBackoffMax",
		Doc: "Longest wait before a broker is dialled again. If only reconnect.backoff.ms is set, this is equal to it " +
			"and the wait does not grow.",
	},
	{
		Name: retryBackoff, Type: Long, Default: int64(100), Valid: atLeast(0), Importance: Low, Group: Reliability,
		Unit: Millis, Option: "RetryBackoff",
		Doc: "Wait before a failed request is sent again. It doubles with each failure, give or take a fifth, up to " +
			"retry.backoff.max.ms.",
	},
	{
		Name: retryBackoffMax, Type: Long, Default: int64(1000), Valid: atLeast(0), Importance: Low, Group: Reliability,
		Unit: Millis, Option: "RetryBackoffMax",
		Doc: "Longest wait before a failed request is sent again. If retry.backoff.ms is longer, every wait is this long.",
	},
	{
		Name: bootstrapResolveTimeout, Type: Long, Default: int64(0), Valid: atLeast(0), Importance: High, Group: Connecting,
		Unit: Millis, Option: "BootstrapResolveTimeout",
		Doc: "With 0 the names in bootstrap.servers are resolved while the producer is made, and it is an error when " +
			"none resolves. With more they are resolved later, and calls that need a broker fail when that took this long.",
	},
	{
		Name: "enable.metrics.push", Type: Boolean, Default: true, Importance: Low, Group: Metrics,
		Status: NoEffect, Note: "this version pushes no metrics to brokers (KIP-714)", Option: "EnableMetricsPush",
		Doc: "Whether the cluster may ask this client for its metrics.",
	},
	{
		Name: "max.block.ms", Type: Long, Default: int64(60000), Valid: atLeast(0), Importance: Medium, Group: Reliability,
		Unit: Millis, Option: "MaxBlock",
		Doc: "How long Send may wait in all for metadata and for memory, and how long PartitionsFor and the calls of a " +
			"transaction may wait. A context that ends earlier ends the wait.",
	},
	{
		Name: requestTimeout, Type: Int, Default: int64(30000), Valid: atLeast(0), Importance: Medium, Group: Reliability,
		Unit: Millis, Option: "RequestTimeout",
		Doc: "How long a broker may take to answer one request. After that the connection is closed and the request is " +
			"sent again, as far as retries and delivery.timeout.ms allow.",
	},
	{
		Name: "metadata.max.age.ms", Type: Long, Default: int64(300000), Valid: atLeast(0), Importance: Low, Group: Metadata,
		Unit: Millis, Option: "MetadataMaxAge",
		Doc: "Metadata is asked for anew after this long even when nothing points to a change.",
	},
	{
		Name: "metadata.max.idle.ms", Type: Long, Default: int64(300000), Valid: atLeast(5000), Importance: Low,
		Group: Metadata, Unit: Millis, Option: "MetadataMaxIdle",
		Doc: "A topic that nothing was sent to for this long is dropped from the metadata; the next record for it waits " +
			"for metadata once more.",
	},
	{
		Name: "metrics.sample.window.ms", Type: Long, Default: int64(30000), Valid: atLeast(0), Importance: Low,
		Group: Metrics, Unit: Millis, Status: NoEffect, Note: withoutWindows, Option: "MetricsSampleWindow",
		Doc: "How long one sample of a rate or an average lasts.",
	},
	{
		Name: "metrics.num.samples", Type: Int, Default: int64(2), Valid: atLeast(1), Importance: Low,
		Group: Metrics, Status: NoEffect, Note: withoutWindows, Option: "MetricsNumSamples",
		Doc: "How many samples a rate or an average is made of.",
	},
	{
		Name: "metrics.recording.level", Type: String, Default: "INFO", Valid: words("INFO", "DEBUG", "TRACE"),
		Importance: Low, Group: Metrics, Status: NoEffect, Note: "the producer has no metric above INFO, in Java neither",
		Option: "MetricsRecordingLevel",
		Doc:    "The finest level of metrics that are recorded.",
	},
	{
		Name: metricReporters, Type: List, Default: []string{jmxReporter}, Valid: anyList{orNone: true}, Importance: Low,
		Group: Metrics, Status: NoEffect, Note: "Go has no JMX; Producer.Counters gives the totals",
		Option: "MetricReporters",
		Doc: "Java classes that publish metrics. Only Java's own JMX reporter, its default, is accepted: other classes " +
			"cannot run in Go and are refused.",
	},
	{
		Name: maxInFlight, Type: Int, Default: int64(5), Valid: atLeast(1), Importance: Low, Group: Reliability,
		Option: "MaxInFlightRequestsPerConnection",
		Doc: "How many requests may be unanswered on one connection. With idempotence 5 at most, and records stay in " +
			"order; without it, more than 1 may reorder records when one is sent again.",
	},
	{
		Name: keySerializer, Type: Class, Required: true, Importance: High, Group: Plugins,
		Option: "KeySerializerClass",
		Doc: "Name of the serializer of keys, for a configuration that comes from a file: a Java class name or the " +
			"name it was registered by. A serializer given to New wins.",
	},
	{
		Name: valueSerializer, Type: Class, Required: true, Importance: High, Group: Plugins,
		Option: "ValueSerializerClass",
		Doc: "Name of the serializer of values, for a configuration that comes from a file: a Java class name or the " +
			"name it was registered by. A serializer given to New wins.",
	},
	{
		Name: setupTimeout, Type: Long, Default: int64(10000), Importance: Medium, Group: Network,
		Unit: Millis, Option: "SocketConnectionSetupTimeout",
		Doc: "How long a connection may take to stand. It doubles with each failure, give or take a fifth, up to " +
			"socket.connection.setup.timeout.max.ms.",
	},
	{
		Name: setupTimeoutMax, Type: Long, Default: int64(30000), Importance: Medium, Group: Network,
		Unit: Millis, Option: "SocketConnectionSetupTimeoutMax",
		Doc: "The most a connection may take to stand. If socket.connection.setup.timeout.ms is longer, this is the " +
			"time each attempt gets.",
	},
	{
		Name: "connections.max.idle.ms", Type: Long, Default: int64(540000), Importance: Medium, Group: Network,
		Unit: Millis, Option: "ConnectionsMaxIdle",
		Doc: "A connection that was not used for this long is closed. A negative value keeps it open.",
	},
	{
		Name: partitionerClass, Type: Class, Importance: Medium, Group: Plugins,
		Option: "PartitionerClass",
		Doc: "Name of the partitioner, for a configuration that comes from a file: a Java class name or the name it was " +
			"registered by. Without it records with a key go by the hash of the key, others to the partition in turn.",
	},
	{
		Name: "interceptor.classes", Type: List, Default: []string{}, Valid: anyList{orNone: true}, Importance: Low,
		Group: Plugins, Option: "InterceptorClasses",
		Doc: "Names of interceptors, called in this order, for a configuration that comes from a file: the names they " +
			"were registered by.",
	},
}

const withoutWindows = "this version keeps running totals, no windows"
