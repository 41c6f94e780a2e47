package tlsconf

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"testing"

	"linger/internal/tlstest"
)

// SEC-10: the application's own configuration takes the place of ssl.engine.factory.class; an option that is set wins over the
// field that it stands for.
func TestOptionsWinOverTheGivenConfiguration(t *testing.T) {
	mine, theirs := tlstest.NewCA(t, "mine"), tlstest.NewCA(t, "theirs")
	own, other := mine.Issue("own", nil), mine.Issue("other", nil)
	key := inlineKey(tlstest.KeyPEM(t, own), tlstest.CertPEM(own.Certificate...))
	ask := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &other, nil }
	tests := map[string]struct {
		base *tls.Config
		set  given
		ok   func(c *tls.Config) bool
	}{
		"its authorities stay":  {&tls.Config{RootCAs: theirs.Pool()}, given{}, func(c *tls.Config) bool { return c.RootCAs.Equal(theirs.Pool()) }},
		"a trust store wins":    {&tls.Config{RootCAs: theirs.Pool()}, inlineTrust(mine.PEM()), func(c *tls.Config) bool { return c.RootCAs.Equal(mine.Pool()) }},
		"its certificate stays": {&tls.Config{Certificates: []tls.Certificate{other}}, given{}, func(c *tls.Config) bool { return c.Certificates[0].Leaf == other.Leaf }},
		"its choice stays":      {&tls.Config{GetClientCertificate: ask}, given{}, func(c *tls.Config) bool { return c.GetClientCertificate != nil }},
		"a key store wins": {&tls.Config{Certificates: []tls.Certificate{other}, GetClientCertificate: ask}, key, func(c *tls.Config) bool {
			return c.GetClientCertificate == nil && c.Certificates[0].Leaf.Equal(own.Leaf)
		}},
		"its versions stay":            {&tls.Config{MinVersion: tls.VersionTLS13}, given{}, func(c *tls.Config) bool { return c.MinVersion == tls.VersionTLS13 }},
		"versions that are set win":    {&tls.Config{MinVersion: tls.VersionTLS13}, given{enabledProtocols: []string{"TLSv1.2"}}, func(c *tls.Config) bool { return c.MinVersion == tls.VersionTLS12 && c.MaxVersion == tls.VersionTLS12 }},
		"its suites stay":              {&tls.Config{CipherSuites: []uint16{7}}, given{}, func(c *tls.Config) bool { return len(c.CipherSuites) == 1 && c.CipherSuites[0] == 7 }},
		"its name stays":               {&tls.Config{ServerName: "fixed.example"}, given{}, func(c *tls.Config) bool { return c.ServerName == "fixed.example" }},
		"without one the broker's own": {&tls.Config{}, given{}, func(c *tls.Config) bool { return c.ServerName == "kafka.example" }},
		"what no option says stays":    {&tls.Config{KeyLogWriter: new(strings.Builder), SessionTicketsDisabled: true}, given{}, func(c *tls.Config) bool { return c.KeyLogWriter != nil && c.SessionTicketsDisabled }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := tt.set.options(new(journal))
			o.Base = tt.base
			s, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			if !tt.ok(s.Config("kafka.example")) {
				t.Errorf("got %+v", s.Config("kafka.example"))
			}
		})
	}
}

func TestTheApplicationsOwnChecksFollowOurs(t *testing.T) {
	ca := tlstest.NewCA(t, "authority")
	peer := &server{config: &tls.Config{Certificates: []tls.Certificate{ca.Issue("broker", nil, "kafka.example")}}}
	refusal := errors.New("not today")
	var chains int
	base := &tls.Config{
		RootCAs:               ca.Pool(),
		VerifyPeerCertificate: func(_ [][]byte, found [][]*x509.Certificate) error { chains += len(found); return nil },
		VerifyConnection: func(cs tls.ConnectionState) error {
			chains += len(cs.VerifiedChains)
			return refusal
		},
	}
	o := given{}.options(new(journal))
	o.Base = base
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err, _ := peer.shake(t, s.Config("kafka.example")); !errors.Is(err, refusal) || chains != 2 {
		t.Errorf("got %v and %d chains, want the application's refusal and 2", err, chains)
	}
	if err, _ := peer.shake(t, s.Config("evil.example")); err == nil || errors.Is(err, refusal) || chains != 2 {
		t.Errorf("got %v: ours come first", err)
	}
}

func TestInsecureSkipVerifyIsTheApplicationsWord(t *testing.T) {
	ca := tlstest.NewCA(t, "nobody knows")
	peer := &server{config: &tls.Config{Certificates: []tls.Certificate{ca.Issue("broker", nil)}}}
	o := given{}.options(new(journal))
	o.Base = &tls.Config{InsecureSkipVerify: true}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err, _ := peer.shake(t, s.Config("kafka.example")); err != nil {
		t.Error(err)
	}
	for name, set := range map[string]given{
		"a trust store":      inlineTrust(ca.PEM()),
		"the check of names": {endpointIdentification: "https"},
	} {
		o := set.options(new(journal))
		o.Base = &tls.Config{InsecureSkipVerify: true}
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "InsecureSkipVerify") {
			t.Errorf("%s besides: %v", name, err)
		}
	}
}
