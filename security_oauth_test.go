package linger_test

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"linger"
)

// bearer are the options of a login by OAUTHBEARER.
func bearer(more ...linger.Option) []linger.Option {
	return append([]linger.Option{linger.SecurityProtocol("SASL_PLAINTEXT"), linger.SASLMechanism("OAUTHBEARER")}, more...)
}

// tokenOf is a token as identity providers give them; nobody checks the signature here.
func tokenOf(payload string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".c2ln"
}

// admitting makes brokers let in who has the token.
func (c *cluster) admitting(token string) *fakeLogin {
	l := c.secured("OAUTHBEARER")
	c.change(func() { l.users["token"] = token })
	return l
}

func TestALoginByTheApplicationsOwnTokens(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		l := c.admitting("the-token")
		c.topic("t", 1)
		var fetched atomic.Int32
		p := c.producer(bearer(linger.WithOAuthToken(func(context.Context) (linger.OAuthToken, error) {
			fetched.Add(1)
			return linger.OAuthToken{Value: "the-token", Expiry: time.Now().Add(time.Hour), Extensions: map[string]string{"team": "x"}}, nil
		}))...)
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := fetched.Load(); n != 2 {
			t.Errorf("%d tokens were fetched, want one, and one ahead of its end", n)
		}
		if _, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"}); err != nil {
			t.Fatal(err)
		}
		c.change(func() {
			if !strings.Contains(l.extensions, "team=x") {
				t.Errorf("extensions %q", l.extensions)
			}
		})
	})
}

func TestATokenThatCannotBeHadIsExplained(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.admitting("the-token")
		c.topic("t", 1)
		cause := errors.New("it rains")
		p := c.producer(bearer(linger.WithOAuthToken(func(context.Context) (linger.OAuthToken, error) { return linger.OAuthToken{}, cause }))...)
		_, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"})
		if err == nil || !strings.Contains(err.Error(), "linger.WithOAuthToken: it rains") {
			t.Errorf("got %v", err)
		}
	})
}

// A function that ends its goroutine, or panics, or closes the producer, does no more harm than an error.
func TestTheApplicationsOwnTokensMayFailInAnyWay(t *testing.T) {
	type made <-chan *linger.Producer[[]byte, []byte]
	for name, fail := range map[string]func(made){
		"by a panic":              func(made) { panic("the-secret") },
		"without a return":        func(made) { runtime.Goexit() },
		"by closing the producer": func(p made) { _ = (<-p).Close() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.admitting("the-token")
				c.topic("t", 1)
				it := make(chan *linger.Producer[[]byte, []byte], 1)
				p := c.producer(bearer(linger.WithOAuthToken(func(context.Context) (linger.OAuthToken, error) {
					fail(it)
					return linger.OAuthToken{}, errors.New("no token")
				}), linger.MaxBlock(time.Second))...)
				it <- p
				_, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"})
				if err == nil || strings.Contains(err.Error(), "the-secret") {
					t.Errorf("got %v", err)
				}
				synctest.Wait()
			})
		})
	}
}

func TestALoginByUnsecuredTokens(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		l := c.admitting("")
		now := time.Now().Unix() // a bubble's clock stands still while things happen
		c.change(func() {
			l.users["token"] = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." +
				base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d,"iat":%d,"sub":"alice"}`, now+3600, now)) + "."
		})
		c.topic("t", 1)
		p := c.producer(bearer(linger.SASLJaasConfig(`org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="alice";`))...)
		if _, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"}); err != nil {
			t.Fatal(err)
		}
	})
}

// A client.properties as Java's documentation shows it, and a file, with real sockets for the endpoint.
func TestALoginByTheOptionsOfAJavaClient(t *testing.T) {
	token := tokenOf(fmt.Sprintf(`{"sub":"alice","exp":%d}`, time.Now().Unix()+3600))
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, secret, _ := r.BasicAuth(); id != "me" || secret != "s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprintf(w, `{"access_token":%q}`, token)
	}))
	defer endpoint.Close()
	const module = "sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
	tests := map[string]struct{ properties, err string }{
		"client credentials": {
			module + ";\nsasl.oauthbearer.client.credentials.client.id=me\nsasl.oauthbearer.client.credentials.client.secret=s3cret\n" +
				"sasl.login.callback.handler.class=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler\n" +
				"sasl.oauthbearer.token.endpoint.url=" + endpoint.URL + "\n", "",
		},
		"client credentials in the login module": {
			module + `clientId="me" clientSecret="s3cret";` + "\nsasl.oauthbearer.token.endpoint.url=" + endpoint.URL + "\n", "",
		},
		"a file":         {"sasl.oauthbearer.token.endpoint.url=file://" + file + "\n", ""},
		"a wrong secret": {module + `clientId="me" clientSecret="s3cret2";` + "\nsasl.oauthbearer.token.endpoint.url=" + endpoint.URL + "\n", "answer 401 Unauthorized"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "client.properties")
			text := "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n" + tt.properties
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			c := newCluster(t, 1)
			t.Cleanup(c.close)
			c.admitting(token)
			c.topic("t", 1)
			var lines strings.Builder
			p := c.producer(linger.PropertiesFile(path), linger.WithLogger(slog.New(slog.NewTextHandler(&lines, nil))))
			_, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"})
			_ = p.Close()
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("got %v", err)
			}
			if all := fmt.Sprint(err) + lines.String(); strings.Contains(all, "s3cret") || strings.Contains(all, token) {
				t.Errorf("a secret is shown: %s", all)
			}
		})
	}
}

// The login module's ssl.* options are for the endpoint; the producer's are for brokers.
func TestTheEndpointsCertificateIsCheckedByTheLoginModulesOptions(t *testing.T) {
	token := tokenOf(fmt.Sprintf(`{"sub":"alice","exp":%d}`, time.Now().Unix()+3600))
	endpoint := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"access_token":%q}`, token)
	}))
	endpoint.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of clients that hang up
	endpoint.StartTLS()
	defer endpoint.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: endpoint.Certificate().Raw})
	if err := os.WriteFile(file, ca, 0o600); err != nil {
		t.Fatal(err)
	}
	const module = `org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required clientId="me" clientSecret="s3cret" `
	for name, tt := range map[string]struct{ options, err string }{
		"one to trust":     {`ssl.truststore.type="PEM" ssl.truststore.location="` + file + `";`, ""},
		"one nobody knows": {`;`, "certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 1)
			t.Cleanup(c.close)
			c.admitting(token)
			c.topic("t", 1)
			p := c.producer(bearer(linger.SASLJaasConfig(module+tt.options), linger.SASLOAuthBearerTokenEndpointURL(endpoint.URL),
				linger.SASLLoginRetryBackoffMax(time.Millisecond), linger.SASLLoginRetryBackoff(0))...)
			_, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"})
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("got %v", err)
			}
		})
	}
	_, err := linger.New(linger.ByteArray, linger.ByteArray, bearer(linger.BootstrapServers("localhost:1"),
		linger.SASLOAuthBearerTokenEndpointURL(endpoint.URL), linger.SASLJaasConfig(module+`ssl.truststore.location="/no/such";`))...)
	if !errors.Is(err, linger.ErrConfig) || !strings.Contains(err.Error(), "sasl.jaas.config, option of the login module: ") {
		t.Errorf("got %v", err)
	}
}
