package metrics

import "sync/atomic"

// Counter only grows. Add belongs to its one owner; Load is for anyone.
type Counter struct{ n atomic.Int64 }

// Add counts n more.
func (c *Counter) Add(n int64) { c.n.Add(n) }

// Load is the count so far.
func (c *Counter) Load() int64 { return c.n.Load() }

// Sender counts what the sender decides. Units are in the names.
type Sender struct {
	// RecordsDelivered and RecordsFailed count outcomes; RecordsAborted are the failed ones of a forced close.
	RecordsDelivered, RecordsFailed, RecordsAborted Counter
	// RecordsSent counts records in requests, each attempt (record-send-total).
	RecordsSent Counter
	// RecordRetries counts each further attempt of a record (record-retry-total).
	RecordRetries Counter
	// BatchSplits counts batches cut because a broker found them too large (batch-split-total).
	BatchSplits Counter
	// ProduceRequests and BatchesSent count what went out, retries included; BytesSent is the batches' size on the wire.
	ProduceRequests, BatchesSent, BytesSent Counter
	// UncompressedBytes is what BytesSent was before compression, the batch headers included.
	UncompressedBytes Counter
}

// Snapshot is Sender at one moment; the fields need not be of the very same instant.
type Snapshot struct {
	RecordsSent, RecordsDelivered, RecordsFailed, RecordsAborted int64
	RecordRetries, BatchSplits                                   int64
	ProduceRequests, BatchesSent                                 int64
	BytesSent, UncompressedBytes                                 int64
}

// Snapshot reads every counter.
func (s *Sender) Snapshot() Snapshot {
	return Snapshot{
		RecordsSent: s.RecordsSent.Load(), RecordsDelivered: s.RecordsDelivered.Load(), RecordsFailed: s.RecordsFailed.Load(), RecordsAborted: s.RecordsAborted.Load(),
		RecordRetries: s.RecordRetries.Load(), BatchSplits: s.BatchSplits.Load(),
		ProduceRequests: s.ProduceRequests.Load(), BatchesSent: s.BatchesSent.Load(),
		BytesSent: s.BytesSent.Load(), UncompressedBytes: s.UncompressedBytes.Load(),
	}
}
