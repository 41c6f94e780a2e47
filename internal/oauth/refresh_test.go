package oauth

import (
	"testing"

	"pgregory.net/rapid"
)

// What Java's ExpiringCredentialRefreshingLogin computes, in seconds.
func TestWhenATokenIsReplaced(t *testing.T) {
	standard := Refresh{WindowFactor: 0.8, WindowJitter: 0.05, MinPeriodSecs: 60, BufferSecs: 300}
	tests := map[string]struct {
		r                  Refresh
		now, start, expiry int64
		random             float64
		want               int64
	}{
		"after the part of its life":           {standard, 0, 0, 3600, 0, 2880},
		"and its jitter":                       {standard, 0, 0, 3600, 1, 3060},
		"counted from its start":               {standard, 1000, 0, 3600, 0, 2880},
		"in time for the buffer":               {standard, 0, 0, 1000, 0, 700},
		"not before the period":                {standard, 3000, 0, 3600, 0, 3060},
		"a life too short for both: no buffer": {standard, 0, 0, 300, 0, 240},
		"a life too short, counted from now":   {standard, 100, 0, 300, 0, 260},
		"a life just long enough":              {standard, 0, 0, 360, 0, 60},
		"no buffer, no period":                 {Refresh{WindowFactor: 0.5}, 0, 0, 100, 0.9, 50},
		"a start in the future":                {Refresh{WindowFactor: 0.5}, 0, 50, 100, 0, 75},
		"a part that has passed":               {Refresh{WindowFactor: 0.5}, 80, 0, 100, 0, 80},
	}
	for name, tt := range tests {
		if got := tt.r.at(tt.now*1000, tt.start*1000, tt.expiry*1000, tt.random); got != tt.want*1000 {
			t.Errorf("%s: %d ms, want %d", name, got, tt.want*1000)
		}
	}
}

func TestATokenIsReplacedBetweenNowAndItsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Refresh{
			WindowFactor: rapid.Float64Range(0.5, 1).Draw(t, "factor"), WindowJitter: rapid.Float64Range(0, 0.25).Draw(t, "jitter"),
			MinPeriodSecs: rapid.Int64Range(0, 900).Draw(t, "period"), BufferSecs: rapid.Int64Range(0, 3600).Draw(t, "buffer"),
		}
		start := rapid.Int64Range(0, 1<<40).Draw(t, "start")
		now := start + rapid.Int64Range(0, 1<<30).Draw(t, "now")
		expiry := now + rapid.Int64Range(0, 1<<30).Draw(t, "left")
		got := r.at(now, start, expiry, rapid.Float64Range(0, 0.999).Draw(t, "random"))
		if got < now || got > expiry+(expiry-now)/4 {
			t.Fatalf("replaced at %d, now %d, expiry %d", got, now, expiry)
		}
	})
}
