package main

import (
	"bytes"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"linger/cmd/linger/perf"
	"linger/lingertest/kafka"
)

// The test binary plays broker and client, as the program does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == asBroker || os.Args[1] == asClient) {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

func made(client string, round int, cpuNs float64) run {
	zero := 0.0
	return run{Workload: "W1", Client: client, Round: round, Result: perf.Result{CPUNs: cpuNs, AllocsPerRec: &zero}}
}

func TestRatioIsTheMedianOfPairsNotOfMedians(t *testing.T) {
	rows := summarize([]run{
		made("linger", 0, 50), made(reference, 0, 100),
		made("linger", 1, 300), made(reference, 1, 1000), // a slow round for both
		made("linger", 2, 60), made(reference, 2, 100),
	})
	if len(rows) != 2 || rows[0].client != "linger" || rows[1].client != reference {
		t.Fatalf("rows %+v, want linger's and the reference's", rows)
	}
	if got := rows[0]; got.ratio != 0.5 || got.cpuNs != 60 || math.Abs(got.spread-250.0/60) > 1e-9 {
		t.Errorf("ratio %v of median %v, spread %v; want 0.5, 60, 4.17", got.ratio, got.cpuNs, got.spread)
	}
	if rows[1].ratio != 1 {
		t.Errorf("the reference's ratio to itself is %v", rows[1].ratio)
	}
}

func TestPacedWorkloadIsComparedByLatency(t *testing.T) {
	mine, theirs := made("linger", 0, 500), made(reference, 0, 100)
	mine.Paced, theirs.Paced = true, true
	mine.Result.LatencyMs.P99, theirs.Result.LatencyMs.P99 = 1, 2
	if got := summarize([]run{mine, theirs})[0].ratio; got != 0.5 {
		t.Errorf("ratio %v, want 0.5", got)
	}
}

func TestFlagsThatMakeNoPlanAreRefused(t *testing.T) {
	for _, args := range [][]string{
		{"--workloads=W99"}, {"--clients=sarama"}, {"--mode=real"}, {"--rounds=0"}, {"--seconds=0"}, {"stray"}, {"--add=x"},
	} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
}

func TestEveryWorkloadIsValid(t *testing.T) {
	for _, w := range append(table(), growth()...) {
		if err := w.Validate(); err != nil || w.partitions < 1 || w.brokers < 1 {
			t.Errorf("%s: %v, %d partitions", w.name, err, w.partitions)
		}
	}
}

func TestComparisonRunsFromEndToEnd(t *testing.T) {
	text := comparison(t)
	for _, want := range []string{"- W6: ", "| W6 | linger |", "|  | franz | 1.00 |", "|  | floor |"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// A run on a running cluster makes a topic, counts what is in it and deletes it.
func TestComparisonRunsOnACluster(t *testing.T) {
	b, err := kafka.Start(kafka.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	text := comparison(t, "--bootstrap-server="+b.Bootstrap(), "--clients=linger,franz")
	for _, want := range []string{"| W6 | linger |", "|  | franz | 1.00 |", "| – |"} { // it does not tell its batches
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	c, err := kgo.NewClient(kgo.SeedBrokers(b.Addrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	resp, err := kmsg.NewPtrMetadataRequest().RequestWith(t.Context(), c)
	if err != nil || len(resp.Topics) != 0 {
		t.Errorf("topics %v are left, error %v", resp.Topics, err)
	}
}

// comparison is the table of a short run with W6.
func comparison(t *testing.T, flags ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := parse(append(flags, "--workloads=W6", "--rounds=1", "--seconds=0.05"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.workloads {
		p.workloads[i].Records = 5000
	}
	var log bytes.Buffer
	runs, err := (&runner{plan: p, self: self, log: &log}).all(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return markdown(summarize(runs))
}
