package linger_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"linger"
)

const (
	plainLogin = `org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="alice-secret";`
	scramLogin = `org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="alice-secret";`
	wrongLogin = `org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="not-the-secret";`
)

func login(mechanism, jaas string) []linger.Option {
	return []linger.Option{linger.SecurityProtocol("sasl_plaintext"), linger.SASLMechanism(mechanism), linger.SASLJaasConfig(jaas)}
}

// SEC-05, SEC-06: the protocol in any letter case, and each mechanism that is built in with user and password.
func TestRecordsArriveBehindALogin(t *testing.T) {
	for mechanism, jaas := range map[string]string{"PLAIN": plainLogin, "SCRAM-SHA-256": scramLogin, "SCRAM-SHA-512": scramLogin} {
		t.Run(mechanism, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				l := c.secured(mechanism)
				ft := c.topic("t", 1)
				p := c.producer(login(mechanism, jaas)...)
				md, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t", Value: []byte("v")})
				if err != nil || md.Offset != 0 {
					t.Fatal(md, err)
				}
				c.change(func() {
					if len(ft.log[0]) != 1 || l.logins != len(c.dialled) || l.failures != 0 {
						t.Errorf("%d records, %d logins on %d connections, %d failures", len(ft.log[0]), l.logins, len(c.dialled), l.failures)
					}
				})
			})
		})
	}
}

// SEC-07, META-08, B27: who waits for metadata hears at once why nobody lets us in, in the broker's own words.
func TestAFailedLoginEndsTheWaitForMetadata(t *testing.T) {
	for name, it := range map[string]struct {
		mechanism, jaas, want string
		plain                 bool
	}{
		"a wrong password":               {"PLAIN", wrongLogin, "SASL_AUTHENTICATION_FAILED, Authentication failed: Invalid username or password", false},
		"a mechanism the broker lacks":   {"SCRAM-SHA-512", scramLogin, "Client SASL mechanism 'SCRAM-SHA-512' not enabled in the server, enabled mechanisms are [PLAIN]", false},
		"a login at a port without SASL": {"PLAIN", plainLogin, "ILLEGAL_SASL_STATE", true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				if it.plain {
					c.change(func() { c.maxAPI[17], c.maxAPI[36] = 1, 2 })
				} else {
					c.secured("PLAIN")
				}
				c.topic("t", 1)
				p := c.producer(login(it.mechanism, it.jaas)...)
				for what, do := range map[string]func() error{
					"Send": func() error {
						_, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"})
						return err
					},
					"PartitionsFor": func() error { _, err := p.PartitionsFor(t.Context(), "t"); return err },
					"Warm":          func() error { return p.Warm(t.Context(), "t") },
				} {
					var err error
					if d := took(func() { err = do() }); d > time.Second {
						t.Errorf("%s waited for %v", what, d)
					}
					if !errors.Is(err, linger.ErrAuthentication) || !strings.Contains(err.Error(), it.want) {
						t.Errorf("%s: %v, want an authentication error with %q", what, err, it.want)
					}
					if linger.ClassOf(err) != linger.ClassInvalidConfiguration {
						t.Errorf("%s: class %v", what, linger.ClassOf(err))
					}
				}
			})
		})
	}
}
