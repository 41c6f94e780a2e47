package tlsconf

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"linger/internal/tlstest"
)

func TestDaysLeftAreThoseOfTheFirstToEnd(t *testing.T) {
	ca := tlstest.NewCA(t, "authority")
	ending := func(at time.Time) tls.Certificate {
		c := ca.Issue("producer", func(c *x509.Certificate) { c.NotAfter = at })
		c.Leaf = nil // as configurations made by hand have it
		return c
	}
	soon, late := ending(now.AddDate(0, 0, 40)), ending(now.AddDate(1, 0, 0))
	inStore := inlineKey(tlstest.KeyPEM(t, soon), tlstest.CertPEM(soon.Certificate...))
	chosen := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &late, nil }
	for name, tt := range map[string]struct {
		given given
		base  *tls.Config
		days  int
		ok    bool
	}{
		"of a key store":                              {given: inStore, days: 40, ok: true},
		"of the application's own":                    {base: &tls.Config{Certificates: []tls.Certificate{late, soon}}, days: 40, ok: true},
		"of the key store although there are both":    {given: inStore, base: &tls.Config{Certificates: []tls.Certificate{late}}, days: 40, ok: true},
		"no certificate":                              {},
		"one that is chosen for each connection":      {base: &tls.Config{Certificates: []tls.Certificate{late}, GetClientCertificate: chosen}},
		"one that can't be read":                      {base: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{{1}}}}}},
		"one that has ended: the days since are told": {base: &tls.Config{Certificates: []tls.Certificate{ending(now.Add(-25 * time.Hour))}}, days: -2, ok: true},
	} {
		t.Run(name, func(t *testing.T) {
			o := tt.given.options(new(journal))
			o.Base = tt.base
			s, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			if days, ok := s.DaysLeft(); days != tt.days || ok != tt.ok {
				t.Errorf("got %d, %t, want %d, %t", days, ok, tt.days, tt.ok)
			}
		})
	}
}

func TestDaysLeftFollowTheStoreAndTheClock(t *testing.T) {
	c, options := pemFiles(t)
	ca := tlstest.NewCA(t, "authority")
	ending := func(days int) tls.Certificate {
		return ca.Issue("producer", func(c *x509.Certificate) { c.NotAfter = now.AddDate(0, 0, days) })
	}
	c.writeTrust(t, ca)
	c.writeKey(t, ending(32))
	clock, j := now, new(journal)
	o := options.options(j)
	o.Now = func() time.Time { return clock }
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	check := func(want int, log string) {
		t.Helper()
		if days, ok := s.DaysLeft(); days != want || !ok {
			t.Errorf("got %d, %t, want %d", days, ok, want)
		}
		if got := j.take(); !strings.Contains(got, log) || log == "" && got != "" {
			t.Errorf("logged %q, want %q", got, log)
		}
	}
	check(32, "")
	clock = now.AddDate(0, 0, 3)
	check(29, "expires in 29 days")
	clock = clock.Add(23 * time.Hour)
	check(28, "") // it was told of today
	clock = clock.Add(time.Hour)
	s.Config("h") // a dial looks, too
	check(28, "expires in 28 days")
	c.writeKey(t, ending(100))
	check(96, "was read again")
	clock = clock.AddDate(0, 0, 1)
	check(95, "")
}

func TestACertificateOfTheApplicationsOwnIsWarnedOf(t *testing.T) {
	own := tlstest.NewCA(t, "authority").Issue("producer", func(c *x509.Certificate) { c.NotAfter = now.AddDate(0, 0, 3) })
	j := new(journal)
	o := given{}.options(j)
	o.Base = &tls.Config{Certificates: []tls.Certificate{own}}
	if _, err := New(o); err != nil {
		t.Fatal(err)
	}
	if log := j.take(); !strings.Contains(log, "CN=producer (linger.WithTLSConfig) expires in 3 days") {
		t.Errorf("logged %q", log)
	}
}
