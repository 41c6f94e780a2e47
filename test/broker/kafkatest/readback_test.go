//go:build unix

package kafkatest_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kgo"

	"linger/test/broker/kafkatest"
)

// The kit is proven with a producer that is not ours: what franz-go says it wrote is what every reader must return.

// allBytes holds each byte value once.
func allBytes() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// awkward are records that careless readers mix up, for a topic with partitions partitions.
func awkward(topic string, partitions int) []*kgo.Record {
	at := time.UnixMilli(1_700_000_000_123)
	null, empty := []byte(nil), []byte{}
	shapes := []kgo.Record{
		{Key: []byte("key"), Value: []byte("value")},
		{Key: null, Value: null},
		{Key: empty, Value: empty},
		{Key: null, Value: []byte("NULL")},
		{Key: []byte(`\N`), Value: []byte(`\x41`)},
		{Key: allBytes(), Value: allBytes()},
		{Key: []byte("a\tb"), Value: []byte("line\nline\r\n")},
		{Key: []byte("h"), Value: []byte("v"), Headers: []kgo.RecordHeader{{Key: "one", Value: []byte("1")}, {Key: "one", Value: empty}, {Key: "", Value: null}}},
		{Key: []byte("long"), Value: bytes.Repeat([]byte("0123456789"), 2000)},
	}
	var recs []*kgo.Record
	for i := range 3 * len(shapes) {
		r := shapes[i%len(shapes)]
		r.Topic, r.Partition, r.Timestamp = topic, int32(i%partitions), at.Add(time.Duration(i)*time.Millisecond)
		recs = append(recs, &r)
	}
	return recs
}

// produce writes recs with franz-go and returns what must be in the log by its account.
func produce(t *testing.T, c *kafkatest.Cluster, recs []*kgo.Record, opts ...kgo.Opt) []kafkatest.Rec {
	t.Helper()
	cl := c.Client(t, append(opts, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(5*time.Millisecond))...)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if err := cl.ProduceSync(ctx, recs...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	return written(recs)
}

func written(recs []*kgo.Record) []kafkatest.Rec {
	var want []kafkatest.Rec
	for _, r := range recs {
		w := kafkatest.Rec{
			Partition: r.Partition, Offset: r.Offset, TimestampMs: r.Timestamp.UnixMilli(),
			Key: r.Key, Value: r.Value, ProducerID: r.ProducerID, ProducerEpoch: r.ProducerEpoch,
		}
		for _, h := range r.Headers {
			w.Headers = append(w.Headers, kafkatest.Header(h))
		}
		want = append(want, w)
	}
	slices.SortFunc(want, func(a, b kafkatest.Rec) int {
		return int(a.Partition-b.Partition)*1_000_000 + int(a.Offset-b.Offset)
	})
	return want
}

// textOnly leaves out what text readers can't print.
var textOnly = cmpopts.IgnoreFields(kafkatest.Rec{}, "ProducerID", "ProducerEpoch")

func same(t *testing.T, reader string, want, got []kafkatest.Rec, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%s (-written +read):\n%s", reader, diff)
	}
}

func TestEveryReaderReturnsEveryByteOnOneNode(t *testing.T) {
	c := brokers.Get(t, kafkatest.Options{})
	topic := c.NewTopic(t, 3, nil)
	want := produce(t, c, awkward(topic, 3))

	same(t, "franz-go", want, kafkatest.ReadAll(t, c, topic))
	same(t, "kcat", want, kafkatest.Kcat(t, c, topic), textOnly)
	same(t, "console consumer", want, kafkatest.ConsoleConsume(t, c, topic, len(want)), textOnly)
}

func TestADumpTellsCodecProducerAndSequences(t *testing.T) {
	c := brokers.Get(t, kafkatest.Options{})
	topics, wrote := map[string]string{}, map[string][]kafkatest.Rec{}
	for name, codec := range map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	} {
		topics[name] = c.NewTopic(t, 1, nil)
		wrote[name] = produce(t, c, awkward(topics[name], 1), kgo.ProducerBatchCompression(codec))
	}
	dumped := kafkatest.DumpTopics(t, c, slices.Collect(maps.Values(topics))...)
	for name, topic := range topics {
		t.Run(name, func(t *testing.T) {
			want := wrote[name]
			same(t, "franz-go", want, kafkatest.ReadAll(t, c, topic))
			var count int64
			for _, b := range dumped[topic][0] {
				if !b.Valid || b.Magic != 2 || b.Codec != name || b.ProducerID != want[0].ProducerID || b.ProducerEpoch != 0 {
					t.Errorf("batch %+v, want codec %s and producer id %d", b, name, want[0].ProducerID)
				}
				if b.BaseSequence != count || b.LastSequence != count+b.Count-1 || b.BaseOffset != count {
					t.Errorf("batch %+v, want it to begin at sequence and offset %d", b, count)
				}
				count += b.Count
			}
			if count != int64(len(want)) {
				t.Errorf("the batches hold %d records, want %d", count, len(want))
			}
		})
	}
}

func TestCommittedReadersLeaveOutAbortedAndOpenTransactions(t *testing.T) {
	for version := 1; version <= 2; version++ {
		t.Run(fmt.Sprintf("transaction.version=%d", version), func(t *testing.T) {
			c := brokers.Get(t, []kafkatest.Options{1: older, 2: rich}[version])
			topic := c.NewTopic(t, 1, nil)
			id := kgo.TransactionalID(topic)
			cl := c.Client(t, id, kgo.DefaultProduceTopic(topic))
			transact := func(value string, end func() error) *kgo.Record {
				t.Helper()
				r := kgo.StringRecord(value)
				if err := cl.BeginTransaction(); err != nil {
					t.Fatal(err)
				}
				if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
					t.Fatal(err)
				}
				if err := end(); err != nil {
					t.Fatal(err)
				}
				return r
			}
			finish := func(how kgo.TransactionEndTry) func() error {
				return func() error { return cl.EndTransaction(t.Context(), how) }
			}
			transact("aborted", finish(kgo.TryAbort))
			committed := transact("committed", finish(kgo.TryCommit))
			transact("open", func() error { return nil })

			if got := kafkatest.ReadAll(t, c, topic); len(got) != 3 {
				t.Errorf("read uncommitted %d records, want all three: %v", len(got), got)
			}
			want := written([]*kgo.Record{committed})
			same(t, "franz-go", want, kafkatest.ReadCommitted(t, c, topic))
			same(t, "kcat", want, kafkatest.KcatCommitted(t, c, topic), textOnly)
			same(t, "console consumer", want, kafkatest.ConsoleConsumeCommitted(t, c, topic, 1), textOnly)

			var controls int
			for _, b := range kafkatest.Dump(t, c, topic, 0) {
				if !b.Transactional {
					t.Errorf("batch %+v is not transactional", b)
				}
				if b.Control {
					controls++
				}
			}
			if controls != 2 {
				t.Errorf("%d control batches, want one for the abort and one for the commit", controls)
			}
		})
	}
}
