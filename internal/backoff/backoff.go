package backoff

import (
	"math"
	"time"
)

// What the Java producer passes for its three uses; the interval and the maximum are options.
const (
	RetryMultiplier           = 2   // retry.backoff.ms, retry.backoff.max.ms
	RetryJitter               = 0.2 //
	ReconnectMultiplier       = 2   // reconnect.backoff.ms, reconnect.backoff.max.ms
	ReconnectJitter           = 0.2 //
	ConnectionSetupMultiplier = 2   // socket.connection.setup.timeout.ms, …max.ms
	ConnectionSetupJitter     = 0.2 //
)

// Exponential is a back-off rule: a value, immutable, safe for any goroutine. Make it with NewExponential.
type Exponential struct {
	initialMs  int64
	multiplier int
	maxMs      int64
	jitter     float64
	expMax     float64 // the exponent at which maxMs is reached; 0: the back-off is constant
	powMax     float64 // multiplier^expMax
}

// NewExponential returns the rule that starts at initialMs and multiplies by multiplier per attempt up to maxMs, each
// result off by at most jitter of itself (0.2 = a fifth) either way. When maxMs is not above initialMs the back-off is
// maxMs, always and without jitter.
func NewExponential(initialMs int64, multiplier int, maxMs int64, jitter float64) Exponential {
	e := Exponential{initialMs: min(initialMs, maxMs), multiplier: multiplier, maxMs: maxMs, jitter: jitter}
	if maxMs > initialMs {
		e.expMax = ln(float64(maxMs)/float64(max(initialMs, 1))) / ln(float64(multiplier))
		e.powMax = pow(float64(multiplier), e.expMax)
	}
	return e
}

// InitialMs is the first back-off before jitter.
func (e Exponential) InitialMs() int64 { return e.initialMs }

// Ms is the back-off in milliseconds after attempts failures (0 for the first), with unit a random number in [0,1).
// It never exceeds the rule's maximum.
func (e Exponential) Ms(attempts int64, unit float64) int64 {
	if e.expMax == 0 {
		return e.initialMs
	}
	power := e.powMax
	if float64(attempts) < e.expMax {
		power = math.Pow(float64(e.multiplier), float64(attempts)) // whole exponents come out exact
	}
	term := float64(e.initialMs) * power
	return min(toInt64(e.factor(unit)*term), e.maxMs)
}

// Duration is Ms as a duration.
func (e Exponential) Duration(attempts int64, unit float64) time.Duration {
	return time.Duration(e.Ms(attempts, unit)) * time.Millisecond
}

// factor lies in [1-jitter, 1+jitter); 1 without jitter.
func (e Exponential) factor(unit float64) float64 {
	const minNormal = 0x1p-1022 // Java's Double.MIN_NORMAL, below which there is no jitter
	if e.jitter < minNormal {
		return 1
	}
	low, high := 1-e.jitter, 1+e.jitter
	f := unit*(high-low) + low
	if f >= high {
		f = math.Nextafter(high, low)
	}
	return f
}

// toInt64 converts as Java's cast does: toward zero, saturating, NaN to 0. Go leaves those cases to the machine.
func toInt64(f float64) int64 {
	switch {
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	case f != f:
		return 0
	}
	return int64(f)
}
