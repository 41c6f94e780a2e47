package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"

	"linger"
	"linger/bench/floor"
	"linger/bench/franz"
	"linger/cmd/linger/perf"
)

// contestant is a client: a built-in one, or a command.
type contestant struct {
	name    string
	command []string // nil for a built-in client
}

type opener = func(*perf.Run) (perf.Client, error)

func builtIn(name string) (opener, bool) {
	switch name {
	case "linger":
		return perf.OpenLinger(linger.WithLogger(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))), true
	case "franz":
		return franz.Open, true
	case "floor":
		return floor.Open, true
	}
	return nil, false
}

// clientMain is a process that runs one client: w is a perf.Workload as JSON, the result one line of JSON.
func clientMain(name, w string, stdout io.Writer) error {
	open, ok := builtIn(name)
	if !ok {
		return fmt.Errorf("there is no client %q", name)
	}
	var load perf.Workload
	if err := json.Unmarshal([]byte(w), &load); err != nil {
		return err
	}
	res, err := perf.NewRun(load).Measure(open)
	res.Client, res.Version = name, version(name)
	if err != nil {
		res.Error = err.Error()
	}
	return json.NewEncoder(stdout).Encode(res)
}

func version(name string) string {
	switch name {
	case "linger":
		return linger.Version
	case "franz":
		info, _ := debug.ReadBuildInfo()
		for _, m := range info.Deps {
			if strings.HasSuffix(m.Path, "/franz-go") {
				return m.Version
			}
		}
	}
	return ""
}

// arguments are the command's for w.
func (c contestant) arguments(self string, w *perf.Workload) ([]string, error) {
	if c.command == nil {
		b, err := json.Marshal(w)
		return []string{self, asClient, c.name, string(b)}, err
	}
	args := append([]string(nil), c.command...)
	for _, f := range []struct {
		name  string
		value any
	}{
		{"bootstrap", w.Bootstrap}, {"topic", w.Topic}, {"records", w.Records}, {"warmup", w.Warmup}, {"record-size", w.RecordSize},
		{"key-cardinality", w.KeyCardinality}, {"acks", w.Acks}, {"idempotence", w.Idempotence}, {"compression", w.Compression},
		{"batch-size", w.BatchSize}, {"linger-ms", w.LingerMs}, {"buffer-memory", w.BufferMemory}, {"max-in-flight", w.MaxInFlight},
		{"rate", w.Rate}, {"goroutines", w.Goroutines}, {"payload", w.Payload},
	} {
		args = append(args, fmt.Sprintf("--%s=%v", f.name, f.value))
	}
	return args, nil
}
