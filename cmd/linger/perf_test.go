package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linger/cmd/linger/perf"
)

// peersKeys are the keys of the line that the other clients of the comparison print.
var peersKeys = strings.Fields("client version records failed bytes wall_s user_s sys_s cpu_ns_per_record records_per_s mb_per_s " +
	"allocs_per_record alloc_bytes_per_record max_rss_mb gc_pause_total_ms latency_ms latency_samples")

func TestPerfPrintsOneLineWithEveryKeyOfThePeers(t *testing.T) {
	b := startBroker(t, 3)
	r := run(t, "", "perf", "--bootstrap", b.Bootstrap(), "--topic", "t", "--records", "6400", "--warmup", "100", "--record-size", "50", "--key-cardinality", "10")
	r.want(t, exitOK)
	if strings.Count(r.out, "\n") != 1 {
		t.Errorf("not one line:\n%s", r.out)
	}
	var line map[string]any
	if err := json.Unmarshal([]byte(r.out), &line); err != nil {
		t.Fatal(err)
	}
	got := slices.Collect(maps.Keys(line))
	for _, key := range peersKeys {
		if !slices.Contains(got, key) {
			t.Errorf("no %q in %s", key, r.out)
		}
	}
	latency, _ := line["latency_ms"].(map[string]any)
	if diff := cmp.Diff([]string{"max", "p50", "p95", "p99", "p999"}, slices.Sorted(maps.Keys(latency))); diff != "" {
		t.Errorf("latency (-want +got):\n%s", diff)
	}
	for key, want := range map[string]any{"client": "linger", "records": 6400.0, "failed": 0.0, "bytes": 6400.0 * 58, "latency_samples": 100.0} {
		if line[key] != want {
			t.Errorf("%s is %v, want %v", key, line[key], want)
		}
	}
	if n := len(read(t, b)); n != 6500 {
		t.Errorf("%d records in the log, want the warm-up's and the measured ones", n)
	}
}

func TestPerfEndsWithItsInterruptAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	waits, ended := make(chan struct{}), make(chan struct{})
	open := func(*perf.Run) (perf.Client, error) { // a topic that is waited for
		cancel()
		<-waits
		close(ended)
		return nil, errors.New("no broker answers")
	}
	if _, err := measure(ctx, perf.Default(), open); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("got %v", err)
	}
	close(waits)
	<-ended
}
