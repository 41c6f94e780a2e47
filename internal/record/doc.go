// Package record writes and reads record batches of magic 2, the bytes that brokers store as they are (KIP-98).
//
// The plain version: 61 bytes of header, then the records one behind the other; lengths and deltas are zigzag varints.
//
//	header  baseOffset 8 | length 4 | leaderEpoch 4 | magic 1 | crc 4 | attributes 2 | lastOffsetDelta 4 |
//	        baseTimestamp 8 | maxTimestamp 8 | producerId 8 | producerEpoch 2 | baseSequence 4 | count 4
//	record  length v | attributes 1 | timestampDelta v | offsetDelta v | key: length v, bytes | value: length v, bytes |
//	        header count v | each header: key length v, key, value length v, value
//
// The CRC-32C covers everything from the attributes on. Compression replaces the records, never the header.
//
// The real version keeps the two apart. A Builder holds record bytes alone, in a list of chunks of pooled memory, and
// the header is written for each attempt into the request's own memory (PutHeader), where producer id, epoch and
// sequence may differ from the attempt before while a slow socket still reads the records. Append encodes a record right
// where it stays: one length computed, one bounds check, straight writes; a record that crosses a chunk boundary takes
// the slow path. The records are summed block by block while they are in cache, and the header's sum is put in front of
// theirs by arithmetic (sum.go). Whether a batch is full follows Java's estimate to the bit (MemoryRecordsBuilder), since it decides
// which records share a batch.
//
// The room owns the bytes' shape. It refuses to compress (package compress), to take or return memory (its caller does)
// and to know what a batch is waiting for.
package record
