//go:build unix

package producer_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"linger"
	"linger/test/broker/kafkatest"
)

type record = linger.Record[[]byte, []byte]

// awkward are records that careless writers get wrong, several of each, over the partitions of topic.
func awkward(topic string, partitions int32) []record {
	at := time.UnixMilli(1_700_000_000_123)
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	shapes := []record{
		{Key: []byte("key"), Value: []byte("value")},
		{},
		{Key: []byte{}, Value: []byte{}},
		{Value: []byte("NULL")},
		{Key: []byte(`\N`), Value: []byte("tab\tline\nline\r\n")},
		{Key: every, Value: every},
		{Value: []byte("h"), Headers: []linger.Header{{Key: "one", Value: []byte("1")}, {Key: "one", Value: []byte{}}, {Key: "", Value: nil}}},
		{Key: []byte("long"), Value: bytes.Repeat([]byte("0123456789"), 3000)},
	}
	var all []record
	for i := range 6 * len(shapes) {
		r := shapes[i%len(shapes)]
		r.Topic, r.Timestamp = topic, at.Add(time.Duration(i)*time.Millisecond)
		r.Partition = linger.On(int32(i) % partitions)
		all = append(all, r)
	}
	return all
}

// sendAll sends records and returns what the producer says was written, in the order of the log.
func sendAll(t *testing.T, p *bytesProducer, records []record) []kafkatest.Rec {
	t.Helper()
	ctx := within(t, patience)
	var want []kafkatest.Rec
	for i, f := range begin(ctx, t, p, records) {
		md, err := f.Wait(ctx)
		if err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
		r := records[i]
		w := kafkatest.Rec{Partition: md.Partition, Offset: md.Offset, TimestampMs: md.Timestamp.UnixMilli(), Key: r.Key, Value: r.Value}
		for _, h := range r.Headers {
			w.Headers = append(w.Headers, kafkatest.Header(h))
		}
		want = append(want, w)
	}
	slices.SortFunc(want, byPlace)
	return want
}

// begin sends records and waits for none.
func begin(ctx context.Context, t *testing.T, p *bytesProducer, records []record) []linger.Future {
	t.Helper()
	var futures []linger.Future
	for _, r := range records {
		f, err := p.Send(ctx, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		futures = append(futures, f)
	}
	return futures
}

func byPlace(a, b kafkatest.Rec) int {
	return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
}

// wantLog compares what was written with what a reader returned. Readers that don't know a field leave it zero.
func wantLog(t *testing.T, reader string, want, got []kafkatest.Rec, ignore ...string) {
	t.Helper()
	slices.SortFunc(got, byPlace)
	fields := append([]string{"ProducerID", "ProducerEpoch"}, ignore...)
	if diff := gocmp.Diff(want, got, cmpopts.IgnoreFields(kafkatest.Rec{}, fields...)); diff != "" {
		t.Errorf("%s reads something else (-written +read):\n%.2000s", reader, diff)
	}
}

// What linger writes is what every reader returns: bytes, headers, time stamps, nulls and codecs (COMP-03), on one node and
// on three; offsets and time stamps are those that the futures gave (SEND-29, RESP-02).
func TestReadersReturnWhatWasWritten(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d nodes", nodes), func(t *testing.T) {
			c := brokers.Get(t, kafkatest.Options{Nodes: nodes})
			topics, ids := map[string]string{}, map[string]linger.Identity{}
			for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
				t.Run(codec, func(t *testing.T) {
					topic := c.NewTopic(t, 3, nil)
					p := newProducer(t, c, linger.CompressionType(codec), linger.Linger(20*time.Millisecond))
					want := sendAll(t, p, awkward(topic, 3))
					wantLog(t, "franz-go", want, kafkatest.ReadAll(t, c, topic))
					topics[codec], ids[topic] = topic, p.Identity()
				})
			}
			dumped := kafkatest.DumpTopics(t, c, slices.Collect(maps.Values(topics))...)
			for codec, topic := range topics {
				wantBatches(t, dumped[topic], topic, codec, ids[topic])
			}
		})
	}
}

// wantBatches looks at the log itself: codec, producer id, and sequences that count records from 0 (IDEM-06, IDEM-07, BRK-17).
func wantBatches(t *testing.T, log [][]kafkatest.BatchInfo, topic, codec string, id linger.Identity) {
	t.Helper()
	if len(log) != 3 {
		t.Fatalf("%d partitions of %s, want 3", len(log), topic)
	}
	for partition, batches := range log {
		if len(batches) == 0 {
			t.Fatalf("no batch in %s-%d", topic, partition)
		}
		var next int64
		for _, b := range batches {
			if b.Codec != codec {
				t.Errorf("%s-%d offset %d: codec %s, want %s", topic, partition, b.BaseOffset, b.Codec, codec)
			}
			if b.ProducerID != id.ProducerID || b.ProducerEpoch != int64(id.Epoch) || b.BaseSequence != next {
				t.Errorf("%s-%d offset %d: producer %d/%d sequence %d, want %d/%d sequence %d", topic, partition, b.BaseOffset,
					b.ProducerID, b.ProducerEpoch, b.BaseSequence, id.ProducerID, id.Epoch, next)
			}
			next = b.LastSequence + 1
		}
	}
}

// The clients that people use agree: the Java console consumer and kcat, which is librdkafka.
func TestOtherPeoplesConsumersAgree(t *testing.T) {
	for _, codec := range []string{"none", "zstd"} {
		t.Run(codec, func(t *testing.T) {
			c := one(t)
			topic := c.NewTopic(t, 2, nil)
			p := newProducer(t, c, linger.CompressionType(codec), linger.Linger(20*time.Millisecond))
			want := sendAll(t, p, awkward(topic, 2))
			wantLog(t, "the console consumer", want, kafkatest.ConsoleConsume(t, c, topic, len(want)))
			wantLog(t, "kcat", want, kafkatest.Kcat(t, c, topic))
		})
	}
}

// Levels change effort, never readability (COMP-04, B29): the lowest and the highest of each codec, with values that
// compress well, badly and not at all.
func TestEveryLevelIsReadable(t *testing.T) {
	noise := make([]byte, 70_000)
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	for codec, levels := range map[string][]int{"gzip": {1, 9}, "lz4": {1, 17}, "zstd": {-131072, 22}} {
		for _, level := range levels {
			t.Run(fmt.Sprintf("%s %d", codec, level), func(t *testing.T) {
				c := one(t)
				topic := c.NewTopic(t, 1, nil)
				p := newProducer(t, c, linger.CompressionType(codec), linger.Set("compression."+codec+".level", level), linger.Linger(20*time.Millisecond),
					linger.DeliveryTimeout(patience)) // the highest take long
				records := []record{
					{Topic: topic, Value: []byte{}}, {Topic: topic, Value: []byte("x")}, {Topic: topic, Value: noise[:65_535]},
					{Topic: topic, Value: noise[:65_537]}, {Topic: topic, Value: make([]byte, 900_000)},
				}
				for i := range 1000 {
					records = append(records, record{Topic: topic, Value: fmt.Appendf(nil, "small record %d", i)})
				}
				want := sendAll(t, p, records)
				wantLog(t, "franz-go", want, kafkatest.ReadAll(t, c, topic))
			})
		}
	}
}
