package transport

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linger/internal/invariant"
	"linger/internal/kerr"
	"linger/internal/link"
)

func fixedDialer(c net.Conn) DialFunc {
	return func(context.Context, string, string) (net.Conn, error) { return c, nil }
}

// B24: what is no Kafka broker costs one connection and next to no memory, and the error says what it looks like.
func TestPeerThatIsNotKafkaEndsTheLinkWithATellingError(t *testing.T) {
	tests := []struct {
		name   string
		answer string
		want   string // in the error's text
	}{
		{"HTTP answer", "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "HTTP"},
		{"TLS alert", "\x15\x03\x03\x00\x02\x02\x28", "TLS"},
		{"length 2147483647", "\x7f\xff\xff\xff\x00\x00\x00\x01", "2147483647"},
		{"length -5", "\xff\xff\xff\xfb\x00\x00\x00\x01", "-5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := newInbox()
			addr := serve(t, func(c net.Conn) {
				io.WriteString(c, tt.answer)
				io.Copy(io.Discard, c)
			})
			tr := New(Options{Post: in.post})
			defer tr.Wait()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			do(tr, dialOrder(1, addr))
			in.want(t, link.Up)
			e := in.wantEnd(t)
			runtime.ReadMemStats(&after)
			if e.Err == nil || !strings.Contains(e.Err.Error(), tt.want) {
				t.Errorf("got error %v, want one that says %q", e.Err, tt.want)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
				t.Errorf("took %d bytes of memory, want less than 1 MiB", took)
			}
		})
	}
}

// Whether that is seen as an end or as a reset depends on what the peer had read: the hint comes with both.
func TestAPeerThatHangsUpBeforeItsFirstAnswerIsExplained(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(*net.TCPConn)
		want error
	}{
		"having read all":   {func(*net.TCPConn) {}, io.EOF},
		"with bytes unread": {reset, syscall.ECONNRESET},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInbox()
			request := frame("request")
			addr := serve(t, func(c net.Conn) {
				readN(t, c, len(request))
				tt.end(c.(*net.TCPConn))
			})
			tr := New(Options{Post: in.post})
			defer tr.Wait()
			do(tr, dialOrder(1, addr), writeOrder(1, 1, request))
			e := <-in
			for ; e.Kind != link.Closed; e = <-in { // Written may come at any time
			}
			if !errors.Is(e.Err, tt.want) || errors.Is(e.Err, kerr.ErrAuthentication) || !strings.Contains(e.Err.Error(), hintOther) {
				t.Errorf("got %v, want %v with a hint", e.Err, tt.want)
			}
		})
	}
}

// A length prefix within the limit is still only a claim.
func TestMemoryForALargeFrameGrowsWithWhatArrives(t *testing.T) {
	in := newInbox()
	addr := serve(t, func(c net.Conn) {
		c.Write(binary.BigEndian.AppendUint32(nil, 90<<20))
		c.Write(make([]byte, 1000))
	})
	tr := New(Options{Post: in.post, FrameLimit: 100 << 20})
	defer tr.Wait()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do(tr, dialOrder(1, addr))
	in.want(t, link.Up)
	in.wantEnd(t)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 2<<20 {
		t.Errorf("took %d bytes of memory for a frame of 1000 bytes, want less than 2 MiB", took)
	}
}

// B26, at this level: a peer that says nothing and one that reads nothing hold up neither another link nor the close.
func TestSilentAndStuckPeersDoNotHoldUpOthers(t *testing.T) {
	in := newInbox()
	release := make(chan struct{})
	deaf := serve(t, func(c net.Conn) { <-release })
	silent := serve(t, func(c net.Conn) { io.Copy(io.Discard, c) })
	good := serve(t, func(c net.Conn) { io.Copy(c, c) })
	defer close(release)

	tr := New(Options{Post: in.post})
	for id, addr := range []string{deaf, silent, good} {
		do(tr, dialOrder(link.ID(id), addr))
		in.want(t, link.Up)
	}
	do(tr, writeOrder(0, 1, make([]byte, 64<<20)))
	do(tr, writeOrder(1, 2, frame("no answer comes")))
	do(tr, writeOrder(2, 3, frame("hello")))
	seen := make(map[string]int)
	for range 3 { // in any order
		e := <-in
		seen[fmt.Sprintf("%v by %d %s", e.Kind, e.Link, e.Frame)]++
	}
	want := map[string]int{"written by 1 ": 1, "written by 2 ": 1, "received by 2 hello": 1}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	do(tr, closeOrder(0, nil), closeOrder(1, nil), closeOrder(2, nil))
	for range 3 {
		in.want(t, link.Closed)
	}
	tr.Wait()
	in.wantNone(t)
}

// B07, over a real socket: the kernel's buffers are smaller than the request, so it cannot be written before the peer reads.
func TestSlowPeerWithASmallReceiveBufferGetsNoWrittenBeforeItReads(t *testing.T) {
	in := newInbox()
	var reads atomic.Bool
	small, start := make(chan struct{}), make(chan struct{})
	const size = 1 << 20
	addr := serve(t, func(c net.Conn) {
		c.(*net.TCPConn).SetReadBuffer(16384)
		close(small)
		<-start
		reads.Store(true)
		c.(*net.TCPConn).SetReadBuffer(size) // the rest need not take long
		io.Copy(io.Discard, c)
	})
	tr := New(Options{Post: func(e link.Event) {
		if e.Kind == link.Written && !reads.Load() {
			t.Error("Written before the peer read a byte")
		}
		in.post(e)
	}})
	o := dialOrder(1, addr)
	o.SendBuf = 16384
	do(tr, o)
	in.want(t, link.Up)
	<-small // sooner, the system may take much more for the peer
	do(tr, writeOrder(1, 1, make([]byte, size)))
	in.wantNone(t)
	close(start)
	in.want(t, link.Written)
	tr.Wait()
}

// What a request costs here: its part of the memory that answers are cut from, nothing else.
func TestARequestCostsAPartOfAnAllocation(t *testing.T) {
	if invariant.Enabled {
		t.Skip("the race detector allocates")
	}
	in := newInbox()
	addr := serve(t, func(c net.Conn) {
		buf := make([]byte, 4096)
		for {
			n, err := c.Read(buf)
			if err != nil {
				return
			}
			c.Write(buf[:n])
		}
	})
	tr := New(Options{Post: in.post})
	defer tr.Wait()
	do(tr, dialOrder(1, addr))
	in.want(t, link.Up)
	body := bytes.Repeat([]byte("x"), 100)
	orders := []link.Order{writeOrder(1, 1, binary.BigEndian.AppendUint32(nil, 100), body)}
	const requests = 100
	got := testing.AllocsPerRun(10, func() {
		for range requests {
			tr.Do(orders)
			<-in // Written and Received, in either order
			<-in
		}
	})
	if most := float64(requests / 20); got > most {
		t.Errorf("%d requests and their answers allocate %v times, want at most %v", requests, got, most)
	}
}

func BenchmarkRequest(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		answer := frame(strings.Repeat("x", 60))
		buf := make([]byte, 16384)
		for {
			if _, err := io.ReadFull(c, buf); err != nil {
				return
			}
			if _, err := c.Write(answer); err != nil {
				return
			}
		}
	}()
	in := newInbox()
	tr := New(Options{Post: in.post})
	do(tr, dialOrder(1, l.Addr().String()))
	<-in
	orders := []link.Order{writeOrder(1, 1, make([]byte, 384), make([]byte, 16000))}
	b.SetBytes(16384)
	b.ReportAllocs()
	for b.Loop() {
		tr.Do(orders)
		<-in
		<-in
	}
	tr.Wait()
	<-done
}
