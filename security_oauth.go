package linger

import (
	"context"
	cryptorand "crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"linger/internal/config"
	"linger/internal/kerr"
	"linger/internal/oauth"
	"linger/internal/tlsconf"
)

// OAuthToken is a token of the mechanism OAUTHBEARER. It prints itself without its value.
type OAuthToken = oauth.Token

// WithOAuthToken gives the mechanism OAUTHBEARER its tokens; it stands for a class of one's own in
// sasl.login.callback.handler.class, and for all options about where tokens come from.
//
// fetch is called when the first connection needs a token and then each time before the last one ends, as the options
// sasl.login.refresh.* say, by one goroutine at a time. It must return soon after its context ends, which it does when the
// producer is closed. A token without an expiry is used once, for one connection. An error is not the end: the next
// connection asks again.
func WithOAuthToken(fetch func(ctx context.Context) (OAuthToken, error)) Option {
	return func(o *options) error { o.oauthToken = fetch; return nil }
}

// oauthSource makes the source of tokens for OAUTHBEARER; login are the options of the login module, nil when there is
// none. Who calls it closes it.
func (c *core) oauthSource(o *options, cfg *config.Config, login map[string]string) (*oauth.Source, error) {
	tlsFor, err := c.endpointTLS(login)
	if err != nil {
		return nil, err
	}
	var seed [32]byte
	_, _ = cryptorand.Read(seed[:]) // never fails
	return oauth.New(oauth.Options{
		Config: cfg, JAAS: login, Fetch: c.guardFetch(o.oauthToken), Environment: os.LookupEnv, Clock: c.clk, Log: c.log,
		TLS: tlsFor, Random: rand.New(rand.NewChaCha8(seed)).Float64,
	})
}

// endpointTLS is how the token endpoint is talked to: by the ssl.* options of the login module, those of the producer are
// for brokers (in Java: JaasOptionsUtils.createSSLSocketFactory). Nil stands for what the system trusts.
func (c *core) endpointTLS(login map[string]string) (func(host string) *tls.Config, error) {
	settings := []config.Setting{
		{Key: "bootstrap.servers", Value: "localhost:1"}, // must be there, and nobody reads it
		{Key: "key.serializer", Value: config.Instance("")}, {Key: "value.serializer", Value: config.Instance("")},
	}
	needed := len(settings)
	for option, value := range login {
		if strings.HasPrefix(option, "ssl.") {
			settings = append(settings, config.Setting{Key: option, Value: value, Source: "sasl.jaas.config"})
		}
	}
	if len(settings) == needed {
		return nil, nil
	}
	cfg, err := config.Parse(settings)
	var source *tlsconf.Source
	if err == nil {
		source, err = c.tlsSource(cfg, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: sasl.jaas.config, option of the login module: %w", kerr.ErrConfig, err)
	}
	return source.Config, nil
}

// guardFetch calls the application's function as guard calls its dialer.
func (c *core) guardFetch(fetch func(context.Context) (OAuthToken, error)) func(context.Context) (OAuthToken, error) {
	if fetch == nil {
		return nil
	}
	return func(ctx context.Context) (OAuthToken, error) {
		return apart(&c.inside, errNoToken, func() (token OAuthToken, err error) {
			defer recoverUnquoted("the function", &err)
			return fetch(ctx)
		})
	}
}

var errNoToken = errors.New("the function did not return")
