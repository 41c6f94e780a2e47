package linger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
	"linger/internal/kerr"
)

// class is one of the four of the error table.
type class struct {
	name     string
	outcome  bool // the callback is called and the future fails; else Send returns the error
	counted  bool // in record-error-total
	is       error
	opts     []linger.Option
	rec      rec
	ctx      func(context.Context) (context.Context, context.CancelFunc)
	prepare  func(t *testing.T, c *cluster, p producer)
	contains string
}

func classes() []class {
	memoryTaken := func(t *testing.T, c *cluster, p producer) {
		warm(t, p)
		c.on(kmsg.Produce, func(*call) bool { return true })
		mustSend(t, p, plain(strings.Repeat("x", 900)), nil)
	}
	big := plain(strings.Repeat("y", 900))
	small := []linger.Option{linger.BufferMemory(1000), linger.BatchSize(1000), linger.MaxBlock(time.Second), linger.Acks("1"), linger.Linger(time.Minute)}
	soon := func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, 100*time.Millisecond)
	}
	return []class{
		{name: "a time-out of metadata", outcome: true, counted: true, is: linger.ErrTimeout, opts: []linger.Option{linger.MaxBlock(time.Second)}, rec: rec{Topic: "nope"}, contains: "nope"},
		{name: "exhausted memory", outcome: true, counted: true, is: linger.ErrBufferExhausted, opts: small, rec: big, prepare: memoryTaken, contains: "Total memory: 1000 bytes"},
		{name: "too large", outcome: true, counted: true, is: linger.ErrRecordTooLarge, opts: []linger.Option{linger.MaxRequestSize(100)}, rec: plain(strings.Repeat("x", 100)), contains: "max.request.size"},
		{name: "an invalid topic", outcome: true, counted: true, is: linger.ErrInvalidTopic, rec: rec{Topic: "a/b"}, contains: "a/b"},
		{name: "no authorization", outcome: true, counted: true, is: linger.ErrAuthorization, rec: rec{Topic: "secret"}, contains: "secret",
			prepare: func(t *testing.T, c *cluster, p producer) { c.topic("secret", 1).err = kerr.TopicAuthorizationFailed }},
		{name: "a context that ends in the wait for metadata", counted: true, is: context.DeadlineExceeded, rec: rec{Topic: "nope"}, ctx: soon, contains: "nope"},
		{name: "a context that ends in the wait for memory", counted: true, is: linger.ErrInterrupted, opts: small, rec: big, ctx: soon, prepare: memoryTaken},
		{name: "closed", is: linger.ErrClosed, rec: plain("v"), prepare: func(t *testing.T, c *cluster, p producer) { p.Close() }},
		{name: "a partitioner's illegal choice", is: linger.ErrIllegalArgument, rec: plain("v"), opts: []linger.Option{linger.WithPartitioner(linger.PartitionerFunc(func(string, []byte, []byte, linger.Cluster) (int32, error) { return -3, nil }))}, contains: "-3"},
		{name: "a partitioner's error", rec: plain("v"), is: errOwn, opts: []linger.Option{linger.WithPartitioner(linger.PartitionerFunc(func(string, []byte, []byte, linger.Cluster) (int32, error) { return 0, errOwn }))}},
		{name: "a partitioner's panic", rec: plain("v"), opts: []linger.Option{linger.WithPartitioner(linger.PartitionerFunc(func(string, []byte, []byte, linger.Cluster) (int32, error) { panic("lost") }))}, contains: "lost"},
	}
}

var errOwn = errors.New("the application's own")

// ERR-01, ERR-02, ERR-03, ERR-04, ERR-09: the class of an error decides who hears of it.
func TestTheClassOfAnErrorDecidesWhoHearsOfIt(t *testing.T) {
	for _, tt := range classes() {
		for _, withCallback := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, callback %t", tt.name, withCallback), func(t *testing.T) {
				bubble(t, func(t *testing.T, c *cluster) {
					c.topic("t", 2)
					p := c.producer(tt.opts...)
					if tt.prepare != nil {
						tt.prepare(t, c, p)
					}
					before := p.Counters()
					ctx := t.Context()
					if tt.ctx != nil {
						var cancel context.CancelFunc
						ctx, cancel = tt.ctx(ctx)
						defer cancel()
					}
					var called []error
					var cb linger.Callback
					if withCallback {
						cb = func(md linger.RecordMetadata, err error) { called = append(called, err) }
					}
					f, err := p.Send(ctx, tt.rec, cb)
					if tt.outcome {
						if err != nil {
							t.Fatalf("Send returned %v, want an outcome", err)
						}
						_, err = f.Wait(t.Context())
						if withCallback && (len(called) != 1 || called[0] != err) {
							t.Errorf("called back with %v, the future has %v", called, err)
						}
					} else if err == nil || len(called) > 0 {
						t.Fatalf("Send returned %v and called back %d times, want an error and no call", err, len(called))
					}
					if tt.is != nil && !errors.Is(err, tt.is) {
						t.Errorf("got %v, want %v", err, tt.is)
					}
					if !strings.Contains(err.Error(), tt.contains) {
						t.Errorf("the error does not say %q: %v", tt.contains, err)
					}
					after := p.Counters()
					if counted := after.RecordErrors > before.RecordErrors; counted != tt.counted {
						t.Errorf("counted as a record error: %t, want %t", counted, tt.counted)
					}
					if after.RecordsRefused != before.RecordsRefused+1 {
						t.Errorf("refused grew from %d to %d, want by one", before.RecordsRefused, after.RecordsRefused)
					}
				})
			})
		}
	}
}

// SEND-16, ERR-03: a serializer's failure is Send's error and names the side, the option and the types; nobody is called.
func TestSerializerFailureIsSendsOwnError(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		bad := linger.SerializerFunc[int](func(string, []linger.Header, int) ([]byte, error) { return nil, errOwn })
		p := producerOf[string, int](c, linger.String, bad)
		_, err := p.Send(t.Context(), linger.Record[string, int]{Topic: "t", Value: 5}, failIfCalled(t))
		if !errors.Is(err, linger.ErrSerialization) || !errors.Is(err, errOwn) {
			t.Errorf("got %v, want an ErrSerialization with the cause", err)
		}
		for _, part := range []string{"value.serializer", "value", "SerializerFunc[int]", "own"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the error does not say %q: %v", part, err)
			}
		}
		q := producerOf[int, string](c, bad, linger.String)
		if _, err := q.Send(t.Context(), linger.Record[int, string]{Topic: "t"}, failIfCalled(t)); !errors.Is(err, linger.ErrSerialization) || !strings.Contains(err.Error(), "key.serializer") {
			t.Errorf("key: got %v", err)
		}
		if n := p.Counters().RecordErrors; n != 1 {
			t.Errorf("%d record errors are counted, want this one", n)
		}
	})
}

// ERR-06: a failed record's metadata names topic and partition as far as they are known; the rest is -1.
func TestFailedRecordsHavePlaceholderMetadata(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 2)
		p := c.producer(linger.MaxRequestSize(150))
		c.on(kmsg.Produce, func(call *call) bool { call.fail(kerr.InvalidRecord); return true })
		for _, tt := range []struct {
			rec       rec
			partition int32
		}{{plain(strings.Repeat("x", 100)), -1}, {plainOn(1, strings.Repeat("x", 100)), 1}, {plainOn(1, "v"), 1}} {
			var called linger.RecordMetadata
			md, err := mustSend(t, p, tt.rec, func(md linger.RecordMetadata, err error) { called = md }).Wait(t.Context())
			want := linger.RecordMetadata{Topic: "t", Partition: tt.partition, Offset: -1, KeySize: -1, ValueSize: -1}
			if err == nil || md != want || called != want {
				t.Errorf("error %v: future %+v, callback %+v, want %+v", err, md, called, want)
			}
		}
		// The partition is chosen, and there is no memory.
		q := c.producer(linger.BufferMemory(100), linger.BatchSize(100), linger.MaxBlock(time.Second))
		c.on(kmsg.Produce, func(*call) bool { return true })
		mustSend(t, q, plainOn(0, "takes all"), nil)
		md, err := mustSend(t, q, rec{Topic: "t", Key: []byte{}}, nil).Wait(t.Context())
		if want := (linger.RecordMetadata{Topic: "t", Partition: 1, Offset: -1, KeySize: -1, ValueSize: -1}); md != want {
			t.Errorf("error %v: future %+v, want %+v", err, md, want)
		}
	})
}

// ERR-07: inside Send the count comes first, then the callback, then the interceptors.
func TestRefusedRecordsCallBackBeforeInterceptors(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		var order []string
		var p producer
		heard := func(who string) { order = append(order, fmt.Sprint(who, " after ", p.Counters().RecordErrors)) }
		ic := &spy{onAck: func(linger.RecordMetadata, error) { heard("interceptor") }}
		p = c.producer(linger.MaxRequestSize(100), linger.WithInterceptors[[]byte, []byte](ic))
		mustSend(t, p, plain(strings.Repeat("x", 100)), func(linger.RecordMetadata, error) { heard("callback") })
		if want := []string{"callback after 1", "interceptor after 1"}; !slices.Equal(order, want) {
			t.Errorf("got %q, want %q", order, want)
		}
	})
}

// ERR-08: a failed result is ready at once and gives its error each time, with a context that has ended too.
func TestFailedResultGivesItsErrorEachTime(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.MaxRequestSize(100))
		f := mustSend(t, p, plain(strings.Repeat("x", 100)), nil)
		select {
		case <-f.Done():
		default:
			t.Error("Done is not closed")
		}
		if !f.Ready() {
			t.Error("not ready")
		}
		_, first := f.Wait(t.Context())
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 3 {
			if _, err := f.Wait(ended); err != first || !errors.Is(err, linger.ErrRecordTooLarge) {
				t.Errorf("got %v, want %v again", err, first)
			}
		}
	})
}

// A context bounds Wait, not the record.
func TestWaitEndsWithItsContextAndTheRecordGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer()
		release := c.holdAll(kmsg.Produce)
		f := mustSend(t, p, plain("v"), nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if md, err := f.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) || md.Topic != "t" || md.Partition != 0 || md.Offset != -1 {
			t.Errorf("got %+v, %v", md, err)
		}
		if _, err := p.SendSync(ctx, plain("w")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("SendSync: got %v", err)
		}
		release()
		if md := mustWait(t, f); md.Offset != 0 {
			t.Errorf("got %+v", md)
		}
	})
}
