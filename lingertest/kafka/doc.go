// Package kafka is an embedded Kafka broker for the tests of programs that use linger, and for its demo. It runs inside
// the process, needs nothing installed and starts in well under a millisecond.
//
// The room owns one franz-go kfake cluster, and refuses to be more: it is no stand-in for what only a real broker knows. It
// has no quotas (throttle_time_ms is always 0), no two-phase commit (InitProducerId stops at version 5), no OAUTHBEARER
// and no Kerberos; it ignores min.insync.replicas, never sends per-record errors, and answers EndTxn at once.
//
//	b, err := kafka.Start(kafka.Options{Topics: map[string]int32{"orders": 3}})
//	defer b.Close()
//	p, err := linger.New(linger.String, linger.String, linger.BootstrapServers(b.Bootstrap()))
//	...
//	recs, err := b.ReadAll(ctx, "orders")
//
// FailNext makes the broker answer the next requests with an error of your choice. With Options.InMemory there are no
// sockets at all: hand Dial to whatever connects, and the whole test may run in a testing/synctest bubble, where minutes
// of back-off pass in no time. Everything has to end inside the bubble, Close included.
package kafka
