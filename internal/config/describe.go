package config

import (
	"strings"
	"time"
)

// Range says in prose which values the key takes; empty when its type says all.
func (k Key) Range() string {
	switch v := k.Valid.(type) {
	case span[int64]:
		return v.prose()
	case span[float64]:
		return v.prose()
	case spanOr:
		return show(v.min) + " to " + show(v.max) + ", or " + show(v.also)
	case oneOf:
		list := strings.Join(v.words, ", ")
		switch {
		case v.fold:
			return strings.ToLower(list) + " in any letter case"
		case k.Name == acks:
			return list + " (all in any letter case)"
		}
		return list
	case nonEmpty:
		return "not empty"
	case anyList:
		if !v.orNone {
			return "at least one entry"
		}
	}
	return ""
}

func (s span[N]) prose() string {
	if !s.bounded {
		return show(s.min) + " and up"
	}
	return show(s.min) + " to " + show(s.max)
}

// DefaultText is the default as it would stand in a properties file; "none" when there is none.
func (k Key) DefaultText() string {
	switch d := k.Default.(type) {
	case nil:
		return "none"
	case []string:
		if len(d) == 0 {
			return "empty"
		}
		return strings.Join(d, ",")
	case string:
		if d == "" {
			return "empty"
		}
	}
	return show(k.Default)
}

// DefaultDuration is the default of a key whose Unit is a time; ok is false for others.
func (k Key) DefaultDuration() (d time.Duration, ok bool) {
	n, isNumber := k.Default.(int64)
	switch {
	case isNumber && k.Unit == Millis:
		return time.Duration(n) * time.Millisecond, true
	case isNumber && k.Unit == Seconds:
		return time.Duration(n) * time.Second, true
	}
	return 0, false
}
