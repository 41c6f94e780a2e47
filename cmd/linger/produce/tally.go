package produce

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// longestLatency is the end of the histogram; what takes longer counts as that.
const longestLatency = 10 * time.Minute

// tally counts outcomes. Callbacks write it, anyone may look.
type tally struct {
	start     time.Time
	delivered atomic.Int64
	failed    atomic.Int64
	bytes     atomic.Int64 // of delivered records

	mu      sync.Mutex
	latency *hdrhistogram.Histogram // microseconds
	reasons reasons
}

func (t *tally) begin(show int) {
	t.start = time.Now()
	t.latency = hdrhistogram.New(1, longestLatency.Microseconds(), 3)
	t.reasons.show = show
}

func (t *tally) deliver(took time.Duration, size int64) {
	t.delivered.Add(1)
	t.bytes.Add(size)
	t.mu.Lock()
	_ = t.latency.RecordValue(min(max(1, took.Microseconds()), longestLatency.Microseconds())) // in range
	t.mu.Unlock()
}

func (t *tally) fail(at place, err error) {
	t.failed.Add(1)
	t.mu.Lock()
	t.reasons.add(err, at)
	t.mu.Unlock()
}
