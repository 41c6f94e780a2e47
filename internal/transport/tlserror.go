package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"linger/internal/kerr"
	"linger/internal/link"
	"linger/internal/wire"
)

// TLSError is a handshake that failed because of what one of the two sides is or has, not because of the network. Trying
// again seldom helps: errors.Is finds kerr.ErrAuthentication, and the cause.
type TLSError struct {
	text  string
	cause error
}

// Error says what is wrong in words.
func (e *TLSError) Error() string { return e.text }

func failedHandshake(why string, cause error) *TLSError {
	return &TLSError{"SSL handshake failed: " + why, cause}
}

// Unwrap gives the kind and the cause.
func (e *TLSError) Unwrap() []error { return []error{kerr.ErrAuthentication, e.cause} }

// JavaException is the Java producer's name for it.
func (e *TLSError) JavaException() string { return "SslAuthenticationException" }

const (
	hintPlain  = "is security.protocol right? It says that this listener speaks TLS"
	hintOther  = "does this listener speak TLS, or ask for a login? See security.protocol"
	hintTLS    = "set security.protocol=SSL, or SASL_SSL"
	hintNoCert = "the broker asks for a certificate of the client and got none: set ssl.keystore.location, or ssl.keystore.key with " +
		"ssl.keystore.certificate.chain; a certificate that is set is left out when none of the authorities that the broker names has signed it"
)

// handshakeFailed tells faults of the network from all others, as Java does (SslTransportLayer.maybeProcessHandshakeFailure):
// the former are tried again.
func (s *secured) handshakeFailed(err error) error {
	var plain tls.RecordHeaderError
	switch {
	case errors.Is(err, context.Canceled):
		return err // the link's own reason counts
	case errors.As(err, &plain) && plain.Conn != nil:
		return failedHandshake("the peer does not speak TLS"+saying(plain.RecordHeader[:])+"; "+hintPlain, err)
	case isNetwork(err):
		return fmt.Errorf("%w (%s): %w", link.ErrCutHandshake, hintPlain, err)
	}
	return s.refused(err)
}

// saying shows what a peer without TLS began its answer with, if it is known.
func saying(b []byte) string {
	if string(b[:4]) == "HTTP" {
		return ": its answer looks like HTTP"
	}
	return ""
}

// readFailed looks at what ended the reader. With TLS 1.3 a broker's opinion of our certificate comes after the handshake:
// an alert in place of the first answer is about the handshake (Java: State.POST_HANDSHAKE).
func (c *connection) readFailed(err error, answers int) error {
	switch {
	case c.secured == nil && errors.Is(err, wire.ErrSpeaksTLS):
		return &TLSError{"the peer speaks TLS; " + hintTLS, err}
	case answers > 0:
		return err
	case c.secured == nil && (errors.Is(err, io.EOF) || isReset(err)):
		// Listeners that speak TLS, or want a login first, may hang up without a word. It is told, and tried again as ever. Who hangs
		// up on what it has not read yet resets the connection.
		return fmt.Errorf("%w, before its first answer (%s)", err, hintOther)
	case c.secured == nil:
		return err
	case isAlert(err):
		return c.secured.refused(err)
	case c.secured.asked && !c.secured.offered:
		return fmt.Errorf("%w (%s)", err, hintNoCert)
	}
	return err
}

// refused puts into words why the handshake came to nothing.
func (s *secured) refused(err error) error {
	alert := isAlert(err)
	switch {
	case alert && s.asked && !s.offered:
		return failedHandshake(fmt.Sprintf("%v; %s", err, hintNoCert), err)
	case alert && s.offered:
		return failedHandshake(fmt.Sprintf("%v; the broker does not like the client's certificate, or not the versions and cipher suites offered "+
			"(ssl.keystore.…, ssl.enabled.protocols, ssl.cipher.suites)", err), err)
	case alert:
		return failedHandshake(fmt.Sprintf("%v; the broker does not like what was offered (ssl.enabled.protocols, ssl.cipher.suites)", err), err)
	}
	if v, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return failedHandshake(v.Err.Error(), err)
	}
	return failedHandshake(err.Error(), err)
}

// isAlert reports whether the peer said so: crypto/tls hands its alerts on as errors of an operation of that name.
func isAlert(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error"
}

// isNetwork reports whether the connection failed below TLS.
func isNetwork(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, net.ErrClosed) {
		return true
	}
	if _, ok := errors.AsType[x509.SystemRootsError](err); ok {
		return false
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op != "remote error" && op.Op != "local error"
}

// isReset reports whether the peer's system says that the connection is gone.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
