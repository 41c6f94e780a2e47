//go:build unix

package producer_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"linger"
)

// One good name among those to begin with is enough, whether names are looked up at once or later; with none the constructor
// fails, or, with bootstrap.resolve.timeout.ms, the call does (KIP-909).
func TestB22NamesThatDoNotResolve(t *testing.T) {
	const nowhere = "no-such-host.invalid:9092"
	c := one(t)
	topic := c.NewTopic(t, 1, nil)
	ctx := within(t, patience)
	for name, opts := range map[string][]linger.Option{"at once": nil, "later": {linger.BootstrapResolveTimeout(30 * time.Second)}} {
		t.Run(name, func(t *testing.T) {
			mixed := append([]string{nowhere}, c.Addrs()...)
			p := newProducer(t, c, append(opts, linger.BootstrapServers(mixed...), linger.WithLogger(nil))...)
			if _, err := p.SendSync(ctx, record{Topic: topic, Value: []byte("v")}); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := linger.New(linger.ByteArray, linger.ByteArray, linger.BootstrapServers(nowhere), linger.WithLogger(nil)); !errors.Is(err, linger.ErrConfig) {
		t.Errorf("no good name: %v, want a configuration error", err)
	}
	late := newProducer(t, c, linger.BootstrapServers(nowhere), linger.BootstrapResolveTimeout(300*time.Millisecond), linger.WithLogger(nil))
	if _, err := late.SendSync(ctx, record{Topic: topic, Value: []byte("v")}); err == nil || errors.Is(err, linger.ErrInterrupted) || !strings.Contains(err.Error(), "resolve") {
		t.Errorf("no good name within 300 ms: %v", err)
	}
}

// The longest time settings hold records back until the batch is full or a flush, and expire nothing.
func TestB30VeryLongTimes(t *testing.T) {
	c := one(t)
	topic := c.NewTopic(t, 1, nil)
	p := newProducer(t, c, linger.Set("linger.ms", int64(math.MaxInt64)), linger.Set("request.timeout.ms", math.MaxInt32), linger.BatchSize(1000),
		linger.Set("max.block.ms", int64(math.MaxInt64)), linger.WithLogger(nil))
	ctx := within(t, patience)
	send := func(size int) linger.Future {
		t.Helper()
		f, err := p.Send(ctx, record{Topic: topic, Value: make([]byte, size)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	full, held := send(600), send(600)
	if _, err := full.Wait(ctx); err != nil {
		t.Fatalf("the full batch: %v", err)
	}
	if held.Ready() {
		t.Error("the batch that is not full has been sent")
	}
	if err := p.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if md, err := held.Wait(ctx); err != nil || md.Offset != 1 {
		t.Errorf("after the flush: offset %d, %v", md.Offset, err)
	}
}
