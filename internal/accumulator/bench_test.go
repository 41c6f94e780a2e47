package accumulator

import (
	"context"
	"fmt"
	"testing"
)

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

// BenchmarkAppendRoom never fills a batch: the bare fast path.
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
