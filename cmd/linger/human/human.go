package human

import (
	"fmt"
	"strconv"
	"time"
)

// Count is n with commas: 1,234,567.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	digits := len(s)
	if n < 0 {
		digits--
	}
	for at := 3; at < digits; at += 3 {
		i := len(s) - at - (at/3 - 1)
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural is a count and a noun: 1 record, 2 records.
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}

// PluralY is Plural for nouns whose singular ends in y; stem is without it: 1 retry, 2 retries.
func PluralY(n int64, stem string) string {
	if n == 1 {
		return "1 " + stem + "y"
	}
	return Count(n) + " " + stem + "ies"
}

// Bytes is n in B, kB, MB or more, of 1000 each.
func Bytes(n int64) string {
	v, unit := float64(n), 0
	for v >= 999.95 && unit < 5 {
		v /= 1000
		unit++
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, [...]string{"B", "kB", "MB", "GB", "TB", "PB"}[unit])
}

// Duration is d with two or three digits: 850 µs, 4.2 ms, 31 ms, 2.35 s, 2m5s.
func Duration(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case ms < 9.95:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 999.5:
		return fmt.Sprintf("%.0f ms", ms)
	case d < time.Minute:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
