package linger_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
)

// hearing is an interceptor that notes what it sees and hears, a letter each.
func hearing(log *[]string) *spy {
	return &spy{
		onSend: func(r rec) (rec, error) { *log = append(*log, "send"); return r, nil },
		onAck: func(md linger.RecordMetadata, err error) {
			switch {
			case errors.Is(err, linger.ErrWouldBlock):
				*log = append(*log, fmt.Sprintf("not taken %s-%d", md.Topic, md.Partition))
			default:
				*log = append(*log, fmt.Sprintf("ack %v", err))
			}
		},
	}
}

// TrySend takes nothing where Send would wait, and says so: no callback hears of it, it counts as no refusal, and each OnSend
// has its OnAck. While there is no memory for any record the interceptors are not asked at all.
func TestTrySendNeverWaits(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 2)
		var log []string
		p := c.producer(linger.BufferMemory(400), linger.BatchSize(200), linger.Linger(time.Hour), linger.WithInterceptors[[]byte, []byte](hearing(&log)))
		try := func(r rec, cb linger.Callback) (linger.Future, error) {
			var f linger.Future
			var err error
			log = nil
			if d := took(func() { f, err = p.TrySend(r, cb) }); d != 0 {
				t.Errorf("TrySend took %v", d)
			}
			return f, err
		}
		heard := func(when string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, log); diff != "" {
				t.Errorf("%s the interceptor heard (-want +got):\n%s", when, diff)
			}
		}
		if _, err := try(plainOn(0, "v"), failIfCalled(t)); !errors.Is(err, linger.ErrWouldBlock) {
			t.Errorf("without metadata: got %v, want ErrWouldBlock", err)
		}
		heard("without metadata", "send", "not taken t-0")
		rest(time.Second) // the metadata that TrySend asked for comes
		release := c.holdAll(kmsg.Produce)
		f, err := try(plainOn(0, "w"), nil)
		if err != nil {
			t.Fatal(err)
		}
		heard("of a record that was taken", "send")
		if _, err := try(plainOn(0, strings.Repeat("x", 200)), failIfCalled(t)); !errors.Is(err, linger.ErrWouldBlock) {
			t.Errorf("with memory for a smaller one: got %v, want ErrWouldBlock", err)
		}
		heard("of a record that was not", "send", "not taken t-0")
		mustSend(t, p, plainOn(1, "y"), nil) // takes the rest
		flushed := make(chan error, 1)
		go func() { flushed <- p.Flush(t.Context()) }()
		rest(time.Second) // no batch takes records any more
		if _, err := try(plainOn(0, "v"), failIfCalled(t)); !errors.Is(err, linger.ErrWouldBlock) {
			t.Errorf("without memory: got %v, want ErrWouldBlock", err)
		}
		heard("without memory")
		release()
		mustWait(t, f)
		if err := <-flushed; err != nil {
			t.Error(err)
		}
		if n := p.Counters().RecordsRefused; n != 0 {
			t.Errorf("%d records count as refused", n)
		}
	})
}

// A try that takes nothing costs RoundRobin no turn: records go to the partitions in turn however often each is tried.
func TestTrySendGivesRoundRobinItsTurnBack(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 2)
		p := c.producer(linger.BufferMemory(1200), linger.BatchSize(1), linger.WithPartitioner(linger.RoundRobin()))
		warm(t, p)
		release := c.holdAll(kmsg.Produce)
		mustSend(t, p, plainOn(0, strings.Repeat("x", 100)), nil) // leaves too little for a large one
		var partitions []int32
		for range 8 {
			if _, err := p.TrySend(plain(strings.Repeat("x", 1100)), failIfCalled(t)); !errors.Is(err, linger.ErrWouldBlock) {
				t.Fatalf("a large record: got %v, want ErrWouldBlock", err)
			}
			if _, err := p.TrySend(plain("v"), func(md linger.RecordMetadata, err error) { partitions = append(partitions, md.Partition) }); err != nil {
				t.Fatal(err)
			}
		}
		release()
		mustFlush(t, p)
		slices.Sort(partitions)
		if want := []int32{0, 0, 0, 0, 1, 1, 1, 1}; !slices.Equal(partitions, want) {
			t.Errorf("partitions %v, want %v", partitions, want)
		}
	})
}

// A serializer that panics refuses its record like one that returns an error: the interceptors hear of it.
func TestASerializerThatPanicsRefusesItsRecord(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		var log []string
		ser := linger.SerializerFunc[[]byte](func(_ string, _ []linger.Header, v []byte) ([]byte, error) {
			if string(v) == "bad" {
				panic("can't")
			}
			return v, nil
		})
		p := producerOf[[]byte, []byte](c, linger.ByteArray, ser, linger.WithInterceptors[[]byte, []byte](hearing(&log)))
		_, err := p.Send(t.Context(), plain("bad"), failIfCalled(t))
		if !errors.Is(err, linger.ErrSerialization) || !strings.Contains(err.Error(), "can't") || !strings.Contains(err.Error(), "value serializer") {
			t.Errorf("got %v, want an ErrSerialization", err)
		}
		if len(log) != 2 || !strings.Contains(log[1], "can't") {
			t.Errorf("the interceptor heard %q", log)
		}
		mustWait(t, mustSend(t, p, plain("good"), nil))
	})
}

// An interceptor that ends its goroutine in OnAck keeps the outcome neither from those behind it nor from the callback.
func TestAnInterceptorThatEndsItsGoroutineHidesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		var log []string
		a := &spy{onAck: func(linger.RecordMetadata, error) { runtime.Goexit() }}
		p := c.producer(linger.WithInterceptors[[]byte, []byte](a, hearing(&log)))
		for range 2 {
			mustWait(t, mustSend(t, p, plain("v"), func(_ linger.RecordMetadata, err error) { log = append(log, fmt.Sprint("callback ", err)) }))
		}
		want := []string{"send", "ack <nil>", "callback <nil>", "send", "ack <nil>", "callback <nil>"}
		if diff := cmp.Diff(want, log); diff != "" {
			t.Errorf("heard (-want +got):\n%s", diff)
		}
	})
}
