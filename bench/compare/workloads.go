package main

import "linger/cmd/linger/perf"

// workload is a row of the table: perf's, and what the broker is to be.
type workload struct {
	name, title string
	partitions  int
	perf.Workload
}

// table lists the workloads. Records are about what a second takes; the runs are as long as --seconds says.
func table() []workload {
	const keys = 100_000
	make := func(name, title string, partitions int, change func(*perf.Workload)) workload {
		w := workload{name, title, partitions, perf.Default()}
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
