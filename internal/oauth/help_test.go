package oauth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"linger/internal/clock"
	"linger/internal/config"
	"linger/internal/kerr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// configOf is a producer's configuration with these options, "key=value".
func configOf(t *testing.T, pairs ...string) *config.Config {
	t.Helper()
	all := []config.Setting{{Key: "bootstrap.servers", Value: "localhost:9092"}}
	for _, k := range []string{"key.serializer", "value.serializer"} {
		all = append(all, config.Setting{Key: k, Value: config.Instance("given")})
	}
	for _, p := range pairs {
		key, value, _ := strings.Cut(p, "=")
		all = append(all, config.Setting{Key: key, Value: value})
	}
	cfg, err := config.Parse(all)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// notes is a log that can be read.
type notes struct {
	mu   sync.Mutex
	text strings.Builder
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(p)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

// optionsOf are options for a source with the real clock.
func optionsOf(t *testing.T, jaas map[string]string, pairs ...string) (Options, *notes) {
	t.Helper()
	n := &notes{}
	return Options{
		Config: configOf(t, pairs...), JAAS: jaas, Clock: clock.Real(), Random: func() float64 { return 0 },
		Log: slog.New(slog.NewTextHandler(n, nil)),
	}, n
}

func sourceOf(t *testing.T, o Options) *Source {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// jwt is a signed token with these claims, as far as anybody here can tell.
func jwt(payload string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256"}`)) + "." +
		base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".c2lnbmF0dXJl"
}

func goodJWT() string {
	return jwt(fmt.Sprintf(`{"sub":"me","scope":["a","b"],"iat":%d,"exp":%d}`, time.Now().Unix(), time.Now().Unix()+3600))
}

func wantConfigError(t *testing.T, err error, option string, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	e, ok := errors.AsType[*config.Error](err)
	if !ok || !errors.Is(err, kerr.ErrConfig) || e.Key != option {
		t.Errorf("not a configuration error about %s: %v", option, err)
	}
	wantText(t, err.Error(), parts...)
}

func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q does not say %q", text, p)
		}
	}
}

func wantNoSecret(t *testing.T, text string, secrets ...string) {
	t.Helper()
	for _, s := range secrets {
		if strings.Contains(text, s) {
			t.Errorf("the secret %q is shown: %s", s, text)
		}
	}
}

func background() context.Context { return context.Background() }
