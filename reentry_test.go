package linger_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
	"linger/internal/kerr"
)

// sink is a log handler that does what a test says.
type sink struct {
	mu     sync.Mutex
	handle func(text string)
}

func (s *sink) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }
func (s *sink) WithAttrs([]slog.Attr) slog.Handler           { return s }
func (s *sink) WithGroup(string) slog.Handler                { return s }
func (s *sink) Handle(_ context.Context, r slog.Record) error {
	s.mu.Lock()
	do := s.handle
	s.mu.Unlock()
	if do != nil {
		do(r.Message)
	}
	return nil
}

func (s *sink) on(do func(text string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handle = do
}

// troubled lets the broker refuse the first n requests, each of which the producer tells its log.
func troubled(c *cluster, n int) {
	c.on(kmsg.Produce, func(call *call) bool {
		if n--; n < 0 {
			return false
		}
		call.fail(kerr.NotEnoughReplicas)
		return true
	})
}

// A log handler may send through the producer whose lines it writes, and wait for the outcome, even with memory for one
// record only.
func TestALogHandlerMaySendThroughItsProducer(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		c.topic("log", 1)
		s := &sink{}
		p := c.producer(linger.WithLogger(slog.New(s)), linger.BatchSize(1000), linger.BufferMemory(1000), linger.Linger(0))
		warm(t, p)
		var errs []error
		s.on(func(text string) {
			_, err := p.SendSync(t.Context(), rec{Topic: "log", Value: []byte(text)})
			errs = append(errs, err)
		})
		troubled(c, 3)
		mustWait(t, mustSend(t, p, plain("v"), nil))
		rest(time.Second)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if len(errs) != 3 || errors.Join(errs...) != nil {
			t.Errorf("the handler's sends gave %v, want three outcomes without error", errs)
		}
		if got := c.values("log", 0); len(got) != 3 || !strings.Contains(got[0], "NOT_ENOUGH_REPLICAS") {
			t.Errorf("the log's topic has %q", got)
		}
	})
}

// A log handler that hangs holds up neither records nor callbacks; what it lets go in the end is written before Close returns.
func TestASlowLogHandlerStopsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		s := &sink{}
		p := c.producer(linger.WithLogger(slog.New(s)), linger.BatchSize(1))
		warm(t, p)
		gate := make(chan struct{})
		written := 0
		s.on(func(string) { <-gate; written++ })
		troubled(c, 5)
		if d := took(func() { mustWait(t, mustSend(t, p, plain("v"), nil)) }); d > 10*time.Second {
			t.Errorf("the record took %v", d)
		}
		mustWait(t, mustSend(t, p, plain("w"), func(linger.RecordMetadata, error) { panic("no") }))
		if written != 0 {
			t.Errorf("%d lines were written", written)
		}
		close(gate)
		p.Close()
		if written != 6 {
			t.Errorf("%d lines were written, want five of the broker and one of the callback", written)
		}
	})
}

// CLOSE-11 and beyond: whatever code of the application's Close would wait for, inside it Close ends the producer at once and
// does not wait, and the report says that it is not the last word.
func TestCloseInsideWhatItWaitsFor(t *testing.T) {
	type inside struct {
		report linger.Report
		err    error
		took   time.Duration
	}
	places := map[string]func(t *testing.T, c *cluster, shutdown func()) producer{
		"a callback": func(t *testing.T, c *cluster, shutdown func()) producer {
			p := c.producer(linger.BatchSize(1))
			mustSend(t, p, plainOn(0, "v"), func(linger.RecordMetadata, error) { shutdown() })
			return p
		},
		"an interceptor": func(t *testing.T, c *cluster, shutdown func()) producer {
			ic := &spy{onAck: func(linger.RecordMetadata, error) { shutdown() }}
			p := c.producer(linger.BatchSize(1), linger.WithInterceptors[[]byte, []byte](ic))
			mustSend(t, p, plainOn(0, "v"), nil)
			return p
		},
		"a log handler": func(t *testing.T, c *cluster, shutdown func()) producer {
			s := &sink{}
			p := c.producer(linger.BatchSize(1), linger.WithLogger(slog.New(s)))
			warm(t, p)
			s.on(func(string) { shutdown() })
			mustSend(t, p, plainOn(0, "v"), nil)
			return p
		},
		"a dialer": func(t *testing.T, c *cluster, shutdown func()) producer {
			p := c.producer(linger.BatchSize(1))
			warm(t, p)
			c.change(func() {
				c.onDial = func(context.Context, string) (net.Conn, error) { shutdown(); return nil, nil }
			})
			c.close()
			mustSend(t, p, plainOn(0, "v"), nil)
			return p
		},
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.topic("t", 2)
				refused := name != "a log handler" // that one needs something to tell
				c.on(kmsg.Produce, func(call *call) bool {
					if !refused {
						refused = true
						call.fail(kerr.NotEnoughReplicas)
						return true
					}
					return slices.ContainsFunc(call.batches(), func(b batch) bool { return b.partition == 1 })
				})
				var p producer
				ready := make(chan struct{})
				seen := make(chan inside, 1)
				once := sync.OnceFunc(func() {
					<-ready
					stuck, err := p.Send(t.Context(), plainOn(1, "stuck"), nil)
					if err != nil {
						t.Error(err)
					}
					var in inside
					in.took = took(func() { in.report, in.err = p.Shutdown(t.Context()) })
					seen <- in
					go func() {
						if _, err := stuck.Wait(t.Context()); !errors.Is(err, linger.ErrForceClosed) {
							t.Errorf("what was left: got %v, want ErrForceClosed", err)
						}
					}()
				})
				p = place(t, c, once)
				close(ready)
				in := <-seen
				if in.took != 0 || in.err != nil || !in.report.Unfinished || in.report.BytesLeft != 0 {
					t.Errorf("inside: %+v after %v, %v; want an unfinished report at once", in.report, in.took, in.err)
				}
				report, err := p.Shutdown(t.Context())
				if err != nil || report.Unfinished || report.BytesLeft != 0 || report.Delivered+report.Failed != 2 {
					t.Errorf("afterwards: %+v, %v; want both records' outcome", report, err)
				}
				synctest.Wait()
			})
		})
	}
}

// A plug-in that closes the producer in its own Close is not waited for by itself.
func TestAPluginMayCloseTheProducerThatClosesIt(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		var p *linger.Producer[string, string]
		var reports []linger.Report
		closes := func() error {
			if err := p.Flush(t.Context()); err != nil {
				return err
			}
			report, err := p.Shutdown(t.Context())
			reports = append(reports, report)
			return errors.Join(err, p.Close(), errors.New("sorry"))
		}
		var err error
		p, err = linger.New[string, string](&closingSerializer{closes}, &closingSerializer{closes}, c.options(
			linger.WithPartitioner(&closingPartitioner{closes}), linger.WithInterceptors[string, string](&closingInterceptor{closes}))...)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err == nil || strings.Count(err.Error(), "sorry") != 4 {
			t.Errorf("close: got %v, want the errors of four plug-ins", err)
		}
		if want := (linger.Report{}); len(reports) != 4 || slices.ContainsFunc(reports, func(r linger.Report) bool { return r != want }) {
			t.Errorf("inside the plug-ins: %+v", reports)
		}
	})
}

// A plug-in that ends the goroutine of Close takes no other caller of Close with it.
func TestAPluginThatEndsItsGoroutineLeavesCloseUsable(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		ic := &spy{onClose: func() error { runtime.Goexit(); return nil }}
		p := c.producer(linger.WithInterceptors[[]byte, []byte](ic))
		var wg sync.WaitGroup
		wg.Go(func() { _ = p.Close() })
		wg.Wait()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// OnSend, serializers and partitioners run on the caller's goroutine: there Close and Flush are what they are elsewhere, and
// the record whose Send they interrupt is refused.
func TestSendsOwnPluginsMayFlushAndClose(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		for i, name := range []string{"interceptor", "serializer", "partitioner"} {
			var p *linger.Producer[string, string]
			end := false
			do := func(here string) {
				if name != here {
					return
				}
				if err := p.Flush(t.Context()); err != nil {
					t.Errorf("%s: flush: %v", name, err)
				}
				if end {
					if report, err := p.Shutdown(t.Context()); err != nil || report.Unfinished || report.Delivered != 1 {
						t.Errorf("%s: shutdown: %+v, %v", name, report, err)
					}
				}
			}
			ic := interceptorFunc[string, string](func(r linger.Record[string, string]) (linger.Record[string, string], error) {
				do("interceptor")
				return r, nil
			})
			ser := linger.SerializerFunc[string](func(_ string, _ []linger.Header, v string) ([]byte, error) { do("serializer"); return []byte(v), nil })
			part := linger.PartitionerFunc(func(string, []byte, []byte, linger.Cluster) (int32, error) { do("partitioner"); return 0, nil })
			p = producerOf[string, string](c, linger.String, ser, linger.WithInterceptors[string, string](ic), linger.WithPartitioner(part))
			r := linger.Record[string, string]{Topic: "t", Value: "v"}
			mustWait(t, mustSend(t, p, r, nil))
			end = true
			if _, err := p.Send(t.Context(), r, nil); !errors.Is(err, linger.ErrClosed) {
				t.Errorf("%s: send: got %v, want ErrClosed", name, err)
			}
			if n := len(c.values("t", 0)); n != i+1 {
				t.Errorf("%s: %d records in the log", name, n)
			}
		}
	})
}

// A dialer that ends its goroutine, as a test's FailNow does, costs the attempt; the producer goes on and can be closed.
func TestADialerThatEndsItsGoroutineIsContained(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		left := 2
		c.onDial = func(context.Context, string) (net.Conn, error) {
			if left--; left >= 0 {
				runtime.Goexit()
			}
			return nil, nil
		}
		p := c.producer()
		if md := mustWait(t, mustSend(t, p, plain("v"), nil)); md.Offset != 0 {
			t.Errorf("went to %+v", md)
		}
		if n := len(c.logged(slog.LevelInfo, "the dialer did not return")); n == 0 {
			t.Error("nobody tells of it")
		}
	})
}

// CLOSE-11 and beyond: what a callback would wait for behind itself is refused there, and nothing is sent; elsewhere it works.
func TestSendSyncInsideACallbackIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer()
		var inside error
		mustWait(t, mustSend(t, p, plain("v"), func(linger.RecordMetadata, error) {
			_, inside = p.SendSync(t.Context(), plain("never sent"))
		}))
		if !errors.Is(inside, linger.ErrIllegalState) || !strings.Contains(inside.Error(), "callback") {
			t.Errorf("got %v, want an ErrIllegalState", inside)
		}
		if _, err := p.SendSync(t.Context(), plain("w")); err != nil {
			t.Error(err)
		}
		if got := c.values("t", 0); !slices.Equal(got, []string{"v", "w"}) {
			t.Errorf("the log has %q", got)
		}
	})
}

// A batch.size that buffer.memory can't hold is told when the producer is made: as with Java every send will fail.
func TestABatchLargerThanAllMemoryIsWarnedOf(t *testing.T) {
	for _, incremental := range []bool{false, true} {
		bubble(t, func(t *testing.T, c *cluster) {
			c.topic("t", 1)
			opts := []linger.Option{linger.BatchSize(100_000), linger.BufferMemory(64_000)}
			if incremental {
				opts = append(opts, linger.Set("buffer.memory.allocation.strategy", "incremental"))
			}
			p := c.producer(opts...)
			if n := len(c.logged(slog.LevelWarn, "batch.size=100000 is larger than buffer.memory=64000")); (n == 0) != incremental {
				t.Errorf("incremental %t: %d warnings", incremental, n)
			}
			if _, err := p.SendSync(t.Context(), plain("v")); (err == nil) != incremental {
				t.Errorf("incremental %t: send: %v", incremental, err)
			}
		})
	}
}
