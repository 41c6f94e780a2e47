//go:build unix

package security_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"linger"
	"linger/test/broker/kafkatest"
)

// Certificates are replaced while a producer lives: the broker's by one of another authority, and on the client's disk the
// authority and the client's own. What is connected stays so; the next connection uses the new ones, with no new producer.
func TestCertificatesAreReplacedUnderALiveProducer(t *testing.T) {
	s, c := secure(t)
	open, reserved := c.NewTopic(t, 1, nil), c.NewTopic(t, 1, nil)
	allow(t, c, reserved, "User:CN=after", kadm.OpWrite) // shows which certificate the broker knows the client by
	dir := t.TempDir()
	trust, store := filepath.Join(dir, "trust.pem"), filepath.Join(dir, "client.pem")
	put(t, trust, s.CA.PEM())
	put(t, store, clientStore(t, s.CA, "before"))
	way := newMover("")
	p := connect(t, javaFile(t, c, kafkatest.Rotating, fmt.Sprintf(overTLS+"ssl.keystore.type=PEM\nssl.keystore.location=%s\n", trust, store)), linger.WithDialer(way.dial))
	ctx := within(t, 2*soon)
	send := func(topic string) error {
		_, err := p.SendSync(ctx, record{Topic: topic, Value: []byte("v")})
		return err
	}
	if err := send(open); err != nil {
		t.Fatal(err)
	}
	if err := send(reserved); !errors.Is(err, linger.ErrAuthorization) {
		t.Fatalf("with the first certificate: %v, want an authorization error", err)
	}

	replaceServerCertificate(t, s, c)
	if err := send(open); err != nil {
		t.Errorf("on the connection that stands: %v", err)
	}
	way.to("") // cuts it
	if err := send(open); !errors.Is(err, linger.ErrAuthentication) {
		t.Errorf("%v, want an authentication error: the authority of the new certificate is not trusted yet", err)
	}

	put(t, store, clientStore(t, s.CA, "after")) // first: with the authority trusted, a connection could come before it
	put(t, trust, s.OtherCA.PEM())
	untilSent(ctx, t, linger.ErrAuthentication, func() error { return send(open) })
	if err := send(reserved); err != nil {
		t.Errorf("with the second certificate: %v", err)
	}
}

// put replaces a file at once, as those who rotate certificates do.
func put(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
}

func clientStore(t *testing.T, ca *kafkatest.CA, name string) []byte {
	t.Helper()
	cert, err := ca.Issue(kafkatest.CertificateOptions{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return append(cert.Key, cert.Chain...)
}

// replaceServerCertificate has the broker use a certificate of the other authority on the listener Rotating, and waits until
// it does: each of its network threads takes it up by itself, and they take connections in turn.
func replaceServerCertificate(t *testing.T, s *kafkatest.Secure, c *kafkatest.Cluster) {
	t.Helper()
	ctx := within(t, soon)
	cert, err := s.OtherCA.Issue(kafkatest.RotatingCertificate())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.WriteFile("server-rotated.pem", append(cert.Key, cert.Chain...)); err != nil {
		t.Fatal(err)
	}
	store := s.Path("server-rotated.pem")
	alter := []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "listener.name.rotating.ssl.keystore.location", Value: &store}}
	got, err := kadm.NewClient(c.Client(t)).AlterBrokerConfigs(ctx, alter, 1)
	if err != nil || got[0].Err != nil {
		t.Fatal(err, got)
	}
	pair, err := tls.X509KeyPair(s.Client.Chain, s.Client.Key)
	if err != nil {
		t.Fatal(err)
	}
	look := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{pair}}}
	for renewed := 0; renewed < 6; renewed++ {
		conn, err := look.DialContext(ctx, "tcp", c.AddrsOf(kafkatest.Rotating)[0])
		if err != nil {
			t.Fatal(err)
		}
		issuer := conn.(*tls.Conn).ConnectionState().PeerCertificates[0].Issuer.CommonName
		conn.Close()
		if issuer != s.OtherCA.Name() {
			renewed = -1
		}
	}
}
