package backoff

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"linger/test/oracle"
)

type vector struct {
	ID         string
	Initial    int64
	Multiplier int
	Max        int64
	Jitter     float64
	Samples    int
	Attempts   []struct {
		Attempts       int64
		Exact          *int64
		Min, Max, Mean *int64
	}
}

func TestOracleBackoff(t *testing.T) {
	var set struct {
		Constants map[string]json.Number
		Cases     []vector
	}
	oracle.Load(t, "backoff.json", &set)
	for name, got := range map[string]float64{
		"RETRY_BACKOFF_EXP_BASE": RetryMultiplier, "RETRY_BACKOFF_JITTER": RetryJitter,
		"SOCKET_SETUP_TIMEOUT_EXP_BASE": ConnectionSetupMultiplier, "SOCKET_SETUP_TIMEOUT_JITTER": ConnectionSetupJitter,
		"RECONNECT_BACKOFF_EXP_BASE": ReconnectMultiplier, "RECONNECT_BACKOFF_JITTER": ReconnectJitter,
	} {
		if want, err := set.Constants[name].Float64(); err != nil || got != want {
			t.Errorf("constant %s is %v, Java has %v", name, got, set.Constants[name])
		}
	}
	oracle.Run(t, set.Cases, func(v vector) string { return v.ID }, nil, same)
}

func same(t *testing.T, v vector) {
	e := NewExponential(v.Initial, v.Multiplier, v.Max, v.Jitter)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, a := range v.Attempts {
		if a.Exact != nil {
			if got := e.Ms(a.Attempts, rng.Float64()); got != *a.Exact {
				t.Errorf("attempt %d: %d ms, Java %d ms", a.Attempts, got, *a.Exact)
			}
			continue
		}
		// Java's bounds are samples of a distribution. Ours has the same hard bounds (so every sample of Java lies within
		// what we can return) and, over as many draws, the same mean but for the noise of a sample.
		low, high := e.Ms(a.Attempts, 0), e.Ms(a.Attempts, math.Nextafter(1, 0))
		if low > *a.Min || high < *a.Max {
			t.Errorf("attempt %d: range %d..%d ms does not hold Java's samples %d..%d ms", a.Attempts, low, high, *a.Min, *a.Max)
		}
		width := float64(high - low)
		if float64(*a.Min-low) > width/50+1 || float64(high-*a.Max) > width/50+1 {
			t.Errorf("attempt %d: range %d..%d ms is wider than Java's samples %d..%d ms", a.Attempts, low, high, *a.Min, *a.Max)
		}
		var sum float64
		for range v.Samples {
			got := e.Ms(a.Attempts, rng.Float64())
			if got < low || got > high {
				t.Fatalf("attempt %d: %d ms lies outside %d..%d", a.Attempts, got, low, high)
			}
			sum += float64(got)
		}
		if mean := sum / float64(v.Samples); math.Abs(mean-float64(*a.Mean)) > width/30+2 {
			t.Errorf("attempt %d: mean %.1f ms, Java %d ms", a.Attempts, mean, *a.Mean)
		}
	}
}
