// Package txn is the producer's identity towards brokers: producer id, epoch, the sequences of each partition, and the
// states of the transaction machine (KIP-98, KIP-360, KIP-890; in Java: TransactionManager, TxnPartitionMap,
// TxnPartitionEntry).
//
// The plain version, for one partition:
//
//	batch leaves:   batch.sequence = next; next += records
//	batch is acked: lastAcked = batch.last
//	batch is lost:  epoch += 1; everything unacknowledged is numbered again from 0
//
// The real one has up to five batches of a partition in flight, answers in any order, batches that expire while a
// broker may or may not have them, and sequences that wrap from 2147483647 to 0.
//
//	         lastAcked          first in flight            next
//	─────────────┬──┬───────────────┬──────┬──────┬──────────┬────────► sequence
//	   acked     │  │ (answer lost) │ in   │ in   │ in       │ not drained yet
//	             │  │               │flight│flight│ flight   │
//
//	Invariant (modulo the wrap): lastAcked < first in flight < next, while anything is in flight.
//
// The room owns Manager (one per producer), Partition (one per queue of the accumulator, which embeds it) and Stamp
// (one per batch, embedded too). All three belong to the sender's Step: there is no lock, no clock, no goroutine. The
// room refuses to send: it hands out requests as values and takes the answers back.
package txn
