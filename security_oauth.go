package linger

import (
	"context"
	cryptorand "crypto/rand"
	"math/rand/v2"
	"os"

	"linger/internal/clock"
	"linger/internal/config"
	"linger/internal/oauth"
)

// OAuthToken is a token of the mechanism OAUTHBEARER. It prints itself without its value.
type OAuthToken = oauth.Token

// WithOAuthToken gives the mechanism OAUTHBEARER its tokens; it stands for a class of one's own in
// sasl.login.callback.handler.class, and for all options about where tokens come from.
//
// fetch is called when the first connection needs a token and then each time before the last one ends, as the options
// sasl.login.refresh.* say, by one goroutine at a time. It must return soon after its context ends, which it does when the producer is
// closed. A token without an expiry is used once, for one connection. An error is not the end: the next connection asks
// again.
func WithOAuthToken(fetch func(ctx context.Context) (OAuthToken, error)) Option {
	return func(o *options) error { o.oauthToken = fetch; return nil }
}

// oauthSource makes the source of tokens for OAUTHBEARER; login are the options of the login module, nil when there is none. Who calls it
// closes it.
func oauthSource(o *options, cfg *config.Config, login map[string]string) (*oauth.Source, error) {
	var seed [32]byte
	_, _ = cryptorand.Read(seed[:]) // never fails
	return oauth.New(oauth.Options{
		Config: cfg, JAAS: login, Fetch: o.oauthToken, Environment: os.LookupEnv, Clock: clock.Real(), Log: o.logger,
		Random: rand.New(rand.NewChaCha8(seed)).Float64,
	})
}
