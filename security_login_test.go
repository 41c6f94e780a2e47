package linger_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"linger"
	"linger/internal/sasl"
)

// SEC-06: what can't work is refused by name, with what to use in its place. SEC-11: no secret is in the text.
func TestLoginsThatCannotWorkAreRefusedByNew(t *testing.T) {
	const hunter = `org.apache.kafka.common.security.plain.PlainLoginModule required username="hunter1" password="hunter2";`
	for name, it := range map[string]struct {
		options []linger.Option
		want    string
	}{
		"no mechanism":              {login("", hunter), "mechanism must be non-null and non-empty string"},
		"the default is Kerberos":   {[]linger.Option{linger.SecurityProtocol("SASL_PLAINTEXT")}, "linger/plugin/gssapi"},
		"Kerberos by name":          {login("GSSAPI", hunter), "linger.WithSASLMechanism"},
		"an unknown mechanism":      {login("SCRAM-SHA-1", hunter), "Invalid value SCRAM-SHA-1 for configuration sasl.mechanism: it is none of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER"},
		"small letters":             {login("plain", hunter), "capitals count"},
		"no login":                  {[]linger.Option{linger.SecurityProtocol("SASL_PLAINTEXT"), linger.SASLMechanism("PLAIN")}, "sasl.jaas.config: it is not set"},
		"another mechanism's login": {login("SCRAM-SHA-256", hunter), "ScramLoginModule, not PlainLoginModule"},
		"a login without its end":   {login("PLAIN", strings.TrimSuffix(hunter, ";")), "not terminated by semi-colon"},
		"a login without password":  {login("PLAIN", strings.Replace(hunter, `password="hunter2"`, "", 1)), "has no password"},
		"a login for tokens":        {login("OAUTHBEARER", hunter), "OAuthBearerLoginModule, not PlainLoginModule"},
		"a Java class that logs in": {append(login("PLAIN", hunter), linger.SASLLoginClass("my.Login")), "linger.WithSASLMechanism"},
		"a mechanism that is nil":   {append(login("PLAIN", hunter), linger.WithSASLMechanism(nil)), "needs a mechanism with a name"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := linger.New(linger.ByteArray, linger.ByteArray, append(it.options, linger.BootstrapServers("127.0.0.1:9092"))...)
			if err == nil {
				p.Close()
				t.Fatal("accepted")
			}
			if !errors.Is(err, linger.ErrConfig) || !strings.Contains(err.Error(), it.want) {
				t.Errorf("got %v, want an ErrConfig with %q", err, it.want)
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "hunter") {
				t.Errorf("the login is shown: %v", err)
			}
		})
	}
}

// counting is a mechanism of the application's own: PLAIN under another name.
type counting struct {
	mu       sync.Mutex
	values   map[string]string
	hosts    []string
	closed   int
	onNext   func()
	sessions sasl.Mechanism
}

func (*counting) Name() string { return "MINE" }

func (m *counting) Configure(values map[string]string) error {
	m.values = values
	return nil
}

func (m *counting) Close() error { m.closed++; return nil }

func (m *counting) Session(host string) (linger.LoginSession, error) {
	m.mu.Lock()
	m.hosts = append(m.hosts, host)
	m.mu.Unlock()
	s, err := m.sessions.Session(host)
	return countingSession{s, m}, err
}

type countingSession struct {
	linger.LoginSession
	m *counting
}

func (s countingSession) Next(ctx context.Context, challenge []byte) ([]byte, error) {
	if s.m.onNext != nil {
		s.m.onNext()
	}
	return s.LoginSession.Next(ctx, challenge)
}

// SEC-06: a mechanism of one's own, with all that goes with it.
func TestAMechanismOfOnesOwn(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		l := c.secured("MINE")
		l.plainNames = []string{"MINE"}
		c.topic("t", 1)
		plain, err := sasl.FromJAAS(sasl.PlainName, plainLogin, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := &counting{sessions: plain}
		p, err := linger.New(linger.ByteArray, linger.ByteArray, c.options(append(login("MINE", "what the mechanism wants"), linger.WithSASLMechanism(m))...)...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"}); err != nil {
			t.Error(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if m.values["sasl.jaas.config"] != "what the mechanism wants" || m.values["sasl.mechanism"] != "MINE" || m.closed != 1 || len(m.hosts) == 0 || m.hosts[0] != "10.0.0.1" {
			t.Errorf("configured %q, closed %d times, hosts %v", m.values["sasl.jaas.config"], m.closed, m.hosts)
		}
	})
}

// Close inside a mechanism does not wait for the mechanism.
func TestCloseInsideAMechanismReturns(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		l := c.secured("MINE")
		l.plainNames = []string{"MINE"}
		plain, err := sasl.FromJAAS(sasl.PlainName, plainLogin, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := &counting{sessions: plain}
		var p *linger.Producer[[]byte, []byte]
		made, done := make(chan struct{}), make(chan struct{})
		var once sync.Once
		m.onNext = func() {
			<-made
			once.Do(func() {
				if err := p.CloseTimeout(0); err != nil {
					t.Error(err)
				}
				close(done)
			})
		}
		p, err = linger.New(linger.ByteArray, linger.ByteArray, c.options(append(login("MINE", ""), linger.WithSASLMechanism(m))...)...)
		if err != nil {
			t.Fatal(err)
		}
		close(made)
		<-done
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// SEC-06: OAUTHBEARER with its extensions (KIP-342), and what a broker says about a token that it doesn't take (RFC 7628).
func TestTokensAreShownToBrokers(t *testing.T) {
	fetch := func(value string) linger.Option {
		return linger.WithOAuthToken(func(context.Context) (linger.OAuthToken, error) {
			return linger.OAuthToken{Value: value, Principal: "alice", Extensions: map[string]string{"traceId": "7"}}, nil
		})
	}
	for name, it := range map[string]struct{ token, want string }{
		"a good one": {"good-token", ""},
		"a bad one":  {"bad-token", `SASL_AUTHENTICATION_FAILED, {"status":"invalid_token"}`},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				l := c.secured("OAUTHBEARER")
				l.users["token"] = "good-token"
				c.topic("t", 1)
				p := c.producer(linger.SecurityProtocol("SASL_PLAINTEXT"), linger.SASLMechanism("OAUTHBEARER"), fetch(it.token))
				_, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"})
				switch {
				case it.want == "" && err != nil:
					t.Error(err)
				case it.want != "" && (!errors.Is(err, linger.ErrAuthentication) || !strings.Contains(err.Error(), it.want)):
					t.Errorf("got %v, want an authentication error with %q", err, it.want)
				}
				c.change(func() {
					if !strings.HasPrefix(l.extensions, "traceId=7\x01") {
						t.Errorf("extensions %q", l.extensions)
					}
				})
			})
		})
	}
}

// SEC-11: whatever goes wrong with a login, neither errors nor log lines nor the configuration show the password or the token.
func TestNoErrorOrLogLineShowsASecret(t *testing.T) {
	for name, it := range map[string]struct {
		mechanisms []string
		options    []linger.Option
	}{
		"it works":             {[]string{"PLAIN"}, login("PLAIN", plainLogin)},
		"a wrong password":     {[]string{"PLAIN"}, login("PLAIN", wrongLogin)},
		"a wrong mechanism":    {[]string{"SCRAM-SHA-512"}, login("PLAIN", plainLogin)},
		"a wrong SCRAM secret": {[]string{"SCRAM-SHA-256"}, login("SCRAM-SHA-256", strings.Replace(scramLogin, "alice-secret", "not-the-secret", 1))},
		"a port without login": {nil, login("PLAIN", plainLogin)},
		"a refused token": {[]string{"OAUTHBEARER"}, []linger.Option{
			linger.SecurityProtocol("SASL_PLAINTEXT"), linger.SASLMechanism("OAUTHBEARER"),
			linger.WithOAuthToken(func(context.Context) (linger.OAuthToken, error) {
				return linger.OAuthToken{Value: "token-secret"}, nil
			}),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				if it.mechanisms != nil {
					c.secured(it.mechanisms...)
				}
				c.topic("t", 1)
				p := c.producer(it.options...)
				_, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"})
				shown := fmt.Sprintf("%v %+v %v %+v", err, err, p.Config(), p.Config())
				for e := err; e != nil; e = errors.Unwrap(e) {
					shown += fmt.Sprintf("%#v\n", e)
				}
				rest(2e9)
				c.change(func() {
					for _, l := range c.logs {
						shown += l.text + "\n"
					}
				})
				for _, secret := range []string{"alice-secret", "not-the-secret", "token-secret", "LoginModule required"} {
					if at := strings.Index(shown, secret); at >= 0 {
						t.Errorf("%q is shown: … %s", secret, shown[max(0, at-200):at+len(secret)])
					}
				}
			})
		})
	}
}
