package produce

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"linger"
	"linger/cmd/linger/human"
)

// Summary is how a run went.
type Summary struct {
	// Began is false when the topic was not to be had; all else is empty then.
	Began bool
	// Sent are the records handed to the producer, Delivered and Failed how they ended, Skipped the lines that made none.
	Sent, Delivered, Failed, Skipped int64
	// Bytes are keys, values and headers of the delivered records.
	Bytes int64
	Took  time.Duration
	// P50 to Max are from Send to the outcome, of delivered records.
	P50, P95, P99, Max time.Duration
	Counters           linger.Counters

	failures []Failure
	others   int64
	bad      []string
}

// Failure is one reason and the records it took.
type Failure struct {
	Reason string
	Count  int64
	// First names the first of them, file:line.
	First []string
}

// Failures are the reasons of the failed records, in the order in which they came up.
func (s *Summary) Failures() []Failure { return s.failures }

func (r *Run) summary() Summary {
	t := &r.tally
	s := Summary{
		Began:     r.began,
		Delivered: t.delivered.Load(), Failed: t.failed.Load(), Skipped: r.skipped.Load(), Sent: r.sent.Load(),
		Bytes: t.bytes.Load(), Took: time.Since(t.start), Counters: r.p.Counters(),
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	at := func(q float64) time.Duration { return time.Duration(t.latency.ValueAtQuantile(q)) * time.Microsecond }
	s.P50, s.P95, s.P99, s.Max = at(50), at(95), at(99), at(100)
	for _, e := range t.reasons.list {
		f := Failure{Reason: e.text, Count: e.count}
		for _, p := range e.first {
			f.First = append(f.First, r.name(p))
		}
		s.failures = append(s.failures, f)
	}
	s.others = t.reasons.others
	r.turn.Lock()
	defer r.turn.Unlock()
	for _, b := range r.bad {
		s.bad = append(s.bad, b.Error())
	}
	return s
}

// Line is the summary in one line.
func (s *Summary) Line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s delivered, %s in %s: %s records/s, %s/s", human.Plural(s.Delivered, "record"), human.Bytes(s.Bytes), human.Duration(s.Took),
		human.Count(perSecond(s.Delivered, s.Took)), human.Bytes(perSecond(s.Bytes, s.Took)))
	if s.Delivered > 0 {
		fmt.Fprintf(&b, "; latency p50 %s, p95 %s, p99 %s, max %s", human.Duration(s.P50), human.Duration(s.P95), human.Duration(s.P99), human.Duration(s.Max))
	}
	if c := s.Counters; c.Bytes > 0 && c.UncompressedBytes > c.Bytes {
		fmt.Fprintf(&b, "; compressed %.1f : 1", float64(c.UncompressedBytes)/float64(c.Bytes))
	}
	fmt.Fprintf(&b, "; %s, %s failed", human.PluralY(s.Counters.RecordsRetried, "retr"), human.Count(s.Failed))
	if s.Skipped > 0 {
		fmt.Fprintf(&b, "; %s skipped", human.Plural(s.Skipped, "bad line"))
	}
	return b.String()
}

func perSecond(n int64, d time.Duration) int64 {
	return int64(math.Round(float64(n) / max(d.Seconds(), 1e-6)))
}

// Explain writes what was skipped and what failed, reason by reason; nothing when nothing was.
func (s *Summary) Explain(w io.Writer) {
	for _, b := range s.bad {
		fmt.Fprintf(w, "skipped %s\n", b)
	}
	if n := s.Skipped - int64(len(s.bad)); n > 0 {
		fmt.Fprintf(w, "skipped %s more\n", human.Plural(n, "bad line"))
	}
	for _, f := range s.failures {
		fmt.Fprintf(w, "failed: %s: %s\n", human.Plural(f.Count, "record"), f.Reason)
		if len(f.First) > 0 {
			more := ""
			if f.Count > int64(len(f.First)) {
				more = ", …"
			}
			fmt.Fprintf(w, "  at %s%s\n", strings.Join(f.First, ", "), more)
		}
	}
	if s.others > 0 {
		fmt.Fprintf(w, "failed: %s for other reasons\n", human.Plural(s.others, "record"))
	}
}
