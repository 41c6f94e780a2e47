package linger_test

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
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
	var peers sync.WaitGroup
	go func() { // ends with the listener
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			peers.Go(func() {
				defer conn.Close()
				_ = nullBroker{}.serve(conn)
			})
		}
	}()
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead.Close() // nobody listens there any more
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
			target(dead.Addr().String()), linger.MaxBlock(5*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := mustSend(t, p, plain("v"), nil).Wait(t.Context()); !errors.Is(err, linger.ErrTimeout) {
			t.Fatal(err)
		}
		p.Close()
		peers.Wait()
	}
	round()
	goroutines, files := runtime.NumGoroutine(), openFiles()
	for range 30 {
		round()
	}
	if n := runtime.NumGoroutine(); n > goroutines+2 {
		t.Errorf("%d goroutines after 30 rounds, %d after the first", n, goroutines)
	}
	if n := openFiles(); n > files {
		t.Errorf("%d open files after 30 rounds, %d after the first", n, files)
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
