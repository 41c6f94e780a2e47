package linger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"linger/internal/config"
	"linger/internal/inside"
	"linger/internal/kerr"
	"linger/internal/sasl"
)

// LoginMechanism is a way to log in at brokers, such as SCRAM-SHA-512. PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and OAUTHBEARER
// are built in; others come by WithSASLMechanism.
//
// Name is the registered name, as in sasl.mechanism. Session begins one login with the broker known as host; it is called for
// each connection and again when a broker limits how long a login lasts (KIP-368), from several goroutines.
type LoginMechanism = sasl.Mechanism

// LoginSession is the client's half of one login; one goroutine uses it. Next answers the broker's challenge, the first one being
// nil, and may take as long as its context lets it; Complete reports whether the client has said all and is content. Errors
// reach logs and callers: they must not contain secrets.
type LoginSession = sasl.Session

// WithSASLMechanism adds a mechanism, or replaces a built-in one of the same name. It is used when sasl.mechanism names it
// and security.protocol is SASL_PLAINTEXT or SASL_SSL. A mechanism with a method Configure(map[string]string) error sees the
// options by key before its first use, sasl.jaas.config in clear; one with Close() error is closed with the producer.
func WithSASLMechanism(m LoginMechanism) Option {
	return func(o *options) error {
		if m == nil || m.Name() == "" {
			return fmt.Errorf("%w: WithSASLMechanism needs a mechanism with a name", kerr.ErrConfig)
		}
		o.plugins.mechanisms = append(o.plugins.mechanisms, m)
		return nil
	}
}

// saslMechanism is the mechanism that brokers are logged in at with, nil when security.protocol has no SASL.
func (c *core) saslMechanism(o *options, cfg *config.Config) (sasl.Mechanism, error) {
	if !strings.HasPrefix(cfg.SecurityProtocol, "SASL_") {
		return nil, nil
	}
	value, _ := cfg.Get("sasl.mechanism")
	name, _ := value.(string)
	for _, m := range slices.Backward(o.plugins.mechanisms) {
		if m.Name() == name {
			c.plugins = append(c.plugins, m)
			return guardedMechanism{m, &c.inside}, configure("sasl.mechanism", m, loginValues(cfg))
		}
	}
	return c.builtInMechanism(o, cfg, name)
}

func (c *core) builtInMechanism(o *options, cfg *config.Config, name string) (m sasl.Mechanism, err error) {
	switch name {
	case sasl.PlainName, sasl.ScramSHA256Name, sasl.ScramSHA512Name:
		m, err = mechanismOfLogin(cfg, name)
	case sasl.OAuthBearerName:
		return c.bearer(o, cfg)
	case sasl.GSSAPIName:
		return nil, fmt.Errorf("%w: sasl.mechanism=GSSAPI, which is the default, is not built in: add Kerberos with linger.WithSASLMechanism and the "+
			"module linger/plugin/gssapi, or set sasl.mechanism to %s", kerr.ErrConfig, builtIn)
	default:
		return nil, fmt.Errorf("%w: Invalid value %s for configuration sasl.mechanism: it is none of %s (capitals count); "+
			"add another one with linger.WithSASLMechanism", kerr.ErrConfig, name, builtIn)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: sasl.jaas.config: %w", kerr.ErrConfig, err)
	}
	return m, nil
}

const builtIn = "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER"

// mechanismOfLogin makes a mechanism whose user and password stand in sasl.jaas.config. Java also looks into a file that a
// system property names; a Go program has no such property.
func mechanismOfLogin(cfg *config.Config, name string) (sasl.Mechanism, error) {
	text, ok := jaasConfig(cfg)
	if !ok {
		module := sasl.ScramModule
		if name == sasl.PlainName {
			module = sasl.PlainModule
		}
		return nil, errors.New(`it is not set; mechanism ` + name + ` needs a login: ` + module + ` required username="…" password="…";`)
	}
	return sasl.FromJAAS(name, text, nil)
}

// bearer is OAUTHBEARER. Its login module is optional here, as its options are only one of the ways to describe a token.
func (c *core) bearer(o *options, cfg *config.Config) (sasl.Mechanism, error) {
	var login sasl.Login
	if text, ok := jaasConfig(cfg); ok {
		var err error
		if login, err = sasl.ParseJAAS(text); err == nil {
			err = login.Fits(sasl.OAuthBearerName, sasl.OAuthModule)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: sasl.jaas.config: %w", kerr.ErrConfig, err)
		}
	}
	source, err := c.oauthSource(o, cfg, login.Options)
	if err != nil {
		return nil, err
	}
	c.plugins = append(c.plugins, source)
	return sasl.OAuthBearer(source), nil
}

func jaasConfig(cfg *config.Config) (text string, ok bool) {
	value, _ := cfg.Get("sasl.jaas.config")
	secret, ok := value.(config.Secret)
	return secret.Reveal(), ok
}

// guardedMechanism lets the producer know when the application's own mechanism runs: Close inside it does not wait for itself.
type guardedMechanism struct {
	LoginMechanism
	inside *inside.Set
}

func (g guardedMechanism) Session(host string) (LoginSession, error) {
	defer g.inside.Enter()()
	s, err := g.LoginMechanism.Session(host)
	if err != nil || s == nil {
		return nil, err
	}
	return guardedSession{s, g.inside}, nil
}

type guardedSession struct {
	LoginSession
	inside *inside.Set
}

func (g guardedSession) Complete() bool {
	defer g.inside.Enter()()
	return g.LoginSession.Complete()
}

func (g guardedSession) Next(ctx context.Context, challenge []byte) ([]byte, error) {
	defer g.inside.Enter()()
	return g.LoginSession.Next(ctx, challenge)
}

// loginValues are the options as a mechanism's Configure sees them.
func loginValues(cfg *config.Config) map[string]string {
	values := textValues(cfg)
	if text, ok := jaasConfig(cfg); ok {
		values["sasl.jaas.config"] = text
	}
	return values
}
