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

// steadily sends n records of one line to the topic, one each pause, and waits for them.
func steadily(t *testing.T, p *bytesProducer, topic string, n int, pause time.Duration) linger.Counters {
	t.Helper()
	ctx := within(t, time.Minute)
	before := p.Counters().RecordsDelivered
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for i := range n {
		if _, err := p.Send(ctx, record{Topic: topic, Value: fmt.Appendf(nil, `{"level":"info","service":"checkout","message":"order %d accepted"}`, i)}, nil); err != nil {
			t.Fatal(err)
		}
		<-tick.C
	}
	return flushed(t, p, before+int64(n))
}

func flushed(t *testing.T, p *bytesProducer, n int64) linger.Counters {
	t.Helper()
	if err := p.Flush(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	k := p.Counters()
	if k.RecordsDelivered != n || k.RecordsFailed != 0 {
		t.Fatalf("%+v, want %d records delivered", k, n)
	}
	return k
}

// At moderate load linger.ms of 5 and of 20 give more records a request than 0 does (TUNE-01).
func TestLingerGathersRecords(t *testing.T) {
	c := one(t)
	topic := c.NewTopic(t, 1, nil)
	const n = 150
	var requests []int64
	for _, wait := range []time.Duration{0, 5 * time.Millisecond, 20 * time.Millisecond} {
		p := newProducer(t, c, linger.Linger(wait))
		if _, err := p.SendSync(within(t, time.Minute), record{Topic: topic, Value: []byte("connects")}); err != nil {
			t.Fatal(err)
		}
		requests = append(requests, steadily(t, p, topic, n, 2*time.Millisecond).Requests)
	}
	t.Logf("requests for %d records: %v", n, requests)
	if requests[1] > requests[0] || requests[2] > requests[1] || requests[2] > requests[0]/2 { // a slow broker gathers them too
		t.Errorf("%v requests with linger 0, 5 ms, 20 ms, want them to become fewer", requests)
	}
}

func warm(t *testing.T, p *bytesProducer, topic string) {
	t.Helper()
	if err := p.Warm(within(t, time.Minute), topic); err != nil {
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
		p := newProducer(t, c, linger.BatchSize(size), linger.MaxRequestSize(4<<20), linger.Linger(time.Minute), linger.DeliveryTimeout(2*time.Minute))
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
		for _, wait := range []time.Duration{0, 100 * time.Millisecond} {
			topic := c.NewTopic(t, 1, nil)
			p := newProducer(t, c, linger.CompressionType(codec), linger.Linger(wait))
			warm(t, p, topic)
			k := steadily(t, p, topic, n, time.Millisecond)
			ratios = append(ratios, float64(k.UncompressedBytes)/float64(k.Bytes))
			if got := len(kafkatest.ReadAll(t, c, topic)); got != n {
				t.Errorf("%s: %d records in the log, want %d", codec, got, n)
			}
		}
		t.Logf("%s: bytes before and after, as a ratio, with linger 0 and 100 ms: %.2f", codec, ratios)
		if ratios[1] < 1.5*ratios[0] {
			t.Errorf("%s: ratio %.2f with linger 0, %.2f with 100 ms", codec, ratios[0], ratios[1])
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
		p := newProducer(t, c, linger.EnableIdempotence(on), linger.Linger(time.Minute), linger.DeliveryTimeout(2*time.Minute))
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
	p := newProducer(t, c, linger.BatchSize(256<<10))
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
