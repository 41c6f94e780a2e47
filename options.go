package linger

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"

	"linger/internal/config"
	"linger/internal/kerr"
	"linger/internal/transport"
)

// Option is one setting of New. Options apply in order: a later one wins over an earlier one of the same key.
type Option func(*options) error

// options is what the options add up to.
type options struct {
	settings   []config.Setting
	logger     *slog.Logger
	registry   Registry
	plugins    plugins
	dialer     dialer
	tls        *tls.Config                               // the application's own, or nil
	names      transport.Names                           // the system's but in tests
	oauthToken func(context.Context) (OAuthToken, error) // nil: the options say where tokens come from
}

// Set gives the option key, by its Kafka name such as "compression.type", a value: a string as it would stand in a
// properties file, or a bool, int, int64, float64 or []string.
func Set(key string, value any) Option { return setFrom(key, value, "Set") }

func setFrom(key string, value any, source string) Option {
	return func(o *options) error {
		o.settings = append(o.settings, config.Setting{Key: key, Value: value, Source: source})
		return nil
	}
}

// PropertiesFile reads a Java properties file, such as client.properties, as it is. A file that can't be read is an
// ErrConfig of New that names the file and, when its text is wrong, the line; nothing of the line is shown, since it may
// be a secret.
func PropertiesFile(path string) Option {
	return func(o *options) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("%w: properties file: %w", kerr.ErrConfig, err) // the system's words name the file
		}
		settings, err := config.ParseProperties(text)
		if err != nil {
			return fmt.Errorf("%w: properties file %s: %w", kerr.ErrConfig, path, err)
		}
		for _, s := range settings {
			s.Source = path
			o.settings = append(o.settings, s)
		}
		return nil
	}
}

// WithLogger sends the producer's log lines to l; nil keeps them out. Default: slog.Default().
//
// While the producer runs, lines are written in their order by a goroutine of its own, so that a slow handler holds up
// nothing, and one that itself sends through this producer (a log sink on Kafka) does not wait for itself. At most 1,000
// lines wait; what is lost beyond that, or by a handler's panic, is counted in a later line. Close writes what is left, and
// so waits for the handler. A producer that is never closed may keep its last lines.
func WithLogger(l *slog.Logger) Option {
	return func(o *options) error {
		if l == nil {
			l = slog.New(slog.DiscardHandler)
		}
		o.logger = l
		return nil
	}
}
