package oauth

import (
	"context"
	"errors"
	"fmt"
	"math"

	"linger/internal/clock"
)

// retry repeats what may go better the next time, waiting twice as long each time.
type retry struct {
	firstMs int64 // sasl.login.retry.backoff.ms
	maxMs   int64 // sasl.login.retry.backoff.max.ms: no try begins and no wait ends later than this after the first
	clk     clock.Clock
}

// do calls until a call succeeds, fails for good (permanent), or the time is over. Like Java's Retry, it takes the longest
// back-off for the time of all tries together. The error is that of the last call, with the number of tries.
func (r retry) do(ctx context.Context, call func(context.Context) error) error {
	begun := r.clk.Now()
	end := begun.AddMs(r.maxMs)
	for tries := 1; ; tries++ {
		err := call(ctx)
		if err == nil {
			return nil
		}
		now := r.clk.Now()
		wait := min(r.waitMs(tries), end.Sub(now).Milliseconds())
		if _, final := errors.AsType[permanent](err); final || ctx.Err() != nil || wait <= 0 {
			if tries > 1 {
				return fmt.Errorf("%w (%d tries, %v)", err, tries, now.Sub(begun).Round(1_000_000))
			}
			return err
		}
		timer := r.clk.NewTimer(clock.Ms(wait))
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// waitMs is how long to wait after so many tries.
func (r retry) waitMs(tries int) int64 {
	if factor := math.Pow(2, float64(tries-1)); float64(r.firstMs)*factor < math.MaxInt64 {
		return int64(float64(r.firstMs) * factor)
	}
	return math.MaxInt64
}

// permanent marks an error that another try won't mend.
type permanent struct{ error }

// Unwrap is the error itself.
func (p permanent) Unwrap() error { return p.error }
