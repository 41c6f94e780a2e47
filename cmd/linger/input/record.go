package input

import (
	"fmt"
	"time"

	"linger"
)

// AnyPartition stands for a record that names no partition.
const AnyPartition int32 = -1

// Record is one record of the input. Its slices belong to the Reader and are good until the next call of Next.
type Record struct {
	// Key and Value are nil for Kafka's null.
	Key, Value []byte
	Headers    []linger.Header
	// Partition is AnyPartition unless the record names one.
	Partition int32
	// Timestamp is zero unless the record has one.
	Timestamp time.Time
	// Line is where the record stood, from 1.
	Line int
}

// Size is what the record has to say in bytes: key, value and headers.
func (r *Record) Size() int {
	n := len(r.Key) + len(r.Value)
	for i := range r.Headers {
		n += len(r.Headers[i].Key) + len(r.Headers[i].Value)
	}
	return n
}

// BadLine is a line that makes no record. Reading may go on behind it.
type BadLine struct {
	File string
	Line int
	// Reason says what is wrong and what to write instead.
	Reason string
}

// Error is file:line and the reason.
func (e *BadLine) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason) }

// Format is how a line is read.
type Format uint8

const (
	// Lines: the whole line is the value, the key is null.
	Lines Format = iota
	// KeyValue: the key, a separator, the value. The first separator counts.
	KeyValue
	// JSON: an object with key, value, headers, partition and timestamp.
	JSON
)

// FormatNames are the names of the formats, in their order.
func FormatNames() []string { return []string{"lines", "keyvalue", "json"} }

// String is the format's name.
func (f Format) String() string { return FormatNames()[f] }

// ParseFormat finds a format by its name.
func ParseFormat(name string) (Format, error) {
	for i, n := range FormatNames() {
		if n == name {
			return Format(i), nil
		}
	}
	return 0, fmt.Errorf("there is no format %q; the formats are lines, keyvalue and json", name)
}
