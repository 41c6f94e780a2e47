package deliver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"linger/internal/accumulator"
	"linger/internal/bufferpool"
	"linger/internal/clock"
	"linger/internal/invariant"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is an accumulator to take batches from, and what a Deliverer needs.
type world struct {
	acc      *accumulator.Accumulator
	clk      *clock.Manual
	log      bytes.Buffer // read only when the Deliverer stands still
	reported atomic.Int64
	d        *Deliverer
}

func newWorld() *world {
	w := &world{clk: clock.NewManual(0)}
	w.acc = accumulator.New(accumulator.Options{
		BatchSize: 16384, Linger: time.Second, DeliveryTimeout: time.Minute, Clock: w.clk, Coarse: clock.NewCoarse(w.clk),
		Pool: bufferpool.New(32<<20, 16384, bufferpool.Full, w.clk),
	})
	w.d = New(slog.New(slog.NewTextHandler(&w.log, nil)), func(batches int) { w.reported.Add(int64(batches)) })
	return w
}

type callback func(o accumulator.Outcome)

func (f callback) Done(o *accumulator.Outcome) { f(*o) }

// send appends one record and returns its future.
func (w *world) send(t *testing.T, partition int32, f callback) accumulator.Appended {
	t.Helper()
	e := accumulator.Entry{TimestampMs: 5, Value: []byte("value")}
	if f != nil {
		e.Callback = f
	}
	a, err := w.acc.Append(t.Context(), w.acc.Topic("t"), partition, &e, 0)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// end ends every batch there is with the ending, oldest first in each partition, and returns the generation they were in.
func (w *world) end(e accumulator.Ending) ([]accumulator.Completion, *accumulator.Generation) {
	g := w.acc.Flush()
	s := w.acc.Schedule()
	s.Refresh(w.clk.Now())
	var ended []accumulator.Completion
	for _, b := range s.Unended(nil) {
		ended = append(ended, s.Complete(b, e))
	}
	return ended, g
}

func isDone(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// SEND-32: callbacks run in the order of the records; a future is done, and a flush returns, only after them.
func TestCallbacksInRecordOrderThenFuturesThenFlushes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		const batches, records = 3, 50
		var offsets []int64
		var futures []accumulator.Appended
		var flushed []*accumulator.Generation
		var all []accumulator.Completion
		gate := make(chan struct{})
		for batch := range batches {
			for range records {
				futures = append(futures, w.send(t, 0, func(o accumulator.Outcome) {
					at := len(offsets)
					if futures[at].Result.Ready(futures[at].Index) {
						t.Errorf("record %d: its future is done before its callback has run", at)
					}
					if isDone(flushed[at/records].Done()) {
						t.Errorf("record %d: the flush has returned before its callback has run", at)
					}
					offsets = append(offsets, o.Offset)
					if at == records+7 {
						<-gate
					}
				}))
			}
			ended, g := w.end(accumulator.Ending{BaseOffset: int64(1000 * batch), LogAppendMs: -1})
			all, flushed = append(all, ended...), append(flushed, g)
		}
		w.d.Push(all)
		synctest.Wait() // the callback in the second batch blocks
		if !futures[0].Result.Ready(0) || !isDone(flushed[0].Done()) {
			t.Error("the first batch is not done though its callbacks have run")
		}
		if futures[records].Result.Ready(0) || isDone(flushed[1].Done()) {
			t.Error("the second batch is done though a callback has not run")
		}
		close(gate)
		w.d.Stop()
		var want []int64
		for batch := range int64(batches) {
			for i := range int64(records) {
				want = append(want, 1000*batch+i)
			}
		}
		if diff := cmp.Diff(want, offsets); diff != "" {
			t.Errorf("offsets in the order of the callbacks (-want +got):\n%s", diff)
		}
		if got := w.reported.Load(); got != batches {
			t.Errorf("%d batches reported, want %d", got, batches)
		}
		if !isDone(flushed[batches-1].Done()) {
			t.Error("the last flush has not returned")
		}
	})
}

// SEND-32, B11: a callback that panics or ends its goroutine costs itself alone, is logged, and the others go on in order.
func TestFaultyCallbacksDoNotStopTheOthers(t *testing.T) {
	tests := []struct {
		name  string
		fault func()
		log   string
	}{
		{"panic", func() { panic("the application's bug") }, "the application's bug"},
		{"panic with nil", func() { panic(nil) }, "nil"},
		{"goroutine ended", runtime.Goexit, "runtime.Goexit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			const records = 30
			var ran []int
			var futures []accumulator.Appended
			var all []accumulator.Completion
			for i := range records {
				futures = append(futures, w.send(t, 0, func(accumulator.Outcome) {
					ran = append(ran, i)
					if i%10 == 0 || i == records-1 {
						tt.fault()
					}
				}))
				if i%7 == 0 { // several batches
					ended, _ := w.end(accumulator.Ending{LogAppendMs: -1})
					all = append(all, ended...)
				}
			}
			ended, g := w.end(accumulator.Ending{LogAppendMs: -1})
			w.d.Push(append(all, ended...))
			<-g.Done()
			w.d.Stop()
			var want []int
			for i := range records {
				want = append(want, i)
			}
			if diff := cmp.Diff(want, ran); diff != "" {
				t.Errorf("callbacks (-want +got):\n%s", diff)
			}
			for i, f := range futures {
				if err := f.Result.Wait(t.Context(), f.Index); err != nil {
					t.Errorf("future %d: %v", i, err)
				}
			}
			if got := strings.Count(w.log.String(), tt.log+" ") + strings.Count(w.log.String(), tt.log+`"`); got < 4 {
				t.Errorf("%d log lines name the fault, want 4:\n%s", got, w.log.String())
			}
			if !strings.Contains(w.log.String(), "topic=t partition=0 record=0 ") {
				t.Errorf("the log does not say whose callback it was:\n%s", w.log.String())
			}
		})
	}
}

// B11: callbacks of expiring batches that send to the same partition are not stuck, and every record is called back once.
func TestCallbacksMaySendWhileBatchesExpire(t *testing.T) {
	w := newWorld()
	const batches = 50
	expired := errors.New("expired")
	var first, second atomic.Int64
	again := make(chan accumulator.Appended, batches)
	var all []accumulator.Completion
	for i := range batches {
		w.send(t, 0, func(o accumulator.Outcome) {
			if !errors.Is(o.Err, expired) || o.Offset != -1 {
				t.Errorf("got %+v, want the expiry and no offset", o)
			}
			first.Add(1)
			again <- w.send(t, 0, func(accumulator.Outcome) { second.Add(1) })
			if i%10 == 0 {
				panic("every tenth")
			}
		})
		ended, _ := w.end(accumulator.Ending{BaseOffset: -1, LogAppendMs: -1, Err: expired})
		all = append(all, ended...)
	}
	w.d.Push(all)
	for range batches {
		<-again
	}
	ended, g := w.end(accumulator.Ending{LogAppendMs: -1})
	w.d.Push(ended)
	<-g.Done()
	w.d.Stop()
	if first.Load() != batches || second.Load() != batches {
		t.Errorf("%d and %d callbacks ran, want %d of each", first.Load(), second.Load(), batches)
	}
}

// B11: an application that does not come back from a callback holds up callbacks, not those who hand batches over.
func TestPushDoesNotWaitForABlockedCallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		gate := make(chan struct{})
		w.send(t, 0, func(accumulator.Outcome) { <-gate })
		ended, _ := w.end(accumulator.Ending{LogAppendMs: -1})
		w.d.Push(ended)
		synctest.Wait()
		const more = 3 * reportEvery
		for range more {
			w.send(t, 1, nil)
			ended, _ := w.end(accumulator.Ending{LogAppendMs: -1})
			w.d.Push(ended)
		}
		synctest.Wait()
		if got := w.reported.Load(); got != 0 {
			t.Errorf("%d batches reported while the first callback runs", got)
		}
		close(gate)
		synctest.Wait()
		if got := w.reported.Load(); got != more+1 {
			t.Errorf("%d batches reported, want %d", got, more+1)
		}
		w.d.Stop()
	})
}

// The sender hears of batches while later ones still wait for a slow callback.
func TestReportsDoNotWaitForAWholeBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		gate := make(chan struct{})
		var all []accumulator.Completion
		for i := range reportEvery + 1 {
			w.send(t, 0, func(accumulator.Outcome) {
				if i == reportEvery {
					<-gate
				}
			})
			ended, _ := w.end(accumulator.Ending{LogAppendMs: -1})
			all = append(all, ended...)
		}
		w.d.Push(all)
		synctest.Wait()
		if got := w.reported.Load(); got != reportEvery {
			t.Errorf("%d batches reported before the last callback ends, want %d", got, reportEvery)
		}
		close(gate)
		w.d.Stop()
	})
}

// B10: a callback is recognised by its goroutine, and nothing else is taken for one.
func TestOnlyCallbacksAreOnTheDeliveryGoroutine(t *testing.T) {
	for _, after := range []struct {
		name  string
		fault func()
	}{{"", func() {}}, {" after another ended its goroutine", runtime.Goexit}} {
		w := newWorld()
		in := make(chan bool, 1)
		beside := make(chan bool, 1)
		w.send(t, 0, func(accumulator.Outcome) { after.fault() })
		w.send(t, 0, func(accumulator.Outcome) {
			in <- w.d.OnDeliveryGoroutine()
			go func() { beside <- w.d.OnDeliveryGoroutine() }()
		})
		ended, _ := w.end(accumulator.Ending{LogAppendMs: -1})
		w.d.Push(ended)
		if !<-in {
			t.Errorf("a callback%s is not recognised", after.name)
		}
		if <-beside {
			t.Errorf("a goroutine that a callback%s started is taken for a callback", after.name)
		}
		if w.d.OnDeliveryGoroutine() {
			t.Errorf("the test is taken for a callback%s", after.name)
		}
		w.d.Stop()
	}
}

func TestRecordsWithoutCallbackAndErrorsOfSingleRecords(t *testing.T) {
	w := newWorld()
	bad := errors.New("bad record")
	var got []string
	note := func(o accumulator.Outcome) { got = append(got, fmt.Sprint(o.Offset, o.Err)) }
	silent := w.send(t, 0, nil)
	w.send(t, 0, note)
	w.send(t, 0, note)
	ended, _ := w.end(accumulator.Ending{BaseOffset: 40, LogAppendMs: -1, RecordErrs: map[int32]error{1: bad}})
	w.d.Push(ended)
	if err := silent.Result.Wait(context.Background(), silent.Index); err != nil {
		t.Error(err)
	}
	w.d.Stop()
	if diff := cmp.Diff([]string{"-1 bad record", "42 <nil>"}, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

// The cost of a callback is the call: no allocation a record.
func TestDeliveringARecordAllocatesNothing(t *testing.T) {
	if invariant.Enabled {
		t.Skip("the race detector allocates")
	}
	w := newWorld()
	calls := 0
	f := callback(func(accumulator.Outcome) { calls++ })
	for range 200 {
		w.send(t, 0, f)
	}
	ended, _ := w.end(accumulator.Ending{LogAppendMs: -1})
	w.d.Stop()
	got := testing.AllocsPerRun(10, func() {
		w.d.record = 0
		w.d.call(&ended[0])
	})
	if got != 0 || calls < 200 {
		t.Errorf("%d callbacks allocate %v times a batch, want 0", calls, got)
	}
}

func BenchmarkCallback(b *testing.B) {
	w := &world{clk: clock.NewManual(0)}
	w.acc = accumulator.New(accumulator.Options{
		BatchSize: 1 << 20, Linger: time.Second, DeliveryTimeout: time.Minute, Clock: w.clk, Coarse: clock.NewCoarse(w.clk),
		Pool: bufferpool.New(32<<20, 1<<20, bufferpool.Full, w.clk),
	})
	d := &Deliverer{}
	calls := 0
	e := accumulator.Entry{Value: []byte("value"), Callback: callback(func(accumulator.Outcome) { calls++ })}
	for range 1000 {
		if _, err := w.acc.Append(b.Context(), w.acc.Topic("t"), 0, &e, 0); err != nil {
			b.Fatal(err)
		}
	}
	ended, _ := w.end(accumulator.Ending{LogAppendMs: -1})
	b.ReportAllocs()
	for b.Loop() {
		d.record = 0
		d.call(&ended[0])
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
}
