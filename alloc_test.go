package linger_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
	"linger/internal/invariant"
)

// wantAllocs runs do, which handles n records, and fails when it allocates more than limit a record, anywhere in the process.
func wantAllocs(t *testing.T, limit float64, n int, do func()) {
	t.Helper()
	if invariant.Enabled {
		t.Skip("the race detector allocates")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	do() // pools and slices take their size
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	if got := float64(after.Mallocs-before.Mallocs) / float64(n); got > limit {
		t.Errorf("%.4f allocations a record, want at most %v", got, limit)
	}
}

// TUNE-13: a record that joins an open batch costs no allocation: key, value, headers and callback or not.
func TestSendIntoAnOpenBatchDoesNotAllocate(t *testing.T) {
	p := nullProducer(t, linger.Linger(time.Hour), linger.DeliveryTimeout(3*time.Hour), linger.BatchSize(16<<20), linger.BufferMemory(64<<20))
	cb := func(linger.RecordMetadata, error) {}
	r := rec{Topic: "t", Key: []byte("key"), Value: []byte(strings.Repeat("v", 100)), Headers: []linger.Header{{Key: "h", Value: []byte("x")}}}
	ctx := context.Background()
	const n = 20_000
	wantAllocs(t, 0.01, n, func() {
		for range n {
			if _, err := p.Send(ctx, r, cb); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The whole way of a record, through requests and answers to its callback, costs a fraction of an allocation.
func TestAllocationsOfTheWholeWayAreAmortized(t *testing.T) {
	p := nullProducer(t)
	var failed atomic.Int64
	cb := func(_ linger.RecordMetadata, err error) {
		if err != nil {
			failed.Add(1)
		}
	}
	r := rec{Topic: "t", Value: []byte(strings.Repeat("v", 100))}
	ctx := context.Background()
	const n = 100_000
	wantAllocs(t, 0.01, n, func() {
		for range n {
			if _, err := p.Send(ctx, r, cb); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Flush(ctx); err != nil {
			t.Fatal(err)
		}
	})
	if n := failed.Load(); n > 0 {
		t.Errorf("%d records failed", n)
	}
}

// A typed producer whose serializers make no memory costs none either.
func TestStringsPassWithoutAllocation(t *testing.T) {
	c := nullBroker{}
	p, err := linger.New(linger.String, linger.String, linger.BootstrapServers("10.0.0.1:9092"), linger.WithDialer(c.dial), linger.WithLogger(nil),
		linger.Linger(time.Hour), linger.DeliveryTimeout(3*time.Hour), linger.BatchSize(16<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.CloseTimeout(0) }()
	if err := p.Warm(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	r := linger.Record[string, string]{Topic: "t", Key: "key", Value: strings.Repeat("v", 100)}
	ctx := context.Background()
	const n = 20_000
	wantAllocs(t, 0.01, n, func() {
		for range n {
			if _, err := p.Send(ctx, r, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func nullProducer(t *testing.T, more ...linger.Option) producer {
	return newNullProducer(t, nullBroker{}, more...)
}

func newNullProducer(t testing.TB, c nullBroker, more ...linger.Option) producer {
	p, err := linger.New(linger.ByteArray, linger.ByteArray, append([]linger.Option{
		linger.BootstrapServers("10.0.0.1:9092"), linger.WithDialer(c.dial), linger.WithLogger(nil), linger.BufferMemory(8 << 20),
	}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.CloseTimeout(0) })
	if err := p.Warm(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	return p
}

// nullBroker takes everything for topic t, which has one partition, and allocates nothing for it. It takes a request after the
// other, pause for each.
type nullBroker struct{ pause time.Duration }

func (b nullBroker) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	go func() { // ends when the producer closes its side
		defer theirs.Close()
		_ = b.serve(theirs)
	}()
	return ours, nil
}

var errBadRequest = errors.New("bad request")

func (b nullBroker) serve(conn net.Conn) error {
	c := &cluster{topics: map[string]*fakeTopic{}, brokers: []int32{1}, nextPID: 1, maxAPI: map[kmsg.Key]int16{kmsg.Produce: 13, kmsg.Metadata: 13, kmsg.ApiVersions: 4, kmsg.InitProducerID: 5}}
	c.topic("t", 1)
	var taken []byte
	var frame []byte
	buf := make([]byte, 2<<20)
	for {
		if _, err := io.ReadFull(conn, buf[:4]); err != nil {
			return err
		}
		n := int(binary.BigEndian.Uint32(buf))
		if n > len(buf) {
			return errBadRequest
		}
		if _, err := io.ReadFull(conn, buf[:n]); err != nil {
			return err
		}
		if kmsg.Key(binary.BigEndian.Uint16(buf)) == kmsg.Produce && taken != nil {
			copy(taken[4:8], buf[4:8]) // the correlation id
			frame = taken
		} else {
			call := parseCall(buf[:n])
			call.c = c
			frame = call.frame(call.usual())
			if call.key == kmsg.Produce {
				taken = frame
			}
		}
		if b.pause > 0 {
			elapse(b.pause)
		}
		if _, err := conn.Write(frame); err != nil {
			return err
		}
	}
}
