//go:build unix

package producer_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"linger"
	"linger/test/broker/kafkatest"
)

// What the settings that people tune do to requests, batches and bytes on a real broker. Counts only: how long it takes is for
// reports. The tests before a fake cluster say the same more exactly.

func orderLine(topic string, i int) record {
	return record{Topic: topic, Value: fmt.Appendf(nil, `{"level":"info","service":"checkout","message":"order %d accepted"}`, i)}
}

// oneByOne sends n records, each when the one before has its outcome.
func oneByOne(t *testing.T, p *bytesProducer, topic string, n int) linger.Counters {
	t.Helper()
	ctx := within(t, patience)
	for i := range n {
		if _, err := p.SendSync(ctx, orderLine(topic, i)); err != nil {
			t.Fatal(err)
		}
	}
	return flushed(t, p, int64(n))
}

func flushed(t *testing.T, p *bytesProducer, n int64) linger.Counters {
	t.Helper()
	if err := p.Flush(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	k := p.Counters()
	if k.RecordsDelivered != n || k.RecordsFailed != 0 {
		t.Fatalf("%+v, want %d records delivered", k, n)
	}
	return k
}

// At moderate load linger.ms of 5 and of 20 give more records a request than 0 does (TUNE-01). With 0, records that come one by
// one make a request each. With more, one that comes within linger.ms of the first of a batch travels with it: such records make
// no requests of their own, however slow this machine lets them come.
func TestLingerGathersRecords(t *testing.T) {
	c := one(t)
	topic := c.NewTopic(t, 1, nil)
	const n = 100
	p := newProducer(t, c, linger.Linger(0))
	if k := oneByOne(t, p, topic, n); k.Requests != n {
		t.Errorf("%d requests for %d records with linger 0", k.Requests, n)
	}
	for _, wait := range []time.Duration{5 * time.Millisecond, 20 * time.Millisecond} {
		gathers(t, newProducer(t, c, linger.Linger(wait)), topic, wait, n)
	}
}

// gathers sends steadily until n records came within linger.ms of the first of a batch, and counts requests.
func gathers(t *testing.T, p *bytesProducer, topic string, wait time.Duration, n int) {
	t.Helper()
	ctx := within(t, patience)
	if _, err := p.SendSync(ctx, record{Topic: topic, Value: []byte("connects")}); err != nil {
		t.Fatal(err)
	}
	before := p.Counters().Requests
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	records, batches, opened := 0, 0, time.Time{}
	for ; records-batches < n; records++ {
		begun := time.Now()
		if _, err := p.Send(ctx, orderLine(topic, records), nil); err != nil {
			t.Fatal(err)
		}
		if time.Since(opened) >= wait { // the batch may have gone, and this be the first of the next
			batches, opened = batches+1, begun
		}
		<-tick.C
	}
	requests := flushed(t, p, int64(records)+1).Requests - before
	t.Logf("linger %v: %d requests for %d records", wait, requests, records)
	if requests > int64(batches) {
		t.Errorf("linger %v: %d requests for %d records, want %d at most", wait, requests, records, batches)
	}
}

func warm(t *testing.T, p *bytesProducer, topic string) {
	t.Helper()
	if err := p.Warm(within(t, patience), topic); err != nil {
		t.Fatal(err)
	}
}

// At high load a larger batch.size gives more records a request, until the load has no more for it (TUNE-02): the batches are in
// the log as they were made.
func TestLargerBatchesAreInTheLog(t *testing.T) {
	c := one(t)
	const n = 5000
	sizes := []int{1 << 10, 8 << 10, 64 << 10, 4 << 20}
	var topics []string
	var requests []int64
	for _, size := range sizes {
		topic := c.NewTopic(t, 1, map[string]string{"max.message.bytes": "5000000"})
		p := newProducer(t, c, linger.BatchSize(size), linger.MaxRequestSize(4<<20), linger.Linger(patience), linger.DeliveryTimeout(2*patience))
		warm(t, p, topic)
		for range n {
			if _, err := p.Send(context.Background(), record{Topic: topic, Value: make([]byte, 100)}, nil); err != nil {
				t.Fatal(err)
			}
		}
		topics, requests = append(topics, topic), append(requests, flushed(t, p, n).Requests)
	}
	t.Logf("requests for %d records with batch.size %v: %v", n, sizes, requests)
	logs := kafkatest.DumpTopics(t, c, topics...)
	for i, topic := range topics {
		batches := logs[topic][0]
		if int64(len(batches)) != requests[i] {
			t.Errorf("batch.size %d: %d batches in the log, %d requests", sizes[i], len(batches), requests[i])
		}
		for _, b := range batches[:len(batches)-1] { // the last is not full
			if int(b.Size) > sizes[i] || int(b.Size) < sizes[i]*3/4 {
				t.Errorf("batch.size %d: a batch of %d bytes", sizes[i], b.Size)
			}
		}
		if i > 0 && requests[i] > requests[i-1]/4 {
			t.Errorf("batch.size %d: %d requests, with %d it were %d", sizes[i], requests[i], sizes[i-1], requests[i-1])
		}
	}
	if requests[len(requests)-1] != 1 {
		t.Errorf("a batch.size above the load: %d requests, want one", requests[len(requests)-1])
	}
}

// The fuller the batches, the more compression takes off (TUNE-10): linger.ms fills them, and the log shows both.
func TestFullerBatchesCompressBetter(t *testing.T) {
	c := one(t)
	const n = 300
	for _, codec := range []string{"gzip", "zstd"} {
		var ratios []float64
		for _, wait := range []time.Duration{0, patience} {
			topic := c.NewTopic(t, 1, nil)
			p := newProducer(t, c, linger.CompressionType(codec), linger.Linger(wait), linger.DeliveryTimeout(2*patience))
			warm(t, p, topic)
			var k linger.Counters
			if wait == 0 { // one by one, since a busy broker would fill the batches too
				k = oneByOne(t, p, topic, n)
			} else {
				for i := range n {
					if _, err := p.Send(t.Context(), orderLine(topic, i), nil); err != nil {
						t.Fatal(err)
					}
				}
				k = flushed(t, p, n)
			}
			ratios = append(ratios, float64(k.UncompressedBytes)/float64(k.Bytes))
			if got := len(kafkatest.ReadAll(t, c, topic)); got != n {
				t.Errorf("%s: %d records in the log, want %d", codec, got, n)
			}
		}
		t.Logf("%s: bytes before and after, as a ratio, with linger 0 and with a long one: %.2f", codec, ratios)
		if ratios[1] < 1.5*ratios[0] {
			t.Errorf("%s: ratio %.2f with linger 0, %.2f with a long one", codec, ratios[0], ratios[1])
		}
	}
}

// The same load makes the same batches with idempotence as without, to the byte (TUNE-12).
func TestIdempotenceCostsNoBytes(t *testing.T) {
	c := one(t)
	const n = 3000
	var topics []string
	var counts []linger.Counters
	for _, on := range []bool{false, true} {
		topic := c.NewTopic(t, 1, nil)
		p := newProducer(t, c, linger.EnableIdempotence(on), linger.Linger(patience), linger.DeliveryTimeout(2*patience))
		warm(t, p, topic)
		at := time.UnixMilli(1_700_000_000_000)
		for range n {
			if _, err := p.Send(context.Background(), record{Topic: topic, Value: make([]byte, 100), Timestamp: at}, nil); err != nil {
				t.Fatal(err)
			}
		}
		topics, counts = append(topics, topic), append(counts, flushed(t, p, n))
	}
	t.Logf("%d requests, %d bytes without idempotence; %d, %d with", counts[0].Requests, counts[0].Bytes, counts[1].Requests, counts[1].Bytes)
	if counts[0] != counts[1] {
		t.Errorf("without idempotence %+v, with %+v", counts[0], counts[1])
	}
	logs := kafkatest.DumpTopics(t, c, topics...)
	plain, numbered := logs[topics[0]][0], logs[topics[1]][0]
	if len(plain) != len(numbered) {
		t.Fatalf("%d batches without idempotence, %d with", len(plain), len(numbered))
	}
	for i := range plain {
		if plain[i].Size != numbered[i].Size || plain[i].ProducerID != -1 || numbered[i].ProducerID < 0 {
			t.Errorf("batch %d: %+v without idempotence, %+v with", i, plain[i], numbered[i])
		}
	}
}

// The default budget of 32 MiB carries several times as much (TUNE-14): all is delivered, nobody runs out of memory, and all of
// the budget comes home, as newProducer sees to.
func TestTheBudgetCarriesSeveralTimesItsSize(t *testing.T) {
	c := one(t)
	topic := c.NewTopic(t, 4, nil)
	p := newProducer(t, c, linger.BatchSize(256<<10), linger.DeliveryTimeout(patience))
	warm(t, p, topic)
	const n = 11_000
	value := make([]byte, 10_000)
	for range n {
		if _, err := p.Send(context.Background(), record{Topic: topic, Value: value}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if k := flushed(t, p, n); k.BufferExhausted != 0 || k.Bytes < 3*32<<20 {
		t.Errorf("%+v", k)
	}
}
