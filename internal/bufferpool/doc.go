// Package bufferpool holds the producer's memory for records: buffer.memory bytes in all, lent in buffers, with the
// callers of Send waiting in line when it is used up.
//
// The plain version: a counter. Taking memory subtracts, giving it back adds, and who finds too little waits.
//
// The real one has two forms of memory: ready buffers of exactly the poolable size (batch.size), kept for the next
// batch, and an allowance, bytes that no buffer exists for yet. Available = allowance + free buffers × poolable size.
//
//	              total = buffer.memory
//	┌────────────────────┬──────────────────────┬──────────────────────────┐
//	│ lent to batches    │ free  ▢ ▢ ▢ ▢        │ allowance                │
//	└────────────────────┴──────────────────────┴──────────────────────────┘
//	                       cold end → allowance when a request is odd-sized
//	                       hot end  ⇄ batches
//
// Waiters stand in a queue. Memory that comes back is handed to the first of them there and then, under the lock, until
// it has all it asked for; what is left goes to the second. So a release that serves several wakes several, a small
// request in the queue never overtakes a large one, and nobody starves. (Java signals the first waiter and lets it collect
// once it runs, so that a newcomer may get in between; the accounting after each step is the same.)
//
// A newcomer that finds enough memory takes it, even while others wait: as in Java, the request that began to wait left
// alone what was too little for it. After the next release, or the newcomer's own success, nothing is left to find: all
// of it has been handed to the first in line. A newcomer so never delays a waiter by more than one request.
//
// A free buffer is reused last in, first out, while it is still in the processor's cache; turning buffers into allowance
// takes the coldest (Java takes from the other ends; its accounting is the same). Released memory is overwritten when
// invariants are compiled in, and checked when it is lent again, so that a use after release shows.
//
// In full mode a batch gets one buffer, in incremental mode a list of poolable-sized chunks (both as in Java's 4.4.0,
// which has one call for each mode and refuses the other).
//
// The room owns the memory and the line of waiters. It refuses to know what a batch is, and who waits is not its choice.
package bufferpool
