package tlsconf

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"
)

// verifier checks the certificates of one peer.
type verifier struct {
	host      string // the name that was dialled, or an IP address
	checkHost bool
	roots     *x509.CertPool // nil: the system's
	now       func() time.Time
	base      *tls.Config // nil: the application has no checks of its own
}

// verify is a VerifyConnection. It runs on resumed sessions too.
func (v *verifier) verify(cs tls.ConnectionState) error {
	if len(cs.PeerCertificates) == 0 {
		return errors.New("the broker sent no certificate")
	}
	leaf := cs.PeerCertificates[0]
	between := x509.NewCertPool()
	for _, c := range cs.PeerCertificates[1:] {
		between.AddCert(c)
	}
	chains, err := leaf.Verify(x509.VerifyOptions{Roots: v.roots, Intermediates: between, CurrentTime: v.now()})
	if err != nil {
		return v.explain(leaf, err)
	}
	if v.checkHost && !isFor(leaf, v.host) {
		return &hostError{leaf: leaf, host: v.host}
	}
	return v.askBase(cs, chains)
}

// askBase lets the application's own checks follow, with what crypto/tls would have given them.
func (v *verifier) askBase(cs tls.ConnectionState, chains [][]*x509.Certificate) error {
	if v.base == nil {
		return nil
	}
	if check := v.base.VerifyPeerCertificate; check != nil && !cs.DidResume {
		var raw [][]byte
		for _, c := range cs.PeerCertificates {
			raw = append(raw, c.Raw)
		}
		if err := check(raw, chains); err != nil {
			return err
		}
	}
	if check := v.base.VerifyConnection; check != nil {
		cs.VerifiedChains = chains
		return check(cs)
	}
	return nil
}

// isFor reports whether cert is for host. Where it has no alternative name that is a DNS name its common name counts, as in
// Java (sun.security.util.HostnameChecker); crypto/x509 has given that up.
func isFor(cert *x509.Certificate, host string) bool {
	if cert.VerifyHostname(host) == nil {
		return true
	}
	if !goesByCommonName(cert, host) {
		return false
	}
	common := x509.Certificate{DNSNames: []string{cert.Subject.CommonName}}
	return common.VerifyHostname(host) == nil
}

func goesByCommonName(cert *x509.Certificate, host string) bool {
	isIP := strings.Contains(host, ":") || strings.Trim(host, "0123456789.") == ""
	return !isIP && len(cert.DNSNames) == 0 && cert.Subject.CommonName != ""
}

// hostError is a certificate for other names than the one that was dialled.
type hostError struct {
	leaf *x509.Certificate
	host string
}

func (e *hostError) Error() string {
	names := e.leaf.DNSNames
	for _, ip := range e.leaf.IPAddresses {
		names = append(names[:len(names):len(names)], ip.String())
	}
	if goesByCommonName(e.leaf, e.host) {
		names = append(names[:len(names):len(names)], e.leaf.Subject.CommonName)
	}
	are := "for no name at all"
	if len(names) > 0 {
		are = "for " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("wrong host name: the broker's certificate is %s, not for %s; use a name that is in the certificate, "+
		"or have it made anew (an empty ssl.endpoint.identification.algorithm leaves this check out)", are, e.host)
}

// explain puts into words why a chain is not trusted.
func (v *verifier) explain(leaf *x509.Certificate, err error) error {
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		where := "add it to ssl.truststore.location or ssl.truststore.certificates"
		if v.roots == nil {
			where = "only the system's authorities are trusted, since no ssl.truststore.… option is set; name a trust store that has it"
		}
		return fmt.Errorf("unknown authority: the broker's certificate (%s) is signed by %s, which is not trusted; %s: %w",
			leaf.Subject, leaf.Issuer, where, err)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		c, now := invalid.Cert, v.now()
		if now.Before(c.NotBefore) {
			return fmt.Errorf("certificate not valid yet: that of %s begins on %s and it is %s here; are the clocks right? %w",
				c.Subject, date(c.NotBefore), date(now), err)
		}
		return fmt.Errorf("expired certificate: that of %s ended on %s and it is %s here: %w", c.Subject, date(c.NotAfter), date(now), err)
	}
	return fmt.Errorf("the broker's certificate (%s) is not trusted: %w", leaf.Subject, err)
}

func date(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 MST") }
