// Package accumulator is the wall between the application's goroutines and ours: they append records to batches on one
// face, the sender takes batches on the other.
//
// The plain version: a queue of batches for each partition. A record goes into the last batch; if that has no room, a
// new batch is opened. The sender takes the first batch of each queue.
//
//	app goroutines                          ║                          engine (Step)
//	Append ──► sticky choice ──► Queue ─────╫──► signals ──► Schedule ──► Ready, Drain
//	              ▲             │ mutex │   ║                   │  ▲          │
//	              │             │ b b b B │ ║                   │  └ PutBack, Split
//	        load table ◄────────┼───────────╫───────────────────┘
//	                       bufferpool       ║      Completion ──► delivery goroutine ──► Result, Generation
//
// The real one costs an append one lock, that of its queue, and no clock, no allocation and no channel while the open
// batch has room; and it costs the engine nothing for partitions where nothing happens. Queues that changed put
// themselves on a lock-free stack, once each; the Schedule looks at those and at the ones whose time has come, and keeps
// what it learnt: which queues wait for linger.ms or for a back-off, which are ready, by node. What Java computes anew in
// each turn over all partitions is here the same rule, evaluated when its inputs change.
//
// A batch's life, and who holds its memory meanwhile:
//
//	 open ──► closed ──► sealing ──► sealed ──► in flight ──► ended, freed
//	│      queue       │  worker  │   queue  │   request  │
//	                                 ▲            │
//	                                 └── PutBack ─┘ (Split: pieces take the batch's place)
//
// Ending (the outcome is known) and letting go of memory are two events: a batch that reaches delivery.timeout.ms on
// the way ends at once, and its memory stays charged until the request or the worker has let go (KAFKA-19012).
//
// The room owns queues, batches, results, the admission word and its barrier. It refuses to compress, to number batches,
// to know what an answer means, to wait for anything but memory and a queue to grow shorter, and to call user code.
// Schedule belongs to Step: its only lock is a queue's, and it reads no clock.
package accumulator
