//go:build unix

package producer_test

import (
	"context"
	"os"
	"testing"
	"time"

	"linger"
	"linger/test/broker/kafkatest"
)

// brokers are shared by the tests that leave nodes alone.
var brokers kafkatest.Set

func TestMain(m *testing.M) { os.Exit(brokers.Run(m)) }

// one and three are the shared clusters.
func one(t *testing.T) *kafkatest.Cluster   { return brokers.Get(t, kafkatest.Options{Nodes: 1}) }
func three(t *testing.T) *kafkatest.Cluster { return brokers.Get(t, kafkatest.Options{Nodes: 3}) }

// patience bounds what takes as long as it takes: a busy machine may need many times what an idle one does, and only a test
// that hangs comes near it.
const patience = 5 * time.Minute

type bytesProducer = linger.Producer[[]byte, []byte]

// newProducer makes a producer that is closed with the test; its memory must have come home by then.
func newProducer(t *testing.T, c *kafkatest.Cluster, opts ...linger.Option) *bytesProducer {
	t.Helper()
	all := append([]linger.Option{linger.BootstrapServers(c.Addrs()...), linger.MaxBlock(patience)}, opts...)
	p, err := linger.New(linger.ByteArray, linger.ByteArray, all...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		report, err := p.Shutdown(ctx)
		if err != nil || report.BytesLeft != 0 {
			t.Errorf("shutdown: %v, %d bytes of buffer.memory did not come home", err, report.BytesLeft)
		}
	})
	return p
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
