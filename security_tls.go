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

// CertificateDaysLeft are the whole days until the client's own certificate ends, the first of them if there are several,
// negative once it has ended: a metric to alert on. ok is false when there is none: connections are plain, neither a key
// store (ssl.keystore.*) nor a certificate in WithTLSConfig is given, or GetClientCertificate chooses it for each
// connection. A key store file that has changed is read first, so this may take a disk's time. A warning in the log says
// the same during the last 30 days, at a dial or such a call, once a day at most. It is safe for concurrent use, after Close too.
func (p *Producer[K, V]) CertificateDaysLeft() (days int, ok bool) {
	if p.core.tls == nil {
		return 0, false
	}
	return p.core.tls.DaysLeft()
}

// buildTLS reads the ssl.* options; what it returns is nil for plain connections.
func (c *core) buildTLS(o *options, cfg *config.Config) (_ func(host string) *tls.Config, err error) {
	if !strings.HasSuffix(cfg.SecurityProtocol, "SSL") {
		if o.tls != nil {
			return nil, fmt.Errorf("%w: linger.WithTLSConfig is given, but security.protocol is %s: set it to SSL or SASL_SSL", kerr.ErrConfig, cfg.SecurityProtocol)
		}
		return nil, nil
	}
	if c.tls, err = c.tlsSource(cfg, o.tls); err != nil {
		return nil, err
	}
	return c.tls.Config, nil
}

// tlsSource makes TLS configurations, one for each dial, of the ssl.* options in cfg, on top of base unless that is nil.
func (c *core) tlsSource(cfg *config.Config, base *tls.Config) (*tlsconf.Source, error) {
	return tlsconf.New(tlsconf.Options{
		Get:   func(key string) any { v, _ := cfg.Get(key); return v },
		Given: cfg.IsSet,
		Base:  base,
		Now:   func() time.Time { return time.UnixMilli(c.clk.WallMs()) },
		Log:   func(level slog.Level, text string) { c.log.Log(context.Background(), level, text) },
	})
}
