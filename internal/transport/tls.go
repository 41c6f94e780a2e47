package transport

import (
	"crypto/tls"
	"net"
	"time"
)

// secured is what a TLS handshake told about the peer, kept for the words of a later failure. Only the link's own goroutine
// has it.
type secured struct {
	asked   bool // the broker wants to see a certificate of ours
	offered bool // and got one
}

// secure shakes hands over conn. The caller closes conn when it fails.
func (c *connection) secure(conn net.Conn) (net.Conn, error) {
	cfg := c.t.tls(c.dial.Host)
	c.secured = new(secured)
	c.secured.watch(cfg)
	secure := tls.Client(briefConn{conn}, cfg)
	if err := secure.HandshakeContext(c.ctx); err != nil {
		return nil, c.secured.handshakeFailed(err)
	}
	return secure, nil
}

// watch notes whether a certificate of ours is asked for. It chooses one as crypto/tls does by itself.
func (s *secured) watch(cfg *tls.Config) {
	choose := cfg.GetClientCertificate
	if choose == nil {
		own := cfg.Certificates
		choose = func(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
			for i := range own {
				if asked.SupportsCertificate(&own[i]) == nil {
					return &own[i], nil
				}
			}
			return new(tls.Certificate), nil
		}
	}
	cfg.GetClientCertificate = func(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		cert, err := choose(asked)
		s.asked, s.offered = true, cert != nil && len(cert.Certificate) > 0
		return cert, err
	}
}

// farewell is how long closing may wait for a peer that takes nothing.
const farewell = 500 * time.Millisecond

// briefConn bounds the goodbye of a TLS connection (close_notify), which crypto/tls gives five seconds: a peer that has
// stopped reading would hold up the end of the producer that long. Only that goodbye sets a write deadline.
type briefConn struct{ net.Conn }

const tlsFarewell = 5 * time.Second

// SetWriteDeadline brings a deadline of crypto/tls forward; the zero time and one in the past mean what they mean.
func (c briefConn) SetWriteDeadline(t time.Time) error {
	if !t.IsZero() {
		t = t.Add(farewell - tlsFarewell)
	}
	return c.Conn.SetWriteDeadline(t)
}
