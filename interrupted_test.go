package linger_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
)

// ERR-02 and beyond: wherever a call waits, an ended context gives an error that tells what was waited for, how the context
// ended and why; and since nothing is lost by it, its class is no fatal one.
func TestACallThatItsContextEndsTellsWhy(t *testing.T) {
	why := errors.New("the caller's reason")
	waits := map[string]struct {
		what string
		call func(ctx context.Context, p producer) error
	}{
		"a send for metadata": {"metadata of topic nope", func(ctx context.Context, p producer) error {
			_, err := p.Send(ctx, rec{Topic: "nope"}, nil)
			return err
		}},
		"a send for memory": {"memory", func(ctx context.Context, p producer) error {
			_, err := p.Send(ctx, plain(strings.Repeat("x", 900)), nil)
			return err
		}},
		"a send for its outcome": {"outcome", func(ctx context.Context, p producer) error {
			_, err := p.SendSync(ctx, plain("v"))
			return err
		}},
		"partitions": {"metadata of topic nope", func(ctx context.Context, p producer) error {
			_, err := p.PartitionsFor(ctx, "nope")
			return err
		}},
		"warm":  {"metadata of topic nope", func(ctx context.Context, p producer) error { return p.Warm(ctx, "nope") }},
		"flush": {"flush", func(ctx context.Context, p producer) error { return p.Flush(ctx) }},
		"no future": {"no record", func(ctx context.Context, _ producer) error {
			_, err := linger.Future{}.Wait(ctx)
			return err
		}},
	}
	for name, w := range waits {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.topic("t", 1)
				p := c.producer(linger.BatchSize(1000), linger.BufferMemory(1000), linger.Linger(0))
				warm(t, p)
				c.on(kmsg.Produce, func(*call) bool { return true })
				if w.what != "outcome" { // which the memory that this takes is needed for
					mustSend(t, p, plain(strings.Repeat("x", 100)), nil)
				}
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, why)
				defer cancel()
				err := w.call(ctx, p)
				if !errors.Is(err, linger.ErrInterrupted) || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, why) {
					t.Errorf("got %v, want an ErrInterrupted that shows how the context ended, and why", err)
				}
				if err != nil && !strings.Contains(err.Error(), "waiting for") || !strings.Contains(err.Error(), w.what) {
					t.Errorf("%q does not tell what was waited for: %s", err, w.what)
				}
				if got := linger.ClassOf(err); got != linger.ClassRetriable {
					t.Errorf("its class is %v", got)
				}
			})
		})
	}
}
