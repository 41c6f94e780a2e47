// Package partition chooses partitions: the hash of a key, the built-in sticky choice for records without one (KIP-794,
// KIP-1123), and round robin.
//
// The plain version: a record with a key goes to murmur2(key) modulo the number of partitions. A record without one goes
// where the record before it went, until about batch.size bytes went there; then a partition is drawn at random. Records
// so gather in full batches instead of being scattered over many small ones.
//
// The real one draws by weight: a partition whose queue is short is drawn more often than one whose broker is slow, and
// with a rack to prefer, only leaders in that rack are drawn while there are any.
//
//	queues 0 3 1  →  weights 4 1 3  →  cumulative 4 5 8  →  draw r mod 8, take the first entry above it
//
//	append:  Peek ─ lock the queue ─ Changed? ─ append ─ Update          sender:  UpdateLoad, in each ready check
//
// The room owns a topic's current choice and its load table; both are read without a lock and replaced whole. It refuses
// to look at metadata (a View is handed in), to draw random numbers (they are handed in) and to know about batches.
package partition
