package tlsconf

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"linger/internal/tlstest"
)

// SEC-03 (unit): the chain and the name are checked; SEC-11: and the words say what is wrong.
func TestWhatOfTheBrokerIsChecked(t *testing.T) {
	ca, other := tlstest.NewCA(t, "right"), tlstest.NewCA(t, "wrong")
	good := ca.Issue("broker", nil, "kafka.example", "*.brokers.example", "10.1.2.3", "::1")
	middle := ca.Sub("middle")
	long := middle.Issue("broker", nil, "kafka.example")
	long.Certificate = append(long.Certificate, middle.Cert.Raw)
	alone := middle.Issue("broker", nil, "kafka.example")
	between := func(from, to time.Time) func(*x509.Certificate) {
		return func(c *x509.Certificate) { c.NotBefore, c.NotAfter = from, to }
	}
	old := ca.Issue("old", between(now.AddDate(-2, 0, 0), now.Add(-time.Hour)), "kafka.example")
	early := ca.Issue("early", between(now.Add(time.Hour), now.AddDate(1, 0, 0)), "kafka.example")
	tests := map[string]struct {
		cert tls.Certificate
		host string
		off  bool     // no check of the name
		want []string // nil: all is well
	}{
		"a name that is in it":                       {good, "kafka.example", false, nil},
		"in other letters, with a dot at the end":    {good, "Kafka.Example.", false, nil},
		"a name that a star stands for":              {good, "b7.brokers.example", false, nil},
		"two names for one star":                     {good, "a.b.brokers.example", false, []string{"wrong host name"}},
		"a star for a part of a label":               {ca.Issue("broker", nil, "b*.example"), "b7.example", false, []string{"wrong host name"}},
		"an address that is in it":                   {good, "10.1.2.3", false, nil},
		"an IPv6 address with its zone":              {good, "::1%eth0", false, nil},
		"another name":                               {good, "evil.example", false, []string{"wrong host name", "is for kafka.example, *.brokers.example, 10.1.2.3, ::1, not for evil.example"}},
		"another address":                            {good, "10.1.2.4", false, []string{"wrong host name"}},
		"another name, which is not checked":         {good, "evil.example", true, nil},
		"the common name, when there is nothing":     {ca.Issue("plain.example", nil), "plain.example", false, nil},
		"a common name that is not the host":         {ca.Issue("plain.example", nil), "other.example", false, []string{"is for plain.example, not for other.example"}},
		"the common name besides another name":       {ca.Issue("plain.example", nil, "kafka.example"), "plain.example", false, []string{"is for kafka.example, not for plain.example"}},
		"an address as the common name":              {ca.Issue("10.1.2.3", nil), "10.1.2.3", false, []string{"wrong host name", "is for no name at all"}},
		"no name at all":                             {ca.Issue("", nil), "kafka.example", false, []string{"is for no name at all"}},
		"through an authority in between":            {long, "kafka.example", false, nil},
		"an authority in between that is left out":   {alone, "kafka.example", false, []string{"unknown authority", "CN=middle", "ssl.truststore.location"}},
		"an unknown authority":                       {other.Issue("broker", nil, "kafka.example"), "kafka.example", false, []string{"unknown authority", "signed by CN=wrong", "ssl.truststore.location"}},
		"an unknown authority, the name not checked": {other.Issue("broker", nil, "kafka.example"), "kafka.example", true, []string{"unknown authority"}},
		"expired":                      {old, "kafka.example", false, []string{"expired certificate", "CN=old", "ended on 2024-12-31 23:00:00 UTC", "it is 2025-01-01 00:00:00 UTC here"}},
		"expired, name not checked":    {old, "kafka.example", true, []string{"expired certificate"}},
		"not valid yet":                {early, "kafka.example", false, []string{"not valid yet", "CN=early", "begins on 2025-01-01 01:00:00 UTC"}},
		"for clients only":             {ca.Issue("c", func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }, "kafka.example"), "kafka.example", false, []string{"not trusted", "usage"}},
		"for servers, said outright":   {ca.Issue("s", func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }, "kafka.example"), "kafka.example", false, nil},
		"signed by no authority's key": {forged(t, ca), "kafka.example", false, []string{"unknown authority"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			options := given{truststoreType: "PEM", truststoreCerts: hiddenText(ca.PEM())}
			if tt.off {
				options[endpointIdentification] = ""
			}
			peer := &server{config: &tls.Config{Certificates: []tls.Certificate{tt.cert}}}
			err, _ := peer.shake(t, accept(t, options).Config(tt.host))
			if tt.want == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			for _, part := range tt.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("got %v, want %q", err, part)
				}
			}
		})
	}
}

// forged is signed by an authority that only has the same name.
func forged(t *testing.T, ca *tlstest.CA) tls.Certificate {
	return tlstest.NewCA(t, ca.Cert.Subject.CommonName).Issue("broker", nil, "kafka.example")
}

// A certificate that is itself in the trust store needs no authority: how self-signed brokers are trusted.
func TestACertificateInTheTrustStoreIsTrusted(t *testing.T) {
	stranger := tlstest.NewCA(t, "nobody knows").Issue("broker", nil, "kafka.example")
	s := accept(t, given{truststoreType: "PEM", truststoreCerts: hiddenText(tlstest.CertPEM(stranger.Certificate...))})
	peer := &server{config: &tls.Config{Certificates: []tls.Certificate{stranger}}}
	if err, _ := peer.shake(t, s.Config("kafka.example")); err != nil {
		t.Error(err)
	}
}

// SEC-03 (unit): without a trust store it is the system's authorities, and they do not know ours.
func TestWithoutATrustStoreTheSystemsAuthoritiesCount(t *testing.T) {
	ca := tlstest.NewCA(t, "ours")
	peer := &server{config: &tls.Config{Certificates: []tls.Certificate{ca.Issue("broker", nil, "kafka.example")}}}
	err, _ := peer.shake(t, accept(t, given{}).Config("kafka.example"))
	if err == nil || !strings.Contains(err.Error(), "only the system's authorities are trusted") {
		t.Errorf("got %v", err)
	}
}

// SEC-04 (unit)
func TestTheBrokerSeesTheClientsCertificate(t *testing.T) {
	ca := tlstest.NewCA(t, "authority")
	mine, others := ca.Issue("producer-7", nil), tlstest.NewCA(t, "another").Issue("stranger", nil)
	var seen string
	peer := &server{config: &tls.Config{
		Certificates: []tls.Certificate{ca.Issue("broker", nil, "kafka.example")}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.Pool(),
		VerifyConnection: func(cs tls.ConnectionState) error { seen = cs.PeerCertificates[0].Subject.CommonName; return nil },
	}}
	options := given{
		truststoreType: "PEM", truststoreCerts: hiddenText(ca.PEM()), keystoreType: "PEM",
		keystoreKey: hiddenText(tlstest.KeyPEM(t, mine)), keystoreChain: hiddenText(tlstest.CertPEM(mine.Certificate...)),
	}
	if ours, theirs := peer.shake(t, accept(t, options).Config("kafka.example")); ours != nil || theirs != nil || seen != "producer-7" {
		t.Errorf("the broker saw %q; errors %v, %v", seen, ours, theirs)
	}
	options[keystoreKey], options[keystoreChain] = hiddenText(tlstest.KeyPEM(t, others)), hiddenText(tlstest.CertPEM(others.Certificate...))
	if _, theirs := peer.shake(t, accept(t, options).Config("kafka.example")); theirs == nil {
		t.Error("the broker takes a certificate of another authority")
	}
}

// SEC-03 (unit): versions and suites, as the peer hears them.
func TestWhatIsOffered(t *testing.T) {
	const old, fresh = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"
	v12, v13 := uint16(tls.VersionTLS12), uint16(tls.VersionTLS13)
	tests := map[string]struct {
		set       given
		low, high uint16
		log       string
		err       string
	}{
		"by default TLS 1.2 and 1.3":                     {given{}, v12, v13, "", ""},
		"only TLS 1.2":                                   {given{enabledProtocols: []string{"TLSv1.2"}}, v12, v12, "", ""},
		"only TLS 1.3":                                   {given{enabledProtocols: []string{"TLSv1.3"}}, v13, v13, "", ""},
		"ssl.protocol does not matter besides":           {given{enabledProtocols: []string{"TLSv1.3"}, sslProtocol: "TLSv1.2"}, v13, v13, "", ""},
		"ssl.protocol alone":                             {given{enabledProtocols: []string{}, sslProtocol: "tlsv1.2"}, v12, v12, "", ""},
		"ssl.protocol=TLS":                               {given{enabledProtocols: []string{}, sslProtocol: "TLS"}, v12, v13, "", ""},
		"an old version besides":                         {given{enabledProtocols: []string{"TLSv1.1", "TLSv1.2"}}, v12, v12, "WARN Configuration ssl.enabled.protocols: TLSv1.1 is no longer safe", ""},
		"an old version alone":                           {given{enabledProtocols: []string{"TLSv1.1"}}, 0, 0, "", "none of [TLSv1.1] is spoken: No appropriate protocol (ssl.enabled.protocols)"},
		"an old ssl.protocol alone":                      {given{enabledProtocols: []string{}, sslProtocol: "TLSv1"}, 0, 0, "", "No appropriate protocol (ssl.protocol)"},
		"a version that is none":                         {given{enabledProtocols: []string{"SSLv9"}}, 0, 0, "", "Unsupported protocol SSLv9 (ssl.enabled.protocols) Use TLSv1.2, TLSv1.3"},
		"a version in small letters is none, as in Java": {given{enabledProtocols: []string{"tlsv1.2"}}, 0, 0, "", "Unsupported protocol tlsv1.2"},
		"an ssl.protocol that is none":                   {given{sslProtocol: "TLSv9"}, 0, 0, "", "java.security.NoSuchAlgorithmException: TLSv9 SSLContext not available (ssl.protocol)"},
		"no ssl.protocol":                                {given{sslProtocol: nil}, 0, 0, "", "Invalid value null for configuration ssl.protocol"},
		"a suite of TLS 1.2":                             {given{cipherSuites: []string{old}}, v12, v12, "", ""},
		"a suite of TLS 1.3":                             {given{cipherSuites: []string{fresh}}, v13, v13, "WARN Configuration ssl.cipher.suites: which suite of TLSv1.3", ""},
		"suites of both":                                 {given{cipherSuites: []string{old, fresh}}, v12, v13, "cannot be chosen in Go", ""},
		"all of TLS 1.3":                                 {given{cipherSuites: modernSuites()}, v13, v13, "", ""},
		"a suite of the wrong version":                   {given{cipherSuites: []string{old}, enabledProtocols: []string{"TLSv1.3"}}, 0, 0, "", "No appropriate protocol: no suite"},
		"Java's older name of a suite":                   {given{cipherSuites: []string{"SSL_RSA_WITH_3DES_EDE_CBC_SHA"}}, v12, v12, "", ""},
		"a suite that is none":                           {given{cipherSuites: []string{old, "TLS_DHE_X"}}, 0, 0, "", "Unsupported CipherSuite: TLS_DHE_X (ssl.cipher.suites) Those that exist are TLS_"},
		"a check of names that is none":                  {given{endpointIdentification: "foo"}, 0, 0, "", "Unknown identification algorithm: foo (ssl.endpoint.identification.algorithm)"},
		"the check of names in capitals":                 {given{endpointIdentification: "HTTPS"}, v12, v13, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			j := new(journal)
			s, err := New(tt.set.options(j))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if log := j.take(); !strings.Contains(log, tt.log) || tt.log == "" && log != "" {
				t.Errorf("logged %q, want %q", log, tt.log)
			}
			var hello tls.ClientHelloInfo
			peer := &server{config: &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) { hello = *h; return nil, nil }}}
			peer.config.Certificates = []tls.Certificate{tlstest.NewCA(t, "any").Issue("broker", nil)}
			_, _ = peer.shake(t, s.Config("kafka.example"))
			versions := map[uint16]bool{}
			for _, v := range hello.SupportedVersions {
				versions[v] = true
			}
			for v := uint16(tls.VersionTLS10); v <= tls.VersionTLS13; v++ {
				if want := v >= tt.low && v <= tt.high; versions[v] != want {
					t.Errorf("version %#x offered: %t", v, versions[v])
				}
			}
			if hello.ServerName != "kafka.example" {
				t.Errorf("server name %q", hello.ServerName)
			}
		})
	}
}

func TestOnlyTheSuitesThatAreListedAreOffered(t *testing.T) {
	const one, two = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"
	c := accept(t, given{cipherSuites: []string{two, one}}).Config("h")
	if len(c.CipherSuites) != 2 || c.CipherSuites[0] != tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 || c.CipherSuites[1] != tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 {
		t.Errorf("got %v", c.CipherSuites)
	}
}
