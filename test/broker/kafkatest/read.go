//go:build unix

package kafkatest

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// readPatience bounds one read-back: a reader that waits longer waits for something that will not come.
const readPatience = 60 * time.Second

// Rec is one record as a consumer saw it. A nil Key, Value or header value is Kafka's null, an empty one is empty.
type Rec struct {
	Partition     int32
	Offset        int64
	TimestampMs   int64
	LogAppendTime bool // the timestamp is the broker's
	Key           []byte
	Value         []byte
	Headers       []Header

	// What the batch says about its producer; -1 without idempotence. The text readers leave both at zero.
	ProducerID    int64
	ProducerEpoch int16
}

// Header is one header of a record.
type Header struct {
	Key   string
	Value []byte
}

// ReadAll returns every record of the topic that is in the log now, sorted by partition and offset, read with franz-go
// from the beginning: also those of aborted and of open transactions, without control records.
func ReadAll(tb testing.TB, c *Cluster, topic string) []Rec {
	tb.Helper()
	return read(tb, c, topic, kgo.ReadUncommitted(), (*kadm.Client).ListEndOffsets)
}

// ReadCommitted is ReadAll as an application with isolation.level=read_committed sees it: up to the last stable offset,
// without records of aborted transactions.
func ReadCommitted(tb testing.TB, c *Cluster, topic string) []Rec {
	tb.Helper()
	return read(tb, c, topic, kgo.ReadCommitted(), (*kadm.Client).ListCommittedOffsets)
}

func read(tb testing.TB, c *Cluster, topic string, level kgo.IsolationLevel,
	listEnds func(*kadm.Client, context.Context, ...string) (kadm.ListedOffsets, error),
) []Rec {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), readPatience)
	defer cancel()
	admin := kadm.NewClient(c.Client(tb))
	ends, err := listEnds(admin, ctx, topic)
	starts, err2 := admin.ListStartOffsets(ctx, topic)
	if err := cmp.Or(err, err2, ends.Error(), starts.Error()); err != nil {
		tb.Fatalf("kafkatest: offsets of %s: %v", topic, err)
	}

	// left holds the partitions not read to their end yet, with that end.
	left, from := map[int32]int64{}, map[int32]kgo.Offset{}
	ends.Each(func(o kadm.ListedOffset) {
		if s, ok := starts.Lookup(topic, o.Partition); ok && s.Offset < o.Offset {
			left[o.Partition], from[o.Partition] = o.Offset, kgo.NewOffset().At(s.Offset)
		}
	})
	if len(left) == 0 {
		return nil
	}
	// Control records are asked for since a log that was written in transactions ends with one.
	cl := c.Client(tb, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}), kgo.FetchIsolationLevel(level), kgo.KeepControlRecords())
	defer cl.Close()
	var recs []Rec
	for len(left) > 0 {
		fetches := cl.PollFetches(ctx)
		for _, e := range fetches.Errors() {
			tb.Fatalf("kafkatest: read %s-%d: %v; not read to the end: %v", topic, e.Partition, e.Err, left)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			end, open := left[r.Partition]
			if !open || r.Offset >= end { // came after we looked
				return
			}
			if r.Offset == end-1 {
				delete(left, r.Partition)
			}
			if !r.Attrs.IsControl() {
				recs = append(recs, rec(r))
			}
		})
	}
	sortRecs(recs)
	return recs
}

func rec(r *kgo.Record) Rec {
	out := Rec{
		Partition: r.Partition, Offset: r.Offset, TimestampMs: r.Timestamp.UnixMilli(), LogAppendTime: r.Attrs.TimestampType() == 1,
		Key: r.Key, Value: r.Value, ProducerID: r.ProducerID, ProducerEpoch: r.ProducerEpoch,
	}
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, Header(h))
	}
	return out
}

func sortRecs(recs []Rec) {
	slices.SortFunc(recs, func(a, b Rec) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
	})
}
