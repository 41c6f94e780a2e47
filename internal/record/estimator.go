package record

import (
	"math"
	"sync/atomic"
)

// How fast an Estimator gives way (in Java: CompressionRatioEstimator).
const (
	improvingStep   float32 = 0.005
	deteriorateStep float32 = 0.05
)

// Estimator is what is expected of one topic and codec: compressed over uncompressed size, learnt from batches that were
// sealed. The zero Estimator expects 1. Any goroutine may use it; it must not be copied.
//
// It gets worse at once and better in small steps: a batch that was taken for smaller than it came out may be too large
// for the broker, the other error only costs some of the batch.
type Estimator struct {
	bits atomic.Uint32 // of the ratio, xor those of 1
}

const oneBits = 0x3f800000 // math.Float32bits(1)

// Ratio is the ratio expected of the next batch.
func (e *Estimator) Ratio() float32 { return math.Float32frombits(e.bits.Load() ^ oneBits) }

// Set forgets what was learnt and expects ratio.
func (e *Estimator) Set(ratio float32) { e.bits.Store(math.Float32bits(ratio) ^ oneBits) }

// Observe learns from one batch's ratio and returns what is expected now: worse than expected moves it to the observed
// ratio but by 0.05 at least, better by 0.005 at most.
func (e *Estimator) Observe(observed float32) float32 {
	for {
		old := e.bits.Load()
		current := math.Float32frombits(old ^ oneBits)
		next := current
		switch {
		case observed > current:
			next = max(current+deteriorateStep, observed)
		case observed < current:
			next = max(current-improvingStep, observed)
		}
		if e.bits.CompareAndSwap(old, math.Float32bits(next)^oneBits) {
			return next
		}
	}
}
