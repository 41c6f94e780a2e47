package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"linger/lingertest/kafka"
)

func TestProduceSendsEveryFormatByteForByte(t *testing.T) {
	nulls := `{"key":null,"value":null}` + "\n"
	for _, c := range []struct {
		name string
		args []string
		text string
		want []kafka.Record
	}{
		{"lines, the default", nil, "a\n\n\xff\x00z", []kafka.Record{{Value: []byte("a")}, {Value: []byte{}}, {Value: []byte("\xff\x00z")}}},
		{"keys and values by TAB", []string{"--format", "keyvalue"}, "k\tv\n\tw\tx\n", []kafka.Record{{Key: []byte("k"), Value: []byte("v")}, {Key: []byte{}, Value: []byte("w\tx")}}},
		{"keys and values by another separator", []string{"-f", "keyvalue", "--key-separator", "::"}, "k::v\n", []kafka.Record{{Key: []byte("k"), Value: []byte("v")}}},
		{"JSON", []string{"-f", "json"}, nulls + `{"key":"ä","value":{"n":1},"headers":{"h":"x","i":null},"timestamp":1769860800000}` + "\n" +
			`{"keyBase64":"/wA=","value":"","headers":[{"key":"b","valueBase64":"AA=="}],"timestamp":"2026-01-31T12:00:00.001Z"}`,
			[]kafka.Record{
				{},
				{Key: []byte("ä"), Value: []byte(`{"n":1}`), TimestampMs: 1769860800000, Headers: []kafka.Header{{Key: "h", Value: []byte("x")}, {Key: "i"}}},
				{Key: []byte{0xff, 0}, Value: []byte{}, TimestampMs: 1769860800001, Headers: []kafka.Header{{Key: "b", Value: []byte{0}}}},
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := startBroker(t, 1)
			r := run(t, c.text, append([]string{"produce", "--bootstrap-server", b.Bootstrap(), "--topic", "t"}, c.args...)...)
			r.want(t, exitOK)
			got := read(t, b)
			for i := range got { // what was not given is the producer's to choose
				if i < len(c.want) && c.want[i].TimestampMs == 0 {
					got[i].TimestampMs = 0
				}
			}
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(kafka.Record{}, "Offset", "ProducerID", "ProducerEpoch")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if r.err != "" {
				t.Errorf("stderr: %s", r.err)
			}
		})
	}
}

func TestProduceFollowsThePartitionOfRecordThenFlag(t *testing.T) {
	b := startBroker(t, 3)
	text := `{"value":"own","partition":2}` + "\n" + `{"value":"flag"}` + "\n"
	run(t, text, "produce", "--bootstrap-server", b.Bootstrap(), "-t", "t", "-f", "json", "--partition", "1").want(t, exitOK)
	got := map[string]int32{}
	for _, r := range read(t, b) {
		got[string(r.Value)] = r.Partition
	}
	if diff := cmp.Diff(map[string]int32{"own": 2, "flag": 1}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProduceReadsFilesAndStandardInputInTheirOrder(t *testing.T) {
	b := startBroker(t, 1)
	one, two := file(t, "one", "1\n2\n"), file(t, "two", "4")
	run(t, "3\n", "produce", "--bootstrap-server", b.Bootstrap(), "-t", "t", one, "-", two).want(t, exitOK)
	if diff := cmp.Diff([]string{"1", "2", "3", "4"}, values(read(t, b))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The summary is one line; the embedded broker is asked what it has.
func TestProduceEmbeddedSumsUpAndReadsBack(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "key %d\tline %d of something that compresses well\n", i%10, i)
	}
	r := run(t, text.String(), "produce", "--embedded", "--partitions", "2", "-t", "t", "-f", "keyvalue", "-X", "compression.type=zstd")
	r.want(t, exitOK)
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if len(lines) != 2 {
		t.Fatalf("stdout has %d lines, want the summary and the read-back:\n%s", len(lines), r.out)
	}
	summary := regexp.MustCompile(`^5,000 records delivered, 2\d\d\.\d kB in [^:]+: [0-9,]+ records/s, [0-9.]+ .?B/s; ` +
		`latency p50 \S+ \S+, p95 \S+ \S+, p99 \S+ \S+, max \S+ \S+; compressed [0-9.]+ : 1; 0 retries, 0 failed$`)
	if !summary.MatchString(lines[0]) {
		t.Errorf("summary: %s", lines[0])
	}
	var p0, p1 int
	back := strings.ReplaceAll(lines[1], ",", "")
	if _, err := fmt.Sscanf(back, "read back from the embedded broker: 5000 records by partition: %d | %d", &p0, &p1); err != nil || p0+p1 != 5000 || p0%500 != 0 {
		t.Errorf("read-back: %s (%v); each of ten keys has 500 records in one partition", lines[1], err)
	}
}

func TestARecordThatFailsIsNamedAndTheOthersAreSent(t *testing.T) {
	b := startBroker(t, 1)
	large := strings.Repeat("x", 3000)
	name := file(t, "in.txt", "a\n"+large+"\nb\n"+large+large+"\n"+large+"\nc\n")
	r := run(t, "", "produce", "--bootstrap-server", b.Bootstrap(), "-t", "t", "--show-failed", "2", "-X", "max.request.size=2000", name)
	r.want(t, exitFailed)
	has(t, "stdout", r.out, "3 records delivered", "3 failed")
	has(t, "stderr", r.err,
		"failed: 3 records: send: MESSAGE_TOO_LARGE, The message is 3086 bytes when serialized which is larger than 2000, which is the value of the max.request.size configuration.\n",
		"  at "+name+":2, "+name+":4, …\n", "linger: 3 of 6 records failed\n")
	if diff := cmp.Diff([]string{"a", "b", "c"}, values(read(t, b))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatTheBrokerRefusesIsGroupedByReason(t *testing.T) {
	b := startBroker(t, 1)
	const invalidRecord = 87
	if _, err := b.FailNext(kafka.Produce, invalidRecord, -1); err != nil {
		t.Fatal(err)
	}
	r := run(t, "a\nb\nc\n"+strings.Repeat("x", 3000), "produce", "--bootstrap-server", b.Bootstrap(), "-t", "t", "-X", "max.request.size=2000")
	r.want(t, exitFailed)
	has(t, "stderr", r.err, "failed: 3 records: send t-0: INVALID_RECORD", "  at stdin:1, stdin:2, stdin:3\n", "failed: 1 record: send: MESSAGE_TOO_LARGE", "  at stdin:4\n")
	has(t, "stdout", r.out, "0 records delivered", "4 failed")
	hasNot(t, "stdout", r.out, "latency")
}

func TestRetriesAreCountedAndNoFailure(t *testing.T) {
	b := startBroker(t, 1)
	const notLeader = 6
	fault, err := b.FailNext(kafka.Produce, notLeader, 2)
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, "a\n", "produce", "--bootstrap-server", b.Bootstrap(), "-t", "t", "-X", "retry.backoff.ms=1")
	r.want(t, exitOK)
	has(t, "stdout", r.out, "1 record delivered", "2 retries, 0 failed")
	if fault.Hits() != 2 || len(read(t, b)) != 1 {
		t.Errorf("%d faults met, %d records in the log", fault.Hits(), len(read(t, b)))
	}
}

func TestABadLineEndsTheRunAndLosesNothingBeforeIt(t *testing.T) {
	b := startBroker(t, 1)
	name := file(t, "in.jsonl", `{"value":"a"}`+"\n"+`{"value":"b"`+"\n"+`{"value":"c"}`+"\n")
	args := []string{"produce", "--bootstrap-server", b.Bootstrap(), "-t", "t", "-f", "json", name}
	r := run(t, "", args...)
	r.want(t, exitFailed)
	has(t, "stderr", r.err, "linger: "+name+":2: not JSON: the line ends inside the object", "--skip-bad")
	has(t, "stdout", r.out, "1 record delivered")
	if diff := cmp.Diff([]string{"a"}, values(read(t, b))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	r = run(t, "", append(args, "--skip-bad")...)
	r.want(t, exitOK)
	has(t, "stderr", r.err, "skipped "+name+":2: not JSON")
	has(t, "stdout", r.out, "2 records delivered", "1 bad line skipped")
	if diff := cmp.Diff([]string{"a", "a", "c"}, values(read(t, b))); diff != "" {
		t.Errorf("with --skip-bad (-want +got):\n%s", diff)
	}
}

func TestSkippedLinesAreNamedUpToALimit(t *testing.T) {
	r := run(t, "bad\na\tb\nworse\nworst\n", "produce", "--embedded", "-t", "t", "-f", "keyvalue", "--skip-bad", "--show-failed", "1")
	r.want(t, exitOK)
	has(t, "stderr", r.err, "skipped stdin:1: no separator", "skipped 2 bad lines more\n")
	hasNot(t, "stderr", r.err, "stdin:3")
	has(t, "stdout", r.out, "1 record delivered", "3 bad lines skipped")
}

func TestAPartitionThatIsNotThereFailsItsRecordAlone(t *testing.T) {
	b := startBroker(t, 3)
	r := run(t, `{"value":"a","partition":3}`+"\n"+`{"value":"b","partition":2}`, "produce", "--bootstrap-server", b.Bootstrap(), "-t", "t", "-f", "json")
	r.want(t, exitFailed)
	has(t, "stderr", r.err, "failed: 1 record: there is no partition 3: topic t has 3, numbered from 0\n  at stdin:1\n")
	if diff := cmp.Diff([]string{"b"}, values(read(t, b))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r = run(t, "a\n", "produce", "--bootstrap-server", b.Bootstrap(), "-t", "t", "--partition", "3")
	r.want(t, exitFailed)
	has(t, "stderr", r.err, "linger: there is no partition 3")
}

// Without a limit each of these would wait for ever, or max.block.ms for each line. Three seconds are time enough to hear why.
func TestARunThatCannotBeginSaysWhatToDo(t *testing.T) {
	b := startBroker(t, 1)
	for _, c := range []struct {
		name, servers, topic string
		want                 []string
	}{
		{"no broker", "127.0.0.1:1", "t", []string{"Topic t not present in metadata after 3000 ms.", "connection refused", "No broker could be reached at 127.0.0.1:1. Is Kafka running there?"}},
		{"no topic", b.Bootstrap(), "other", []string{"UNKNOWN_TOPIC_OR_PARTITION", "The brokers at " + b.Bootstrap() + " do not have this topic", "Create it"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, "a\nb\n", "produce", "--bootstrap-server", c.servers, "-t", c.topic, "-X", "max.block.ms=3000")
			r.want(t, exitFailed)
			has(t, "stderr", r.err, c.want...)
			if r.out != "" {
				t.Errorf("a summary of nothing: %s", r.out)
			}
			if n := strings.Count(r.err, "could not be established"); n > 1 {
				t.Errorf("the same warning %d times", n)
			}
		})
	}
}

// endless is standard input that never ends: the test writes what the command reads.
func endless(t *testing.T) (in io.Reader, write func(string)) {
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	return r, func(text string) {
		if _, err := io.WriteString(w, text); err != nil {
			t.Error(err)
		}
	}
}

func TestAnInterruptEndsInOrderWhileTheInputIsSilent(t *testing.T) {
	b := startBroker(t, 1)
	in, write := endless(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan result)
	go func() { done <- lingerWith(ctx, in, "produce", "--bootstrap-server", b.Bootstrap(), "-t", "t") }()
	write("a\nb\nc\n")
	for len(read(t, b)) < 3 { // each look asks the broker
	}
	cancel()
	r := <-done
	r.want(t, exitInterrupted)
	has(t, "stdout", r.out, "3 records delivered", "0 failed")
	has(t, "stderr", r.err, "linger: stopped after stdin:3: interrupted")
}

func TestAnInterruptGivesRecordsUnderWayALimitedTime(t *testing.T) {
	b := startBroker(t, 1)
	const notLeader = 6
	fault, err := b.FailNext(kafka.Produce, notLeader, -1)
	if err != nil {
		t.Fatal(err)
	}
	in, write := endless(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan result)
	go func() {
		done <- lingerWith(ctx, in, "produce", "--bootstrap-server", b.Bootstrap(), "-t", "t", "--shutdown-timeout", "50ms")
	}()
	write("a\nb\n")
	if err := fault.Wait(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	cancel()
	r := <-done
	r.want(t, exitInterrupted)
	has(t, "stdout", r.out, "0 records delivered")
	has(t, "stderr", r.err, "failed: ", "at stdin:1", "interrupted")
}

// What is buffered keeps its memory until delivery.timeout.ms, long after the next record has given up.
func TestARunEndsWhenTheBrokerTakesNothing(t *testing.T) {
	t.Parallel()
	b := startBroker(t, 1)
	const notLeader = 6
	if _, err := b.FailNext(kafka.Produce, notLeader, -1); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat(strings.Repeat("x", 999)+"\n", 1000)
	r := run(t, text, "produce", "--bootstrap-server", b.Bootstrap(), "-t", "t", "-X", "buffer.memory=40000",
		"-X", "max.block.ms=1500", "-X", "linger.ms=0", "-X", "request.timeout.ms=300", "-X", "delivery.timeout.ms=6000")
	r.want(t, exitFailed)
	has(t, "stderr", r.err, "stopped after stdin:", "no memory came free for max.block.ms")
	has(t, "stdout", r.out, "0 records delivered")
	if m := regexp.MustCompile(`(\d+) of (\d+) records failed`).FindStringSubmatch(r.err); m == nil || m[1] != m[2] || len(m[1]) > 2 {
		t.Errorf("want some tens of records failed and the rest not tried; stderr:\n%s", r.err)
	}
}

// told calls heard once the text that was written holds a part.
type told struct {
	buffer
	part  string
	heard func()
}

func (b *told) Write(p []byte) (int, error) {
	n, err := b.buffer.Write(p)
	if strings.Contains(b.String(), b.part) {
		b.heard()
	}
	return n, err
}

func TestTheBarIsDrawnOnDemandAndWipedAway(t *testing.T) {
	b := startBroker(t, 1)
	const notLeader = 6
	fault, err := b.FailNext(kafka.Produce, notLeader, -1)
	if err != nil {
		t.Fatal(err)
	}
	name := file(t, "in.txt", "a\nb\n")
	args := []string{"produce", "--bootstrap-server", b.Bootstrap(), "-t", "t", name}
	var out buffer
	errOut := told{part: "2 sent, 0 delivered", heard: sync.OnceFunc(fault.Remove)} // it is refused until it was drawn
	status := execute(t.Context(), append(args, "--progress", "always"), strings.NewReader(""), &out, &errOut)
	r := result{status, out.String(), errOut.String()}
	r.want(t, exitOK)
	has(t, "stderr", r.err, "2 sent, 0 delivered", "[", "\x1b[")
	hasNot(t, "stdout", r.out, "\x1b")
	if r = run(t, "", args...); r.err != "" {
		t.Errorf("without a terminal: %q", r.err)
	}
}

func TestOptionsOfFilesAreOverruledByTheCommandLine(t *testing.T) {
	b := startBroker(t, 1)
	// A Java client's file: class names that only Java has stand for what this program does itself.
	name := file(t, "client.properties", "bootstrap.servers=localhost:1\nmax.request.size=10\nkey.serializer=org.apache.kafka.common.serialization.StringSerializer\n")
	run(t, "longer than ten bytes", "produce", "--config", name, "--bootstrap-server", b.Bootstrap(), "-X", "max.request.size=1000", "-t", "t").want(t, exitOK)
	r := run(t, "longer than ten bytes", "produce", "--config", name, "--bootstrap-server", b.Bootstrap(), "-t", "t")
	r.want(t, exitFailed)
	if n := len(read(t, b)); n != 1 {
		t.Errorf("%d records", n)
	}
	if slices.Contains(values(read(t, b)), "") {
		t.Error("an empty record")
	}
}
