package accumulator

import (
	"context"
	"fmt"
	"testing"
	"time"

	"linger/internal/clock"
	"linger/internal/invariant"
)

// watched counts who reads the clock.
type watched struct {
	clock.Clock
	reads *int
}

func (w watched) Now() clock.Instant           { *w.reads++; return w.Clock.Now() }
func (w watched) WallMs() int64                { *w.reads++; return w.Clock.WallMs() }
func (w watched) Both() (clock.Instant, int64) { *w.reads++; return w.Clock.Both() }

// TUNE-13: a record that an open batch has room for costs no allocation, no look at a clock, no memory of the pool and no word to
// the sender, whoever chooses its partition.
func TestARecordForAnOpenBatchIsBytesInMemoryOnly(t *testing.T) {
	for _, partition := range []int32{AnyPartition, 0} {
		reads, nudges := 0, 0
		f := newFixture(t, setup{
			batchSize: 1 << 20, memory: 4 << 20, linger: 1e9, nudge: func() { nudges++ },
			watch: func(c clock.Clock) clock.Clock { return watched{c, &reads} },
		})
		f.setCluster([]int32{1}, nil, nil)
		e := &Entry{TimestampMs: 1700000000000, Value: make([]byte, 100)}
		wakes := 0
		add := func() {
			r, err := f.acc.Append(context.Background(), f.topic, partition, e, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if r.Wake {
				wakes++
			}
		}
		add() // opens the batch
		if reads == 0 || wakes != 1 {
			t.Errorf("the record that opens the batch: %d looks at the clock, %d wake-ups", reads, wakes)
		}
		reads, nudges, wakes = 0, 0, 0
		before := f.pool.Available()
		allocs := testing.AllocsPerRun(2000, add)
		if invariant.Enabled {
			allocs = 0 // the race detector allocates
		}
		if allocs != 0 || reads != 0 || nudges != 0 || wakes != 0 || f.pool.Available() != before {
			t.Errorf("partition %d: %v allocations a record; %d looks at the clock, %d nudges, %d wake-ups, %d bytes of the pool for all", partition,
				allocs, reads, nudges, wakes, before-f.pool.Available())
		}
		for _, b := range f.drain(1, 1<<30) {
			f.finish(b, 0)
		}
	}
}

// BenchmarkAppend is the path of a record whose batch has room, a batch change every 150 records included: what is
// drained is freed at once.
func BenchmarkAppend(b *testing.B) {
	for _, partition := range []int32{AnyPartition, 0} {
		b.Run(fmt.Sprintf("partition=%d", partition), func(b *testing.B) {
			f := newFixture(b, setup{batchSize: 16384, linger: 1e9})
			f.setCluster([]int32{1, 1, 2, 2}, nil, nil)
			e := &Entry{TimestampMs: 1700000000000, Value: make([]byte, 100)}
			b.ReportAllocs()
			var out []*Batch
			for b.Loop() {
				r, err := f.acc.Append(context.Background(), f.topic, partition, e, 0)
				if err != nil {
					b.Fatal(err)
				}
				if r.Wake {
					f.sched.Refresh(0)
					for _, node := range f.sched.Ready(0, nil) {
						out = f.sched.Drain(0, node, 1<<20, nil, out[:0])
						for _, batch := range out {
							f.finish(batch, 0)
						}
					}
				}
			}
		})
	}
}

// BenchmarkAppendRoom never fills a batch: the bare fast path, a memory operation of well below a microsecond (TUNE-13).
func BenchmarkAppendRoom(b *testing.B) {
	f := newFixture(b, setup{batchSize: 64 << 20, memory: 256 << 20, linger: 1e9})
	f.setCluster([]int32{1}, nil, nil)
	e := &Entry{TimestampMs: 1700000000000, Value: make([]byte, 100)}
	b.ReportAllocs()
	for b.Loop() {
		if r, err := f.acc.Append(context.Background(), f.topic, AnyPartition, e, 0); err != nil {
			b.Fatal(err)
		} else if r.BatchFull {
			b.StopTimer()
			for _, batch := range f.drain(1, 1<<30) {
				f.finish(batch, 0)
			}
			b.StartTimer()
		}
	}
}
