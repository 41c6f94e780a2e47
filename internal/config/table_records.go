package config

import "math"

// keysOfRecords are the keys about records on their way: batches, memory, acknowledgement, partition choice.
var keysOfRecords = []Key{
	{
		Name: bootstrapServers, Type: List, Required: true, Valid: anyList{}, Importance: High, Group: Connecting,
		Option: "BootstrapServers",
		Doc: "Brokers to ask for the cluster's metadata at the start, each as host:port (an IPv6 address in brackets). " +
			"All brokers of the cluster are found from any one of them; name two or more in case one is down.",
	},
	{
		Name: clientDNSLookup, Type: String, Default: "use_all_dns_ips", Importance: Medium, Group: Connecting,
		Valid:  words("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
		Option: "ClientDNSLookup",
		Doc: "What is done with a name that has several addresses. use_all_dns_ips tries one address after the other " +
			"until a connection stands. resolve_canonical_bootstrap_servers_only first replaces each bootstrap name by " +
			"the canonical names of its addresses, which Kerberos may need; after that it is the same.",
	},
	{
		Name: "buffer.memory", Type: Long, Default: int64(32 << 20), Valid: atLeast(0), Importance: High, Group: Batching,
		Unit: Bytes, Option: "BufferMemory",
		Doc: "Memory for records that wait to be sent or to be acknowledged. When it is used up, Send waits up to " +
			"max.block.ms for some to come back. Compression and requests need a little besides.",
	},
	{
		Name: allocationStrategy, Type: String, Default: "full", Importance: Medium, Group: Batching, Internal: true,
		Valid: foldWords("FULL", "INCREMENTAL"), Option: "BufferMemoryAllocationStrategy",
		Doc: "How a batch takes memory. full takes batch.size at once when a batch is opened. incremental takes it in " +
			"chunks of 16384 bytes while the batch grows, so that many half-filled batches cost less; it needs a " +
			"batch.size of at least one chunk, and compression.type none.",
	},
	{
		Name: retries, Type: Int, Default: int64(math.MaxInt32), Valid: between[int64](0, math.MaxInt32), Importance: High,
		Group: Reliability, Option: "Retries",
		Doc: "How often a request that failed for a passing reason is sent again. Leave it alone and bound the time by " +
			"delivery.timeout.ms instead. 0 switches idempotence off, unless that was asked for by name: then it is an error.",
	},
	{
		Name: acks, Type: String, Default: "all", Valid: words("all", "-1", "0", "1"), Importance: Low, Group: Reliability,
		Option: "Acks",
		Doc: "When a record counts as written. all (the same as -1): when every in-sync replica has it. 1: when the " +
			"leader has it; it is lost if the leader dies before a follower copied it. 0: when it was handed to the " +
			"network; nobody answers, and offsets are unknown. 0 and 1 switch idempotence off, unless that was asked for " +
			"by name: then they are an error.",
	},
	{
		Name: compressionType, Type: String, Default: "none", Importance: High, Group: Compression,
		Valid: words("none", "gzip", "snappy", "lz4", "zstd"), Option: "CompressionType",
		Doc: "How batches are compressed. Fuller batches compress better, so a longer linger.ms helps.",
	},
	{
		Name: "compression.gzip.level", Type: Int, Default: int64(-1), Valid: spanOr{1, 9, -1}, Importance: Medium,
		Group: Compression, Option: "CompressionGzipLevel",
		Doc: "Effort of gzip, used only with compression.type gzip: 1 is fastest, 9 is smallest, -1 is gzip's own default.",
	},
	{
		Name: "compression.lz4.level", Type: Int, Default: int64(9), Valid: between[int64](1, 17), Importance: Medium,
		Group: Compression, Option: "CompressionLZ4Level",
		Doc: "Effort of lz4, used only with compression.type lz4: 1 is fastest, 17 is smallest.",
	},
	{
		Name: "compression.zstd.level", Type: Int, Default: int64(3), Valid: between[int64](-131072, 22), Importance: Medium,
		Group: Compression, Option: "CompressionZstdLevel",
		Doc: "Effort of zstd, used only with compression.type zstd: the lower the faster, 22 is smallest.",
	},
	{
		Name: batchSize, Type: Int, Default: int64(16384), Valid: atLeast(0), Importance: Medium, Group: Batching,
		Unit: Bytes, Option: "BatchSize",
		Doc: "How large a batch of one partition may grow. It is sent when it is full or when linger.ms has passed, " +
			"whichever comes first. A record that is larger than this gets a batch of its own. 0 means one record a batch.",
	},
	{
		Name: adaptivePartitioning, Type: Boolean, Default: true, Importance: Low, Group: Partitioning,
		Option: "PartitionerAdaptivePartitioningEnable",
		Doc: "Whether records without a key go more often to partitions whose broker keeps up. Without it all " +
			"partitions get the same share. A custom partitioner makes it meaningless.",
	},
	{
		Name: availabilityTimeout, Type: Long, Default: int64(0), Valid: atLeast(0), Importance: Low, Group: Partitioning,
		Unit: Millis, Option: "PartitionerAvailabilityTimeout",
		Doc: "When a broker has not been able to take batches for this long, records without a key avoid its " +
			"partitions. 0 switches this off. It needs adaptive partitioning and no custom partitioner.",
	},
	{
		Name: "partitioner.ignore.keys", Type: Boolean, Default: false, Importance: Medium, Group: Partitioning,
		Option: "PartitionerIgnoreKeys",
		Doc: "Whether a record's key is left out of the choice of its partition, as if it had none. A custom " +
			"partitioner makes it meaningless.",
	},
	{
		Name: rackAware, Type: Boolean, Default: false, Importance: Low, Group: Partitioning,
		Option: "PartitionerRackAware",
		Doc: "Whether records without a key stay on partitions whose leader is in the same rack as this client, as " +
			"long as there is one. It needs client.rack.",
	},
	{
		Name: lingerMs, Type: Long, Default: int64(5), Valid: atLeast(0), Importance: Medium, Group: Batching,
		Unit: Millis, Option: "Linger",
		Doc: "How long a batch that is not full waits for more records. More means fewer, larger requests and more " +
			"delay when there is little to send; 0 sends at once. Values over 2147483647 count as that.",
	},
	{
		Name: deliveryTimeout, Type: Int, Default: int64(120000), Valid: atLeast(0), Importance: Medium, Group: Reliability,
		Unit: Millis, Option: "DeliveryTimeout",
		Doc: "How long after Send a record may still be undecided: waiting, in flight and all retries together. It must " +
			"be at least linger.ms + request.timeout.ms; if it is not set it is raised to that.",
	},
	{
		Name: clientID, Type: String, Default: "", Importance: Medium, Group: Connecting,
		Option: "ClientID",
		Doc: "The name of this producer in broker logs, quotas and metrics. If it is not set it is producer- and the " +
			"transactional.id, or producer- and a number that counts up within the process.",
	},
	{
		Name: clientRack, Type: String, Default: "", Importance: Low, Group: Partitioning,
		Option: "ClientRack",
		Doc:    "Where this client runs, in the words of the brokers' broker.rack.",
	},
}
