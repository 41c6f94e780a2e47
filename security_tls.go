package linger

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"linger/internal/config"
	"linger/internal/kerr"
	"linger/internal/tlsconf"
)

// WithTLSConfig gives TLS connections a configuration of the application's own, for what no option says: keys in hardware,
// certificates from a running service, checks of one's own. It takes the place of Java's ssl.engine.factory.class and needs
// security.protocol SSL or SASL_SSL. base is cloned for each connection; what it refers to must not change.
//
// An ssl.* option that is set wins over the field that it stands for:
//
//   - a key store over Certificates and GetClientCertificate, a trust store over RootCAs;
//   - ssl.protocol, ssl.enabled.protocols and ssl.cipher.suites over MinVersion, MaxVersion and CipherSuites;
//   - ServerName is the name that every broker's certificate must have; when it is empty, each must have its own.
//
// The checks of the chain and, unless ssl.endpoint.identification.algorithm is empty, of the host name stay;
// VerifyPeerCertificate and VerifyConnection are called after them. InsecureSkipVerify leaves every check to these two. It
// is refused together with a trust store or with ssl.endpoint.identification.algorithm.
func WithTLSConfig(base *tls.Config) Option {
	return func(o *options) error {
		if base != nil {
			base = base.Clone()
		}
		o.tls = base
		return nil
	}
}

// buildTLS reads the ssl.* options; what it returns is nil for plain connections.
func (c *core) buildTLS(o *options, cfg *config.Config) (func(host string) *tls.Config, error) {
	if !strings.HasSuffix(cfg.SecurityProtocol, "SSL") {
		if o.tls != nil {
			return nil, fmt.Errorf("%w: linger.WithTLSConfig is given, but security.protocol is %s: set it to SSL or SASL_SSL", kerr.ErrConfig, cfg.SecurityProtocol)
		}
		return nil, nil
	}
	return c.tlsFor(cfg, o.tls)
}

// tlsFor makes TLS configurations, one for each dial, of the ssl.* options in cfg, on top of base unless that is nil.
func (c *core) tlsFor(cfg *config.Config, base *tls.Config) (func(host string) *tls.Config, error) {
	given := make(map[string]bool)
	for _, e := range cfg.Effective() {
		given[e.Key] = e.Source != ""
	}
	source, err := tlsconf.New(tlsconf.Options{
		Get:   func(key string) any { v, _ := cfg.Get(key); return v },
		Given: func(key string) bool { return given[key] },
		Base:  base,
		Now:   func() time.Time { return time.UnixMilli(c.clk.WallMs()) },
		Log:   func(level slog.Level, text string) { c.log.Log(context.Background(), level, text) },
	})
	if err != nil {
		return nil, err
	}
	return source.Config, nil
}
