package oauth

import (
	"strings"

	"linger/internal/config"
)

// The options this room reads.
const (
	keyRetriever    = "sasl.oauthbearer.jwt.retriever.class"
	keyValidator    = "sasl.oauthbearer.jwt.validator.class"
	keyHandler      = "sasl.login.callback.handler.class"
	keyEndpoint     = "sasl.oauthbearer.token.endpoint.url"
	keyScope        = "sasl.oauthbearer.scope"
	keyClientID     = "sasl.oauthbearer.client.credentials.client.id"
	keyClientSecret = "sasl.oauthbearer.client.credentials.client.secret"
	keyURLEncode    = "sasl.oauthbearer.header.urlencode"
	keyScopeClaim   = "sasl.oauthbearer.scope.claim.name"
	keySubClaim     = "sasl.oauthbearer.sub.claim.name"
	keyJAAS         = "sasl.jaas.config"

	keyAlgorithm    = "sasl.oauthbearer.assertion.algorithm"
	keyAud          = "sasl.oauthbearer.assertion.claim.aud"
	keyExp          = "sasl.oauthbearer.assertion.claim.exp.seconds"
	keyIss          = "sasl.oauthbearer.assertion.claim.iss"
	keyJTI          = "sasl.oauthbearer.assertion.claim.jti.include"
	keyNbf          = "sasl.oauthbearer.assertion.claim.nbf.seconds"
	keySub          = "sasl.oauthbearer.assertion.claim.sub"
	keyAssertion    = "sasl.oauthbearer.assertion.file"
	keyPrivateKey   = "sasl.oauthbearer.assertion.private.key.file"
	keyPassphrase   = "sasl.oauthbearer.assertion.private.key.passphrase"
	keyTemplate     = "sasl.oauthbearer.assertion.template.file"
	keyConnect      = "sasl.login.connect.timeout.ms"
	keyRead         = "sasl.login.read.timeout.ms"
	keyBackoff      = "sasl.login.retry.backoff.ms"
	keyBackoffMax   = "sasl.login.retry.backoff.max.ms"
	keyWindowFactor = "sasl.login.refresh.window.factor"
	keyWindowJitter = "sasl.login.refresh.window.jitter"
	keyMinPeriod    = "sasl.login.refresh.min.period.seconds"
	keyBuffer       = "sasl.login.refresh.buffer.seconds"
)

// settings reads the options, and those of the login module behind them.
type settings struct {
	cfg  *config.Config
	jaas map[string]string
	warn func(text string)
}

// given reports whether the option has a value, as Java's containsKey does: a default is one.
func (s settings) given(key string) bool {
	v, _ := s.cfg.Get(key)
	return v != nil
}

// text is the option without the white space around it; empty when there is none, or nothing but white space.
func (s settings) text(key string) string {
	switch v, _ := s.cfg.Get(key); v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case config.Secret:
		return strings.TrimSpace(v.Reveal())
	}
	return ""
}

// needed is text, which must be there.
func (s settings) needed(key, remedy string) (string, error) {
	if v := s.text(key); v != "" {
		return v, nil
	}
	return "", required(key, remedy)
}

// number is the option; ok is false when it has no value.
func (s settings) number(key string) (n int64, ok bool) {
	v, _ := s.cfg.Get(key)
	n, ok = v.(int64)
	return n, ok
}

func (s settings) float(key string) float64 {
	v, _ := s.cfg.Get(key)
	f, _ := v.(float64)
	return f
}

func (s settings) boolean(key string) bool {
	v, _ := s.cfg.Get(key)
	b, _ := v.(bool)
	return b
}

// orJAAS is the option or, when it has no value, the deprecated option of the login module (KIP-1139).
func (s settings) orJAAS(key, jaas string) (value string, found bool) {
	old, inJAAS := s.jaas[jaas]
	switch {
	case s.given(key) && inJAAS:
		s.warn("Both " + key + " and the option " + jaas + " of " + keyJAAS + " are set; the latter is deprecated and not used. Leave it out.")
		return s.text(key), true
	case s.given(key):
		return s.text(key), true
	case inJAAS:
		s.warn("The option " + jaas + " of " + keyJAAS + " is deprecated. Set " + key + " instead.")
		return strings.TrimSpace(old), true
	}
	return "", false
}

// neededOrJAAS is orJAAS, which must be there.
func (s settings) neededOrJAAS(key, jaas string) (string, error) {
	if v, _ := s.orJAAS(key, jaas); v != "" {
		return v, nil
	}
	return "", required(key, "set it, or an assertion (sasl.oauthbearer.assertion.*) in the place of id and secret")
}
