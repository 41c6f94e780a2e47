package linger_test

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"linger"
)

// B31: over real sockets, many producers one after the other leave neither socket nor goroutine nor memory, whatever the codec
// and whether or not a broker is there.
func TestManyProducersLeaveNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // ends with the listener
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { // ends with the producer
				defer conn.Close()
				_ = nullBroker{}.serve(conn)
			}()
		}
	}()
	target := func(addr string) linger.Option {
		return linger.WithDialer(func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, addr)
		})
	}
	round := func() {
		for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
			p, err := linger.New(linger.ByteArray, linger.ByteArray, linger.BootstrapServers("10.0.0.1:9092"), linger.WithLogger(nil),
				target(l.Addr().String()), linger.CompressionType(codec))
			if err != nil {
				t.Fatal(err)
			}
			for range 10 {
				mustSend(t, p, plain(strings.Repeat("v", 100)), nil)
			}
			if report, err := p.Shutdown(t.Context()); err != nil || report.Delivered != 10 || report.BytesLeft != 0 {
				t.Fatalf("%s: %+v, %v", codec, report, err)
			}
		}
		p, err := linger.New(linger.ByteArray, linger.ByteArray, linger.BootstrapServers("10.0.0.1:9092"), linger.WithLogger(nil),
			target("127.0.0.1:1"), linger.MaxBlock(5*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := mustSend(t, p, plain("v"), nil).Wait(t.Context()); !errors.Is(err, linger.ErrTimeout) {
			t.Fatal(err)
		}
		p.Close()
	}
	round()
	goroutines, files := runtime.NumGoroutine(), openFiles()
	for range 30 {
		round()
	}
	// The broker's side of the last connections may have yet to see their end, and a goroutine ends a moment after it is waited for.
	for patience := time.Now().Add(time.Minute); ; runtime.Gosched() {
		g, f := runtime.NumGoroutine(), openFiles()
		if g <= goroutines && f <= files {
			return
		}
		if time.Now().After(patience) {
			t.Fatalf("after 30 rounds %d goroutines and %d open files, after the first %d and %d", g, f, goroutines, files)
		}
	}
}

// openFiles is -1 where the system does not tell.
func openFiles() int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(all)
}
