package linger_test

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"linger"
	"linger/internal/invariant"
)

// TUNE-13: a record that joins an open batch is told to nobody: the sender's loop takes no turn, however many there are.
func TestRecordsForAnOpenBatchWakeNobody(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.BatchSize(4 << 20))
		warm(t, p)
		mustWait(t, mustSend(t, p, plain("connects"), nil))
		mustSend(t, p, plain("opens the batch"), nil)
		synctest.Wait()
		before, sent := p.Turns(), c.count("Produce")
		for range 10_000 { // at one instant: time passes in a bubble only while all wait
			mustSend(t, p, plain("joins it"), nil)
		}
		synctest.Wait()
		if turns := p.Turns() - before; turns != 0 {
			t.Errorf("%d turns for 10000 records", turns)
		}
		mustFlush(t, p)
		if n := c.count("Produce") - sent; n != 1 {
			t.Errorf("%d requests, want all records in one", n)
		}
	})
}

// BenchmarkAppend is what the application's goroutine pays for a record that joins an open batch, memory being free (TUNE-13).
func BenchmarkAppend(b *testing.B) {
	p := newNullProducer(b, nullBroker{}, linger.Linger(time.Hour), linger.DeliveryTimeout(3*time.Hour), linger.BatchSize(1<<20), linger.BufferMemory(64<<20))
	r := rec{Topic: "t", Value: make([]byte, 100)}
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Send(ctx, r, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// TUNE-14: under pressure the default budget of 32 MiB carries many times as much: it is used to the brim and never beyond, its
// buffers go round instead of new ones being made, nobody runs out of max.block.ms, and a record waits no longer than the broker
// takes for a budget's worth of what stood before it. Once it has run out a far shorter queue stands before most of them.
func TestTheMemoryBudgetCarriesManyTimesItsSize(t *testing.T) {
	budget, batchSize := 32<<20, 256<<10 // the first is buffer.memory's default
	if invariant.Enabled {               // the pool then poisons its free bytes and looks at them one by one
		budget, batchSize = budget/32, batchSize/16
	}
	const (
		size  = 8 << 10
		pause = time.Millisecond // for a request, which is a batch
	)
	n := 8 * budget / size
	if invariant.Enabled {
		n = 3 * budget / size
	}
	synctest.Test(t, func(t *testing.T) {
		p := newNullProducer(t, nullBroker{pause}, linger.BufferMemory(int64(budget)), linger.BatchSize(batchSize), linger.MaxRequestSize(1<<20))
		var peak int64
		var failed int            // of the delivery goroutine
		var waits []time.Duration // its too
		pressed := 0              // sends that waited
		value := make([]byte, size)
		flow := func() {
			for i := range n {
				start := time.Now()
				if _, err := p.Send(t.Context(), rec{Topic: "t", Value: value}, func(_ linger.RecordMetadata, err error) {
					if err != nil {
						failed++
					}
					waits = append(waits, time.Since(start))
				}); err != nil {
					t.Fatal(err)
				}
				if time.Since(start) > 0 { // in a bubble that takes a wait
					pressed++
				}
				if i%7 == 0 {
					peak = max(peak, p.Lent())
				}
			}
			mustFlush(t, p)
		}
		flow() // makes the buffers
		slowest := slices.Max(waits)
		waits = make([]time.Duration, 0, n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		flow()
		runtime.ReadMemStats(&after)

		if made := after.TotalAlloc - before.TotalAlloc; made > uint64(budget/2) && !invariant.Enabled {
			t.Errorf("%d MiB of memory were made for %d MiB of records", made>>20, n*size>>20)
		}
		if peak > int64(budget) || peak < int64(budget*9/10) {
			t.Errorf("at most %d bytes were lent, want the budget of %d to be used up and no more", peak, budget)
		}
		if pressed == 0 {
			t.Error("no send waited: there was no pressure")
		}
		k := p.Counters()
		if failed != 0 || k.RecordsDelivered != int64(2*n) || k.BufferExhausted != 0 {
			t.Errorf("%d records failed, %+v", failed, k)
		}
		if most := time.Duration(budget/batchSize+5) * pause * 11 / 10; slowest > most {
			t.Errorf("a record waited for %v, want %v at most", slowest, most)
		}
		slices.Sort(waits) // of the second flow: 32 closed batches, five in flight, the open one and its send's own wait
		if usual, most := waits[n/2], 48*pause; usual > most {
			t.Errorf("half of the records waited for %v or more, want %v at most", usual, most)
		}
	})
}
