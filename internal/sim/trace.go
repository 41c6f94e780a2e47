package sim

import (
	"fmt"
	"io"
	"strings"
	"time"

	"linger/internal/clock"
)

// trace takes down each change of state: always as a hash, which tells two worlds apart, and as a line of text when
// somebody wants to read.
type trace struct {
	out  io.Writer // nil: nobody reads
	hash uint64
}

// note is one change of state. format holds one %d for each number.
func (t *trace) note(now clock.Instant, who, format string, numbers ...int64) {
	t.mix(uint64(now))
	t.mix(uint64(len(format)))
	for _, n := range numbers {
		t.mix(uint64(n))
	}
	if t.out == nil {
		return
	}
	args := make([]any, len(numbers))
	for i, n := range numbers {
		args[i] = n
	}
	t.line(now, who, fmt.Sprintf(format, args...))
}

// text is note for what has no numbers. It is not part of the hash.
func (t *trace) text(now clock.Instant, who, format string, args ...any) {
	if t.out != nil {
		t.line(now, who, fmt.Sprintf(format, args...))
	}
}

func (t *trace) line(now clock.Instant, who, what string) {
	ms := float64(now) / float64(time.Millisecond)
	fmt.Fprintf(t.out, "%12.3f ms  %-9s %s\n", ms, who, strings.ReplaceAll(what, "\n", " "))
}

// mix folds v into the hash (splitmix64's finalizer over a running sum).
func (t *trace) mix(v uint64) {
	z := t.hash + v + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	t.hash = z ^ z>>31
}
