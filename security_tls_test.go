package linger_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"linger"
	"linger/internal/tlstest"
)

// encrypted makes the cluster's listeners speak TLS with certificates of ca for their addresses, and ask the client for one.
func (c *cluster) encrypted(ca *tlstest.CA) {
	config := &tls.Config{
		Certificates: []tls.Certificate{ca.Issue("broker", nil, "10.0.0.1", "10.0.0.2", "10.0.0.3")},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: ca.Pool(),
	}
	c.change(func() { c.tls = config })
}

// bufferedConn takes what is written without waiting for the reader, as a socket does. Over a bare net.Pipe both sides of a
// handshake that fails would wait for each other to read.
type bufferedConn struct {
	net.Conn

	mu     sync.Mutex
	closed bool
	out    chan []byte
}

// buffered starts a goroutine that ends with the connection.
func buffered(conn net.Conn) net.Conn {
	c := &bufferedConn{Conn: conn, out: make(chan []byte, 10_000)}
	go func() {
		defer conn.Close()
		for b := range c.out {
			if _, err := conn.Write(b); err != nil {
				return
			}
		}
	}()
	return c
}

func (c *bufferedConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	c.out <- bytes.Clone(b)
	return len(b), nil
}

// Close lets what was written go out first.
func (c *bufferedConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		close(c.out)
	}
	return nil
}

// trust makes a client speak TLS and trust ca; with a certificate of its own if there is one.
func trust(t *testing.T, ca *tlstest.CA, own ...tls.Certificate) []linger.Option {
	opts := []linger.Option{linger.SecurityProtocol("SSL"), linger.SSLTruststoreType("PEM"), linger.SSLTruststoreCertificates(ca.PEM())}
	for _, c := range own {
		opts = append(opts, linger.SSLKeystoreType("PEM"), linger.SSLKeystoreKey(tlstest.KeyPEM(t, c)),
			linger.SSLKeystoreCertificateChain(tlstest.CertPEM(c.Certificate...)))
	}
	return opts
}

// SEC-03, SEC-04, SEC-05: encrypted, with certificates on both sides, with and without a login inside.
func TestRecordsArriveOverTLS(t *testing.T) {
	for name, more := range map[string][]linger.Option{
		"SSL":              nil,
		"SASL_SSL":         {linger.SecurityProtocol("SASL_SSL"), linger.SASLMechanism("PLAIN"), linger.SASLJaasConfig(plainLogin)},
		"only TLS 1.2":     {linger.SSLEnabledProtocols("TLSv1.2")},
		"Sasl_Ssl (SCRAM)": {linger.SecurityProtocol("Sasl_Ssl"), linger.SASLMechanism("SCRAM-SHA-256"), linger.SASLJaasConfig(scramLogin)},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				ca := tlstest.NewCA(t, "authority")
				c.encrypted(ca)
				if len(more) > 1 {
					c.secured("PLAIN", "SCRAM-SHA-256")
				}
				ft := c.topic("t", 1)
				p := c.producer(append(trust(t, ca, ca.Issue("producer", nil)), more...)...)
				mustWait(t, mustSend(t, p, plain(strings.Repeat("v", 100_000)), nil))
				c.change(func() {
					if len(ft.log[0]) != 1 {
						t.Errorf("%d records", len(ft.log[0]))
					}
				})
			})
		})
	}
}

// SEC-03, SEC-07, META-08: who waits for metadata hears at once why there is no TLS, in words.
func TestAFailedHandshakeEndsTheWaitForMetadata(t *testing.T) {
	ca, other := tlstest.NewCA(t, "authority"), tlstest.NewCA(t, "another")
	own := ca.Issue("producer", nil)
	for name, it := range map[string]struct {
		cert tls.Certificate
		opts []linger.Option
		want []string
	}{
		"an unknown authority": {other.Issue("b", nil, "10.0.0.1"), trust(t, ca, own), []string{"unknown authority", "ssl.truststore"}},
		"a wrong host name":    {ca.Issue("b", nil, "10.0.0.99"), trust(t, ca, own), []string{"wrong host name", "10.0.0.99, not for 10.0.0.1"}},
		"an expired certificate": {ca.Issue("b", func(c *x509.Certificate) { c.NotAfter = tlstest.Birth.AddDate(1, 0, 0) }, "10.0.0.1"), trust(t, ca, own),
			[]string{"expired certificate", "1991-01-01"}},
		"no certificate of the client's": {ca.Issue("b", nil, "10.0.0.1"), trust(t, ca), []string{"asks for a certificate of the client and got none", "ssl.keystore.location"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.encrypted(ca)
				c.change(func() { c.tls.Certificates[0] = it.cert })
				c.topic("t", 1)
				p := c.producer(it.opts...)
				var err error
				d := took(func() { _, err = mustSend(t, p, plain("v"), nil).Wait(t.Context()) })
				if d >= 2*time.Second || !errors.Is(err, linger.ErrAuthentication) {
					t.Errorf("failed after %v with %v, want ErrAuthentication within 2s", d, err)
				}
				for _, part := range append(it.want, "SSL handshake failed", "10.0.0.1:9092") {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("the error does not say %q: %v", part, err)
					}
				}
			})
		})
	}
}

// B24, a TLS listener: whoever speaks plain text to it is told at once, since waiting cannot help; a broker that appears in its
// place is found.
func TestAPeerThatSpeaksTLSIsNamedAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		c.change(func() { c.onDial = talker("\x15\x03\x03\x00\x02\x02\x0a") })
		p := c.producer(linger.MaxBlock(time.Minute))
		var err error
		d := took(func() { _, err = mustSend(t, p, plain("v"), nil).Wait(t.Context()) })
		if d >= 2*time.Second || !errors.Is(err, linger.ErrAuthentication) {
			t.Errorf("failed after %v with %v, want ErrAuthentication within 2s", d, err)
		}
		for _, part := range []string{"10.0.0.1:9092", "the peer speaks TLS", "security.protocol=SSL"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the error does not say %q: %v", part, err)
			}
		}
		c.change(func() { c.onDial = nil })
		time.Sleep(2 * time.Second) // of the bubble: the next attempt is then over
		synctest.Wait()
		mustWait(t, mustSend(t, p, plain("a broker, at last"), nil))
	})
}

// B27: a listener without TLS takes the handshake for a huge request and hangs up without a word. One that never did
// otherwise is named, for the record that waits for metadata and for those that wait for their leader.
func TestAListenerWithoutTLSIsNamed(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		ca := tlstest.NewCA(t, "authority")
		c.encrypted(ca)
		c.setBrokers(2)
		c.topic("t", 2)
		c.change(func() { c.onDial = hangUpOn("10.0.0.2") })
		p := c.producer(append(trust(t, ca, ca.Issue("producer", nil)), linger.MaxBlock(time.Minute))...)
		failsAtOnce := func(fut linger.Future) {
			t.Helper()
			var err error
			d := took(func() { _, err = fut.Wait(t.Context()) })
			if d >= 2*time.Second || !errors.Is(err, linger.ErrAuthentication) || !strings.Contains(err.Error(), "does not seem to speak TLS") {
				t.Errorf("failed after %v with %v, want ErrAuthentication within 2s", d, err)
			}
		}
		mustWait(t, mustSend(t, p, plainOn(0, "arrives"), nil))
		failsAtOnce(mustSend(t, p, plainOn(1, "waits for its leader"), nil))
		mustWait(t, mustSend(t, p, plainOn(0, "arrives all the same"), nil))

		c.change(func() { c.onDial = hangUpOn("") })
		failsAtOnce(mustSend(t, c.producer(append(trust(t, ca, ca.Issue("producer", nil)), linger.MaxBlock(time.Minute))...), plain("waits for metadata"), nil))
	})
}

// A broker that spoke TLS before is only down, however it hangs up.
func TestABrokerThatHangsUpForAWhileIsFoundAgain(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		ca := tlstest.NewCA(t, "authority")
		c.encrypted(ca)
		c.topic("t", 1)
		p := c.producer(trust(t, ca, ca.Issue("producer", nil))...)
		mustWait(t, mustSend(t, p, plain("before"), nil))
		synctest.Wait() // no connection is half made
		c.change(func() { c.onDial = hangUpOn("") })
		c.close()
		fut := mustSend(t, p, plain("meanwhile"), nil)
		rest(20 * time.Second)
		c.change(func() { c.onDial = nil })
		mustWait(t, fut)
	})
}

// hangUpOn gives connections that end in their handshake, for addresses with the given beginning.
func hangUpOn(address string) func(context.Context, string) (net.Conn, error) {
	return func(_ context.Context, addr string) (net.Conn, error) {
		if !strings.HasPrefix(addr, address) {
			return nil, nil
		}
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			_, _ = theirs.Read(make([]byte, 4))
		}()
		return ours, nil
	}
}

// B24, B27: records that are buffered when brokers begin to refuse us fail at once too, with the reason.
func TestAFailedHandshakeReachesBufferedRecords(t *testing.T) {
	for name, change := range map[string]func(c *cluster){
		"an unknown authority": func(c *cluster) { c.encrypted(tlstest.NewCA(c.t, "another")) },
		"HTTP, in the open":    func(c *cluster) { c.onDial = talker("HTTP/1.1 400 Bad Request\r\n\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				ca := tlstest.NewCA(t, "authority")
				c.encrypted(ca)
				c.topic("t", 1)
				p := c.producer(append(trust(t, ca, ca.Issue("producer", nil)), linger.Linger(time.Minute))...)
				if _, err := p.PartitionsFor(t.Context(), "t"); err != nil {
					t.Fatal(err)
				}
				fut := mustSend(t, p, plain("v"), nil)
				synctest.Wait() // no connection is half made that the change would miss
				change(c)
				c.close()
				var err error
				d := took(func() { _, err = fut.Wait(t.Context()) })
				if d >= 2*time.Second || !errors.Is(err, linger.ErrAuthentication) || !strings.Contains(err.Error(), "SSL handshake failed") {
					t.Errorf("failed after %v with %v, want ErrAuthentication within 2s", d, err)
				}
			})
		})
	}
}

// SEC-03, SEC-04: certificates of both sides are renewed and the producer goes on.
func TestAProducerLivesThroughNewCertificates(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		dir := t.TempDir()
		trusted, mine := filepath.Join(dir, "trust.pem"), filepath.Join(dir, "mine.pem")
		renew := func(name string) {
			ca := tlstest.NewCA(t, name)
			own := ca.Issue("producer-"+name, nil)
			c.encrypted(ca)
			for path, text := range map[string]string{trusted: ca.PEM(), mine: tlstest.KeyPEM(t, own) + tlstest.CertPEM(own.Certificate...)} {
				if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(path+".new", path); err != nil {
					t.Fatal(err)
				}
			}
		}
		renew("first")
		c.topic("t", 1)
		p := c.producer(linger.SecurityProtocol("SSL"), linger.SSLTruststoreType("PEM"), linger.SSLTruststoreLocation(trusted),
			linger.SSLKeystoreType("PEM"), linger.SSLKeystoreLocation(mine))
		for _, name := range []string{"second", "third"} {
			mustWait(t, mustSend(t, p, plain("before "+name), nil))
			synctest.Wait() // no connection is half made
			renew(name)
			c.close()
		}
		mustWait(t, mustSend(t, p, plain("after"), nil))
		if got := c.logged(slog.LevelInfo, "has changed and was read again"); len(got) != 4 {
			t.Errorf("logged %q", got)
		}
	})
}

// SEC-11: what is wrong with a store is found by New: the error names option and remedy, shows no secret, and nothing is
// left behind.
func TestStoresAreLookedAtByNew(t *testing.T) {
	const secret = "a-secret-password"
	none := filepath.Join(t.TempDir(), "none.jks")
	for name, it := range map[string]struct {
		opts []linger.Option
		want []string
	}{
		"no such trust store":    {[]linger.Option{linger.SSLTruststoreLocation(none), linger.SSLTruststorePassword(secret)}, []string{"Failed to load SSL keystore " + none + " of type JKS", "no such file", "ssl.truststore.location"}},
		"no such key store":      {[]linger.Option{linger.SSLKeystoreLocation(none), linger.SSLKeystorePassword(secret)}, []string{none, "ssl.keystore.location"}},
		"a password alone":       {[]linger.Option{linger.SSLKeystorePassword(secret)}, []string{"SSL key store is not specified, but key store password is specified.", "ssl.keystore.password"}},
		"a key that is none":     {[]linger.Option{linger.SSLKeystoreType("PEM"), linger.SSLKeystoreKey(secret), linger.SSLKeystoreCertificateChain("x")}, []string{"Invalid PEM keystore configs", "ssl.keystore.key"}},
		"a suite that is none":   {[]linger.Option{linger.SSLCipherSuites("TLS_X")}, []string{"TLS_X", "ssl.cipher.suites", "TLS_AES_128_GCM_SHA256"}},
		"a version that is none": {[]linger.Option{linger.SSLEnabledProtocols("TLSv7")}, []string{"TLSv7", "ssl.enabled.protocols", "TLSv1.3"}},
		"InsecureSkipVerify and a check": {[]linger.Option{linger.WithTLSConfig(&tls.Config{InsecureSkipVerify: true}), linger.SSLEndpointIdentificationAlgorithm("https")},
			[]string{"ssl.endpoint.identification.algorithm", "InsecureSkipVerify"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			opts := append(it.opts, linger.BootstrapServers("10.0.0.1:9092"), linger.SecurityProtocol("SSL"), linger.WithLogger(nil))
			_, err := linger.New(linger.ByteArray, linger.ByteArray, opts...)
			if !errors.Is(err, linger.ErrConfig) {
				t.Fatalf("got %v, want an ErrConfig", err)
			}
			for _, part := range it.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error does not say %q: %v", part, err)
				}
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), secret) {
				t.Errorf("it shows a secret: %#v", err)
			}
			if after := runtime.NumGoroutine(); after > before {
				t.Errorf("%d goroutines more than before", after-before)
			}
		})
	}
}

func TestAnExpiredCertificateOfOursIsWarnedOf(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		ca := tlstest.NewCA(t, "authority")
		own := ca.Issue("producer", func(c *x509.Certificate) { c.NotAfter = tlstest.Birth.AddDate(1, 0, 0) })
		c.encrypted(ca)
		c.producer(trust(t, ca, own)...)
		if got := c.logged(slog.LevelWarn, "CN=producer (ssl.keystore.key) expired on 1991-01-01"); len(got) != 1 {
			t.Errorf("logged %q", got)
		}
	})
}

func TestDaysLeftOfTheOwnCertificateAreAMetric(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		ca := tlstest.NewCA(t, "authority")
		c.encrypted(ca)
		c.topic("t", 1)
		for name, it := range map[string]struct {
			opts []linger.Option
			days int
			ok   bool
		}{
			"a key store": {trust(t, ca, ca.Issue("producer", func(c *x509.Certificate) { c.NotAfter = time.Now().AddDate(0, 0, 10).Add(time.Hour) })), 10, true},
			"none":        {trust(t, ca), 0, false},
			"plain":       {nil, 0, false},
		} {
			p := c.producer(it.opts...)
			days, ok := p.CertificateDaysLeft()
			if days != it.days || ok != it.ok {
				t.Errorf("%s: got %d, %t, want %d, %t", name, days, ok, it.days, it.ok)
			}
			if err := p.CloseTimeout(0); err != nil {
				t.Fatal(err)
			}
			if after, stillOK := p.CertificateDaysLeft(); after != days || stillOK != ok {
				t.Errorf("%s, closed: got %d, %t", name, after, stillOK)
			}
		}
	})
}

// SEC-10 (the Go form of ssl.engine.factory.class)
func TestAConfigurationForTLSNeedsTLS(t *testing.T) {
	_, err := linger.New(linger.ByteArray, linger.ByteArray, linger.BootstrapServers("10.0.0.1:9092"), linger.WithLogger(nil), linger.WithTLSConfig(&tls.Config{}))
	if !errors.Is(err, linger.ErrConfig) || !strings.Contains(err.Error(), "security.protocol is PLAINTEXT") {
		t.Errorf("got %v", err)
	}
	_, err = linger.New(linger.ByteArray, linger.ByteArray, linger.BootstrapServers("10.0.0.1:9092"), linger.WithLogger(nil), linger.SSLEngineFactoryClass("my.Factory"))
	if !errors.Is(err, linger.ErrConfig) || !strings.Contains(err.Error(), "linger.WithTLSConfig") {
		t.Errorf("got %v", err)
	}
}

// SEC-10: the application's own configuration is used for each connection.
func TestAConfigurationOfTheApplicationsOwn(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		ca := tlstest.NewCA(t, "authority")
		own := ca.Issue("producer", nil)
		c.encrypted(ca)
		c.topic("t", 1)
		p := c.producer(linger.SecurityProtocol("SSL"), linger.WithTLSConfig(&tls.Config{RootCAs: ca.Pool(), Certificates: []tls.Certificate{own}}))
		mustWait(t, mustSend(t, p, plain("v"), nil))
	})
}

// SEC-10: options that name parts of Java's platform change nothing, and that is told.
func TestPartsOfJavasPlatformHaveNoEffect(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.producer(linger.SecurityProtocol("SSL"), linger.SSLProvider("SunJSSE"), linger.SSLKeymanagerAlgorithm("PKIX"), linger.SSLTrustmanagerAlgorithm("SunX509"),
			linger.SSLSecureRandomImplementation("SHA1PRNG"), linger.SecurityProviders("com.example.Provider"))
		for _, key := range []string{"ssl.provider", "ssl.keymanager.algorithm", "ssl.trustmanager.algorithm", "ssl.secure.random.implementation", "security.providers"} {
			if got := c.logged(slog.LevelWarn, "Configuration "+key+" has no effect"); len(got) != 1 {
				t.Errorf("%s: logged %q", key, got)
			}
		}
	})
}
