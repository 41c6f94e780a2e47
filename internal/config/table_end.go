package config

// keysAtTheEnd are the keys that Java defines last.
var keysAtTheEnd = []Key{
	{
		Name: enableIdempotence, Type: Boolean, Default: true, Importance: Low, Group: Reliability,
		Option: "EnableIdempotence",
		Doc: "Whether brokers drop the copies that retries would make, and keep records in order. It needs acks all, " +
			"retries above 0 and at most 5 requests in flight. If it is not set, acks or retries that contradict switch " +
			"it off; if it is set, they are an error.",
	},
	{
		Name: transactionTimeout, Type: Int, Default: int64(60000), Importance: Low, Group: Transactions,
		Unit: Millis, Option: "TransactionTimeout",
		Doc: "How long a transaction may stay open before the cluster aborts it. The cluster has a maximum " +
			"(transaction.max.timeout.ms). It cannot be set together with two-phase commit.",
	},
	{
		Name: transactionalID, Type: String, Valid: nonEmpty{}, Importance: Low, Group: Transactions,
		Option: "TransactionalID",
		Doc: "A name that outlives the process; setting it makes the producer transactional. A new producer of the same " +
			"name fences the old one and finishes its transaction. It needs idempotence. This version has no transactions yet: " +
			"New refuses the option.",
	},
	{
		Name: twoPhaseCommit, Type: Boolean, Default: false, Importance: Low, Group: Transactions,
		Option: "TransactionTwoPhaseCommitEnable",
		Doc: "Whether an outside coordinator decides over the transactions of this producer (KIP-939). They then never " +
			"time out. The cluster must allow it.",
	},
	{
		Name: "metadata.recovery.strategy", Type: String, Default: "rebootstrap", Importance: Low, Group: Metadata,
		Valid: foldWords("REBOOTSTRAP", "NONE"), Option: "MetadataRecoveryStrategy",
		Doc: "What is done when no known broker can be reached: rebootstrap starts over from bootstrap.servers, none " +
			"goes on trying the known ones.",
	},
	{
		Name: "metadata.recovery.rebootstrap.trigger.ms", Type: Long, Default: int64(300000), Valid: atLeast(0),
		Importance: Low, Group: Metadata, Unit: Millis, Option: "MetadataRecoveryRebootstrapTrigger",
		Doc: "With recovery by rebootstrap: start over from bootstrap.servers when metadata could not be had for this long.",
	},
	{
		Name: "metadata.cluster.check.enable", Type: Boolean, Default: true, Importance: Low, Group: Metadata,
		Option: "MetadataClusterCheckEnable",
		Doc: "Whether brokers are told which cluster and node they are taken for, so that one that is another says so and the " +
			"client starts over from bootstrap.servers (KIP-1242). It counts with metadata.recovery.strategy=rebootstrap only.",
	},
	{
		Name: configProviders, Type: List, Default: []string{}, Valid: anyList{orNone: true}, Importance: Low, Group: Plugins,
		Option: "ConfigProviders",
		Doc: "Names under which other values can be fetched from outside, written ${name:path:key} in their place. For " +
			"each name, config.providers.NAME.class is one of Java's EnvVarConfigProvider, FileConfigProvider, " +
			"DirectoryConfigProvider or the name of a linger.ConfigProvider in the registry, and config.providers.NAME.param.… its parameters (allowlist.pattern, allowed.paths). " +
			"What a provider gave is never shown.",
	},
}
