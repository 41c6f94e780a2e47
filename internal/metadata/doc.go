// Package metadata knows the cluster: brokers, topics, partitions and their leaders, and when to ask for them again (in
// Java: ProducerMetadata, Metadata, MetadataSnapshot, and the policy half of NetworkClient.DefaultMetadataUpdater).
//
// The plain version:
//
//	every metadata.max.age.ms, and when somebody misses something:
//		cluster = ask any broker for every topic in use
//
// The real one asks for new topics alone (a partial update is merged into what is known), backs off when brokers fail
// and when their answers bring nothing new, drops topics that nobody used for metadata.max.idle.ms, and does not
// believe everything: a leader with an older epoch than one already seen is stale news, unless the topic was created
// anew under another id.
//
//	       Add, RequestUpdate                    NextUpdate, Request
//	caller ───────────────────► Store ───────────────────────────────► request
//	                              │  ◄──────────────────────────────── Update, Failed, UpdateLeaders
//	                              ▼
//	                  View ► Cluster (immutable snapshots)
//
// The room owns Store, which belongs to the sender's Step, and its snapshots, which anybody may read for ever. It
// refuses to send, to wait, and to look at a clock.
package metadata
