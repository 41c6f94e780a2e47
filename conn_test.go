package linger_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
	"linger/internal/kerr"
)

// oddConn is a connection that does something of its own in one method, once.
type oddConn struct {
	net.Conn
	method string
	armed  func() bool
	do     func() int
	once   *sync.Once
}

func (o *oddConn) odd(method string) (n int, odd bool) {
	if method == o.method && o.armed() {
		o.once.Do(func() { odd, n = true, o.do() })
	}
	return n, odd
}

func (o *oddConn) Read(b []byte) (int, error) {
	n, err := o.Conn.Read(b)
	if m, odd := o.odd("Read"); odd && m != 0 {
		return m, nil
	}
	return n, err
}

func (o *oddConn) Write(b []byte) (int, error) {
	if n, odd := o.odd("Write"); odd && n != 0 {
		return n, nil
	}
	return o.Conn.Write(b)
}

func (o *oddConn) Close() error {
	o.odd("Close")
	return o.Conn.Close()
}

// A connection of the application's own kind may fail in any way: that costs the link, which the log tells of, and neither the
// process nor a record.
func TestFaultyConnectionsAreContained(t *testing.T) {
	faults := map[string]struct {
		do   func() int
		says string
	}{
		"panics":             {func() int { panic("loose contact") }, "panicked: loose contact"},
		"ends its goroutine": {func() int { runtime.Goexit(); return 0 }, "ended the goroutine"},
		"counts too far":     {func() int { return 1 << 20 }, "says 1048576 bytes of"},
		"counts backwards":   {func() int { return -1 }, "says -1 bytes of"},
	}
	for _, method := range []string{"Read", "Write", "Close"} {
		for name, fault := range faults {
			if method == "Close" && strings.HasPrefix(name, "counts") {
				continue
			}
			t.Run(method+" "+name, func(t *testing.T) {
				bubble(t, func(t *testing.T, c *cluster) {
					c.topic("t", 1)
					c.checks = true
					var mu sync.Mutex
					armed := false
					once := new(sync.Once)
					c.onDial = func(context.Context, string) (net.Conn, error) {
						return &oddConn{c.connect(1), method, func() bool { mu.Lock(); defer mu.Unlock(); return armed }, fault.do, once}, nil
					}
					p := c.producer(linger.BatchSize(1))
					mustWait(t, mustSend(t, p, plain("before"), nil))
					mu.Lock()
					armed = true
					mu.Unlock()
					if method == "Close" {
						c.close()
						rest(time.Second)
					}
					mustWait(t, mustSend(t, p, plain("after"), nil))
					if got := c.values("t", 0); len(got) != 2 {
						t.Errorf("the log has %q", got)
					}
					if method != "Close" && len(c.logged(slog.LevelInfo, fault.says)) == 0 {
						t.Errorf("no line says %q: %v", fault.says, c.logged(slog.LevelInfo, ""))
					}
				})
			})
		}
	}
}

// Close that panics leaves nobody in a read that nothing ends.
func TestAConnectionThatCannotBeClosedDoesNotHoldUpClose(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		c.onDial = func(context.Context, string) (net.Conn, error) { return brokenConn{c.connect(1)}, nil }
		p := c.producer()
		mustWait(t, mustSend(t, p, plain("v"), nil))
		if d := took(func() { _ = p.Close() }); d > time.Second {
			t.Errorf("close took %v", d)
		}
	})
}

type brokenConn struct{ net.Conn }

func (brokenConn) Close() error { panic("no way out") }

// CLOSE-11 and beyond: Close inside a connection's methods does not wait for itself.
func TestCloseInsideAConnectionReturns(t *testing.T) {
	for _, method := range []string{"Read", "Write", "Close"} {
		t.Run(method, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.topic("t", 1)
				var p producer
				armed := make(chan struct{})
				done := make(chan linger.Report, 1)
				c.onDial = func(context.Context, string) (net.Conn, error) {
					return &oddConn{c.connect(1), method, func() bool {
						select {
						case <-armed:
							return true
						default:
							return false
						}
					}, func() int {
						report, err := p.Shutdown(t.Context())
						if err != nil {
							t.Error(err)
						}
						done <- report
						return 0
					}, new(sync.Once)}, nil
				}
				p = c.producer(linger.BatchSize(1))
				mustWait(t, mustSend(t, p, plain("v"), nil))
				close(armed)
				var f linger.Future
				if method == "Close" {
					c.on(kmsg.Produce, func(*call) bool { return true })
					f = mustSend(t, p, plain("stuck"), nil)
					rest(time.Second)
					c.close()
				} else {
					f = mustSend(t, p, plain("v"), nil)
				}
				if report := <-done; !report.Unfinished {
					t.Errorf("inside: %+v, want an unfinished report", report)
				}
				if _, err := f.Wait(t.Context()); err != nil && !errors.Is(err, linger.ErrForceClosed) && !errors.Is(err, kerr.ErrDisconnected) {
					t.Errorf("the record that was on its way: %v", err)
				}
				if report, err := p.Shutdown(t.Context()); err != nil || report.Unfinished {
					t.Errorf("afterwards: %+v, %v", report, err)
				}
			})
		})
	}
}
