// Package linger is a Kafka producer with the behaviour, names and guarantees of the Java producer of Apache Kafka 4.4.0.
//
//	p, err := linger.New(linger.String, linger.JSON[Order](), linger.BootstrapServers("localhost:9092"))
//	...
//	defer p.Close()
//	fut, err := p.Send(ctx, linger.Record[string, Order]{Topic: "orders", Key: id, Value: o}, nil)
//	md, err := fut.Wait(ctx)
//
// Idempotence, acks=all and retries within delivery.timeout.ms are on by default: what is acknowledged is in the log
// once, and in order per partition.
//
// # Two kinds of error
//
// Send returns what the Java producer throws from send: the producer is closed, a serializer or partitioner failed, the
// context ended. Everything that brokers, limits and time-outs say is the record's outcome: it comes by the Future and
// the callback, exactly once each, if and only if Send returned nil. Ask an error with errors.Is (ErrTimeout,
// ErrRecordTooLarge, …), with ClassOf for what to do about it, or for the details with errors.AsType[*ProducerError].
//
// # Options
//
// Every option of the Java producer has a typed function here, named for its key: Linger for linger.ms. Set takes any
// key by its Kafka name, PropertiesFile reads a Java properties file. New refuses what contradicts itself or is not
// supported; nothing is silently ignored.
//
// # Security
//
// SecurityProtocol says how brokers are talked to; the ssl.* and sasl.* options are Java's. WithTLSConfig, WithSASLMechanism
// and WithOAuthToken stand where Java takes a class of one's own. Secrets appear in no error, no log line and not in Config.
//
// # Memory and goroutines
//
// Records are copied into batches within Send; buffer.memory bounds them. A producer runs one loop, two goroutines per
// broker connection, one for callbacks, one for log lines, with compression a few workers and with OAUTHBEARER one for tokens.
// Close ends all of them.
package linger
