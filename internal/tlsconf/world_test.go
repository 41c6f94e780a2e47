package tlsconf

import (
	"crypto/tls"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// now is the clock of all tests that do not say otherwise; certificates are valid at it.
var now = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// given are options as the configuration's parser hands them over. Secrets are hidden values.
type given map[string]any

type hiddenText string

func (h hiddenText) Reveal() string { return string(h) }
func (hiddenText) String() string   { return "[hidden]" }

func (g given) get(key string) any {
	if v, set := g[key]; set {
		return v
	}
	switch key {
	case keystoreType, truststoreType:
		return "JKS"
	case sslProtocol:
		return "TLSv1.3"
	case enabledProtocols:
		return []string{"TLSv1.2", "TLSv1.3"}
	case endpointIdentification:
		return "https"
	}
	return nil
}

// journal keeps the lines of a log.
type journal []string

func (j *journal) log(level slog.Level, text string) { *j = append(*j, level.String()+" "+text) }

func (j *journal) take() string {
	text := strings.Join(*j, "\n")
	*j = nil
	return text
}

func (g given) options(j *journal) Options {
	return Options{
		Get: g.get, Given: func(key string) bool { _, set := g[key]; return set },
		Now: func() time.Time { return now }, Log: j.log,
	}
}

func accept(t *testing.T, g given) *Source {
	t.Helper()
	s, err := New(g.options(new(journal)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// file writes a file of its own and gives its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	write(t, path, text)
	return path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// server is a TLS listener on the loopback interface with one certificate.
type server struct {
	config *tls.Config
}

// shake lets a client with config shake hands with the server, and gives each side's error.
func (s *server) shake(t *testing.T, config *tls.Config) (client, broker error) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", s.config)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			err = c.(*tls.Conn).HandshakeContext(t.Context())
			c.Close()
		}
		done <- err
	}()
	c, err := tls.Dial("tcp", l.Addr().String(), config)
	if err == nil {
		// With TLS 1.3 the broker's word on a client's certificate comes after the handshake.
		if _, err = c.Read(make([]byte, 1)); err != nil && err.Error() == "EOF" {
			err = nil
		}
		c.Close()
	}
	return err, <-done
}
