package accumulator

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"linger/internal/compress"
	"linger/internal/kerr"
	"linger/internal/record"
)

// numbers collects the outcomes of numbered records.
type numbers struct {
	outcomes map[int]Outcome
	order    []int
	twice    []int
}

type numbered struct {
	n  int
	to *numbers
}

func (c numbered) Done(o *Outcome) {
	if _, again := c.to.outcomes[c.n]; again {
		c.to.twice = append(c.to.twice, c.n)
	}
	c.to.outcomes[c.n] = *o
	c.to.order = append(c.to.order, c.n)
}

func newNumbers() *numbers { return &numbers{outcomes: map[int]Outcome{}} }

// sendNumbered appends record n with its number in the first bytes of its value.
func (f *fixture) sendNumbered(to *numbers, partition int32, n, size int, headers []byte) Appended {
	f.tb.Helper()
	value := make([]byte, max(size, 4))
	binary.BigEndian.PutUint32(value, uint32(n))
	e := &Entry{TimestampMs: int64(n), Key: []byte(fmt.Sprint(n)), Value: value, Headers: headers, Callback: numbered{n, to}}
	r, err := f.acc.Append(context.Background(), f.topic, partition, e, 0)
	if err != nil {
		f.tb.Fatal(err)
	}
	return r
}

// contents are the numbers of the batch's records, read from its bytes on the wire.
func contents(tb tester, b *Batch) (ns []int) {
	tb.Helper()
	for _, rec := range recordsOf(tb, b) {
		ns = append(ns, int(binary.BigEndian.Uint32(rec.Value)))
	}
	return ns
}

func recordsOf(tb tester, b *Batch) (recs []record.Record) {
	tb.Helper()
	var wire []byte
	head := make([]byte, record.BatchOverhead)
	b.PutHeader(head)
	wire = append(wire, head...)
	for _, c := range b.Chunks() {
		wire = append(wire, c...)
	}
	read, _, err := record.ReadBatch(wire)
	if err != nil {
		tb.Fatal(err)
	}
	plain, err := compress.Decompress(compress.Type(read.Codec), read.Records, 1<<30)
	if err != nil {
		tb.Fatal(err)
	}
	r := record.NewReader([][]byte{plain}, read.BaseTimestamp, int(read.Count))
	for {
		var rec record.Record
		if !r.Next(&rec) {
			break
		}
		recs = append(recs, rec)
	}
	if r.Err() != nil {
		tb.Fatal(r.Err())
	}
	return recs
}

// TMO-04, TMO-06: what is queued expires in the order of creation, up to the first that has time left.
func TestQueuedBatchesExpireInOrder(t *testing.T) {
	f := newFixture(t, setup{batchSize: 150, deliveryTimeout: 100 * time.Millisecond})
	f.setCluster(leaders4, nil, nil)
	f.send(0, 100)
	f.send(0, 100)
	f.clk.Advance(30 * time.Millisecond)
	f.send(0, 100)
	f.send(1, 100)
	f.clk.Advance(70 * time.Millisecond)
	f.ready()
	if got := f.sched.NextExpiry(); got != at(100) { // ACC-38
		t.Errorf("next expiry %d", got)
	}
	got := f.sched.Expired(f.clk.Now(), nil)
	if len(got) != 2 || got[0].order > got[1].order || got[0].CreatedAt != 0 || got[0].Holder() != HeldByNobody {
		t.Fatalf("expired %v", got)
	}
	if again := f.sched.Expired(f.clk.Now(), nil); len(again) != 0 {
		t.Errorf("expired twice: %v", again)
	}
	if got := f.sched.NextExpiry(); got != at(130) || f.topic.at(0).batches.len() != 1 {
		t.Errorf("next expiry %d, %d batches left", got, f.topic.at(0).batches.len())
	}
	for _, b := range got {
		f.finish(b, -1)
	}
	f.clk.Advance(30 * time.Millisecond)
	if got := f.sched.Expired(f.clk.Now(), nil); len(got) != 2 {
		t.Errorf("%d batches at 130 ms", len(got))
	} else {
		f.finish(got[0], -1)
		f.finish(got[1], -1)
	}
	if f.pool.Available() != f.pool.Total() {
		t.Errorf("%d of %d bytes came back", f.pool.Available(), f.pool.Total())
	}
}

func TestBatchesExpirePartitionByPartitionEachOnce(t *testing.T) {
	f := newFixture(t, setup{batchSize: 150, deliveryTimeout: 100 * time.Millisecond})
	f.setCluster(leaders4, nil, nil)
	f.send(3, 100)
	f.clk.Advance(10 * time.Millisecond)
	f.send(0, 100)
	first := f.drain(1, 1<<20)[0]
	f.clk.Advance(10 * time.Millisecond)
	f.send(0, 100)
	second := f.drain(1, 1<<20)[0]
	f.ready()
	f.clk.Advance(90 * time.Millisecond)
	if got := f.sched.Expired(f.clk.Now(), nil); len(got) != 2 || got[0] != first || got[1].Queue.Partition != 3 {
		t.Errorf("expired %v", partitions(got))
	}
	f.clk.Advance(10 * time.Millisecond)
	if got := f.sched.Expired(f.clk.Now(), nil); len(got) != 1 || got[0] != second {
		t.Errorf("then expired %v", partitions(got))
	}
}

// TMO-02: expiry counts from the creation of the batch, through retries and splits.
func TestExpiryCountsFromTheCreationOfTheBatch(t *testing.T) {
	f := newFixture(t, setup{batchSize: 1000, deliveryTimeout: 100 * time.Millisecond, backoffMs: 1, backoffMaxMs: 1})
	f.setCluster(leaders4, nil, nil)
	f.send(0, 100)
	f.clk.Advance(50 * time.Millisecond)
	b := f.drain(1, 1000)[0]
	f.retry(b)
	f.clk.Advance(49 * time.Millisecond)
	if got := f.sched.Expired(f.clk.Now(), nil); len(got) != 0 || f.sched.DeliveryTimedOut(b, f.clk.Now()) {
		t.Errorf("expired early: %v", got)
	}
	f.clk.Advance(time.Millisecond)
	if got := f.sched.Expired(f.clk.Now(), nil); len(got) != 1 || got[0] != b {
		t.Errorf("expired %v", got)
	}

	f.send(2, 100)
	f.send(2, 100)
	f.clk.Advance(50 * time.Millisecond)
	whole := f.drain(2, 1000)[0]
	f.land(whole)
	f.sched.splitSize = 200
	n := f.sched.Split(whole, f.clk.Now(), func(*Batch) {})
	f.clk.Advance(49 * time.Millisecond)
	if got := f.sched.Expired(f.clk.Now(), nil); n != 2 || len(got) != 0 {
		t.Errorf("of %d pieces %d expired early", n, len(got))
	}
	f.clk.Advance(time.Millisecond)
	if got := f.sched.Expired(f.clk.Now(), nil); len(got) != n {
		t.Errorf("of %d pieces %d expired on time", n, len(got))
	}
}

// ACC-38: the next expiry is right even when batches came back in an order that is not that of their creation.
func TestNextExpiryFollowsTheHeadWhateverTheOrder(t *testing.T) {
	f := newFixture(t, setup{batchSize: 150, deliveryTimeout: 100 * time.Millisecond, backoffMs: 1, backoffMaxMs: 1})
	f.setCluster(leaders4, nil, nil)
	f.send(0, 100)
	older := f.drain(1, 1<<20)[0]
	f.clk.Advance(10 * time.Millisecond)
	f.send(3, 100) // on another node
	f.ready()
	f.clk.Advance(10 * time.Millisecond)
	f.send(0, 100)
	newer := f.drain(1, 1<<20)[0]
	f.retry(older)
	f.retry(newer) // without idempotence it goes in front
	if got := f.sched.NextExpiry(); got != at(110) {
		t.Errorf("next expiry %v with the newer batch in front", got)
	}
	f.clk.Advance(time.Millisecond)
	if got := f.drain(1, 1<<20); len(got) != 1 || got[0] != newer {
		t.Fatalf("drained %v", got)
	}
	if got := f.sched.NextExpiry(); got != at(100) {
		t.Errorf("next expiry %v with the older batch in front", got)
	}
	f.clk.Advance(79 * time.Millisecond)
	if got := f.sched.Expired(f.clk.Now(), nil); len(got) != 1 || got[0] != older {
		t.Errorf("expired %v", got)
	}
}

// TMO-05, B07: the result of an expired batch ends, its memory waits for the request.
func TestMemoryOfAnExpiredBatchWaitsForItsRequest(t *testing.T) {
	f := newFixture(t, setup{batchSize: 500, memory: 500, deliveryTimeout: 100 * time.Millisecond})
	f.setCluster(leaders4, nil, nil)
	ns := newNumbers()
	r := f.sendNumbered(ns, 0, 1, 400, nil)
	b := f.drain(1, 1000)[0]
	written := bytes.Clone(b.Chunks()[0])
	f.clk.Advance(100 * time.Millisecond)
	if got := f.sched.Expired(f.clk.Now(), nil); len(got) != 1 || got[0] != b || b.Holder() != HeldByRequest {
		t.Fatalf("expired %v, held by %d", got, b.Holder())
	}
	if again := f.sched.Expired(f.clk.Now(), nil); len(again) != 0 {
		t.Errorf("reported twice: %v", again)
	}
	c := f.sched.Complete(b, Ending{BaseOffset: -1, LogAppendMs: -1, Err: kerr.ErrTimeout})
	deliver(&c)
	if _, _, err, ok := r.Result.At(0); !ok || !errors.Is(err, kerr.ErrTimeout) {
		t.Errorf("the record's outcome is %v, known %v", err, ok)
	}
	if f.sched.MayFree(b) || f.pool.Available() != 0 {
		t.Error("the memory goes home while the request may still be written")
	}
	if _, err := f.acc.Append(context.Background(), f.topic, 1, entry(400), 0); !errors.Is(err, kerr.ErrBufferExhausted) {
		t.Errorf("another batch got the memory: %v", err)
	}
	if !bytes.Equal(b.Chunks()[0], written) {
		t.Error("the bytes of the request changed")
	}
	f.sched.Landed(b)
	if f.mayFree(b); f.sched.MayFree(b) {
		t.Error("the memory would go home twice")
	}
	f.acc.Free(b)
	if f.pool.Available() != 500 {
		t.Error("the memory did not come home once")
	}
	if f.sched.Incomplete() != 0 || f.sched.NextExpiry() != 1<<63-1 {
		t.Error("the batch is still watched")
	}
}

// A batch that expires with a sealer keeps its memory until the sealer gives it back; one not handed out does not.
func TestMemoryOfAnExpiredBatchWaitsForItsSealer(t *testing.T) {
	for name, handedOut := range map[string]bool{"handed out": true, "not handed out yet": false} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, setup{batchSize: 500, codec: compress.Gzip, deliveryTimeout: 100 * time.Millisecond})
			f.setCluster(leaders4, nil, nil)
			f.send(0, 400)
			f.send(0, 400) // the first is full
			f.ready()
			if handedOut {
				f.handedOut = f.sched.Seals(nil)
			}
			f.clk.Advance(100 * time.Millisecond)
			expired := f.sched.Expired(f.clk.Now(), nil)
			for _, b := range expired {
				c := f.sched.Complete(b, Ending{BaseOffset: -1, Err: kerr.ErrTimeout})
				deliver(&c)
			}
			if free := f.sched.MayFree(expired[0]); free == handedOut {
				t.Fatalf("may be freed: %v", free)
			}
			if handedOut {
				f.seal()
				f.mayFree(expired[0])
			}
			f.acc.Free(expired[0])
			f.acc.Free(f.mayFree(expired[1]))
			if got := f.sched.Seals(nil); len(got) != 0 || f.pool.Available() != f.pool.Total() {
				t.Errorf("%d batches to seal, %d bytes available", len(got), f.pool.Available())
			}
		})
	}
}

// ACC-49: pieces take the place of the batch, with its records in order.
func TestSplitPutsPiecesWhereTheBatchWas(t *testing.T) {
	for _, codec := range []compress.Type{compress.None, compress.Gzip} {
		for name, idempotent := range map[string]bool{"idempotent": true, "not idempotent": false} {
			t.Run(codec.String()+", "+name, func(t *testing.T) {
				f := newFixture(t, setup{batchSize: 500, codec: codec, idempotent: idempotent})
				f.setCluster(leaders4, nil, nil)
				f.topic.ratio.Set(0.2) // with a codec ten records fit
				ns := newNumbers()
				for n := range 4 {
					f.sendNumbered(ns, 0, n, 90, nil)
				}
				b := f.drain(1, 1<<20)[0]
				if codec == compress.None {
					f.sched.splitSize = 300 // as if the batch had been opened under a larger limit
				} else {
					f.sched.splitSize = 350
				}
				f.sendNumbered(ns, 0, 100, 90, nil)
				f.land(b)
				assigned := 0
				n := f.sched.Split(b, 0, func(p *Batch) { assigned += int(p.Stamp.Count) })
				if n != 2 || assigned != 4 || !b.Ended() {
					t.Fatalf("%d pieces with %d records", n, assigned)
				}
				f.acc.Free(f.mayFree(b))
				var got []int
				for range 3 {
					for _, b := range f.drain(1, 1<<20) {
						if b.Attempts != 0 || b.Size() > 350 {
							t.Errorf("a piece of %d bytes with %d attempts", b.Size(), b.Attempts)
						}
						got = append(got, contents(t, b)...)
						f.finish(b, int64(len(got)))
					}
				}
				if !slices.Equal(got, []int{0, 1, 2, 3, 100}) || !slices.Equal(ns.order, got) {
					t.Errorf("sent %v, delivered %v", got, ns.order)
				}
				for n, o := range ns.outcomes {
					if o.Err != nil || o.TimestampMs != int64(n) || o.KeySize != int32(len(fmt.Sprint(n))) || o.ValueSize != 90 {
						t.Errorf("record %d: %+v", n, o)
					}
				}
				if f.pool.Available() != f.pool.Total() {
					t.Errorf("%d of %d bytes came back", f.pool.Available(), f.pool.Total())
				}
			})
		}
	}
}

// B08, ACC-27: pieces carry the charge home, each its part, in whatever way they end.
func TestMemoryComesBackExactlyOnceAfterASplit(t *testing.T) {
	f := newFixture(t, setup{batchSize: 1003, deliveryTimeout: 100 * time.Millisecond})
	f.setCluster(leaders4, nil, nil)
	ns := newNumbers()
	for n := range 20 {
		f.sendNumbered(ns, 0, n, 30, nil)
	}
	b := f.drain(1, 1<<20)[0]
	f.sched.splitSize = 300
	f.land(b)
	n := f.sched.Split(b, 0, func(*Batch) {})
	f.acc.Free(f.mayFree(b))
	if got := f.pool.Total() - f.pool.Available(); got != 1003 {
		t.Errorf("the %d pieces are charged %d bytes", n, got)
	}
	answered, late := f.drain(1, 1<<20)[0], f.drain(1, 1<<20)[0]
	f.finish(answered, 0)
	f.clk.Advance(100 * time.Millisecond)
	for _, p := range f.sched.Expired(f.clk.Now(), nil) {
		c := f.sched.Complete(p, Ending{BaseOffset: -1, Err: kerr.ErrTimeout})
		deliver(&c)
		if f.sched.MayFree(p) {
			f.acc.Free(p)
		}
	}
	if f.pool.Available() == f.pool.Total() {
		t.Error("the piece in flight lost its memory")
	}
	f.land(late)
	f.acc.Free(f.mayFree(late))
	if f.pool.Available() != f.pool.Total() || f.sched.Incomplete() != 0 {
		t.Errorf("%d of %d bytes available, %d incomplete", f.pool.Available(), f.pool.Total(), f.sched.Incomplete())
	}
	if len(ns.outcomes) != 20 || len(ns.twice) != 0 {
		t.Errorf("%d outcomes, twice %v", len(ns.outcomes), ns.twice)
	}
}

// B13: batch.size far above the broker's limit, and one record that alone exceeds it.
func TestSplittingEndsHoweverFarBatchSizeIsAboveTheLimit(t *testing.T) {
	for _, codec := range []compress.Type{compress.None, compress.LZ4} {
		t.Run(codec.String(), func(t *testing.T) {
			const limit, records = 2000, 5000
			f := newFixture(t, setup{batchSize: 8 << 20, memory: 32 << 20, codec: codec, idempotent: true})
			f.setCluster(leaders4, nil, nil)
			ns := newNumbers()
			for n := range records {
				size := 300
				if n == records/2 {
					size = 3000
				}
				f.sendNumbered(ns, 0, n, size, nil)
			}
			requests, offset := 0, int64(0)
			g := &gate{}
			for f.sched.Incomplete() > 0 {
				f.sched.Refresh(0)
				out := f.sched.Drain(0, 1, 1<<30, g, nil)
				if len(out) == 0 && !f.seal() {
					t.Fatal("stuck")
				}
				for _, b := range out {
					requests++
					offset = f.answer(t, b, limit, offset)
				}
			}
			if requests > 2*records {
				t.Errorf("%d requests for %d records", requests, records)
			}
			failed := []int{}
			for n, o := range ns.outcomes {
				if o.Err != nil {
					failed = append(failed, n)
				}
			}
			if codec == compress.None && !slices.Equal(failed, []int{records / 2}) || codec != compress.None && len(failed) != 0 {
				t.Errorf("failed: %v", failed)
			}
			if len(ns.outcomes) != records || !slices.IsSorted(ns.order) || f.topic.ratio.Ratio() <= 0 {
				t.Errorf("%d outcomes, ratio %v", len(ns.outcomes), f.topic.ratio.Ratio())
			}
			if f.pool.Available() != f.pool.Total() {
				t.Errorf("%d of %d bytes available", f.pool.Available(), f.pool.Total())
			}
		})
	}
}

// answer is what a broker says that takes batches of at most limit bytes, and what the sender makes of it.
func (f *fixture) answer(t *testing.T, b *Batch, limit int, offset int64) int64 {
	f.land(b)
	switch n := b.RecordCount(); {
	case b.Size() <= limit:
		f.finish(b, offset)
		return offset + int64(n)
	case n == 1:
		c := f.sched.Complete(b, Ending{BaseOffset: -1, Err: kerr.ErrRecordTooLarge})
		f.acc.Free(f.mayFree(b))
		deliver(&c)
	default:
		sequence := b.Stamp.BaseSequence
		f.sched.Split(b, 0, func(p *Batch) {
			p.Stamp.Has, p.Stamp.ProducerID, p.Stamp.BaseSequence = true, 7, sequence
			sequence += p.Stamp.Count
		})
		f.acc.Free(f.mayFree(b))
	}
	return offset
}

// ACC-49, B13: a piece that comes back is cut by half its size, or by its largest record if that is more (Java:
// splitAndReenqueue).
func TestPieceIsCutByHalfItsSizeOrItsLargestRecord(t *testing.T) {
	for name, c := range map[string]struct {
		values []int
		want   []int // records by piece
	}{
		"half the size":      {[]int{100, 100, 100, 100, 100, 100, 100, 100}, []int{3, 3, 2}},
		"the largest record": {[]int{10, 10, 10, 10, 10, 10, 300}, []int{6, 1}},
		"large one first":    {[]int{300, 10, 10, 10, 10, 10, 10}, []int{1, 6}},
		"more of the small":  {append(slices.Repeat([]int{10}, 20), 300), []int{19, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, setup{batchSize: 2000})
			f.setCluster(leaders4, nil, nil)
			for _, n := range c.values {
				f.send(0, n)
			}
			b := f.drain(1, 1<<20)[0]
			for round := range 2 {
				f.land(b)
				n := f.sched.Split(b, 0, func(*Batch) {})
				f.acc.Free(f.mayFree(b))
				if round == 0 {
					if n != 1 {
						t.Fatalf("%d pieces within batch.size", n)
					}
					b = f.drain(1, 1<<20)[0]
				}
			}
			q := f.topic.at(0)
			var got []int
			for i := range q.batches.len() {
				got = append(got, q.batches.at(i).RecordCount())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("pieces of %v records, want %v", got, c.want)
			}
		})
	}
}

// B13: records so small that Java would send them together for ever.
func TestSplittingEndsWithRecordsOfAFewBytes(t *testing.T) {
	f := newFixture(t, setup{batchSize: 1000})
	f.setCluster(leaders4, nil, nil)
	for range 9 {
		f.send(0, 1)
	}
	offset, requests := int64(0), 0
	for f.sched.Incomplete() > 0 {
		for _, b := range f.drain(1, 1000) {
			if requests++; requests > 40 {
				t.Fatal("splitting does not end")
			}
			offset = f.answer(t, b, 70, offset) // one record only
		}
	}
	if offset != 9 {
		t.Errorf("%d records taken", offset)
	}
}

// B14: headers come back from a split as they went in.
func TestSplitKeepsHeadersKeysAndTimestamps(t *testing.T) {
	headers := record.AppendHeaders(nil, []record.Header{
		{Key: "a", Value: []byte("1")}, {Key: "a", Value: nil}, {Key: "", Value: []byte{}}, {Key: "b", Value: bytes.Repeat([]byte("x"), 50)},
	})
	f := newFixture(t, setup{batchSize: 4000, codec: compress.Zstd})
	f.setCluster(leaders4, nil, nil)
	ns := newNumbers()
	for n := range 10 {
		f.sendNumbered(ns, 0, n, 30, headers)
	}
	e := &Entry{TimestampMs: 1 << 40, Headers: nil} // null key, null value, a time stamp far from the others'
	if _, err := f.acc.Append(context.Background(), f.topic, 0, e, 0); err != nil {
		t.Fatal(err)
	}
	b := f.drain(1, 1<<20)[0]
	f.sched.splitSize = 400
	f.land(b)
	if n := f.sched.Split(b, 0, func(*Batch) {}); n < 2 {
		t.Fatalf("%d pieces", n)
	}
	n := 0
	for f.topic.at(0).batches.len() > 0 {
		for _, p := range f.drain(1, 1<<20) {
			for _, rec := range recordsOf(t, p) {
				switch {
				case n == 10:
					if rec.Key != nil || rec.Value != nil || rec.Timestamp != 1<<40 {
						t.Errorf("record %d: %+v", n, rec)
					}
				case !bytes.Equal(rec.Headers, headers) || string(rec.Key) != fmt.Sprint(n) || rec.Timestamp != int64(n):
					t.Errorf("record %d: %+v", n, rec)
				}
				n++
			}
			f.finish(p, int64(n))
		}
	}
	if n != 11 {
		t.Errorf("%d records came back", n)
	}
}

// B12: a flush is over when the pieces of its batches are delivered, not before.
func TestFlushWaitsForThePiecesOfASplitBatch(t *testing.T) {
	f := newFixture(t, setup{batchSize: 2000, linger: time.Hour})
	f.setCluster(leaders4, nil, nil)
	var futures []Appended
	for range 10 {
		futures = append(futures, f.send(0, 100))
	}
	flushed := f.acc.Flush()
	b := f.drain(1, 1<<20)[0]
	asked := futures[0].Result.Done(0)
	f.sched.splitSize = 600
	f.land(b)
	n := f.sched.Split(b, 0, func(*Batch) {})
	f.acc.Free(f.mayFree(b))
	for i := range n {
		if closed(flushed.Done()) || closed(asked) {
			t.Fatalf("over before piece %d of %d", i, n)
		}
		f.finish(f.drain(1, 1<<20)[0], int64(i*100))
	}
	if !closed(flushed.Done()) || !closed(asked) {
		t.Error("not over when all pieces are delivered")
	}
	last := int64(-1)
	for i, r := range futures {
		offset, _, err, ok := r.Result.At(r.Index)
		if !ok || err != nil || offset <= last {
			t.Errorf("record %d: offset %d, %v, known %v", i, offset, err, ok)
		}
		last = offset
	}
}

func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

func TestFlushWaitsForWhatWasAppendedBeforeItOnly(t *testing.T) {
	f := newFixture(t, setup{batchSize: 1000, linger: time.Hour})
	f.setCluster(leaders4, nil, nil)
	if !closed(f.acc.Flush().Done()) {
		t.Error("a flush of nothing is not over")
	}
	f.send(0, 10)
	first := f.acc.Flush()
	if r := f.send(0, 10); !r.NewBatch {
		t.Error("a record joined a batch that is being flushed")
	}
	second := f.acc.Flush()
	third := f.send(0, 10)
	old, new := f.drain(1, 1<<20)[0], f.drain(1, 1<<20)[0]
	f.finish(new, 1)
	if closed(first.Done()) || closed(second.Done()) {
		t.Error("over before the oldest batch is delivered")
	}
	f.finish(old, 0)
	if !closed(first.Done()) || !closed(second.Done()) || third.Result.Ready(0) {
		t.Error("not over, or it waited for a later record")
	}
}

func TestFlushMakesOpenBatchesGoAndLeavesLaterOnesLinger(t *testing.T) {
	nudged := 0
	f := newFixture(t, setup{batchSize: 1000, linger: time.Hour, nudge: func() { nudged++ }})
	f.setCluster(leaders4, nil, nil)
	f.send(0, 10)
	f.ready()
	f.acc.Flush()
	f.send(2, 10)
	if got := f.ready(); !slices.Equal(got, []int32{1}) || nudged == 0 {
		t.Errorf("ready nodes %v, nudged %d times", got, nudged)
	}
}

func TestOutcomesOfABatch(t *testing.T) {
	failure, refused := errors.New("whole batch"), errors.New("this record")
	for name, c := range map[string]struct {
		ending Ending
		want   []Outcome
	}{
		"offsets count up and time stamps are the records'": {
			Ending{BaseOffset: 40, LogAppendMs: -1},
			[]Outcome{{Offset: 40, TimestampMs: 5, KeySize: -1, ValueSize: 3}, {Offset: 41, TimestampMs: 1 << 50, KeySize: 0, ValueSize: -1}},
		},
		"the broker's time stamp counts": {
			Ending{BaseOffset: 40, LogAppendMs: 99},
			[]Outcome{{Offset: 40, TimestampMs: 99, KeySize: -1, ValueSize: 3}, {Offset: 41, TimestampMs: 99, KeySize: 0, ValueSize: -1}},
		},
		"no offset without acks": {
			Ending{BaseOffset: -1, LogAppendMs: -1},
			[]Outcome{{Offset: -1, TimestampMs: 5, KeySize: -1, ValueSize: 3}, {Offset: -1, TimestampMs: 1 << 50, KeySize: 0, ValueSize: -1}},
		},
		"an error leaves nothing known": {
			Ending{BaseOffset: -1, LogAppendMs: -1, Err: failure},
			[]Outcome{{Offset: -1, TimestampMs: -1, KeySize: -1, ValueSize: -1, Err: failure}, {Offset: -1, TimestampMs: -1, KeySize: -1, ValueSize: -1, Err: failure}},
		},
		"a record may have an error of its own": {
			Ending{BaseOffset: -1, LogAppendMs: -1, Err: failure, RecordErrs: map[int32]error{1: refused}},
			[]Outcome{{Offset: -1, TimestampMs: -1, KeySize: -1, ValueSize: -1, Err: failure}, {Offset: -1, TimestampMs: -1, KeySize: -1, ValueSize: -1, Err: refused}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, setup{batchSize: 1000})
			f.setCluster(leaders4, nil, nil)
			ns := newNumbers()
			var r Appended
			for n, e := range []*Entry{{TimestampMs: 5, Value: []byte("abc")}, {TimestampMs: 1 << 50, Key: []byte{}}} {
				e.Callback = numbered{n, ns}
				r, _ = f.acc.Append(context.Background(), f.topic, 2, e, 0)
			}
			b := f.drain(2, 1000)[0]
			f.land(b)
			completion := f.sched.Complete(b, c.ending)
			f.acc.Free(f.mayFree(b))
			deliver(&completion)
			for n, want := range c.want {
				want.Topic, want.Partition = "t", 2
				if ns.outcomes[n] != want {
					t.Errorf("record %d: got %+v, want %+v", n, ns.outcomes[n], want)
				}
				offset, _, err, ok := r.Result.At(int32(n))
				if !ok || offset != want.Offset || err != want.Err {
					t.Errorf("future %d: offset %d, error %v, known %v", n, offset, err, ok)
				}
			}
		})
	}
}

func TestFutureOfABatch(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	f := newFixture(t, setup{batchSize: 1000})
	f.setCluster(leaders4, nil, nil)
	r := f.send(0, 10)
	if r.Result.Ready(0) || closed(r.Result.Done(0)) || r.Result.Topic() != "t" || r.Result.Partition() != 0 {
		t.Error("done before it was sent")
	}
	cancel()
	if err := r.Result.Wait(ctx, 0); !errors.Is(err, context.Canceled) || !errors.Is(err, kerr.ErrInterrupted) {
		t.Errorf("waiting with an ended context: %v", err)
	}
	waited := make(chan error)
	go func() { waited <- r.Result.Wait(context.Background(), 0) }()
	f.finish(f.drain(1, 1000)[0], 5)
	if err := <-waited; err != nil {
		t.Error(err)
	}
	if !r.Result.Ready(0) || !closed(r.Result.Done(0)) || r.Result.Wait(ctx, 0) != nil {
		t.Error("not done after its delivery")
	}
	failed := NewFailedResult("x", -1, kerr.ErrTimeout)
	if _, _, err, ok := failed.At(0); !ok || err != kerr.ErrTimeout || !failed.Ready(0) || !closed(failed.Done(0)) || failed.Topic() != "x" {
		t.Errorf("a failed result: %v, known %v", err, ok)
	}
}

// Someone who waits for a record when its batch is split goes on waiting for the record's piece, and for no other.
func TestFutureFollowsItsRecordIntoThePiece(t *testing.T) {
	f := newFixture(t, setup{batchSize: 2000})
	f.setCluster(leaders4, nil, nil)
	var last Appended
	for range 10 {
		last = f.send(0, 100)
	}
	first := make(chan error)
	go func() { first <- last.Result.Wait(context.Background(), 0) }()
	b := f.drain(1, 1<<20)[0]
	f.sched.splitSize = 600
	f.land(b)
	f.sched.Split(b, 0, func(*Batch) {})
	f.acc.Free(f.mayFree(b))
	f.finish(f.drain(1, 1<<20)[0], 7)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if offset, _, _, ok := last.Result.At(2); !ok || offset != 9 {
		t.Errorf("record 2: offset %d, known %v", offset, ok)
	}
	if last.Result.Ready(9) || closed(last.Result.Done(9)) {
		t.Error("the last record is done with the first piece")
	}
	f.finish(f.drain(1, 1<<20)[0], 20)
	f.finish(f.drain(1, 1<<20)[0], 30)
	if offset, _, _, ok := last.Result.At(9); !ok || offset != 31 {
		t.Errorf("record 9: offset %d, known %v", offset, ok)
	}
}

// ACC-16, COMP-05: what a sealed batch compressed to is what the next ones expect.
func TestSealedBatchTeachesTheTopicItsRatio(t *testing.T) {
	f := newFixture(t, setup{batchSize: 1000, codec: compress.Gzip})
	f.setCluster(leaders4, nil, nil)
	before := f.topic.ratio.Ratio()
	f.send(0, 500)
	f.drain(1, 1<<20)
	if got := f.topic.ratio.Ratio(); got != before-0.005 {
		t.Errorf("ratio %v after zeros, %v before", got, before)
	}
}

// COMP-01: records are gathered uncompressed, and compressed as a batch once it is closed. A batch that compresses well holds
// more than batch.size and is charged for it; without memory to spare it is full.
func TestBatchThatCompressesWellIsChargedForWhatItHolds(t *testing.T) {
	f := newFixture(t, setup{batchSize: 1000, memory: 3000, codec: compress.Gzip, linger: time.Hour})
	f.setCluster(leaders4, nil, nil)
	f.topic.ratio.Set(0.1)
	for range 14 { // 14 × 209 bytes in 3000 less the header
		if r := f.send(0, 200); r.BatchFull {
			t.Fatal("full by the estimate")
		}
	}
	open := f.topic.at(0).open
	if size := len(slices.Concat(open.Chunks()...)); size < 14*200 {
		t.Errorf("the open batch holds %d bytes: it is compressed already", size)
	}
	if f.pool.Available() != 0 {
		t.Errorf("%d bytes available", f.pool.Available())
	}
	if _, err := f.acc.TryAppend(f.topic, 0, entry(200)); !errors.Is(err, kerr.ErrWouldBlock) {
		t.Errorf("a record without memory: %v", err)
	}
	b := f.drain(1, 1<<20)[0]
	if b.RecordCount() != 14 || len(recordsOf(t, b)) != 14 || len(slices.Concat(b.Chunks()...)) > 500 {
		t.Errorf("%d records in %d bytes", b.RecordCount(), len(slices.Concat(b.Chunks()...)))
	}
	f.finish(b, 0)
	if f.pool.Available() != 3000 {
		t.Errorf("%d bytes came back", f.pool.Available())
	}
}

// An append that must not wait stands in no line in incremental mode either, and overtakes nobody who does.
func TestTryAppendOvertakesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, setup{batchSize: 1000, memory: 800, incremental: true, linger: time.Hour, chunk: 200})
		f.setCluster(leaders4, nil, nil)
		f.send(0, 400)
		go func() { // ends with the pool
			if _, err := f.pool.AllocateChunks(t.Context(), nil, 400, time.Hour); !errors.Is(err, kerr.ErrClosedAllocating) {
				t.Error(err)
			}
		}()
		synctest.Wait()
		for range 3 {
			if _, err := f.acc.TryAppend(f.topic, 1, entry(20)); !errors.Is(err, kerr.ErrWouldBlock) {
				t.Errorf("got %v, want ErrWouldBlock", err)
			}
		}
		if f.pool.Available() != 200 || f.pool.Waiters() != 1 {
			t.Errorf("%d bytes are left and %d wait, want the 200 and the one of before", f.pool.Available(), f.pool.Waiters())
		}
		f.pool.Close()
	})
}

// Exhausted means that no record can be taken: an open batch may have room, and memory for a batch is memory for a record.
func TestExhaustedMeansThatNoRecordCanBeTaken(t *testing.T) {
	for _, incremental := range []bool{false, true} {
		f := newFixture(t, setup{batchSize: 400, memory: 800, incremental: incremental, chunk: 400, linger: time.Hour})
		f.setCluster(leaders4, nil, nil)
		f.send(0, 20)
		f.send(1, 20)
		if f.acc.Exhausted() {
			t.Errorf("incremental %t: exhausted with room in two batches", incremental)
		}
		f.acc.Flush()
		if !f.acc.Exhausted() {
			t.Errorf("incremental %t: not exhausted without a batch that takes records, nor memory for one", incremental)
		}
		f.sched.Refresh(f.clk.Now())
		f.finish(f.drain(1, 1<<20)[0], 0)
		if f.acc.Exhausted() {
			t.Errorf("incremental %t: exhausted with memory for a batch", incremental)
		}
	}
}

// ACC-18 in incremental mode: a batch takes memory as it grows.
func TestIncrementalBatchTakesChunksAsItGrows(t *testing.T) {
	f := newFixture(t, setup{batchSize: 1000, memory: 10_000, incremental: true, linger: time.Hour, chunk: 200})
	f.setCluster(leaders4, nil, nil)
	f.send(0, 20)
	if got := f.pool.Total() - f.pool.Available(); got != 200 {
		t.Errorf("the first record took %d bytes", got)
	}
	ns := newNumbers()
	for n := range 8 {
		f.sendNumbered(ns, 0, n, 90, nil)
	}
	if got := f.pool.Total() - f.pool.Available(); got != 1000 {
		t.Errorf("a full batch took %d bytes", got)
	}
	big := f.send(1, 700)
	if got := f.pool.Total() - f.pool.Available(); !big.NewBatch || got != 1800 {
		t.Errorf("with a batch of one large record %d bytes are taken", got)
	}
	for _, b := range f.drain(1, 1<<20) {
		if n := len(recordsOf(t, b)); n != b.RecordCount() {
			t.Errorf("%d records of %d can be read", n, b.RecordCount())
		}
		f.finish(b, 0)
	}
	if f.pool.Available() != f.pool.Total() || len(ns.outcomes) != 8 {
		t.Errorf("%d bytes came back, %d outcomes", f.pool.Available(), len(ns.outcomes))
	}
}

// TMO-06: batches of one burst expire in one turn. Java counts in milliseconds, and so do we.
func TestBatchesOfOneMillisecondExpireTogether(t *testing.T) {
	f := newFixture(t, setup{batchSize: 150, deliveryTimeout: 100 * time.Millisecond})
	f.setCluster(leaders4, nil, nil)
	f.clk.Advance(5*time.Millisecond + 300*time.Microsecond)
	f.send(0, 100)
	f.clk.Advance(300 * time.Microsecond)
	f.send(0, 100)
	f.clk.Advance(400 * time.Microsecond)
	f.send(0, 100) // in the next one
	f.ready()
	f.clk.Advance(99 * time.Millisecond)
	got := f.sched.Expired(f.clk.Now(), nil)
	if len(got) != 2 {
		t.Errorf("%d batches expired at %v", len(got), f.clk.Now())
	}
	for _, b := range got {
		f.finish(b, -1)
	}
}

// RESP-07: time stamps far apart take more bytes in a piece than they took in the batch, as they count from the piece's first
// record. A split that reckoned with the batch's bytes ran out of room for a piece's first record.
func TestSplitOfTimestampsFarApartHasRoomForEachRecord(t *testing.T) {
	for every := 2; every <= 9; every++ {
		for limit := 80; limit <= 160; limit += 5 {
			t.Run(fmt.Sprintf("each %d. far, pieces of %d bytes", every, limit), func(t *testing.T) {
				splitFarApart(t, limit, func(n int) int64 {
					if n%every == 1 {
						return 1 << 45
					}
					return 1000
				})
			})
		}
	}
}

func splitFarApart(t *testing.T, limit int, timestamp func(n int) int64) {
	f := newFixture(t, setup{batchSize: 4000})
	f.setCluster(leaders4, nil, nil)
	const count = 60
	for n := range count {
		if _, err := f.acc.Append(context.Background(), f.topic, 0, &Entry{TimestampMs: timestamp(n)}, 0); err != nil {
			t.Fatal(err)
		}
	}
	b := f.drain(1, 1<<20)[0]
	f.sched.splitSize = limit
	f.land(b)
	if pieces := f.sched.Split(b, 0, func(*Batch) {}); pieces < 2 {
		t.Fatalf("%d pieces of %d records", pieces, count)
	}
	n := 0
	for f.topic.at(0).batches.len() > 0 {
		for _, p := range f.drain(1, 1<<20) {
			for _, rec := range recordsOf(t, p) {
				if rec.Timestamp != timestamp(n) {
					t.Errorf("record %d: time stamp %d, want %d", n, rec.Timestamp, timestamp(n))
				}
				n++
			}
			f.finish(p, int64(n))
		}
	}
	if n != count || f.pool.Available() != f.pool.Total() {
		t.Errorf("%d of %d records came back, %d of %d bytes", n, count, f.pool.Available(), f.pool.Total())
	}
}
