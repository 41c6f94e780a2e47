package demo

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"linger"
	"linger/cmd/linger/human"
	"linger/lingertest/kafka"
)

// board is what is known of the sending at one moment, and how it is drawn.
type board struct {
	total    int
	shares   []int64 // by partition: how many records it gets in the end
	leaders  []int32
	codec    string
	counters func() linger.Counters
	start    time.Time
	fault    atomic.Pointer[kafka.Injected] // nil before

	sent, acked []atomic.Int64 // by partition
}

// boardColumns is the width of the bars; pictureColumns that of the whole, with some to spare. A line that a terminal breaks
// in two would spoil the redrawing.
const (
	boardColumns   = 20
	pictureColumns = 80
)

func (b *board) sum(counts []atomic.Int64) (n int64) {
	for i := range counts {
		n += counts[i].Load()
	}
	return n
}

// picture is the table for a terminal.
func (b *board) picture() string {
	var s strings.Builder
	fmt.Fprintf(&s, "\n  partition  leader  acknowledged%swaiting\n", strings.Repeat(" ", boardColumns))
	for p := range b.shares {
		acked := b.acked[p].Load()
		waiting := max(0, b.sent[p].Load()-acked)
		fmt.Fprintf(&s, "  %5d      node %d  %s %9s  %7s%s\n", p, b.leaders[p], bar(acked, b.shares[p], boardColumns), human.Count(acked), human.Count(waiting), b.mark(p))
	}
	fmt.Fprintf(&s, "\n  %s\n  %s\n  %s\n", b.progress(), b.batches(), b.bytes())
	return s.String()
}

// line is the same in short, for what is no terminal.
func (b *board) line() string {
	var by []string
	for p := range b.acked {
		by = append(by, human.Count(b.acked[p].Load()))
	}
	return fmt.Sprintf("  %4.1f s  %s\n          by partition: %s\n          %s\n          %s\n",
		time.Since(b.start).Seconds(), b.progress(), strings.Join(by, " | "), b.batches(), b.bytes())
}

func (b *board) progress() string {
	sent, acked := b.sum(b.sent), b.sum(b.acked)
	return fmt.Sprintf("%s of %s records sent, %s acknowledged", human.Count(sent), human.Count(int64(b.total)), human.Count(acked))
}

// batches and bytes are what the producer counts.
func (b *board) batches() string {
	c := b.counters()
	s := fmt.Sprintf("%s batches in %s requests", human.Count(c.Batches), human.Count(c.Requests))
	if c.Batches > 0 {
		s += fmt.Sprintf(", %d records a batch", c.RecordsSent/c.Batches)
	}
	return s
}

func (b *board) bytes() string {
	c := b.counters()
	s := fmt.Sprintf("%s on the wire", human.Bytes(c.Bytes))
	if c.Bytes > 0 {
		s += fmt.Sprintf(" (%s %.1f : 1)", b.codec, float64(c.UncompressedBytes)/float64(c.Bytes))
	}
	return s + fmt.Sprintf("; %s sent again", human.Plural(c.RecordsRetried, "record"))
}

// mark stands beside the partition that has the fault, while it has it.
func (b *board) mark(p int) string {
	fault := b.fault.Load()
	if p != faulty || fault == nil || fault.Hits() >= refusals {
		return ""
	}
	return fmt.Sprintf("  <- refused %d of %d", fault.Hits(), refusals)
}

func bar(n, of int64, columns int) string {
	full := columns
	if of > 0 {
		full = int(min(int64(columns), n*int64(columns)/of))
	}
	return strings.Repeat("#", full) + strings.Repeat(".", columns-full)
}
