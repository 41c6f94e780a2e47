//go:build unix

package security_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"linger"
	"linger/test/broker/kafkatest"
)

// refusal is a client that a listener has no use for.
type refusal struct {
	good, bad string // a listener that lets the client in ("" if there is none), and the one that does not
	text      func(t *testing.T, s *kafkatest.Secure) string
	want      error  // what it is
	says      string // and says, among other things
	onPage    bool   // docs/SECURITY.md has that text
}

const (
	trustCA  = "ssl.truststore.type=PEM\nssl.truststore.location=%s\n"
	overTLS  = "security.protocol=SSL\n" + trustCA
	plainOf  = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config=" + plainModule + " required username=\"alice\" password=\"%s\";\n"
	scramOf  = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=%s\nsasl.jaas.config=" + scramModule + " required username=\"%s\" password=\"%s\";\n"
	password = "alice-secret"
)

// refusals are those that a broker, or the client itself, turns down for good reason: they end at once.
func refusals() map[string]refusal {
	scram := func(mechanism, password string) func(*testing.T, *kafkatest.Secure) string {
		return lines(fmt.Sprintf(scramOf, mechanism, "alice", password))
	}
	return map[string]refusal{
		"PLAIN, wrong password": {kafkatest.SASL, kafkatest.Stricter, lines(fmt.Sprintf(plainOf, password)), linger.ErrAuthentication,
			"Invalid username or password", false},
		"SCRAM, wrong password": {"", kafkatest.SASL, scram("SCRAM-SHA-512", "another"), linger.ErrAuthentication,
			"invalid credentials with SASL mechanism SCRAM-SHA-512", false},
		"SCRAM, unknown user": {"", kafkatest.SASL, lines(fmt.Sprintf(scramOf, "SCRAM-SHA-256", "nobody", password)), linger.ErrAuthentication,
			"invalid credentials with SASL mechanism SCRAM-SHA-256", false},
		"a mechanism that is not enabled": {kafkatest.SASL, kafkatest.Stricter, scram("SCRAM-SHA-256", password), linger.ErrAuthentication,
			"Client SASL mechanism 'SCRAM-SHA-256' not enabled in the server, enabled mechanisms are [PLAIN]", false},
		"plain against TLS":                  {"PLAINTEXT", kafkatest.TLS, lines(""), linger.ErrAuthentication, "the peer speaks TLS", true},
		"SASL against TLS":                   {kafkatest.SASL, kafkatest.TLS, lines(fmt.Sprintf(plainOf, password)), linger.ErrAuthentication, "the peer speaks TLS", true},
		"no SASL against a SASL port":        {"", kafkatest.SASL, lines(""), linger.ErrAuthentication, "set it to SASL_PLAINTEXT", false},
		"TLS against plain":                  {"", "PLAINTEXT", using(overTLS, caFile), linger.ErrAuthentication, "does not seem to speak TLS", false},
		"TLS against SASL_PLAINTEXT":         {"", kafkatest.SASL, using(overTLS, caFile), linger.ErrAuthentication, "does not seem to speak TLS", false},
		"TLS alone against SASL_SSL":         {"", kafkatest.SASLTLS, using(overTLS, caFile), linger.ErrAuthentication, "set it to SASL_SSL", false},
		"SASL against a plain port":          {kafkatest.SASL, "PLAINTEXT", lines(fmt.Sprintf(plainOf, password)), linger.ErrAuthentication, "the listener takes clients without SASL", false},
		"an expired server certificate":      {kafkatest.TLS, kafkatest.Expired, using(overTLS, caFile), linger.ErrAuthentication, "expired certificate: ", true},
		"another host's certificate":         {kafkatest.TLS, kafkatest.Stranger, using(overTLS, caFile), linger.ErrAuthentication, "wrong host name: ", true},
		"another authority's certificate":    {kafkatest.TLS, kafkatest.Foreign, using(overTLS, caFile), linger.ErrAuthentication, "unknown authority: ", true},
		"no client certificate":              {kafkatest.TLS, kafkatest.MutualTLS, using(overTLS, caFile), linger.ErrAuthentication, "the broker asks for a certificate of the client and got none", true},
		"SASL_SSL, another authority's":      {"", kafkatest.SASLTLS, foreignTrust("security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=" + plainModule + " required username=\"alice\" password=\"" + password + "\";\n"), linger.ErrAuthentication, "unknown authority: ", true},
		"a token that is over":               {"", kafkatest.SASL, tokenFile(-time.Hour), linger.ErrAuthentication, "invalid_token", false},
		"a client whom the provider refuses": {"", kafkatest.SASL, using(oauthBase+"sasl.jaas.config="+oauthModule+" required ;\nsasl.oauthbearer.token.endpoint.url=%s\nsasl.oauthbearer.client.credentials.client.id=%s\nsasl.oauthbearer.client.credentials.client.secret=wrong%s\n", client), linger.ErrAuthentication, "answer 401 Unauthorized", true},
	}
}

// foreignTrust trusts the authority that no good listener has its certificate from.
func foreignTrust(text string) func(*testing.T, *kafkatest.Secure) string {
	return func(t *testing.T, s *kafkatest.Secure) string {
		if err := s.WriteFile("other-ca.pem", s.OtherCA.PEM()); err != nil {
			t.Fatal(err)
		}
		return text + fmt.Sprintf(trustCA, s.Path("other-ca.pem"))
	}
}

func tokenFile(life time.Duration) func(*testing.T, *kafkatest.Secure) string {
	return func(t *testing.T, s *kafkatest.Secure) string {
		if err := s.WriteFile("other-token.jwt", []byte(s.Identity.Token("alice", life))); err != nil {
			t.Fatal(err)
		}
		return oauthBase + "sasl.jaas.config=" + oauthModule + " required ;\nsasl.oauthbearer.token.endpoint.url=file://" + s.Path("other-token.jwt") +
			"\nsasl.oauthbearer.jwt.retriever.class=org.apache.kafka.common.security.oauthbearer.FileJwtRetriever\n"
	}
}

// Who is turned down hears so at once and why, long before max.block.ms (SEC-06, SEC-07, SEC-11, META-08).
func TestB27WhoIsTurnedDownHearsSoAtOnce(t *testing.T) {
	for name, r := range refusals() {
		t.Run(name, func(t *testing.T) {
			s, c := secure(t)
			topic := c.NewTopic(t, 1, nil)
			p := connect(t, javaFile(t, c, r.bad, r.text(t, s)))
			_, err := p.SendSync(within(t, soon), record{Topic: topic, Value: []byte("v")})
			wantRefused(t, err, r)
		})
	}
}

// It reaches records that were in the buffer already: the next connection leads to a listener that has other ideas.
func TestB27RecordsInTheBufferHearItToo(t *testing.T) {
	for name, r := range refusals() {
		if r.good == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s, c := secure(t)
			topic := c.NewTopic(t, 1, nil)
			way := newMover(c.AddrsOf(r.good)[0])
			p := connect(t, javaFile(t, c, r.good, r.text(t, s)), linger.WithDialer(way.dial), linger.Linger(soon), linger.DeliveryTimeout(maxBlock))
			ctx := within(t, soon)
			first := buffer(ctx, t, p, topic, 1)
			flush(ctx, t, p)
			if _, err := first[0].Wait(ctx); err != nil {
				t.Fatal(err)
			}
			futures := buffer(ctx, t, p, topic, 10)
			way.to(c.AddrsOf(r.bad)[0])
			flush(ctx, t, p)
			for _, f := range futures {
				_, err := f.Wait(ctx)
				wantRefused(t, err, r)
			}
			if got := values(t, c, topic); len(got) != 1 {
				t.Errorf("the log holds %q, want the first record alone", got)
			}
		})
	}
}

func wantRefused(t *testing.T, err error, r refusal) {
	t.Helper()
	switch {
	case !errors.Is(err, r.want), errors.Is(err, linger.ErrTimeout), errors.Is(err, linger.ErrInterrupted):
		t.Errorf("%v, want %v at once", err, r.want)
	case !strings.Contains(err.Error(), r.says):
		t.Errorf("%q does not say %q", err, r.says)
	case strings.Contains(err.Error(), password), strings.Contains(err.Error(), kafkatest.ClientSecret):
		t.Errorf("%q has a secret in it", err)
	}
}

// buffer sends n records and leaves them where they are.
func buffer(ctx context.Context, t *testing.T, p *producer, topic string, n int) []linger.Future {
	t.Helper()
	var all []linger.Future
	for i := range n {
		f, err := p.Send(ctx, record{Topic: topic, Value: fmt.Append(nil, i)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}

func flush(ctx context.Context, t *testing.T, p *producer) {
	t.Helper()
	if err := p.Flush(ctx); err != nil {
		t.Fatal(err)
	}
}

// misdirections are clients whose broker begins to drop them without a word, so that nobody can tell it from a broken network: they
// are tried again until delivery.timeout.ms. One that never got through is among the refusals.
func misdirections() map[string]refusal {
	return map[string]refusal{
		"TLS against plain":           {kafkatest.TLS, "PLAINTEXT", using(overTLS, caFile), linger.ErrTimeout, "connection lost during the TLS handshake", true},
		"TLS against SASL_PLAINTEXT":  {kafkatest.TLS, kafkatest.SASL, using(overTLS, caFile), linger.ErrTimeout, "connection lost during the TLS handshake", true},
		"no SASL against a SASL port": {"PLAINTEXT", kafkatest.SASL, lines(""), linger.ErrTimeout, "", false},
	}
}

// A client that is dropped without a word runs into its limit of time and hears what it looks like.
func TestB27RecordsInTheBufferMeetAnotherProtocol(t *testing.T) {
	t.Parallel()
	for name, r := range misdirections() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := secure(t)
			topic := c.NewTopic(t, 1, nil)
			way := newMover(c.AddrsOf(r.good)[0])
			p := connect(t, javaFile(t, c, r.good, r.text(t, s)), linger.WithDialer(way.dial),
				linger.MetadataRecoveryStrategy("none"), // a producer that starts over forgets the topic, and has nothing to buffer for
				linger.Linger(500*time.Millisecond), linger.RequestTimeout(1500*time.Millisecond), linger.DeliveryTimeout(6*time.Second))
			ctx := within(t, soon)
			send := func() error {
				_, err := p.SendSync(ctx, record{Topic: topic, Value: []byte("v")})
				return err
			}
			untilSent(ctx, t, linger.ErrTimeout, send) // a busy broker may take longer than that
			way.to(c.AddrsOf(r.bad)[0])                // before linger.ms sends anything
			futures := buffer(ctx, t, p, topic, 10)
			flush(ctx, t, p)
			for _, f := range futures {
				if _, err := f.Wait(ctx); !errors.Is(err, r.want) || errors.Is(err, linger.ErrInterrupted) || !strings.Contains(err.Error(), r.says) {
					t.Errorf("%v, want %v that mentions %q", err, r.want, r.says)
				}
			}
			if got := slices.DeleteFunc(values(t, c, topic), func(v string) bool { return v == "v" }); len(got) != 0 {
				t.Errorf("the log holds %q of what was sent to another port", got)
			}
			way.to(c.AddrsOf(r.good)[0])
			untilSent(ctx, t, linger.ErrTimeout, send)
		})
	}
}
