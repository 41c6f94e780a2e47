package linger_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
)

// SEND-01: without a callback Send is the same as with one; only nobody is called.
func TestSendWithoutCallbackIsSendWithNone(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer()
		var called linger.RecordMetadata
		with := mustWait(t, mustSend(t, p, plain("a"), func(md linger.RecordMetadata, err error) { called = md }))
		without := mustWait(t, mustSend(t, p, plain("b"), nil))
		if diff := cmp.Diff(with, called); diff != "" {
			t.Errorf("the callback heard something else than the future (-future +callback):\n%s", diff)
		}
		with.Offset++
		if diff := cmp.Diff(with, without, cmp.Transformer("", func(time.Time) int { return 0 })); diff != "" {
			t.Errorf("without a callback (-with +without):\n%s", diff)
		}
		if faults := c.logged(slog.LevelError, ""); len(faults) > 0 {
			t.Errorf("somebody was called: %q", faults)
		}
	})
}

// SEND-04, SEND-11: Send returns before any answer. It waits in two places, for metadata and for memory.
func TestSendWaitsOnlyForMetadataAndMemory(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 2)
		p := c.producer(linger.BufferMemory(2000), linger.BatchSize(1000), linger.Linger(0))
		synctest.Wait() // the first metadata is about no topic
		c.on(kmsg.Metadata, func(call *call) bool { elapse(3 * time.Second); return false })
		var first linger.Future
		if d := took(func() { first = mustSend(t, p, plain("first"), nil) }); !about(d, 3*time.Second) {
			t.Errorf("the first send took %v, want the 3s that the metadata took", d)
		}
		mustWait(t, first)
		release := c.holdAll(kmsg.Produce)
		big := strings.Repeat("x", 880)
		if d := took(func() { mustSend(t, p, plainOn(0, big), nil); mustSend(t, p, plainOn(1, big), nil) }); d != 0 {
			t.Errorf("with metadata and memory at hand sends took %v, want no time, as no answer is needed", d)
		}
		time.AfterFunc(5*time.Second, release)
		var f linger.Future
		if d := took(func() { f = mustSend(t, p, plainOn(1, big), nil) }); !about(d, 5*time.Second) {
			t.Errorf("without memory send took %v, want the 5s until an answer brought some home", d)
		}
		mustWait(t, f)
	})
}

// goroutineID names the calling goroutine.
func goroutineID() string {
	var buf [64]byte
	return strings.Fields(string(buf[:runtime.Stack(buf[:], false)]))[1]
}

// watched notes which goroutines use the connection.
type watched struct {
	net.Conn
	note func(what string)
}

func (w watched) Write(b []byte) (int, error) { w.note("write"); return w.Conn.Write(b) }
func (w watched) Read(b []byte) (int, error)  { w.note("read"); return w.Conn.Read(b) }
func (w watched) Close() error                { w.note("close"); return w.Conn.Close() }

// SEND-05, SND-09: the caller's goroutine serializes, chooses and buffers; others dial, read and write.
func TestCallersDoNoNetworkIO(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		var mu sync.Mutex
		used := map[string][]string{}
		note := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			used[goroutineID()] = append(used[goroutineID()], what)
		}
		dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
			note("dial")
			conn, err := c.dial(ctx, network, addr)
			return watched{conn, note}, err
		}
		serializer := ""
		ser := linger.SerializerFunc[string](func(_ string, _ []linger.Header, v string) ([]byte, error) {
			serializer = goroutineID()
			return []byte(v), nil
		})
		p := producerOf[string, string](c, linger.String, ser, linger.WithDialer(dial))
		f := mustSend(t, p, linger.Record[string, string]{Topic: "t", Value: "v"}, nil)
		if err := p.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		mustWait(t, f)
		me := goroutineID()
		if serializer != me {
			t.Error("the serializer ran on another goroutine than the caller's")
		}
		mu.Lock()
		defer mu.Unlock()
		if len(used[me]) > 0 || len(used) == 0 {
			t.Errorf("network I/O by goroutine: %v, the caller is %s", used, me)
		}
	})
}

// SEND-06, SEND-07, SEND-08, SEND-26: interceptors hear the outcome before the callback does, and both hear of the
// partition that the accumulator chose.
func TestInterceptorsThenCallbackHearTheChosenPartition(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 3)
		ic := &spy{name: "A"}
		p := c.producer(linger.WithInterceptors[[]byte, []byte](ic))
		var heard []string
		ic.onAck = func(md linger.RecordMetadata, err error) {
			heard = append(heard, fmt.Sprint("interceptor ", md.Partition))
		}
		md := mustWait(t, mustSend(t, p, plain("v"), func(md linger.RecordMetadata, err error) {
			heard = append(heard, fmt.Sprint("callback ", md.Partition))
		}))
		if len(c.values("t", int(md.Partition))) != 1 {
			t.Errorf("the record is not in partition %d", md.Partition)
		}
		if want := []string{fmt.Sprint("interceptor ", md.Partition), fmt.Sprint("callback ", md.Partition)}; !slices.Equal(heard, want) {
			t.Errorf("heard %q, want %q", heard, want)
		}
	})
}

// SEND-12, SEND-23: a record gets the time after the wait for metadata; a time of its own is kept.
func TestTimestampIsTheTimeAfterTheWaitOrTheRecordsOwn(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer()
		synctest.Wait() // the first metadata is about no topic
		c.on(kmsg.Metadata, func(call *call) bool { elapse(4 * time.Second); return false })
		start := time.Now()
		f := mustSend(t, p, plain("v"), nil)
		waited := time.Since(start) // 4s for each fetch; a fetch of no topic may come before the one that counts
		md := mustWait(t, f)
		if d := md.Timestamp.Sub(start); waited < 4*time.Second || d < waited-2*time.Millisecond || d > waited+2*time.Millisecond {
			t.Errorf("the timestamp lies %v after the call, want the %v that metadata took", d, waited)
		}
		own := plain("own")
		own.Timestamp = time.UnixMilli(1_234_567_890_123)
		if md := mustWait(t, mustSend(t, p, own, nil)); !md.Timestamp.Equal(own.Timestamp) {
			t.Errorf("got timestamp %v, want %v", md.Timestamp, own.Timestamp)
		}
		if got := c.records("t", 0); got[0].timestampMs != md.Timestamp.UnixMilli() || got[1].timestampMs != own.Timestamp.UnixMilli() {
			t.Errorf("the broker got %d and %d", got[0].timestampMs, got[1].timestampMs)
		}
	})
}

// A record that finds no open batch has the time of its Send, however long nothing happened before.
func TestDefaultTimestampAfterAPause(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.Linger(0))
		warm(t, p)
		for _, pause := range []time.Duration{time.Minute, 300 * time.Millisecond, 4 * time.Minute} {
			rest(pause)
			now := time.Now()
			if lag := now.Sub(mustWait(t, mustSend(t, p, plain("v"), nil)).Timestamp); lag > 2*time.Millisecond {
				t.Errorf("after a pause of %v the timestamp lags by %v", pause, lag)
			}
		}
	})
}

// The default timestamp comes from a coarse clock, which may lag 2 ms.
func TestDefaultTimestampLagsAtMostTwoMilliseconds(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.Linger(time.Second))
		warm(t, p)
		for range 100 {
			rest(1700 * time.Microsecond)
			f := mustSend(t, p, plain("v"), nil)
			now := time.Now()
			defer func() {
				if lag := now.Sub(mustWait(t, f).Timestamp); lag > 2*time.Millisecond {
					t.Errorf("lags by %v", lag)
				}
			}()
		}
		mustFlush(t, p)
	})
}

// SEND-13, SEND-24, TMO-07: both waits draw on one budget of max.block.ms.
func TestMetadataAndMemoryShareOneBudget(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		c.topic("late", 1)
		p := c.producer(linger.BufferMemory(1000), linger.BatchSize(1000), linger.Linger(time.Hour), linger.DeliveryTimeout(3*time.Hour), linger.MaxBlock(10*time.Second), linger.Acks("1"))
		warm(t, p)
		c.on(kmsg.Produce, func(*call) bool { return true }) // memory does not come back
		mustSend(t, p, plain("takes all memory"), nil)
		c.on(kmsg.Metadata, func(call *call) bool { elapse(4 * time.Second); return false })
		var f linger.Future
		d := took(func() { f = mustSend(t, p, rec{Topic: "late", Value: []byte("v")}, nil) })
		if !about(d, 10*time.Second) {
			t.Errorf("failed after %v, want 10s: 4s for metadata and the rest for memory", d)
		}
		if _, err := f.Wait(t.Context()); !errors.Is(err, linger.ErrBufferExhausted) {
			t.Errorf("got error %v, want an exhausted buffer", err)
		}
	})
}

// SEND-14, SEND-15, SEND-17, SEND-30: the way of a record, in order, up to its callback.
func TestTheWayOfARecordIsInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 2)
		var steps []string
		step := func(s string) { c.change(func() { steps = append(steps, s) }) }
		ser := func(side string) linger.Serializer[string] {
			return linger.SerializerFunc[string](func(topic string, headers []linger.Header, v string) ([]byte, error) {
				step(fmt.Sprintf("%s serializer %s %s=%s %q", side, topic, headers[0].Key, headers[0].Value, v))
				if v == "" {
					return nil, nil
				}
				return []byte(v), nil
			})
		}
		part := linger.PartitionerFunc(func(topic string, key, value []byte, cluster linger.Cluster) (int32, error) {
			step(fmt.Sprintf("partitioner key null %t, value %q", key == nil, value))
			return 1, nil
		})
		c.on(kmsg.Produce, func(call *call) bool {
			b := call.batches()
			step(fmt.Sprintf("request of %d batch for %s-%d", len(b), b[0].topic, b[0].partition))
			return false
		})
		p := producerOf(c, ser("key"), ser("value"), linger.WithPartitioner(part))
		f := mustSend(t, p, linger.Record[string, string]{Topic: "t", Value: "v", Headers: []linger.Header{{Key: "h", Value: []byte("1")}}},
			func(md linger.RecordMetadata, err error) { step("callback") })
		step("send returned")
		mustWait(t, f)
		want := []string{
			`key serializer t h=1 ""`, `value serializer t h=1 "v"`, `partitioner key null true, value "v"`, "send returned", "request of 1 batch for t-1", "callback",
		}
		if diff := cmp.Diff(want, steps); diff != "" {
			t.Errorf("steps (-want +got):\n%s", diff)
		}
		if r := c.records("t", 1)[0]; r.key != nil {
			t.Errorf("the broker got key %q, want null", r.key)
		}
	})
}

// SEND-18: what the application does to a record after Send changes nothing: the producer has its own copy.
func TestRecordIsTheCallersAgainWhenSendReturns(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		ic := &spy{name: "A"}
		p := c.producer(linger.Linger(time.Second), linger.WithInterceptors[[]byte, []byte](ic))
		warm(t, p)
		var told []linger.Header
		ic.onAckHeaders = func(h []linger.Header) { told = h }
		r := rec{Topic: "t", Key: []byte("key"), Value: []byte("value"), Headers: []linger.Header{{Key: "a", Value: []byte("1")}, {Key: "b"}}}
		f := mustSend(t, p, r, nil)
		copy(r.Key, "XXX")
		copy(r.Value, "XXXXX")
		r.Headers[0].Value[0] = 'X'
		r.Headers[1] = linger.Header{Key: "X", Value: []byte("X")}
		mustWait(t, f)
		got := c.records("t", 0)[0]
		if string(got.key) != "key" || string(got.value) != "value" {
			t.Errorf("sent %q=%q", got.key, got.value)
		}
		if want := []linger.Header{{Key: "a", Value: []byte("1")}, {Key: "b"}}; !cmp.Equal(got.headers, want) {
			t.Errorf("sent headers %v, want %v", got.headers, want)
		}
		if len(told) != 2 || told[1].Key != "b" || string(told[0].Value) != "1" {
			t.Errorf("the interceptor was told headers %v", told)
		}
	})
}

// SEND-19, SEND-20, SEND-21, SEND-22: 61 bytes of batch header, 21 of record overhead, and the fields' bytes with their
// lengths; equal passes, more is an outcome that gives both numbers.
func TestRecordsAboveTheLimitsAreTooLarge(t *testing.T) {
	tests := []struct {
		name  string
		limit func(int64) linger.Option
		key   string
	}{
		{"max.request.size", func(n int64) linger.Option { return linger.MaxRequestSize(int(n)) }, "max.request.size"},
		{"buffer.memory", linger.BufferMemory, "buffer.memory"},
	}
	const bound = 61 + 21 + 1 + 1 + 2 + 1000 // batch, record, headers' count, null key, value's length and value
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.topic("t", 1)
				fits := c.producer(tt.limit(bound), linger.BatchSize(16))
				mustWait(t, mustSend(t, fits, plain(strings.Repeat("x", 1000)), nil))

				over := c.producer(tt.limit(bound-1), linger.BatchSize(16))
				var called []error
				f := mustSend(t, over, plain(strings.Repeat("x", 1000)), func(md linger.RecordMetadata, err error) { called = append(called, err) })
				if !f.Ready() || len(called) != 1 {
					t.Errorf("when Send returned: future ready %t, %d calls back; want both done", f.Ready(), len(called))
				}
				_, err := f.Wait(t.Context())
				if !errors.Is(err, linger.ErrRecordTooLarge) || err != called[0] {
					t.Errorf("got error %v, called back with %v, want one ErrRecordTooLarge", err, called[0])
				}
				for _, part := range []string{fmt.Sprint(bound), tt.key} {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("the error does not say %q: %v", part, err)
					}
				}
				if tt.key == "max.request.size" && !strings.Contains(err.Error(), fmt.Sprint(bound-1)) {
					t.Errorf("the error does not give the limit: %v", err)
				}
			})
		})
	}
}

// B14: headers count, each with the lengths of its key and value.
func TestSizeBoundCountsHeaders(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		r := plain(strings.Repeat("x", 1000))
		r.Headers = []linger.Header{{Key: "h", Value: make([]byte, 100)}, {Key: "", Value: nil}}
		const bound = 61 + 21 + 1 + 2 + 1000 + 1 + (1 + 1 + 2 + 100) + (1 + 0 + 1)
		mustWait(t, mustSend(t, c.producer(linger.MaxRequestSize(bound)), r, nil))
		if _, err := mustSend(t, c.producer(linger.MaxRequestSize(bound-1)), r, nil).Wait(t.Context()); !errors.Is(err, linger.ErrRecordTooLarge) {
			t.Errorf("one byte above the limit: got %v, want too large", err)
		}
	})
}

// SEND-19: the codec does not matter to the bound, however well the record compresses.
func TestSizeBoundIgnoresTheCodec(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.MaxRequestSize(1085), linger.CompressionType("gzip"))
		if _, err := mustSend(t, p, plain(strings.Repeat("x", 1000)), nil).Wait(t.Context()); !errors.Is(err, linger.ErrRecordTooLarge) {
			t.Errorf("got %v, want too large", err)
		}
	})
}

// SEND-28: an append to an open batch that does not fill it does not wake the sender; one that opens or fills a batch does.
func TestOnlyNewAndFullBatchesWakeTheSender(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.Linger(time.Hour), linger.DeliveryTimeout(3*time.Hour), linger.BatchSize(1000))
		warm(t, p)
		turns := func(value string) int64 {
			before := p.Turns()
			mustSend(t, p, plain(value), nil)
			synctest.Wait()
			return p.Turns() - before
		}
		if n := turns("opens a batch"); n == 0 {
			t.Error("the first record did not wake the sender")
		}
		for range 5 {
			if n := turns("joins it"); n != 0 {
				t.Errorf("a record that joined an open batch made %d turns", n)
			}
		}
		// 61 bytes of header, 20 of the first record, 5 × 15 of the others, 844 left
		if n := turns(strings.Repeat("x", 844-9)); n == 0 {
			t.Error("a record that filled the batch did not wake the sender")
		}
		if n := len(c.values("t", 0)); n != 7 {
			t.Errorf("%d records have arrived, want those of the full batch", n)
		}
		turns("opens the next one")
		if n := turns(strings.Repeat("does not fit", 80)); n == 0 {
			t.Error("a record that found no room did not wake the sender")
		}
		mustFlush(t, p)
	})
}

// SEND-29, RESP-02, SND-21: the outcome tells topic, partition, offset, timestamp and sizes; -1 is the size of null. Offsets
// count from the batch's, and a broker that stamps records itself is believed.
func TestOutcomeTellsWhereTheRecordIs(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		ft := c.topic("t", 1)
		stamped := c.topic("stamped", 1)
		stamped.byAppend = 777_000
		ft.log[0] = make([]stored, 40)
		p := c.producer(linger.Linger(10 * time.Millisecond))
		var fs []linger.Future
		for _, r := range []rec{
			{Topic: "t", Key: []byte("key"), Value: []byte("value"), Timestamp: time.UnixMilli(5)},
			{Topic: "t", Timestamp: time.UnixMilli(6)},
			{Topic: "t", Key: []byte{}, Value: []byte{}, Timestamp: time.UnixMilli(7)},
			{Topic: "stamped", Value: []byte("v"), Timestamp: time.UnixMilli(8)},
		} {
			fs = append(fs, mustSend(t, p, r, nil))
		}
		var got []linger.RecordMetadata
		for _, f := range fs {
			got = append(got, mustWait(t, f))
		}
		want := []linger.RecordMetadata{
			{Topic: "t", Offset: 40, Timestamp: time.UnixMilli(5), KeySize: 3, ValueSize: 5},
			{Topic: "t", Offset: 41, Timestamp: time.UnixMilli(6), KeySize: -1, ValueSize: -1},
			{Topic: "t", Offset: 42, Timestamp: time.UnixMilli(7)},
			{Topic: "stamped", Offset: 0, Timestamp: time.UnixMilli(777_000), KeySize: -1, ValueSize: 1},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("outcomes (-want +got):\n%s", diff)
		}
		if n := c.count("Produce"); n != 1 {
			t.Errorf("%d requests, want all in one", n)
		}
	})
}

// SEND-29: with acks=0 nobody says where the record is.
func TestWithoutAcksTheOffsetIsUnknown(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.Acks("0"))
		md := mustWait(t, mustSend(t, p, plain("v"), nil))
		if md.Offset != -1 || md.HasOffset() || md.ValueSize != 1 || md.Timestamp.IsZero() {
			t.Errorf("got %+v", md)
		}
		synctest.Wait()
		if got := c.values("t", 0); !slices.Equal(got, []string{"v"}) {
			t.Errorf("the log holds %q", got)
		}
	})
}

// SEND-31, SEND-32, ICPT-11, SND-03: many goroutines send through one producer and one connection a broker; each finds its
// records in its order. Interceptors are called from all of them before the send; outcomes are told on one goroutine alone.
func TestManyGoroutinesShareOneProducer(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.setBrokers(3)
		c.topic("t", 6)
		var seen, told sync.Map
		ic := &spy{name: "A", onSend: func(r rec) (rec, error) { seen.Store(goroutineID(), true); return r, nil }}
		ic.onAck = func(linger.RecordMetadata, error) { told.Store(goroutineID(), true) }
		p := c.producer(linger.BatchSize(500), linger.WithInterceptors[[]byte, []byte](ic))
		const senders, each = 100, 30
		var wg sync.WaitGroup
		for s := range senders {
			wg.Go(func() {
				for i := range each {
					mustSend(t, p, plainOn(int32(s%6), fmt.Sprintf("%02d/%02d", s, i)), func(linger.RecordMetadata, error) { told.Store(goroutineID(), true) })
				}
			})
		}
		wg.Wait()
		mustFlush(t, p)
		next := map[string]int{}
		for part := range 6 {
			for _, v := range c.values("t", part) {
				s, i, _ := strings.Cut(v, "/")
				if want := fmt.Sprintf("%02d", next[s]); i != want {
					t.Fatalf("sender %s: record %s where %s should be", s, i, want)
				}
				next[s]++
			}
		}
		if len(next) != senders || next["00"] != each {
			t.Errorf("records of %d senders arrived, %d of the first", len(next), next["00"])
		}
		if n := len(keysOf(&seen)); n != senders {
			t.Errorf("interceptors were called from %d goroutines, want %d", n, senders)
		}
		if tellers := keysOf(&told); len(tellers) != 1 || slices.Contains(keysOf(&seen), tellers[0]) {
			t.Errorf("outcomes were told on goroutines %v, want one, and none of the senders'", tellers)
		}
		if n := c.dials(); n > 4 {
			t.Errorf("%d connections for 3 brokers and %d senders, want at most one a broker and one to begin with", n, senders)
		}
	})
}

func keysOf(m *sync.Map) (keys []any) {
	m.Range(func(k, _ any) bool { keys = append(keys, k); return true })
	return keys
}

// SEND-33: a negative partition, like a negative timestamp, is no record at all: Send itself says so.
func TestRecordsThatAreNoneAreRefused(t *testing.T) {
	tests := []struct {
		name string
		rec  rec
		want string
	}{
		{"negative partition", rec{Topic: "t", Partition: linger.On(-1)}, "Invalid partition: -1"},
		{"negative timestamp", rec{Topic: "t", Timestamp: time.UnixMilli(-7)}, "Invalid timestamp: -7"},
		{"a time whose milliseconds wrap", rec{Topic: "t", Timestamp: time.Unix(1<<62, 0)}, "Invalid timestamp: the year"},
		{"a time before it whose milliseconds wrap", rec{Topic: "t", Timestamp: time.Unix(-1<<62, 0)}, "Invalid timestamp: the year"},
		{"no topic", rec{}, "Topic cannot be"},
		{"a topic that no request can carry", rec{Topic: strings.Repeat("t", 1<<15)}, "Topic of 32768 bytes"},
		{"a topic that is no UTF-8", rec{Topic: "t\xff"}, `Topic "t\xff" is not UTF-8`},
	}
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		c.on(kmsg.Metadata, func(call *call) bool {
			if n := len(call.req.(*kmsg.MetadataRequest).Topics); n > 0 {
				t.Errorf("a broker was asked for %d topics that it can't name", n)
			}
			return false
		})
		p := c.producer()
		for _, tt := range tests {
			_, err := p.Send(t.Context(), tt.rec, failIfCalled(t))
			if !errors.Is(err, linger.ErrIllegalArgument) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: got error %v, want an ErrIllegalArgument that says %q", tt.name, err, tt.want)
			}
		}
		for _, topic := range []string{strings.Repeat("t", 1<<15), "t\xff"} {
			if _, err := p.PartitionsFor(t.Context(), topic); !errors.Is(err, linger.ErrIllegalArgument) {
				t.Errorf("partitions for a topic of %d bytes: got %v, want an ErrIllegalArgument", len(topic), err)
			}
		}
		synctest.Wait()
	})
}

// A Flush that has nothing to wait for is done, whatever its context.
func TestFlushOfNothingNeedsNoTime(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer()
		mustWait(t, mustSend(t, p, plain("v"), nil))
		synctest.Wait() // a Future is done an instant before its batch is flushed
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 50 {
			if err := p.Flush(ctx); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// SEND-34: when Flush returns, every callback has run to its end, however long it takes.
func TestCallbacksHaveRunWhenFlushReturns(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.setBrokers(2)
		c.topic("t", 4)
		p := c.producer(linger.Linger(time.Hour), linger.DeliveryTimeout(3*time.Hour), linger.BatchSize(200))
		warm(t, p)
		const n = 100
		ran := 0
		for i := range n {
			mustSend(t, p, plainOn(int32(i%4), "v"), func(linger.RecordMetadata, error) {
				elapse(time.Second)
				ran++
			})
		}
		if d := took(func() { mustFlush(t, p) }); ran != n || d < n*time.Second {
			t.Errorf("%d of %d callbacks have run when Flush returns after %v", ran, n, d)
		}
	})
}

// SEND-34: Flush makes everything buffered ready at once, however long it would linger, and returns when all of it has its
// outcome; what is sent meanwhile it does not wait for.
func TestFlushSendsWhatLingersAndWaitsForIt(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.setBrokers(2)
		c.topic("t", 4)
		p := c.producer(linger.Linger(time.Hour), linger.DeliveryTimeout(3*time.Hour))
		warm(t, p)
		var fs []linger.Future
		for i := range 40 {
			fs = append(fs, mustSend(t, p, plainOn(int32(i%4), "v"), nil))
		}
		c.on(kmsg.Produce, func(call *call) bool { elapse(2 * time.Second); return false })
		later := make(chan linger.Future, 1)
		time.AfterFunc(time.Second, func() { later <- mustSend(t, p, plain("later"), nil) })
		if d := took(func() { mustFlush(t, p) }); d < 2*time.Second || d > 7*time.Second {
			t.Errorf("flush took %v, want as long as the broker took", d)
		}
		for i, f := range fs {
			if !f.Ready() {
				t.Errorf("record %d has no outcome yet", i)
			}
		}
		f := <-later
		if f.Ready() {
			t.Error("flush waited for a record that was sent after it began")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, linger.ErrInterrupted) {
			t.Errorf("flush with a context that ends first: got %v", err)
		}
		mustWait(t, f)
	})
}

func mustFlush(t *testing.T, p producer) {
	t.Helper()
	if err := p.Flush(t.Context()); err != nil {
		t.Fatalf("flush: %v", err)
	}
}
