package linger_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
	"linger/internal/kerr"
)

// CLOSE-01, CLOSE-02, CLOSE-04, CLOSE-12, SEND-09: what was taken before Close is sent and has its outcome when Close
// returns; afterwards nothing is taken any more.
func TestCloseSendsWhatWasTakenAndTakesNoMore(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 3)
		p := c.producer(linger.Linger(time.Hour), linger.DeliveryTimeout(3*time.Hour))
		c.on(kmsg.Produce, func(*call) bool { elapse(time.Second); return false })
		var fs []linger.Future
		called := 0
		for i := range 30 {
			fs = append(fs, mustSend(t, p, plainOn(int32(i%3), fmt.Sprint(i)), func(md linger.RecordMetadata, err error) { called++ }))
		}
		if d := took(func() { p.Close() }); d < time.Second || d > 5*time.Second {
			t.Errorf("close took %v: it waits neither less nor more than the deliveries", d)
		}
		for _, f := range fs {
			if !f.Ready() {
				t.Error("a record has no outcome after Close")
			}
			mustWait(t, f)
		}
		if n := len(c.values("t", 0)) + len(c.values("t", 1)) + len(c.values("t", 2)); n != 30 || called != 30 {
			t.Errorf("%d records in the logs, %d callbacks, want 30", n, called)
		}
		// Java's IllegalStateException, and not what a Send hears that was under way when the producer closed.
		if _, err := p.Send(t.Context(), plain("late"), failIfCalled(t)); !errors.Is(err, linger.ErrClosed) || errors.Is(err, linger.ErrClosedDuringSend) {
			t.Errorf("send after close: got %v", err)
		}
		if _, err := p.TrySend(plain("late"), failIfCalled(t)); !errors.Is(err, linger.ErrClosed) || errors.Is(err, linger.ErrClosedDuringSend) {
			t.Errorf("TrySend after close: got %v", err)
		}
		if _, err := p.SendSync(t.Context(), plain("late")); !errors.Is(err, linger.ErrClosed) {
			t.Errorf("SendSync after close: got %v", err)
		}
		if _, err := p.PartitionsFor(t.Context(), "nope"); !errors.Is(err, linger.ErrClosed) {
			t.Errorf("PartitionsFor after close: got %v", err)
		}
		if err := p.Flush(t.Context()); err != nil {
			t.Errorf("flush after close: got %v", err)
		}
	})
}

// CLOSE-05: when the time is over what has no outcome fails with ErrForceClosed; the report tells how much that was.
func TestCloseWithALimitFailsTheRest(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.BatchSize(1))
		mustWait(t, mustSend(t, p, plain("delivered"), nil))
		c.on(kmsg.Produce, func(*call) bool { return true })
		fs := []linger.Future{mustSend(t, p, plain("in flight"), nil), mustSend(t, p, plain("queued"), nil), mustSend(t, p, plain("queued too"), nil)}
		_, _ = p.Send(t.Context(), rec{}, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		var report linger.Report
		if d := took(func() { report, _ = p.Shutdown(ctx) }); !about(d, 2*time.Second) {
			t.Errorf("shutdown took %v, want its limit", d)
		}
		for i, f := range fs {
			if _, err := f.Wait(t.Context()); !errors.Is(err, linger.ErrForceClosed) {
				t.Errorf("record %d: got %v, want ErrForceClosed", i, err)
			}
		}
		if want := (linger.Report{Delivered: 1, Failed: 3, Aborted: 3, Refused: 1}); report != want {
			t.Errorf("report %+v, want %+v", report, want)
		}
	})
}

// CLOSE-06: without a limit Close waits for as long as deliveries may take, which delivery.timeout.ms bounds: for what is
// queued, and for what is in flight.
func TestCloseWithoutALimitWaitsForTheDeliveryTimeout(t *testing.T) {
	for name, lose := range map[string]func(c *cluster){
		"no broker is there": func(c *cluster) { c.setBrokers(0); c.close() },
		"no broker answers":  func(c *cluster) { c.on(kmsg.Produce, func(*call) bool { return true }) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.topic("t", 1)
				p := c.producer(linger.DeliveryTimeout(100*time.Second), linger.RequestTimeout(90*time.Second))
				warm(t, p)
				mustWait(t, mustSend(t, p, plain("connects"), nil))
				synctest.Wait() // no connection is half made that the loss would miss
				lose(c)
				f := mustSend(t, p, plain("v"), nil)
				rest(time.Second) // on its way, if there is one
				// A batch counts its age from the whole millisecond in which it was made.
				if d := took(func() { p.Close() }); !about(d, 99*time.Second) {
					t.Errorf("close took %v, want what was left of the 100s of delivery.timeout.ms", d)
				}
				if _, err := f.Wait(t.Context()); !errors.Is(err, linger.ErrTimeout) {
					t.Errorf("got %v, want a time-out", err)
				}
			})
		})
	}
}

// CLOSE-07, B09: closing wakes those who wait for memory at once, whatever max.block.ms is, and a forced close does not
// wait for lingering records.
func TestCloseWakesWhoWaitsForMemory(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.BufferMemory(20_000), linger.BatchSize(20_000), linger.Linger(time.Minute), linger.MaxBlock(30*time.Second))
		warm(t, p)
		c.on(kmsg.Produce, func(*call) bool { return true })
		mustSend(t, p, plain(strings.Repeat("x", 19_000)), nil)
		ended := make(chan error, 3)
		for range 3 {
			go func() {
				_, err := p.Send(t.Context(), plain(strings.Repeat("y", 19_000)), failIfCalled(t))
				ended <- err
			}()
		}
		rest(time.Second)
		d := took(func() {
			if err := p.CloseTimeout(0); err != nil {
				t.Error(err)
			}
			for range 3 {
				if err := <-ended; !errors.Is(err, linger.ErrClosedDuringSend) || !strings.Contains(err.Error(), "closed while allocating memory") {
					t.Errorf("got %v, want ErrClosedDuringSend", err)
				}
			}
		})
		if d != 0 {
			t.Errorf("close and the blocked callers took %v", d)
		}
		if n := p.Counters(); n.RecordErrors-n.RecordsFailed != 3 { // ERR-03
			t.Errorf("%d of the 3 callers are counted as errors", n.RecordErrors-n.RecordsFailed)
		}
	})
}

// A Send that races with Close either fails with the closed error or its record is delivered, and nothing in between; the
// accumulator's TestCloseWaitsForAnAppendThatIsUnderWay has the moment that counts, which chance rarely finds. The report tells
// of no memory that a refused Send still holds.
func TestSendsThatRaceWithCloseAreTakenOrRefused(t *testing.T) {
	for round := range 40 {
		bubble(t, func(t *testing.T, c *cluster) {
			c.topic("t", 4)
			p := c.producer(linger.BatchSize(200), linger.Linger(time.Second))
			warm(t, p)
			var mu sync.Mutex
			var taken []linger.Future
			var wg sync.WaitGroup
			closes := func() {
				if r, err := p.Shutdown(t.Context()); err != nil || r.BytesLeft != 0 {
					t.Errorf("%+v, %v", r, err)
				}
			}
			start := make(chan struct{})
			for s := range 8 {
				wg.Go(func() {
					<-start
					for i := range 50 {
						f, err := p.Send(t.Context(), plainOn(int32(s%4), "v"), nil)
						if err != nil {
							if !errors.Is(err, linger.ErrClosed) {
								t.Errorf("got %v, want ErrClosed", err)
							}
							return
						}
						mu.Lock()
						taken = append(taken, f)
						mu.Unlock()
						if i == round%50 && s == 0 {
							go closes()
						}
					}
				})
			}
			close(start)
			wg.Wait()
			closes()
			for _, f := range taken {
				mustWait(t, f)
			}
			stored := 0
			for part := range 4 {
				stored += len(c.values("t", part))
			}
			if stored != len(taken) {
				t.Errorf("%d records taken, %d stored", len(taken), stored)
			}
		})
	}
}

// CLOSE-10: Close may be called again, from many goroutines too, and each call waits for the first; a negative limit changes
// nothing.
func TestCloseIsIdempotent(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer()
		if err := p.CloseTimeout(-time.Second); !errors.Is(err, linger.ErrIllegalArgument) || !strings.Contains(err.Error(), "negative") {
			t.Errorf("negative limit: got %v", err)
		}
		f := mustSend(t, p, plain("v"), nil)
		mustWait(t, f)
		c.on(kmsg.Produce, func(*call) bool { elapse(2 * time.Second); return false })
		mustSend(t, p, plain("v"), nil)
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if d := took(func() { _ = p.Close() }); d < 2*time.Second || d > 3*time.Second {
					t.Errorf("a call took %v, want the 2s of the delivery", d)
				}
			})
		}
		wg.Wait()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := p.CloseTimeout(0); err != nil {
			t.Error(err)
		}
	})
}

// CLOSE-11, B10: Close inside a callback ends the producer at once, as with a limit of zero; Flush there is refused, on
// another goroutine it is not.
func TestCloseAndFlushInsideACallback(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.setBrokers(2)
		c.topic("t", 2)
		p := c.producer(linger.BatchSize(1), linger.Acks("1"))
		warm(t, p)
		mustWait(t, mustSend(t, p, plainOn(0, "first"), nil))
		var flush, elsewhere error
		mustWait(t, mustSend(t, p, plainOn(0, "flush inside"), func(linger.RecordMetadata, error) {
			flush = p.Flush(t.Context())
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			result := make(chan error)
			go func() { result <- p.Flush(ctx) }() // it waits for this callback: a context is the way out
			elsewhere = <-result
		}))
		if !errors.Is(flush, linger.ErrIllegalState) || !strings.Contains(flush.Error(), "callback") {
			t.Errorf("flush in a callback: got %v, want an ErrIllegalState", flush)
		}
		if !errors.Is(elsewhere, context.DeadlineExceeded) {
			t.Errorf("flush on another goroutine: got %v", elsewhere)
		}
		c.on(kmsg.Produce, func(call *call) bool { return call.batches()[0].partition == 1 })
		stuck := mustSend(t, p, plainOn(1, "stuck"), nil)
		rest(time.Second)
		done := make(chan time.Duration, 1)
		mustSend(t, p, plainOn(0, "close inside"), func(linger.RecordMetadata, error) {
			done <- took(func() {
				if err := p.CloseTimeout(30 * time.Second); err != nil {
					t.Error(err)
				}
			})
		})
		if d := <-done; d != 0 {
			t.Errorf("close in a callback took %v", d)
		}
		if _, err := stuck.Wait(t.Context()); !errors.Is(err, linger.ErrForceClosed) {
			t.Errorf("what was left: got %v, want ErrForceClosed", err)
		}
		p.Close()
	})
}

// CLOSE-13, B31: nothing of a producer outlives it: sockets, goroutines, plug-ins; whatever its end was like.
func TestNothingOutlivesAProducer(t *testing.T) {
	ends := map[string]func(c *cluster, p producer){
		"orderly":    func(c *cluster, p producer) { p.Close() },
		"forced":     func(c *cluster, p producer) { _ = p.CloseTimeout(0) },
		"no brokers": func(c *cluster, p producer) { c.setBrokers(0); c.close(); _ = p.CloseTimeout(time.Second) },
		"silent": func(c *cluster, p producer) {
			c.on(kmsg.Produce, func(*call) bool { return true })
			_ = p.CloseTimeout(time.Second)
		},
	}
	for name, end := range ends {
		for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
			t.Run(name+", "+codec, func(t *testing.T) {
				for range 4 {
					bubble(t, func(t *testing.T, c *cluster) { // which holds no goroutine after its end
						c.topic("t", 2)
						p := c.producer(linger.CompressionType(codec))
						mustWait(t, mustSend(t, p, plain("v"), nil))
						for range 10 {
							mustSend(t, p, plain(strings.Repeat("v", 500)), nil)
						}
						end(c, p)
						synctest.Wait()
						c.mu.Lock()
						defer c.mu.Unlock()
						if c.open() > 0 {
							t.Errorf("%d connections are open", c.open())
						}
					})
				}
			})
		}
	}
}

// CLOSE-13: serializers, partitioner and interceptors are closed with the producer, in Java's order.
func TestPluginsAreClosedInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		var closed []string
		closes := func(name string) func() error { return func() error { closed = append(closed, name); return nil } }
		p, err := linger.New[string, string](&closingSerializer{closes("key")}, &closingSerializer{closes("value")}, c.options(
			linger.WithPartitioner(&closingPartitioner{closes("partitioner")}),
			linger.WithInterceptors[string, string](&closingInterceptor{closes("interceptor")}))...)
		if err != nil {
			t.Fatal(err)
		}
		p.Close()
		if want := []string{"interceptor", "key", "value", "partitioner"}; !slices.Equal(closed, want) {
			t.Errorf("closed %q, want %q", closed, want)
		}
	})
}

type (
	closingSerializer  struct{ closer func() error }
	closingPartitioner struct{ closer func() error }
	closingInterceptor struct{ closer func() error }
)

func (s *closingSerializer) Serialize(_ string, _ []linger.Header, v string) ([]byte, error) {
	return []byte(v), nil
}
func (s *closingSerializer) Close() error { return s.closer() }
func (*closingPartitioner) Partition(string, []byte, []byte, linger.Cluster) (int32, error) {
	return 0, nil
}
func (p *closingPartitioner) Close() error { return p.closer() }
func (*closingInterceptor) OnSend(r linger.Record[string, string]) (linger.Record[string, string], error) {
	return r, nil
}
func (*closingInterceptor) OnAck(linger.RecordMetadata, []linger.Header, error) {}
func (i *closingInterceptor) Close() error                                      { return i.closer() }

// CLOSE-14: a producer that no broker may serve closes like any other.
func TestCloseSucceedsAfterAFatalError(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		c.on(kmsg.InitProducerID, func(call *call) bool {
			resp := kmsg.NewPtrInitProducerIDResponse()
			resp.ErrorCode = int16(kerr.ClusterAuthorizationFailed)
			call.answer(resp)
			return true
		})
		p := c.producer()
		if _, err := mustSend(t, p, plain("v"), nil).Wait(t.Context()); !errors.Is(err, linger.ErrAuthorization) {
			t.Errorf("got %v, want an ErrAuthorization", err)
		}
		if d := took(func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}); d > time.Second {
			t.Errorf("close took %v", d)
		}
	})
}

// B11, SEND-32: callbacks send more records and panic while batches expire: each runs once, in order, and other records go on.
func TestCallbacksMaySendAndPanicWhileBatchesExpire(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 3)
		p := c.producer(linger.BatchSize(1), linger.DeliveryTimeout(2*time.Second), linger.RequestTimeout(time.Second), linger.Linger(0))
		warm(t, p)
		c.on(kmsg.Produce, func(*call) bool { return true })
		const n = 50
		called := map[int32][]int{}
		var more []linger.Future
		for i := range n {
			part := int32(i % 3)
			mustSend(t, p, plainOn(part, fmt.Sprint(i)), func(md linger.RecordMetadata, err error) {
				if !errors.Is(err, linger.ErrTimeout) {
					t.Errorf("record %d: got %v, want a time-out", i, err)
				}
				called[part] = append(called[part], i)
				if f, err := p.Send(t.Context(), plainOn(part, "more"), nil); err != nil {
					t.Errorf("send in a callback: %v", err)
				} else {
					more = append(more, f)
				}
				if i%10 == 0 {
					panic("no")
				}
			})
		}
		rest(3 * time.Second)
		for part, got := range called {
			if !slices.IsSorted(got) {
				t.Errorf("partition %d: callbacks in order %v", part, got)
			}
		}
		if got := len(called[0]) + len(called[1]) + len(called[2]); got != n || len(more) != n {
			t.Errorf("%d callbacks, %d further records, want %d", got, len(more), n)
		}
		c.on(kmsg.Produce, nil)
		for _, f := range more {
			if _, err := f.Wait(t.Context()); err != nil && !errors.Is(err, linger.ErrTimeout) {
				t.Errorf("a further record: %v", err)
			}
		}
		if got := len(c.logged(slog.LevelError, "panic")); got != 5 {
			t.Errorf("%d panics logged, want 5", got)
		}
	})
}

// B11: a callback that sends waits for memory like everybody, also while so many batches wait for their callbacks that nothing
// else would be sent: the memory that it waits for is then held by batches that must go out first. (In Java it blocks the
// sender for all of max.block.ms.)
func TestACallbackThatWaitsForMemoryGetsIt(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		const memory = 1500 // batches
		p := c.producer(linger.BatchSize(100), linger.BufferMemory(memory*100), linger.Linger(0))
		warm(t, p)
		gate := make(chan struct{})
		var more []linger.Future
		send := func(value string, cb linger.Callback) linger.Future {
			f, err := p.Send(t.Context(), rec{Topic: "t", Value: []byte(strings.Repeat(value, 50))}, cb)
			if err != nil {
				t.Error(err)
			}
			return f
		}
		d := took(func() {
			time.AfterFunc(time.Second, func() { close(gate) })
			for range 3 * memory {
				send("v", func(_ linger.RecordMetadata, err error) {
					<-gate // until memory is full
					if err != nil {
						t.Errorf("a record: %v", err)
					}
					more = append(more, send("w", nil))
				})
			}
			mustFlush(t, p)
		})
		if d > 10*time.Second {
			t.Errorf("it took %v", d)
		}
		for _, f := range more {
			mustWait(t, f)
		}
		if n := len(c.records("t", 0)); n != 6*memory {
			t.Errorf("%d records in the log, want %d", n, 6*memory)
		}
	})
}

// B12, SEND-34: Flush waits for the pieces of a batch that the broker found too large, and order is kept.
func TestFlushWaitsForTheSplitPieces(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.BatchSize(30_000), linger.Linger(200*time.Millisecond))
		warm(t, p)
		c.on(kmsg.Produce, func(call *call) bool {
			if call.batches()[0].bytes <= 2000 {
				return false
			}
			call.fail(kerr.MessageTooLarge)
			return true
		})
		var fs []linger.Future
		var want []string
		for i := range 40 {
			v := fmt.Sprintf("%02d%s", i, strings.Repeat("x", 498))
			want = append(want, v)
			fs = append(fs, mustSend(t, p, plain(v), nil))
		}
		mustFlush(t, p)
		for i, f := range fs {
			if !f.Ready() {
				t.Fatalf("record %d has no outcome after flush", i)
			}
			if md := mustWait(t, f); md.Offset != int64(i) {
				t.Errorf("record %d has offset %d", i, md.Offset)
			}
		}
		if diff := cmp.Diff(want, c.values("t", 0)); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
	})
}

// B08: pieces of a split batch live past the delivery time-out of the batch without being freed twice; a batch that has
// expired is not split any more.
func TestSplitBatchesAndTheDeliveryTimeout(t *testing.T) {
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprintf("answer after the time-out: %t", late), func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.topic("t", 1)
				p := c.producer(linger.DeliveryTimeout(61*time.Second), linger.RequestTimeout(60*time.Second), linger.Linger(10*time.Millisecond))
				warm(t, p)
				tries := 0
				c.on(kmsg.Produce, func(call *call) bool {
					tries++
					switch {
					case late && tries == 1: // so that the second attempt is on its way at the batch's time-out
						elapse(30 * time.Second)
						call.fail(kerr.NotLeaderOrFollower)
					case late && tries == 2:
						elapse(35 * time.Second)
						call.fail(kerr.MessageTooLarge)
					case tries == 1:
						call.fail(kerr.MessageTooLarge)
					default:
						return false
					}
					return true
				})
				called := make([]int, 20)
				for i := range 20 {
					mustSend(t, p, plain(fmt.Sprint(i)), func(md linger.RecordMetadata, err error) {
						called[i]++
						if (err != nil) != late {
							t.Errorf("record %d: %v", i, err)
						}
					})
				}
				rest(3 * time.Minute)
				for i, n := range called {
					if n != 1 {
						t.Errorf("record %d: %d callbacks", i, n)
					}
				}
				report, _ := p.Shutdown(t.Context())
				if report.BytesLeft != 0 {
					t.Errorf("%d bytes did not come home", report.BytesLeft)
				}
			})
		})
	}
}
