package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"linger"
	"linger/cmd/linger/perf"
)

// perfCommand measures the producer: the flags and the line it prints are those of the comparison in bench.
func perfCommand() *cobra.Command {
	w := perf.Default()
	c := &cobra.Command{
		Use: "perf", Short: "Measure the producer and print one line of JSON", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := w.Validate(); err != nil {
				return &usageError{err}
			}
			quiet := linger.WithLogger(slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelError})))
			res, err := measure(cmd.Context(), w, perf.OpenLinger(quiet))
			if err != nil {
				res.Error = err.Error()
			}
			res.Client, res.Version = "linger", linger.Version
			line, jsonErr := json.Marshal(res)
			if jsonErr != nil {
				return jsonErr
			}
			fmt.Fprintln(cmd.OutOrStdout(), string(line))
			if err != nil {
				return explain(err, w.Bootstrap)
			}
			if res.Failed > 0 {
				return fmt.Errorf("%d records failed", res.Failed)
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&w.Bootstrap, "bootstrap", w.Bootstrap, "bootstrap servers, host:port separated by commas")
	f.StringVar(&w.Topic, "topic", w.Topic, "topic to produce to")
	f.IntVar(&w.Records, "records", w.Records, "measured records")
	f.IntVar(&w.Warmup, "warmup", w.Warmup, "records sent and acknowledged before measuring")
	f.IntVar(&w.RecordSize, "record-size", w.RecordSize, "value size in bytes")
	f.IntVar(&w.KeyCardinality, "key-cardinality", w.KeyCardinality, "distinct keys (0: null key)")
	f.StringVar(&w.Acks, "acks", w.Acks, "all, 1 or 0")
	f.BoolVar(&w.Idempotence, "idempotence", w.Idempotence, "idempotent producer")
	f.StringVar(&w.Compression, "compression", w.Compression, "none, gzip, snappy, lz4 or zstd")
	f.IntVar(&w.BatchSize, "batch-size", w.BatchSize, "batch.size in bytes")
	f.IntVar(&w.LingerMs, "linger-ms", w.LingerMs, "linger.ms in milliseconds")
	f.IntVar(&w.BufferMemory, "buffer-memory", w.BufferMemory, "buffer.memory in bytes")
	f.IntVar(&w.MaxInFlight, "max-in-flight", w.MaxInFlight, "max.in.flight.requests.per.connection")
	f.Float64Var(&w.Rate, "rate", w.Rate, "records per second, open loop (0: as fast as possible)")
	f.IntVar(&w.Goroutines, "goroutines", w.Goroutines, "concurrent senders")
	f.StringVar(&w.Payload, "payload", w.Payload, "random or json")
	f.StringVar(&w.CPUProfile, "cpuprofile", "", "file for a CPU profile of the measured part")
	return c
}

// measure runs the workload until it is through or ctx ends. An interrupted one is left to the end of the process: its
// records are of no use to anybody.
func measure(ctx context.Context, w perf.Workload, open func(*perf.Run) (perf.Client, error)) (res perf.Result, err error) {
	type outcome struct {
		res perf.Result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		res, err := perf.NewRun(w).Measure(open)
		done <- outcome{res, err}
	}()
	select {
	case o := <-done:
		return o.res, o.err
	case <-ctx.Done():
		return res, fmt.Errorf("interrupted (%w)", ctx.Err())
	}
}
