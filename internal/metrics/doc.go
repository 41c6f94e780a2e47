// Package metrics holds counters that one owner writes and anyone may read.
//
// A counter is written by the room that makes the thing happen (most of them by the sender, once per batch), and read
// by whoever wants a snapshot: the report of a closed producer, the program's summary line. Java's names and sampled
// rates are made of these later; nothing here costs anything per record.
package metrics
