//go:build unix

package kafkatest

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"linger/lingertest/kafka/readback"
)

// kcatFormat frames each record by length, so that keys and values come out as they are, and null (length -1) differs from
// empty. Headers are text: "key=value,key=value".
const kcatFormat = `%p %o %T %K %S %h\n%k%s\n`

// Kcat returns every record of the topic that is in the log now, sorted by partition and offset, read with kcat
// (librdkafka) from the beginning: also those of aborted transactions. Producer ids are left out. Headers come out
// right where no key and no value holds a comma, an equals sign in a key, or a newline.
func Kcat(tb testing.TB, c *Cluster, topic string) []Rec {
	tb.Helper()
	return kcat(tb, c, topic, "read_uncommitted")
}

// KcatCommitted is Kcat with isolation level read_committed.
func KcatCommitted(tb testing.TB, c *Cluster, topic string) []Rec {
	tb.Helper()
	return kcat(tb, c, topic, "read_committed")
}

func kcat(tb testing.TB, c *Cluster, topic, isolation string) []Rec {
	tb.Helper()
	path, err := exec.LookPath("kcat")
	if err != nil {
		tb.Fatal("kafkatest: kcat is not on the PATH; it is one of the readers that check what the producer wrote. On Debian: apt-get install kcat")
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(tb.Context(), path, "-C", "-b", c.Bootstrap(), "-t", topic, "-o", "beginning", "-e", "-q",
		"-X", "isolation.level="+isolation, "-X", "check.crcs=true", "-f", kcatFormat)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		tb.Fatalf("kafkatest: kcat: %v\n%s", err, tail(stderr.Bytes(), 20))
	}
	recs, err := parseKcat(stdout.Bytes())
	if err != nil {
		tb.Fatalf("%v\n%s", err, tail(stderr.Bytes(), 20))
	}
	return recs
}

// parseKcat reads what kcatFormat prints.
func parseKcat(out []byte) ([]Rec, error) {
	var recs []Rec
	for len(out) > 0 {
		line, rest, _ := bytes.Cut(out, []byte("\n"))
		f := strings.SplitN(string(line), " ", 6)
		if len(f) != 6 {
			return nil, fmt.Errorf("kafkatest: kcat printed %q", line)
		}
		var n [5]int64
		for i := range n {
			v, err := strconv.ParseInt(f[i], 10, 64)
			if err != nil {
				return nil, fmt.Errorf("kafkatest: kcat printed %q: %w", line, err)
			}
			n[i] = v
		}
		r := Rec{Partition: int32(n[0]), Offset: n[1], TimestampMs: n[2]}
		var ok1, ok2 bool
		r.Key, rest, ok1 = take(rest, n[3])
		r.Value, rest, ok2 = take(rest, n[4])
		if !ok1 || !ok2 || len(rest) == 0 || rest[0] != '\n' {
			return nil, errors.New("kafkatest: kcat's output ends in the middle of a record, or a header holds a newline")
		}
		out = rest[1:]
		if f[5] != "" {
			for h := range strings.SplitSeq(f[5], ",") {
				key, value, _ := strings.Cut(h, "=")
				r.Headers = append(r.Headers, Header{Key: key, Value: kcatHeaderValue(value)})
			}
		}
		recs = append(recs, r)
	}
	readback.Sort(recs)
	return recs, nil
}

// kcatHeaderValue reads a header's value, of which kcat prints null as the word NULL.
func kcatHeaderValue(s string) []byte {
	if s == "NULL" {
		return nil
	}
	return []byte(s)
}

// take cuts n bytes off b; n is -1 for null.
func take(b []byte, n int64) (field, rest []byte, ok bool) {
	if n < 0 {
		return nil, b, true
	}
	if n > int64(len(b)) {
		return nil, nil, false
	}
	return bytes.Clone(b[:n:n]), b[n:], true
}
