package clock

import "time"

// Clock tells the time and makes timers. Real and Manual are the two kinds; both may be used from any goroutine.
type Clock interface {
	// Now is the monotonic time since this clock was made.
	Now() Instant
	// WallMs is the wall clock: milliseconds since 1970 in UTC. It may jump.
	WallMs() int64
	// Both is Now and WallMs out of one reading.
	Both() (now Instant, wallMs int64)
	// NewTimer makes a timer that fires once after d; at once when d <= 0.
	NewTimer(d time.Duration) Timer
}

// Timer fires once. After Stop or Reset returned, C holds no tick of an earlier setting: nobody needs to drain it.
type Timer interface {
	// C receives one value when the timer fires. The value carries no meaning.
	C() <-chan time.Time
	// Stop keeps the timer from firing and reports whether it was still going to.
	Stop() bool
	// Reset lets the timer fire d from now and reports whether it was still going to fire.
	Reset(d time.Duration) bool
}
