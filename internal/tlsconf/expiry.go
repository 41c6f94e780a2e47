package tlsconf

import (
	"crypto/x509"
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

// DaysLeft are the whole days until the first of the client's own certificates ends, negative once it has; ok is false
// when there is none, or when the application chooses it for each connection. A store that has changed is read first.
func (s *Source) DaysLeft() (days int, ok bool) {
	s.looked(func() {
		now := s.now()
		for _, leaf := range s.leaves() {
			if left := daysBetween(now, leaf.NotAfter); !ok || left < days {
				days, ok = left, true
			}
		}
	})
	return days, ok
}

// leaves are the client's own certificates: those of the key store, or else those of the application's configuration.
func (s *Source) leaves() []*x509.Certificate {
	own := s.own
	if own == nil && s.base.GetClientCertificate == nil {
		own = s.base.Certificates
	}
	var leaves []*x509.Certificate
	for _, c := range own {
		leaf := c.Leaf
		if leaf == nil && len(c.Certificate) > 0 {
			leaf, _ = x509.ParseCertificate(c.Certificate[0]) // a broken one is for the handshake to tell
		}
		if leaf != nil {
			leaves = append(leaves, leaf)
		}
	}
	return leaves
}

// tellExpiry warns of certificates of ours that have ended or soon will: brokers refuse them, and say little about it.
func (s *Source) tellExpiry() {
	now := s.now()
	s.toldAt = now
	from := "linger.WithTLSConfig"
	if s.own != nil {
		from = s.key.option
	}
	for _, leaf := range s.leaves() {
		left := daysBetween(now, leaf.NotAfter)
		where := fmt.Sprintf("The client's own certificate %s (%s)", leaf.Subject, from)
		switch {
		case left < 0:
			s.tell(slog.LevelWarn, "%s expired on %s: brokers that ask for one will refuse it.", where, date(leaf.NotAfter))
		case left < warnDays:
			s.tell(slog.LevelWarn, "%s expires in %d days, on %s.", where, left, date(leaf.NotAfter))
		}
	}
}
