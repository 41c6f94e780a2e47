package partition

import "slices"

// LoadTable is an immutable table of weights: the longer a partition's queue, the smaller its weight. It lives in a
// Sticky; read it with Sticky.Load for display.
type LoadTable struct {
	// Total weighs all partitions that were not left out.
	Total Frequencies
	// InRack weighs those led from the client's rack; empty when there are none or the choice is not rack-aware.
	InRack Frequencies
	// RackAware says which of the two it was.
	RackAware bool
}

// Frequencies is a cumulative table: partition Partitions[i] is drawn by numbers from Cumulative[i-1] (0 for the first)
// up to but not including Cumulative[i]. Both slices are equally long and never written again.
type Frequencies struct {
	Cumulative []int32
	Partitions []int32
}

// pick finds the partition that random (not negative) falls on: the first entry above random modulo the total.
func (t *LoadTable) pick(random int32) int32 {
	f := &t.Total
	if len(t.InRack.Cumulative) > 0 {
		f = &t.InRack
	}
	r := random % f.Cumulative[len(f.Cumulative)-1]
	// The table ascends strictly (every weight is at least 1), so the first entry above r is where r+1 would be put.
	at, _ := slices.BinarySearch(f.Cumulative, r+1)
	return f.Partitions[at]
}

// A loadBuilder makes tables in memory it reuses: the sender builds one per topic and ready check, and many of them equal
// the table already in force. Memory for those that don't is made for several tables at a time.
type loadBuilder struct {
	total, inRack Frequencies

	tables  []LoadTable // not given away yet
	numbers []int32     // too
}

const (
	tablesAtOnce  = 4   // a table in force keeps the others that were made with it
	numbersAtOnce = 256 // for tables of up to an eighth of them; larger ones are made one by one
)

// table is what was built last, for good. What it has in common with old is shared with it.
func (b *loadBuilder) table(old *LoadTable, rackAware bool) *LoadTable {
	var t *LoadTable
	if len(b.total.Partitions) > numbersAtOnce/8 {
		t = new(LoadTable)
	} else {
		if len(b.tables) == 0 {
			b.tables = make([]LoadTable, tablesAtOnce)
		}
		t, b.tables = &b.tables[0], b.tables[1:]
	}
	if old == nil {
		old = t
	}
	t.Total, t.InRack, t.RackAware = b.keep(&b.total, &old.Total), b.keep(&b.inRack, &old.InRack), rackAware
	return t
}

func (b *loadBuilder) keep(f, old *Frequencies) Frequencies {
	return Frequencies{b.keepNumbers(f.Cumulative, old.Cumulative), b.keepNumbers(f.Partitions, old.Partitions)}
}

func (b *loadBuilder) keepNumbers(list, old []int32) []int32 {
	n := len(list)
	switch {
	case slices.Equal(list, old):
		return old
	case n > numbersAtOnce/8:
		return slices.Clone(list)
	case len(b.numbers) < n:
		b.numbers = make([]int32, numbersAtOnce)
	}
	kept := b.numbers[:n:n]
	b.numbers = b.numbers[n:]
	copy(kept, list)
	return kept
}

// build computes the table for the first length of the given queues, or reports false for a uniform choice: when queues
// is nil (not every partition has a queue yet, or adaptive choice is off), when all were left out, or when all queues are
// equal and none was left out, as that of a single partition is (in Java: BuiltInPartitioner.updatePartitionLoadStats).
func (b *loadBuilder) build(queues, partitions []int32, racks []string, length int, rackAware bool, rack string) bool {
	if length < 1 {
		return false
	}
	used := queues[:length]
	longest, allEqual := used[0], true
	for _, q := range used[1:] {
		allEqual = allEqual && q == used[0]
		longest = max(longest, q)
	}
	if allEqual && length == len(queues) {
		return false
	}
	b.total.reset()
	for i, q := range used {
		b.total.add(partitions[i], longest+1-q)
	}
	b.inRack.reset()
	if rackAware && rack != "" {
		b.foldRack(used, partitions, racks, rack)
	}
	return true
}

// foldRack weighs the queues of one rack against the longest of that rack.
func (b *loadBuilder) foldRack(queues, partitions []int32, racks []string, rack string) {
	longest, any := int32(0), false
	for i, q := range queues {
		if racks[i] == rack && (!any || q > longest) {
			longest, any = q, true
		}
	}
	for i, q := range queues {
		if racks[i] == rack {
			b.inRack.add(partitions[i], longest+1-q)
		}
	}
}

func (f *Frequencies) reset() { f.Cumulative, f.Partitions = f.Cumulative[:0], f.Partitions[:0] }

func (f *Frequencies) add(partition, weight int32) {
	if n := len(f.Cumulative); n > 0 {
		weight += f.Cumulative[n-1]
	}
	f.Cumulative = append(f.Cumulative, weight)
	f.Partitions = append(f.Partitions, partition)
}

func (f *Frequencies) equal(o *Frequencies) bool {
	return slices.Equal(f.Cumulative, o.Cumulative) && slices.Equal(f.Partitions, o.Partitions)
}
