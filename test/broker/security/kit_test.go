//go:build unix

package security_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"linger/test/broker/kafkatest"
)

// What the other tests stand on: each listener lets a client in that is not ours, and none without what it asks for.
func TestListenersLetInWhomTheyShould(t *testing.T) {
	s, c := secure(t)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CA.PEM())
	pair, err := tls.X509KeyPair(s.Client.Chain, s.Client.Key)
	if err != nil {
		t.Fatal(err)
	}
	encrypted := kgo.DialTLSConfig(&tls.Config{RootCAs: roots})
	mutual := kgo.DialTLSConfig(&tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}})
	password := func(p string) kgo.Opt { return kgo.SASL(plain.Auth{User: "alice", Pass: p}.AsMechanism()) }
	login := scram.Auth{User: "alice", Pass: "alice-secret"}
	token := func(life time.Duration) kgo.Opt {
		return kgo.SASL(oauth.Auth{Token: s.Identity.Token("alice", life)}.AsMechanism())
	}
	for name, tc := range map[string]struct {
		listener string
		opts     []kgo.Opt
		welcome  bool
	}{
		"TLS":                         {kafkatest.TLS, []kgo.Opt{encrypted}, true},
		"a certificate that is over":  {kafkatest.Expired, []kgo.Opt{encrypted}, false},
		"another host's certificate":  {kafkatest.Stranger, []kgo.Opt{encrypted}, false},
		"another authority's":         {kafkatest.Foreign, []kgo.Opt{encrypted}, false},
		"mutual TLS":                  {kafkatest.MutualTLS, []kgo.Opt{mutual}, true},
		"no client certificate":       {kafkatest.MutualTLS, []kgo.Opt{encrypted}, false},
		"PLAIN":                       {kafkatest.SASL, []kgo.Opt{password("alice-secret")}, true},
		"PLAIN, wrong password":       {kafkatest.SASL, []kgo.Opt{password("alice-sekret")}, false},
		"PLAIN over TLS":              {kafkatest.SASLTLS, []kgo.Opt{encrypted, password("alice-secret")}, true},
		"PLAIN to be renewed":         {kafkatest.Reauth, []kgo.Opt{password("alice-secret")}, true},
		"PLAIN of another life":       {kafkatest.Stricter, []kgo.Opt{password("alice-secret-of-another-life")}, true},
		"SCRAM-SHA-256":               {kafkatest.SASL, []kgo.Opt{kgo.SASL(login.AsSha256Mechanism())}, true},
		"SCRAM-SHA-512 over TLS":      {kafkatest.SASLTLS, []kgo.Opt{encrypted, kgo.SASL(login.AsSha512Mechanism())}, true},
		"SCRAM where there is none":   {kafkatest.Stricter, []kgo.Opt{kgo.SASL(login.AsSha512Mechanism())}, false},
		"OAUTHBEARER":                 {kafkatest.SASL, []kgo.Opt{token(time.Hour)}, true},
		"OAUTHBEARER, token is over":  {kafkatest.SASL, []kgo.Opt{token(-time.Hour)}, false},
		"nothing where SASL is asked": {kafkatest.SASL, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			cl := c.Client(t, append(tc.opts, kgo.SeedBrokers(c.AddrsOf(tc.listener)...), kgo.RequestRetries(0), kgo.DialTimeout(soon))...)
			ctx, cancel := context.WithTimeout(t.Context(), soon)
			defer cancel()
			if err := cl.Ping(ctx); (err == nil) != tc.welcome {
				t.Errorf("%v, want welcome %v", err, tc.welcome)
			}
		})
	}
}
