package readback

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Record is one record as a consumer saw it. A nil Key, Value or header value is Kafka's null, an empty one is empty.
type Record struct {
	Partition     int32
	Offset        int64
	TimestampMs   int64
	LogAppendTime bool // the timestamp is the broker's, not the producer's
	Key           []byte
	Value         []byte
	Headers       []Header

	// What the batch says about its producer: -1 both without idempotence.
	ProducerID    int64
	ProducerEpoch int16
}

// Header is one header of a record.
type Header struct {
	Key   string
	Value []byte
}

// All returns every record that is in the topic's log now, sorted by partition and offset: also those of aborted and of
// open transactions, without control records. opts say how to reach the cluster (kgo.SeedBrokers at least).
func All(ctx context.Context, topic string, opts ...kgo.Opt) ([]Record, error) {
	return read(ctx, topic, kgo.ReadUncommitted(), (*kadm.Client).ListEndOffsets, opts)
}

// Committed is All as an application with isolation.level=read_committed sees it: up to the last stable offset, without
// records of aborted transactions.
func Committed(ctx context.Context, topic string, opts ...kgo.Opt) ([]Record, error) {
	return read(ctx, topic, kgo.ReadCommitted(), (*kadm.Client).ListCommittedOffsets, opts)
}

type listOffsets func(*kadm.Client, context.Context, ...string) (kadm.ListedOffsets, error)

func read(ctx context.Context, topic string, level kgo.IsolationLevel, listEnds listOffsets, opts []kgo.Opt) ([]Record, error) {
	left, from, err := span(ctx, topic, listEnds, opts)
	if err != nil {
		return nil, fmt.Errorf("offsets of %s: %w", topic, err)
	}
	if len(left) == 0 {
		return nil, nil
	}
	// Control records are asked for since a log that was written in transactions ends with one.
	cl, err := kgo.NewClient(append(slices.Clone(opts),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}), kgo.FetchIsolationLevel(level), kgo.KeepControlRecords())...)
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	var recs []Record
	for len(left) > 0 {
		fetches := cl.PollFetches(ctx)
		for _, e := range fetches.Errors() {
			return nil, fmt.Errorf("read %s-%d: %w; ends not reached: %v", topic, e.Partition, e.Err, left)
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
				recs = append(recs, record(r))
			}
		})
	}
	Sort(recs)
	return recs, nil
}

// span says where each partition that holds anything ends now, and where to begin reading it.
func span(ctx context.Context, topic string, listEnds listOffsets, opts []kgo.Opt) (ends map[int32]int64, from map[int32]kgo.Offset, err error) {
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, nil, err
	}
	defer cl.Close()
	admin := kadm.NewClient(cl)
	last, err1 := listEnds(admin, ctx, topic)
	first, err2 := admin.ListStartOffsets(ctx, topic)
	if err := cmp.Or(err1, err2, last.Error(), first.Error()); err != nil {
		return nil, nil, err
	}
	ends, from = map[int32]int64{}, map[int32]kgo.Offset{}
	last.Each(func(o kadm.ListedOffset) {
		if s, ok := first.Lookup(topic, o.Partition); ok && s.Offset < o.Offset {
			ends[o.Partition], from[o.Partition] = o.Offset, kgo.NewOffset().At(s.Offset)
		}
	})
	return ends, from, nil
}

func record(r *kgo.Record) Record {
	out := Record{
		Partition: r.Partition, Offset: r.Offset, TimestampMs: r.Timestamp.UnixMilli(), LogAppendTime: r.Attrs.TimestampType() == 1,
		Key: r.Key, Value: r.Value, ProducerID: r.ProducerID, ProducerEpoch: r.ProducerEpoch,
	}
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, Header(h))
	}
	return out
}

// Sort orders records by partition and offset.
func Sort(recs []Record) {
	slices.SortFunc(recs, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
	})
}
