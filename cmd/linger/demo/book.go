package demo

import (
	_ "embed" // the text
	"fmt"
	"strings"

	"linger/internal/partition"
)

//go:embed opticks.txt
var opticks string

// book is a text as an endless row of records: its lines, over and over, each copy numbered.
type book struct {
	lines   []string
	numbers []int // of the lines in the file, from 1
}

func newBook(text string) *book {
	b := &book{}
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimRight(line, "\r"); strings.TrimSpace(line) != "" {
			b.lines = append(b.lines, line)
			b.numbers = append(b.numbers, i+1)
		}
	}
	return b
}

// appendKey appends the key of record i: the line's number, so that all copies of a line share a partition.
func (b *book) appendKey(dst []byte, i int) []byte {
	return fmt.Appendf(dst, "line %d", b.numbers[i%len(b.lines)])
}

// appendValue appends the value of record i, which no other record has.
func (b *book) appendValue(dst []byte, i int) []byte {
	n := i % len(b.lines)
	return fmt.Appendf(dst, "copy %d, line %d: %s", i/len(b.lines)+1, b.numbers[n], b.lines[n])
}

// shares says how many of the first n records go to each partition, by Kafka's hash of their keys.
func (b *book) shares(n, partitions int) []int64 {
	shares := make([]int64, partitions)
	var key []byte
	for i := range min(n, len(b.lines)) {
		key = b.appendKey(key[:0], i)
		copies := n / len(b.lines)
		if i < n%len(b.lines) {
			copies++
		}
		shares[partition.ForKey(key, partitions)] += int64(copies)
	}
	return shares
}
