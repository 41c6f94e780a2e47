// Package sim runs the producer's machine in a world of its own: one seed is one world.
//
// The plain version:
//
//	draw a world from the seed
//	until it is over: take the next event, let the machine take its turn, carry out what it wants
//	look whether any promise was broken
//
// Everything that decides in production decides here, unchanged: accumulator, sender, client, metadata, txn, record, wire.
// Everything that does is played: the application, the loop that takes turns, the network, up to three brokers, the
// delivery of callbacks. They are actors on one agenda of things to happen, in virtual time; no goroutine is started, no
// socket opened and no clock read. All that is random comes from the seed, so the same seed is the same world to the last
// byte, and a failing one can be looked at line by line.
//
//	app ──► accumulator ◄──► sender.Step ──orders──► links ──bytes──► brokers ──► logs
//	 ▲                          ▲   │                  │                │
//	 └──── callbacks ◄──────────┼───┘  ◄───events──────┘ ◄───answers────┘
//	                          agenda: what happens next, and when
//
// Brokers read the real bytes of requests, keep logs, and number producers as Kafka does: the last five batches of each
// producer id are remembered, duplicates get their first offset again, a gap is OUT_OF_ORDER_SEQUENCE_NUMBER, a new epoch
// begins at 0 and fences the old one. A link takes the bytes of a request piece by piece until the moment of Written, so
// that memory which is used again too early shows as a broken checksum.
//
// A world has at least 200 records, 3 partitions, 2 brokers and 5 faults. First things go wrong, then the world heals, and
// the last records are sent in peace: they must arrive, or the machine has got stuck. What is promised depends on the
// producer's options; check.go says it in full:
//
//   - each record's callback runs once, before its future is done, and both say the same;
//   - an acknowledged record is in the log, at the offset that was told; with idempotence exactly once and everything in the
//     order of the appends; with one request in flight in order by first copies;
//   - a failed record of an idempotent producer is in the log at most once;
//   - every byte in a log is what was appended, under the topic and partition that was told;
//   - at the end all memory is home, no link is open, nothing is incomplete, and the machine never spins.
//
// The room refuses to be the judge of Kafka: real brokers are in test/broker. It belongs to tests and is part of no program.
package sim
