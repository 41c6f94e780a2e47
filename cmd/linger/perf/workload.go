package perf

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Workload is what is sent and how.
type Workload struct {
	Bootstrap string
	Topic     string
	// Records are measured; Warmup ones are sent and acknowledged before.
	Records, Warmup int
	// RecordSize is a value's size in bytes; KeyCardinality distinct keys of 8 bytes, 0 for null keys.
	RecordSize, KeyCardinality int
	Acks                       string
	Idempotence                bool
	Compression                string
	BatchSize, LingerMs        int
	BufferMemory               int
	MaxInFlight                int
	// Rate is in records a second, 0 for as fast as possible.
	Rate       float64
	Goroutines int
	// Payload is "random" bytes or "json" events.
	Payload string
	// CPUProfile, when not empty, is the file for a profile of the measured part.
	CPUProfile string
}

// Default is the workload without any flag.
func Default() Workload {
	return Workload{
		Bootstrap: "127.0.0.1:9092", Topic: "bench", Records: 1_000_000, Warmup: 100_000, RecordSize: 100, Acks: "all",
		Idempotence: true, Compression: "none", BatchSize: 64 << 10, LingerMs: 5, BufferMemory: 32 << 20, MaxInFlight: 5,
		Goroutines: 1, Payload: "random",
	}
}

// Brokers is the bootstrap list.
func (w *Workload) Brokers() []string { return strings.Split(w.Bootstrap, ",") }

// Linger is LingerMs as a duration.
func (w *Workload) Linger() time.Duration { return time.Duration(w.LingerMs) * time.Millisecond }

// Paced reports whether the load is an open loop.
func (w *Workload) Paced() bool { return w.Rate > 0 }

// Validate refuses what makes no workload.
func (w *Workload) Validate() error {
	if w.Acks == "-1" {
		w.Acks = "all"
	}
	switch {
	case w.Acks != "all" && w.Acks != "1" && w.Acks != "0":
		return fmt.Errorf("--acks=%s: want all, 1 or 0", w.Acks)
	case w.Idempotence && w.Acks != "all":
		return errors.New("--idempotence=true needs --acks=all; add --idempotence=false")
	case w.Records < 1 || w.Goroutines < 1 || w.RecordSize < 1:
		return errors.New("--records, --goroutines and --record-size must be positive")
	case w.Payload != "random" && w.Payload != "json":
		return fmt.Errorf("--payload=%s: want random or json", w.Payload)
	case w.Rate < 0 || w.Warmup < 0 || w.KeyCardinality < 0:
		return errors.New("--rate, --warmup and --key-cardinality must not be negative")
	}
	return nil
}
