package main

import (
	"fmt"

	"linger/cmd/linger/perf"
)

// workload is a row of the table: perf's, and what the broker is to be.
type workload struct {
	name, title string
	partitions  int
	brokers     int
	perf.Workload
}

// table lists the workloads. Records are about what a second takes; the runs are as long as --seconds says.
func table() []workload {
	const keys = 100_000
	make := func(name, title string, partitions int, change func(*perf.Workload)) workload {
		w := workload{name, title, partitions, 1, perf.Default()}
		if change != nil {
			change(&w.Workload)
		}
		return w
	}
	json := func(codec string) func(*perf.Workload) {
		return func(w *perf.Workload) {
			w.Payload, w.RecordSize, w.KeyCardinality, w.Compression, w.Records = "json", 300, keys, codec, 500_000
		}
	}
	return []workload{
		make("W1", "100 B, null key, 6 partitions, 64 KiB batches", 6, nil),
		make("W2", "1 KiB, 100k keys, 12 partitions", 12, func(w *perf.Workload) {
			w.RecordSize, w.KeyCardinality, w.Records = 1024, keys, 500_000
		}),
		make("W3", "JSON 300 B, 100k keys, 12 partitions, lz4", 12, json("lz4")),
		make("W4", "JSON 300 B, 100k keys, 12 partitions, zstd", 12, json("zstd")),
		make("W5", "200 B, 5,000/s open loop, linger 0", 6, func(w *perf.Workload) {
			w.RecordSize, w.LingerMs, w.Rate, w.Records = 200, 0, 5000, 15_000
		}),
		make("W6", "100 B, 100k keys, 500 partitions, 16 KiB batches", 500, func(w *perf.Workload) {
			w.KeyCardinality, w.BatchSize = keys, 16<<10
		}),
		make("W7", "100 B, null key, 8 goroutines", 6, func(w *perf.Workload) { w.Goroutines = 8 }),
		make("W8", "10 KiB random, null key, 6 partitions", 6, func(w *perf.Workload) {
			w.RecordSize, w.Records = 10<<10, 50_000
		}),
		make("W9", "100 B, null key, acks=1, not idempotent", 6, func(w *perf.Workload) {
			w.Acks, w.Idempotence = "1", false
		}),
	}
}

// growth lists the workloads that show how a record's cost grows with one number: partitions (P), goroutines (G), brokers (B)
// and a record's size (S). All else is W1's but where it says so.
func growth() (all []workload) {
	add := func(kind string, n int, title string, partitions, brokers int, change func(*perf.Workload)) {
		w := workload{fmt.Sprint(kind, n), fmt.Sprintf(title, n), partitions, brokers, perf.Default()}
		change(&w.Workload)
		all = append(all, w)
	}
	for _, n := range []int{1, 10, 100, 1000, 10_000} {
		add("P", n, "100 B, 100k keys, 16 KiB batches, %d partitions", n, 1, func(w *perf.Workload) { w.KeyCardinality, w.BatchSize = 100_000, 16<<10 })
	}
	for _, n := range []int{1, 4, 16, 64} {
		add("G", n, "100 B, null key, %d goroutines", 6, 1, func(w *perf.Workload) { w.Goroutines = n })
	}
	for _, n := range []int{1, 3, 10, 30} {
		add("B", n, "100 B, null key, 60 partitions on %d brokers", 60, n, func(*perf.Workload) {})
	}
	for _, n := range []int{10, 100, 1000, 10_000, 100_000, 1_000_000} {
		add("S", n, "values of %d B, null key", 6, 1, func(w *perf.Workload) {
			w.RecordSize, w.Records = n, min(1_000_000, 500_000_000/n)
		})
	}
	return all
}
