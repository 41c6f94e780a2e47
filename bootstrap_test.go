package linger_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"linger"
)

// names is a name service by table.
func names(table map[string][]string) func(context.Context, string) ([]string, error) {
	return func(_ context.Context, name string) ([]string, error) {
		if found, ok := table[name]; ok {
			return found, nil
		}
		return nil, fmt.Errorf("lookup %s: no such host", name)
	}
}

func noNames(context.Context, string) ([]string, error) { return nil, errors.New("no name") }

// B22, CFG-02: without a resolve time-out New fails when no name resolves, and one good name is enough.
func TestNewResolvesTheBootstrapNamesAndNeedsOne(t *testing.T) {
	found := names(map[string][]string{"good": {"10.0.0.1"}})
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		_, err := linger.New(linger.String, linger.String, c.options(linger.WithNames(found, noNames), linger.BootstrapServers("bad:9092", "worse:9092"))...)
		if !errors.Is(err, linger.ErrConfig) {
			t.Errorf("no name resolves: got error %v, want an ErrConfig", err)
		}
		for _, part := range []string{"No resolvable bootstrap urls given in bootstrap.servers", "bad:9092", "worse", "no such host", "bootstrap.resolve.timeout.ms"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("the error does not say %q: %v", part, err)
			}
		}

		p := c.producer(linger.WithNames(found, noNames), linger.BootstrapServers("bad:9092", "good:9092"))
		mustWait(t, mustSend(t, p, plain("v"), nil))
		if got := c.logged(slog.LevelWarn, "Couldn't resolve server bad:9092 from bootstrap.servers as DNS resolution failed for bad"); len(got) != 2 {
			t.Errorf("warned %d times of the bad name, want once by each New: %q", len(got), got)
		}
	})
}

func TestAnIPAddressNeedsNoNameService(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.producer(linger.WithNames(noNames, noNames), linger.BootstrapServers("10.0.0.1:9092", "[::1]:9092"))
	})
}

// B22, CFG-73, META-08: with a resolve time-out New succeeds, and calls fail with the reason once the time is over, at once
// from then on.
func TestNamesThatDoNotResolveInTimeFailTheCalls(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		p := c.producer(linger.WithNames(noNames, noNames), linger.BootstrapServers("bad:9092"), linger.BootstrapResolveTimeout(1500*time.Millisecond))
		for i, want := range []time.Duration{1500 * time.Millisecond, 0} {
			var err error
			if d := took(func() { _, err = p.Send(t.Context(), plain("v"), failIfCalled(t)) }); !about(d, want) {
				t.Errorf("send %d failed after %v, want %v", i+1, d, want)
			}
			if !errors.Is(err, linger.ErrConfig) || !strings.Contains(err.Error(), "Failed to resolve bootstrap servers after 1500ms") {
				t.Errorf("send %d: got error %v, want the failed resolution", i+1, err)
			}
		}
	})
}

func TestNamesThatResolveLateDoNotHurt(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		start := time.Now()
		late := func(ctx context.Context, name string) ([]string, error) {
			if time.Since(start) < time.Second {
				return nil, errors.New("not yet")
			}
			return []string{"10.0.0.1"}, nil
		}
		p := c.producer(linger.WithNames(late, noNames), linger.BootstrapServers("slow:9092"), linger.BootstrapResolveTimeout(30*time.Second))
		d := took(func() { mustWait(t, mustSend(t, p, plain("v"), nil)) })
		if d < time.Second || d > 1200*time.Millisecond {
			t.Errorf("delivered after %v, want soon after the name resolves at 1s", d)
		}
	})
}

// CFG-55: client.dns.lookup: each address of a bootstrap name is asked under its own name, or as it is when it has none.
func TestCanonicalLookupAsksForEachAddressByItsName(t *testing.T) {
	forward := names(map[string][]string{"all": {"10.0.0.1", "10.0.0.2", "10.0.0.3"}, "one.local": {"10.0.0.1"}, "liar.local": {"10.9.9.9"}})
	reverse := names(map[string][]string{"10.0.0.1": {"one.local."}, "10.0.0.3": {"liar.local."}})
	bubble(t, func(t *testing.T, c *cluster) {
		var asked []string
		watch := func(ctx context.Context, name string) ([]string, error) {
			c.change(func() { asked = append(asked, name) })
			return forward(ctx, name)
		}
		c.setBrokers(0) // nobody answers: every server is tried
		p := c.producer(linger.WithNames(watch, reverse), linger.BootstrapServers("all:9092"), linger.ClientDNSLookup("resolve_canonical_bootstrap_servers_only"), linger.MaxBlock(time.Second))
		if _, err := mustSend(t, p, plain("v"), nil).Wait(t.Context()); !errors.Is(err, linger.ErrTimeout) {
			t.Errorf("got %v", err)
		}
		c.mu.Lock() // the search goes on
		defer c.mu.Unlock()
		slices.Sort(c.dialled)
		if got := slices.Compact(c.dialled); !slices.Equal(got, []string{"10.0.0.1:9092", "10.0.0.2:9092", "10.0.0.3:9092"}) {
			t.Errorf("dialled %v", got)
		}
		if !slices.Contains(asked[2:], "one.local") {
			t.Errorf("the client asked for %v, want one.local too", asked)
		}
	})
	_, err := linger.New(linger.String, linger.String, linger.BootstrapServers("all:9092"),
		linger.ClientDNSLookup("resolve_canonical_bootstrap_servers_only"), linger.BootstrapResolveTimeout(time.Second))
	if !errors.Is(err, linger.ErrConfig) || !strings.Contains(err.Error(), "bootstrap.resolve.timeout.ms=1000") {
		t.Errorf("with a resolve time-out: got %v, want an ErrConfig", err)
	}
}

func failIfCalled(t *testing.T) linger.Callback {
	return func(md linger.RecordMetadata, err error) { t.Errorf("the callback ran: %v, %v", md, err) }
}

// While no broker can be reached the search starts over again and again; that is no news to those who wait.
func TestWaitingForBrokersOutOfReachDoesNotKeepTheLoopBusy(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.setBrokers(0)
		p := c.producer(linger.MaxBlock(time.Minute))
		for range 20 {
			go func() { _, _ = p.Send(t.Context(), plain("v"), nil) }()
		}
		rest(59 * time.Second)
		if turns, dials := p.Turns(), c.dials(); turns > 1000 || dials > 100 || dials < 30 {
			t.Errorf("%d turns and %d dials in a minute, want a few per back-off, which grows to a second", turns, dials)
		}
	})
}

// A dialer of the application's own gets the names as they are: nothing is looked up, not even in New.
func TestOwnDialerGetsNamesUnresolved(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) { // where a look-up by the system would be fatal
		c.topic("t", 1)
		c.onDial = func(ctx context.Context, addr string) (net.Conn, error) {
			if addr == "kafka.far.away:9092" {
				return c.connect(1), nil
			}
			return nil, nil
		}
		p := c.producer(linger.BootstrapServers("kafka.far.away:9092"))
		mustWait(t, mustSend(t, p, plain("v"), nil))
		c.change(func() {
			if c.dialled[0] != "kafka.far.away:9092" {
				t.Errorf("dialled %q", c.dialled)
			}
		})
	})
}
