package clock

import (
	"math"
	"time"
)

// Instant is a point in monotonic time: nanoseconds since the clock that made it was made. Instants of two clocks must
// not be mixed. The zero Instant is the clock's birth.
type Instant int64

// Never is later than every instant a clock will show. Adding to it or subtracting from it leaves it Never.
const Never Instant = math.MaxInt64

// Add returns t+d, or the nearest end of the range when that would overflow. Never stays Never.
func (t Instant) Add(d time.Duration) Instant {
	if t == Never {
		return Never
	}
	sum := t + Instant(d)
	switch {
	case d > 0 && sum < t:
		return Never
	case d < 0 && sum > t:
		return math.MinInt64
	}
	return sum
}

// AddMs returns t plus ms milliseconds, saturating as Add does. Kafka's options are milliseconds up to 2^63-1, which as
// a time.Duration would overflow.
func (t Instant) AddMs(ms int64) Instant {
	return t.Add(Ms(ms))
}

// Sub returns t-u, saturating. Never minus anything but Never is the longest duration.
func (t Instant) Sub(u Instant) time.Duration {
	if t == u {
		return 0
	}
	if t == Never {
		return math.MaxInt64
	}
	diff := t - u
	switch {
	case u < 0 && diff < t:
		return math.MaxInt64
	case u > 0 && diff > t:
		return math.MinInt64
	}
	return time.Duration(diff)
}

// Before reports whether t is earlier than u.
func (t Instant) Before(u Instant) bool { return t < u }

// After reports whether t is later than u.
func (t Instant) After(u Instant) bool { return t > u }

// Ms turns Kafka's milliseconds into a duration; what doesn't fit becomes the longest or shortest duration.
func Ms(ms int64) time.Duration {
	const most = math.MaxInt64 / int64(time.Millisecond)
	switch {
	case ms > most:
		return math.MaxInt64
	case ms < -most:
		return math.MinInt64
	}
	return time.Duration(ms) * time.Millisecond
}
