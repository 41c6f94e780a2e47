//go:build unix

package producer_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"linger"
	"linger/test/broker/kafkatest"
)

// acks=0: no answer comes, success is reported without an offset (NET-10, BRK-01), and the records are there all the same.
func TestAcks0SucceedsWithoutAnOffset(t *testing.T) {
	c := one(t)
	topic := c.NewTopic(t, 1, nil)
	p := newProducer(t, c, linger.Acks("0"))
	ctx := within(t, patience)
	for i := range 50 {
		md, err := p.SendSync(ctx, record{Topic: topic, Value: fmt.Appendf(nil, "%d", i)})
		if err != nil || md.HasOffset() {
			t.Fatalf("record %d: offset %d, %v", i, md.Offset, err)
		}
	}
	for len(kafkatest.ReadAll(t, c, topic)) < 50 {
		if ctx.Err() != nil {
			t.Fatal("the log does not fill up to 50 records")
		}
	}
}

// With message.timestamp.type=LogAppendTime the metadata carry the broker's time (RESP-02).
func TestLogAppendTimeIsReported(t *testing.T) {
	c := one(t)
	topic := c.NewTopic(t, 1, map[string]string{"message.timestamp.type": "LogAppendTime"})
	p := newProducer(t, c)
	md, err := p.SendSync(within(t, patience), record{Topic: topic, Value: []byte("v"), Timestamp: time.UnixMilli(1000)})
	if err != nil {
		t.Fatal(err)
	}
	if got := kafkatest.ReadAll(t, c, topic)[0].TimestampMs; md.Timestamp.UnixMilli() != got || got == 1000 {
		t.Errorf("metadata say %d ms, the log %d", md.Timestamp.UnixMilli(), got)
	}
}

// A topic limit far below batch.size (B12, B13, RESP-07, ACC-49): batches are split until they fit, only the record that is
// too large by itself fails, order holds, and when Flush returns every outcome is known (SEND-34).
func TestBatchesThatAreTooLargeAreSplit(t *testing.T) {
	c := one(t)
	topic := c.NewTopic(t, 1, map[string]string{"max.message.bytes": "2000"})
	p := newProducer(t, c, linger.BatchSize(1<<20), linger.Linger(200*time.Millisecond))
	ctx := within(t, patience)
	const n, bad = 1000, 500
	var futures []linger.Future
	for i := range n {
		size := 300
		if i == bad {
			size = 3000
		}
		value := make([]byte, size)
		copy(value, fmt.Sprintf("%06d", i))
		f, err := p.Send(ctx, record{Topic: topic, Value: value, Headers: []linger.Header{{Key: "n", Value: fmt.Append(nil, i)}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		futures = append(futures, f)
	}
	if err := p.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	for i, f := range futures {
		if !f.Ready() {
			t.Fatalf("Flush has returned and record %d has no outcome", i)
		}
		if _, err := f.Wait(ctx); (err != nil) != (i == bad) {
			t.Fatalf("record %d: %v", i, err)
		}
	}
	got := kafkatest.ReadAll(t, c, topic)
	if len(got) != n-1 {
		t.Fatalf("%d records in the log, want %d", len(got), n-1)
	}
	for i, r := range got {
		want := i
		if i >= bad {
			want++
		}
		if string(r.Value[:6]) != fmt.Sprintf("%06d", want) || string(r.Headers[0].Value) != fmt.Sprint(want) {
			t.Fatalf("place %d holds %q with header %q, want record %d", i, r.Value[:6], r.Headers[0].Value, want)
		}
	}
	if requests := p.Counters().Requests; requests > 1200 {
		t.Errorf("%d requests for %d records", requests, n)
	}
}

// Keyless records gather in batches (PART-30) and spread over all partitions in the long run (PART-31). The load is equal: few
// records are under way at a time, so that no partition's queue grows before the others' and is then chosen less (KIP-794).
func TestKeylessRecordsGatherAndSpread(t *testing.T) {
	c := one(t)
	topic := c.NewTopic(t, 4, nil)
	p := newProducer(t, c, linger.BatchSize(4096), linger.Linger(time.Minute), linger.DeliveryTimeout(4*time.Minute))
	ctx := within(t, patience)
	const n, atOnce = 12_000, 40
	records := make([]record, atOnce)
	for i := range records {
		records[i] = record{Topic: topic, Value: make([]byte, 100)}
	}
	count, changes, last := map[int32]int{}, 0, int32(-1)
	for range n / atOnce {
		futures := begin(ctx, t, p, records)
		if err := p.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		for _, f := range futures { // in the order of their sends
			md, err := f.Wait(ctx)
			if err != nil {
				t.Fatal(err)
			}
			count[md.Partition]++
			if md.Partition != last {
				changes, last = changes+1, md.Partition
			}
		}
	}
	for partition := range int32(4) { // an even share is a quarter
		if share := count[partition]; share < n/10 || share > n/2 {
			t.Errorf("partition %d got %d of %d records", partition, share, n)
		}
	}
	// A partition is left once it got a batch's worth, some 36 records; round robin leaves it with each.
	if changes > n/20 {
		t.Errorf("%d times another partition for %d records: they are scattered", changes, n)
	}
	if k := p.Counters(); k.Batches > n/15 {
		t.Errorf("%d batches for %d records: they are scattered", k.Batches, n)
	}
}

// Round robin with one sender: counts differ by at most one (B32, PART-32, PART-33).
func TestRoundRobinIsEven(t *testing.T) {
	c := one(t)
	for _, partitions := range []int32{2, 3, 4} {
		topic := c.NewTopic(t, partitions, nil)
		p := newProducer(t, c, linger.WithPartitioner(linger.RoundRobin()), linger.Linger(0))
		var records []record
		for range 3000 {
			records = append(records, record{Topic: topic, Value: []byte("v")})
		}
		count := map[int32]int{}
		for _, r := range sendAll(t, p, records) {
			count[r.Partition]++
		}
		for partition := range partitions {
			if d := count[partition] - 3000/int(partitions); d < -1 || d > 1 {
				t.Errorf("%d partitions: partition %d got %d", partitions, partition, count[partition])
			}
		}
	}
}

// One key keeps its partition (PART-10), and a hundred goroutines open no more connections than there are brokers (SND-03).
func TestManyGoroutinesShareOneProducer(t *testing.T) {
	c := three(t)
	topic := c.NewTopic(t, 6, nil)
	p := newProducer(t, c, linger.Linger(5*time.Millisecond))
	ctx := within(t, patience)
	var mu sync.Mutex
	where := map[string]map[int32]bool{}
	var wg sync.WaitGroup
	for g := range 100 {
		wg.Go(func() {
			for i := range 50 {
				key := fmt.Sprint("key", (g+i)%20)
				md, err := p.SendSync(ctx, record{Topic: topic, Key: []byte(key), Value: []byte("v")})
				if err != nil {
					t.Errorf("send: %v", err)
					return
				}
				mu.Lock()
				if where[key] == nil {
					where[key] = map[int32]bool{}
				}
				where[key][md.Partition] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for key, partitions := range where {
		if len(partitions) != 1 {
			t.Errorf("%s went to %d partitions", key, len(partitions))
		}
	}
	if got := len(kafkatest.ReadAll(t, c, topic)); got != 5000 {
		t.Errorf("%d records in the log, want 5000", got)
	}
}
