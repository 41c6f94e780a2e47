package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"linger/lingertest/kafka"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// result is how a command line ended.
type result struct {
	status   int
	out, err string
}

// run runs a command line in this process.
func run(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	return lingerWith(t.Context(), strings.NewReader(stdin), args...)
}

func lingerWith(ctx context.Context, stdin io.Reader, args ...string) result {
	var out, errOut buffer
	status := execute(ctx, args, stdin, &out, &errOut)
	return result{status, out.String(), errOut.String()}
}

// buffer is written by the command and by the producer's log.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (r result) want(t *testing.T, status int) {
	t.Helper()
	if r.status != status {
		t.Errorf("exit status %d, want %d; stdout:\n%s\nstderr:\n%s", r.status, status, r.out, r.err)
	}
}

func has(t *testing.T, where, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s lacks %q:\n%s", where, p, text)
		}
	}
}

func hasNot(t *testing.T, where, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			t.Errorf("%s has %q:\n%s", where, p, text)
		}
	}
}

func startBroker(t *testing.T, partitions int32) *kafka.Broker {
	t.Helper()
	b, err := kafka.Start(kafka.Options{Topics: map[string]int32{"t": partitions}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, b *kafka.Broker) []kafka.Record {
	t.Helper()
	recs, err := b.ReadAll(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	return recs
}

// values are the values of records, in their order.
func values(recs []kafka.Record) []string {
	var list []string
	for _, r := range recs {
		list = append(list, string(r.Value))
	}
	return list
}
