package perf

import (
	"errors"
	"testing"

	"go.uber.org/goleak"

	"linger"
)

// One wait of max.block.ms for all records, not one for each of the warm-up.
func TestWithoutABrokerNothingIsMeasured(t *testing.T) {
	defer goleak.VerifyNone(t)
	w := Default()
	w.Bootstrap = "127.0.0.1:1"
	_, err := NewRun(w).Measure(OpenLinger(linger.WithLogger(nil), linger.Set("max.block.ms", 200)))
	if !errors.Is(err, linger.ErrTimeout) {
		t.Errorf("got %v, want a time-out", err)
	}
}
