package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"linger/internal/kerr"
	"linger/internal/link"
	"linger/internal/tlsconf"
	"linger/internal/tlstest"
)

// trusting gives connections that trust ca and, unless own is nil, show a certificate.
func trusting(t *testing.T, ca *tlstest.CA, own *tls.Certificate) func(host string) *tls.Config {
	t.Helper()
	set := map[string]any{
		"ssl.protocol": "TLSv1.3", "ssl.endpoint.identification.algorithm": "https",
		"ssl.truststore.type": "PEM", "ssl.truststore.certificates": open(ca.PEM()),
	}
	if own != nil {
		set["ssl.keystore.type"] = "PEM"
		set["ssl.keystore.key"], set["ssl.keystore.certificate.chain"] = open(tlstest.KeyPEM(t, *own)), open(tlstest.CertPEM(own.Certificate...))
	}
	s, err := tlsconf.New(tlsconf.Options{
		Get: func(key string) any { return set[key] }, Given: func(key string) bool { return set[key] != nil },
		Now: func() time.Time { return tlstest.Birth.AddDate(5, 0, 0) }, Log: func(slog.Level, string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.Config
}

// open is a secret that anybody may see.
type open string

func (o open) Reveal() string { return string(o) }

func dialTo(id link.ID, addr, host string) link.Order {
	o := dialOrder(id, addr)
	o.Host = host
	return o
}

// SEC-03 (unit): whole requests, large ones too, and their answers go over TLS; the end is a proper one.
func TestFramesTravelOverTLS(t *testing.T) {
	ca := tlstest.NewCA(t, "authority")
	server := &tls.Config{Certificates: []tls.Certificate{ca.Issue("broker", nil, "kafka.example")}}
	goodbye := make(chan error, 1)
	large := frame(strings.Repeat("x", 1<<20))
	addr := serve(t, func(c net.Conn) {
		secure := tls.Server(c, server)
		for range 2 {
			got := make([]byte, len(large))
			if _, err := io.ReadFull(secure, got); err != nil || !bytes.Equal(got, large) {
				t.Errorf("the broker reads %v", err)
			}
			secure.Write(large)
		}
		_, err := secure.Read(make([]byte, 1))
		goodbye <- err
	})
	in := newInbox()
	tr := New(Options{Post: in.post, TLS: trusting(t, ca, nil)})
	defer tr.Wait()
	do(tr, dialTo(1, addr, "kafka.example"))
	in.want(t, link.Up)
	for corr := range int32(2) {
		do(tr, writeOrder(1, corr, large[:4], large[4:100_000], large[100_000:]))
		for range 2 { // in any order
			switch e := <-in; e.Kind {
			case link.Written:
			case link.Received:
				if !bytes.Equal(e.Frame, large[4:]) {
					t.Error("the answer is another")
				}
			default:
				t.Fatalf("got %v", e)
			}
		}
	}
	do(tr, closeOrder(1, nil))
	if e := in.want(t, link.Closed); e.Err != nil {
		t.Error(e.Err)
	}
	if err := <-goodbye; err != io.EOF {
		t.Errorf("the broker hears %v at the end, want a close_notify", err)
	}
}

// answering plays the broker's side of a connection after its handshake: it answers each request.
func answering(config *tls.Config) func(net.Conn) {
	return func(c net.Conn) {
		secure := tls.Server(c, config)
		buf := make([]byte, 100)
		for {
			if _, err := secure.Read(buf); err != nil {
				return
			}
			secure.Write(frame("answer"))
		}
	}
}

// SEC-03, SEC-04, SEC-07 (unit): what is nobody's network is an authentication error that says what it is; the rest is tried
// again and hints at the option.
func TestHandshakesThatFail(t *testing.T) {
	ca, other := tlstest.NewCA(t, "authority"), tlstest.NewCA(t, "another")
	broker := ca.Issue("broker", nil, "kafka.example")
	mine, strange := ca.Issue("producer", nil), other.Issue("producer", nil)
	ended := ca.Issue("old", func(c *x509.Certificate) { c.NotAfter = tlstest.Birth.AddDate(1, 0, 0) }, "kafka.example")
	tlsWith := func(edit func(*tls.Config)) func(net.Conn) {
		config := &tls.Config{Certificates: []tls.Certificate{broker}, Time: func() time.Time { return tlstest.Birth.AddDate(5, 0, 0) }}
		edit(config)
		return answering(config)
	}
	demanding := func(version uint16) func(net.Conn) {
		return tlsWith(func(c *tls.Config) {
			c.ClientAuth, c.ClientCAs, c.MaxVersion = tls.RequireAndVerifyClientCert, ca.Pool(), version
		})
	}
	saying := func(text string) func(net.Conn) {
		return func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); io.WriteString(c, text); io.Copy(io.Discard, c) }
	}
	// Without the read it would depend on who is first what the client sees: an end with bytes unread is a reset.
	afterTheRequest := func(end func(*net.TCPConn)) func(net.Conn) {
		return func(c net.Conn) {
			secure := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{broker}})
			if _, err := secure.Read(make([]byte, 100)); err != nil {
				t.Errorf("the broker reads %v", err)
			}
			end(c.(*net.TCPConn))
		}
	}
	tests := map[string]struct {
		broker  func(net.Conn)
		own     *tls.Certificate
		network bool // it is no authentication error
		want    []string
	}{
		"an expired certificate":                  {broker: tlsWith(func(c *tls.Config) { c.Certificates[0] = ended }), want: []string{"SSL handshake failed", "expired certificate", "CN=old", "1991-01-01"}},
		"a certificate for another name":          {broker: tlsWith(func(c *tls.Config) { c.Certificates[0] = ca.Issue("broker", nil, "a.example", "b.example") }), want: []string{"wrong host name", "a.example, b.example", "not for kafka.example"}},
		"an unknown authority":                    {broker: tlsWith(func(c *tls.Config) { c.Certificates[0] = other.Issue("broker", nil, "kafka.example") }), want: []string{"unknown authority", "CN=another", "ssl.truststore"}},
		"only old versions":                       {broker: tlsWith(func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }), want: []string{"SSL handshake failed", "protocol version", "ssl.enabled.protocols"}},
		"a broker without a certificate":          {broker: tlsWith(func(c *tls.Config) { c.Certificates = nil }), want: []string{"SSL handshake failed", "remote error"}},
		"TLS 1.3, a client certificate is wanted": {broker: demanding(tls.VersionTLS13), want: []string{"SSL handshake failed", "asks for a certificate of the client and got none", "ssl.keystore.location"}},
		"TLS 1.2, a client certificate is wanted": {broker: demanding(tls.VersionTLS12), want: []string{"SSL handshake failed", "asks for a certificate of the client and got none", "ssl.keystore.location"}},
		"TLS 1.3, the one of another authority":   {broker: demanding(tls.VersionTLS13), own: &strange, want: []string{"asks for a certificate of the client and got none", "none of the authorities that the broker names has signed it"}},
		"TLS 1.3, one that the broker does not like": {broker: tlsWith(func(c *tls.Config) {
			c.ClientAuth = tls.RequireAnyClientCert
			c.VerifyConnection = func(tls.ConnectionState) error { return errors.New("no") }
		}), own: &mine, want: []string{"SSL handshake failed", "bad certificate", "does not like the client's certificate", "ssl.keystore"}},
		"HTTP":                        {broker: saying("HTTP/1.1 400 Bad Request\r\n\r\n"), want: []string{"does not speak TLS", "HTTP", "security.protocol"}},
		"something else in the open":  {broker: saying("\x00\x00\x00\x08whatever"), want: []string{"does not speak TLS", "security.protocol"}},
		"a broker's plain listener":   {broker: func(c net.Conn) { _, _ = io.ReadFull(c, make([]byte, 300)) }, network: true, want: []string{"connection lost during the TLS handshake", "security.protocol"}},
		"a listener that hangs up":    {broker: func(net.Conn) {}, network: true, want: []string{"connection lost during the TLS handshake", "security.protocol"}},
		"an end after the handshake":  {broker: afterTheRequest(func(*net.TCPConn) {}), network: true, want: []string{"closed by the peer"}},
		"a reset after the handshake": {broker: afterTheRequest(reset), network: true, want: []string{"connection reset"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := newInbox()
			tr := New(Options{Post: in.post, TLS: trusting(t, ca, tt.own)})
			defer tr.Wait()
			do(tr, dialTo(1, serve(t, tt.broker), "kafka.example"), writeOrder(1, 1, frame("request")))
			var e link.Event
			for e = <-in; e.Kind != link.Closed; e = <-in {
				if e.Kind == link.Received {
					t.Fatal("an answer came")
				}
			}
			if got := errors.Is(e.Err, kerr.ErrAuthentication); got == tt.network {
				t.Errorf("is an authentication error: %t (%v)", got, e.Err)
			}
			if got := kerr.JavaName(e.Err) == "SslAuthenticationException"; got == tt.network {
				t.Errorf("Java's name is %s", kerr.JavaName(e.Err))
			}
			for _, part := range tt.want {
				if !strings.Contains(e.Err.Error(), part) {
					t.Errorf("%v\ndoes not say %q", e.Err, part)
				}
			}
		})
	}
}

// A broker that turns us away says why and hangs up on what it has not read, which resets the connection while we write: what it
// said must be what is told.
func TestARefusalIsHeardEvenIfTheConnectionIsReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newInbox()
		tr := New(Options{Post: in.post, Dialer: fixedDialer(&resetConn{says: "\x15\x03\x03\x00\x02\x02\x0a", reset: make(chan struct{})})})
		defer tr.Wait()
		do(tr, dialOrder(1, ""), writeOrder(1, 1, frame("request")))
		in.want(t, link.Up)
		if e := in.wantEnd(t); !errors.Is(e.Err, kerr.ErrAuthentication) {
			t.Errorf("got %v, want what the broker said", e.Err)
		}
	})
}

// resetConn fails the first write as a socket does whose peer is gone; what the peer said before can still be read.
type resetConn struct {
	net.Conn
	says  string
	reset chan struct{}
}

func (c *resetConn) Write([]byte) (int, error) {
	close(c.reset)
	return 0, &net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.ECONNRESET)}
}

func (c *resetConn) Read(b []byte) (int, error) {
	<-c.reset
	time.Sleep(time.Second) // of the bubble: until everybody else has done what there is to do
	return copy(b, c.says), nil
}

func (c *resetConn) Close() error { return nil }

// An alert later on is not about who we are.
func TestAnAlertAfterAnAnswerIsTheNetworks(t *testing.T) {
	ca := tlstest.NewCA(t, "authority")
	config := &tls.Config{Certificates: []tls.Certificate{ca.Issue("broker", nil, "kafka.example")}, MaxVersion: tls.VersionTLS12}
	addr := serve(t, func(c net.Conn) {
		secure := tls.Server(c, config)
		_, _ = secure.Read(make([]byte, 100))
		secure.Write(frame("answer"))
		io.WriteString(c, "\x15\x03\x03\x00\x02\x02\x50") // in the open, which is no valid record
		io.Copy(io.Discard, c)
	})
	in := newInbox()
	tr := New(Options{Post: in.post, TLS: trusting(t, ca, nil)})
	defer tr.Wait()
	do(tr, dialTo(1, addr, "kafka.example"), writeOrder(1, 1, frame("request")))
	for e := range in {
		if e.Kind == link.Closed {
			if e.Err == nil || errors.Is(e.Err, kerr.ErrAuthentication) {
				t.Errorf("got %v", e.Err)
			}
			return
		}
	}
}

// B24: plain text to a TLS listener.
func TestPlainTextToATLSListenerIsAnAuthenticationError(t *testing.T) {
	addr := serve(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 100))
		io.WriteString(c, "\x15\x03\x03\x00\x02\x02\x0a") // what a Java broker answers
	})
	in := newInbox()
	tr := New(Options{Post: in.post})
	defer tr.Wait()
	do(tr, dialTo(1, addr, "kafka.example"), writeOrder(1, 1, frame("request")))
	for e := range in {
		if e.Kind == link.Closed {
			if !errors.Is(e.Err, kerr.ErrAuthentication) || !strings.Contains(e.Err.Error(), "the peer speaks TLS; set security.protocol=SSL") {
				t.Errorf("got %v", e.Err)
			}
			return
		}
	}
}

// B26: a handshake that never ends lasts as long as the link may.
func TestAHandshakeThatNeverEndsCanBeClosed(t *testing.T) {
	ca := tlstest.NewCA(t, "authority")
	reached := make(chan struct{}, 1)
	addr := serve(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); reached <- struct{}{}; io.Copy(io.Discard, c) })
	in := newInbox()
	tr := New(Options{Post: in.post, TLS: trusting(t, ca, nil)})
	why := errors.New("setup timeout")
	do(tr, dialTo(1, addr, "kafka.example"))
	<-reached
	do(tr, closeOrder(1, why))
	if e := in.want(t, link.Closed); !errors.Is(e.Err, why) {
		t.Errorf("got %v", e.Err)
	}
	do(tr, dialTo(2, addr, "kafka.example"))
	<-reached
	tr.Wait()
	if e := in.want(t, link.Closed); !errors.Is(e.Err, errStopped) {
		t.Errorf("got %v", e.Err)
	}
}

// Closing says goodbye, but to a peer that takes nothing not for long.
func TestAPeerThatTakesNothingDoesNotHoldUpTheClose(t *testing.T) {
	for name, writing := range map[string]bool{"while a request is written": true, "between requests": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ca := tlstest.NewCA(t, "authority")
				dial, peers := pipeDialer()
				in := newInbox()
				tr := New(Options{Dialer: dial, Post: in.post, TLS: trusting(t, ca, nil)})
				do(tr, dialTo(1, "", "kafka.example"))
				peer := <-peers
				defer peer.Close()
				if err := tls.Server(peer, &tls.Config{Certificates: []tls.Certificate{ca.Issue("broker", nil, "kafka.example")}}).Handshake(); err != nil {
					t.Fatal(err)
				}
				in.want(t, link.Up)
				if writing {
					do(tr, writeOrder(1, 1, make([]byte, 1<<20)))
				}
				synctest.Wait()
				start := time.Now()
				tr.Wait()
				if took := time.Since(start); took > farewell || writing && took != 0 {
					t.Errorf("took %v", took)
				}
				in.want(t, link.Closed)
			})
		})
	}
}

// A batch goes into TLS records as it lies: the scratch is for small pieces.
func TestLargePiecesAreNotCopiedForTLS(t *testing.T) {
	large := make([]byte, 1<<20)
	var outside, all int
	conn := spyConn{write: func(b []byte) {
		all += len(b)
		if start := len(large) - cap(b); start >= 0 && len(b) > 0 && &large[:cap(large)][min(start, len(large)-1)] == &b[0] {
			return
		}
		outside += len(b)
	}}
	w := newWriter(tls.Client(conn, &tls.Config{ServerName: "x"}))
	if w.buf == nil {
		t.Fatal("a TLS connection has no scratch for small pieces")
	}
	w = newWriter(conn)
	w.take(request{vec: [][]byte{[]byte("head"), large, []byte("tail")}})
	if err := w.flush(); err != nil {
		t.Fatal(err)
	}
	if all != len(large)+8 || outside > 2*writeBufferSize {
		t.Errorf("%d of %d bytes were copied, want at most %d", outside, all, 2*writeBufferSize)
	}
}

type spyConn struct {
	net.Conn
	write func([]byte)
}

func (c spyConn) Write(b []byte) (int, error) { c.write(b); return len(b), nil }

func TestTheHandshakeGetsTheNameThatWasDialled(t *testing.T) {
	ca := tlstest.NewCA(t, "authority")
	names := make(chan string, 1)
	addr := serve(t, answering(&tls.Config{
		Certificates:       []tls.Certificate{ca.Issue("broker", nil, "b7.example")},
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) { names <- h.ServerName; return nil, nil },
	}))
	in := newInbox()
	dialer := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}
	tr := New(Options{Post: in.post, Dialer: dialer, TLS: trusting(t, ca, nil)})
	defer tr.Wait()
	do(tr, dialTo(1, "10.0.0.1:9092", "b7.example"))
	in.want(t, link.Up)
	if got := <-names; got != "b7.example" {
		t.Errorf("got %q", got)
	}
}
