// Package sender decides what to send next and what each answer means. It is the producer's heart: one Step.
//
// The plain version:
//
//	batches := accumulator.Drain(readyNodes)
//	answers := request(batches)
//	for each answer: done, again, or failed
//
// The real one never waits. Step takes one turn at an instant with the events that came in since the last turn, and
// returns effects: orders for the connections, batches to compress, memory that goes home, completions to deliver, a
// metadata view to publish, the time of the next turn. It reads no clock, touches no socket and starts no goroutine;
// the same state, events and instant give the same effects, so that production, the simulation and the text scenarios
// run the same code.
//
//	events ──► client (links, time-outs) ──► answers ──► metadata | producer id | produce ─┐
//	                                                                                       ▼
//	effects ◄── client orders ◄── requests ◄── drain ◄── ready ◄── accumulator.Schedule ◄─ txn
//
// The order within a turn is Java's Sender.runOnce: what came in, then the producer id, then expiry, ready, drain and
// send. The room owns the schedule of the accumulator, the client machine, the transaction manager and the metadata
// store: nobody else touches those while it lives. It refuses to call user code or to wait for anything.
package sender
