package bench_test

import (
	"io"
	"log/slog"
	"testing"

	"linger"
	"linger/bench/floor"
	"linger/bench/franz"
	"linger/bench/nullbroker"
	"linger/cmd/linger/perf"
)

// BenchmarkSend is a record's whole way, from Send to its callback, with a null broker in the same process: its time is
// client and broker together. Allocations are the client's: the broker makes none.
func BenchmarkSend(b *testing.B) {
	quiet := linger.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
	for _, client := range []struct {
		name string
		open func(*perf.Run) (perf.Client, error)
	}{{"linger", perf.OpenLinger(quiet)}, {"franz", franz.Open}, {"floor", floor.Open}} {
		b.Run("client="+client.name+"/workload=W1", func(b *testing.B) { send(b, client.open, 6, perf.Default()) })
		keyed := perf.Default()
		keyed.KeyCardinality, keyed.BatchSize = 100_000, 16<<10
		b.Run("client="+client.name+"/workload=W6", func(b *testing.B) { send(b, client.open, 500, keyed) })
	}
}

func send(b *testing.B, open func(*perf.Run) (perf.Client, error), partitions int, w perf.Workload) {
	broker, err := nullbroker.Start(nullbroker.Options{Listen: "127.0.0.1:0", Partitions: partitions})
	if err != nil {
		b.Fatal(err)
	}
	defer broker.Close()
	w.Bootstrap, w.Records = broker.Addr(), b.N
	b.ReportAllocs()
	b.ResetTimer()
	res, err := perf.NewRun(w).Measure(open)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(res.CPUNs, "cpu-ns/record")
	b.ReportMetric(*res.AllocsPerRec, "allocs/record")
	b.ReportMetric(*res.AllocBytes, "B/record")
}
