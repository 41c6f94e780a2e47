package deliver

import (
	"testing"

	"linger/internal/accumulator"
)

type ignore struct{}

func (ignore) Done(*accumulator.Outcome) {}

// BenchmarkDeliver is one record's callback: its outcome and the call.
func BenchmarkDeliver(b *testing.B) {
	const records = 600
	w := newWorld()
	defer w.d.Stop()
	for range records {
		e := accumulator.Entry{TimestampMs: 5, Value: []byte("value"), Callback: ignore{}}
		if _, err := w.acc.Append(b.Context(), w.acc.Topic("t"), 0, &e, 0); err != nil {
			b.Fatal(err)
		}
	}
	ended, _ := w.end(accumulator.Ending{BaseOffset: 7, LogAppendMs: -1})
	d := &Deliverer{taken: ended}
	b.ReportAllocs()
	for n := 0; n < b.N; n += records {
		d.record = 0
		d.call(&ended[0])
	}
	ended[0].Finish()
}
