//go:build unix

package kafkatest

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"linger/lingertest/kafka/readback"
)

// readPatience bounds one read-back: a reader that waits longer waits for something that will not come.
const readPatience = 5 * time.Minute

// Rec is one record as a consumer saw it. The text readers, ConsoleConsume and Kcat, leave its producer id and epoch at
// zero.
type Rec = readback.Record

// Header is one header of a record.
type Header = readback.Header

// ReadAll returns every record of the topic that is in the log now, sorted by partition and offset, read with franz-go
// from the beginning: also those of aborted and of open transactions, without control records.
func ReadAll(tb testing.TB, c *Cluster, topic string) []Rec {
	tb.Helper()
	return read(tb, c, topic, readback.All)
}

// ReadCommitted is ReadAll as an application with isolation.level=read_committed sees it: up to the last stable offset,
// without records of aborted transactions.
func ReadCommitted(tb testing.TB, c *Cluster, topic string) []Rec {
	tb.Helper()
	return read(tb, c, topic, readback.Committed)
}

func read(tb testing.TB, c *Cluster, topic string, from func(context.Context, string, ...kgo.Opt) ([]Rec, error)) []Rec {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), readPatience)
	defer cancel()
	recs, err := from(ctx, topic, kgo.SeedBrokers(c.Addrs()...))
	if err != nil {
		tb.Fatalf("kafkatest: %v", err)
	}
	return recs
}
