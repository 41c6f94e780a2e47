//go:build unix

package security_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linger"
	"linger/test/broker/kafkatest"
)

type (
	producer = linger.Producer[[]byte, []byte]
	record   = linger.Record[[]byte, []byte]
)

// soon bounds a call that must end well before max.block.ms, however busy the machine.
const (
	soon     = 3 * time.Minute
	maxBlock = 4 * soon
)

// javaFile is a client.properties as a Java application has it.
func javaFile(t *testing.T, c *kafkatest.Cluster, listener, security string) string {
	t.Helper()
	text := fmt.Sprintf(`# %s
bootstrap.servers=%s
key.serializer=org.apache.kafka.common.serialization.ByteArraySerializer
value.serializer=org.apache.kafka.common.serialization.ByteArraySerializer
%s
`, strings.ReplaceAll(t.Name(), "\n", " "), strings.Join(c.AddrsOf(listener), ","), security)
	name := filepath.Join(t.TempDir(), "client.properties")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// connect makes a producer from the file alone; opts are what a test adds. It is closed with the test, and its memory must
// have come home by then.
func connect(t *testing.T, file string, opts ...linger.Option) *producer {
	t.Helper()
	all := append([]linger.Option{linger.PropertiesFile(file), linger.MaxBlock(maxBlock), linger.WithLogger(logTo(t))}, opts...)
	p, err := linger.New[[]byte, []byte](nil, nil, all...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), soon)
		defer cancel()
		if report, err := p.Shutdown(ctx); err != nil || report.BytesLeft != 0 {
			t.Errorf("shutdown: %v, %d bytes of buffer.memory did not come home", err, report.BytesLeft)
		}
	})
	return p
}

// logTo keeps what the producer says with the test.
func logTo(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// values are those of the records in the log, in order.
func values(t *testing.T, c *kafkatest.Cluster, topic string) []string {
	t.Helper()
	var all []string
	for _, r := range kafkatest.ReadAll(t, c, topic) {
		all = append(all, string(r.Value))
	}
	return all
}
