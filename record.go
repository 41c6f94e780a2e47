package linger

import "time"

// Record is one message on its way to a topic.
//
// Zero values are useful: a zero Partition lets the partitioner choose, a zero Timestamp means the time of Send. The
// producer copies what it needs before Send returns; the record's slices stay the caller's.
type Record[K, V any] struct {
	// Topic is the topic's name; it must not be empty.
	Topic string
	// Key is optional: a nil slice (or whatever the serializer turns into nil) is Kafka's null.
	Key K
	// Value is the payload; a value serialized to nil is a tombstone.
	Value V
	// Headers go along in order; keys may repeat.
	Headers []Header
	// Partition, made by On, wins over every partitioner.
	Partition Partition
	// Timestamp has millisecond resolution on the wire and must not lie before 1970.
	Timestamp time.Time
}

// Header is one header of a record (KIP-82).
type Header struct {
	Key string
	// Value may be nil, which Kafka keeps apart from empty.
	Value []byte
}

// Partition is a record's wish for a partition. The zero value is "not chosen".
type Partition struct {
	number int32
	chosen bool
}

// On asks for partition n of the record's topic. A negative n is refused by Send.
func On(n int32) Partition { return Partition{number: n, chosen: true} }

// Get returns the partition asked for and whether one was.
func (p Partition) Get() (n int32, chosen bool) { return p.number, p.chosen }

// RecordMetadata says where a record ended.
type RecordMetadata struct {
	// Topic is the record's topic.
	Topic string
	// Partition is the partition it was sent to, or -1 when the record failed before one was chosen.
	Partition int32
	// Offset is the record's offset in the partition. It is -1 when unknown: with acks=0, when the record failed, or
	// when a broker said that it had the batch already but no longer knew where.
	Offset int64
	// Timestamp is the record's own or, with message.timestamp.type=LogAppendTime, the broker's. It is the zero time when unknown.
	Timestamp time.Time
	// KeySize and ValueSize are the serialized sizes in bytes, -1 for null.
	KeySize, ValueSize int32
}

// HasOffset reports whether the offset is known.
func (m RecordMetadata) HasOffset() bool { return m.Offset >= 0 }

// Callback hears how one record ended: err is nil exactly when the broker has it (with acks=0: when it was written to
// the connection). Callbacks of one partition run in the order in which brokers answer, which is the order of the records,
// on the producer's delivery goroutine; one that blocks holds up the others. Only a broker can change that order, as with
// Java, when it acknowledges a batch before an older one: without idempotence and with several requests in flight, or
// after it wrote a batch and answered with an error. The order in the log does not suffer.
//
// A callback may send. It must not wait for the outcome of what it sends, nor of anything else that is on its way, since
// that comes behind it: Flush and SendSync are refused there, Future.Wait would last until its context ends.
//
// A record refused inside Send is called back on the caller's goroutine before Send returns.
type Callback func(md RecordMetadata, err error)
