package client

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linger/internal/clock"
	"linger/internal/link"
	"linger/internal/metadata"
)

func resolved(host string, addrs ...string) link.Event {
	e := link.Event{Kind: link.Resolved, Host: host, Addrs: addrs}
	if len(addrs) == 0 {
		e.Err = errors.New("no such host")
	}
	return e
}

// B22: one good name is enough; the bad one is warned about and gets no id.
func TestOneBootstrapNameThatResolvesIsEnough(t *testing.T) {
	w := newWorld(t)
	w.m.ResolveBootstrap(0, []HostPort{{"bad", 9092}, {"good", 9092}, {"good", 9093}}, 1500*ms)
	w.collect()
	if len(w.orders) != 2 {
		t.Fatalf("got %v, want each name asked for once", w.orders)
	}
	w.turn(resolved("good", "10.0.0.1"))
	if nodes, err := w.m.Bootstrap(); nodes != nil || err != nil {
		t.Errorf("before all have answered: %v, %v", nodes, err)
	}
	if n, ok := w.m.LeastLoaded(w.now); ok {
		t.Errorf("node %d is offered before all have answered", n)
	}
	w.turn(resolved("bad"))
	want := []metadata.Node{{ID: -1, Host: "good", Port: 9092}, {ID: -2, Host: "good", Port: 9093}}
	nodes, err := w.m.Bootstrap()
	if diff := cmp.Diff(want, nodes); diff != "" || err != nil {
		t.Errorf("error %v, nodes (-want +got):\n%s", err, diff)
	}
	if n, ok := w.m.LeastLoaded(w.now); !ok || n != -1 {
		t.Errorf("least loaded %d, %v: want the first bootstrap node", n, ok)
	}
	if lines := w.lines(Warn); len(lines) != 1 || !strings.Contains(lines[0], "bad:9092") {
		t.Errorf("warnings %q", lines)
	}
	w.after(time.Hour).turn()
	if _, err := w.m.Bootstrap(); err != nil {
		t.Errorf("the time-out struck after success: %v", err)
	}
}

// B22: names are asked for again every retry.backoff.ms until bootstrap.resolve.timeout.ms, then the failure stays.
func TestBootstrapNamesThatNeverResolveFailAfterTheTimeOut(t *testing.T) {
	w := newWorld(t)
	w.m.ResolveBootstrap(0, []HostPort{{"bad", 9092}}, 250*ms)
	w.turn()
	asked := 0
	for w.m.NextWake() != clock.Never {
		for _, o := range w.orders {
			if o.Kind == link.Resolve {
				asked++
				w.turn(resolved("bad"))
			}
		}
		w.now = w.m.NextWake()
		w.turn()
	}
	_, err := w.m.Bootstrap()
	if err == nil || err.Error() != "Failed to resolve bootstrap servers after 250ms. Please check your bootstrap.servers configuration and DNS settings." {
		t.Errorf("got %v", err)
	}
	if w.now != clock.Instant(250*ms) || asked != 3 {
		t.Errorf("gave up at %v after asking %d times, want 250 ms and 3 times", time.Duration(w.now), asked)
	}
	w.turn(resolved("bad", "10.0.0.1"))
	if nodes, err := w.m.Bootstrap(); err == nil || nodes != nil {
		t.Error("a late answer undoes the failure")
	}
}

// B22: a resolver that never answers.
func TestABootstrapResolverThatHangsFailsAfterTheTimeOut(t *testing.T) {
	w := newWorld(t)
	w.m.ResolveBootstrap(0, []HostPort{{"slow", 9092}}, 1500*ms)
	w.turn()
	w.after(1500*ms - 1).turn()
	if _, err := w.m.Bootstrap(); err != nil {
		t.Errorf("too early: %v", err)
	}
	w.after(1).turn()
	if _, err := w.m.Bootstrap(); err == nil {
		t.Error("no error when the time is over")
	}
}
