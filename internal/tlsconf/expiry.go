package tlsconf

import (
	"fmt"
	"log/slog"
	"math"
	"time"
)

// warnDays is how many days before its end a certificate of ours is warned of.
const warnDays = 30

const day = 24 * time.Hour

// daysBetween are whole days, negative when end has come.
func daysBetween(now, end time.Time) int {
	return int(math.Floor(float64(end.Sub(now)) / float64(day)))
}

// tellExpiry warns of certificates of ours that have ended or soon will: brokers refuse them, and say little about it.
func (s *Source) tellExpiry() {
	now := s.now()
	for _, c := range s.own {
		left := daysBetween(now, c.Leaf.NotAfter)
		where := fmt.Sprintf("The client's own certificate %s (%s)", c.Leaf.Subject, s.key.option)
		switch {
		case left < 0:
			s.tell(slog.LevelWarn, "%s expired on %s: brokers that ask for one will refuse it.", where, date(c.Leaf.NotAfter))
		case left < warnDays:
			s.tell(slog.LevelWarn, "%s expires in %d days, on %s.", where, left, date(c.Leaf.NotAfter))
		}
	}
}
