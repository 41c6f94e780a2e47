//go:build unix

package transport

import (
	"context"
	"io"
	"net"
	"syscall"
	"testing"

	"linger/internal/link"
)

// NET-15: send.buffer.bytes and receive.buffer.bytes reach each connection; -1 leaves the system's default. So do the two
// options that Java always sets.
func TestSocketOptionsReachTheSocket(t *testing.T) {
	addr := serve(t, func(c net.Conn) { io.Copy(io.Discard, c) })
	tests := []struct {
		name       string
		send, recv int
	}{
		{"both buffers set", 20000, 30000},
		{"both left to the system", -1, -1},
		{"send buffer alone", 20000, -1},
	}
	plain, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := newInbox()
			var conn net.Conn
			tr := New(Options{Post: in.post, Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
				var err error
				// Both options are off, so that tune has to set them.
				conn, err = (&net.Dialer{KeepAlive: -1}).DialContext(ctx, network, addr)
				conn.(*net.TCPConn).SetNoDelay(false)
				return conn, err
			}})
			defer tr.Wait()
			o := dialOrder(1, addr)
			o.SendBuf, o.RecvBuf = tt.send, tt.recv
			do(tr, o)
			in.want(t, link.Up)
			for _, b := range []struct {
				name      string
				opt, want int
			}{
				{"send buffer", syscall.SO_SNDBUF, tt.send},
				{"receive buffer", syscall.SO_RCVBUF, tt.recv},
			} {
				got, unset := option(t, conn, syscall.SOL_SOCKET, b.opt), option(t, plain, syscall.SOL_SOCKET, b.opt)
				switch {
				case b.want < 0 && got != unset:
					t.Errorf("%s is %d bytes, want the system's %d", b.name, got, unset)
				case b.want >= 0 && got != b.want && got != 2*b.want: // Linux counts its bookkeeping in
					t.Errorf("%s is %d bytes, want %d", b.name, got, b.want)
				}
			}
			if option(t, conn, syscall.IPPROTO_TCP, syscall.TCP_NODELAY) == 0 {
				t.Error("TCP_NODELAY is off")
			}
			if option(t, conn, syscall.SOL_SOCKET, syscall.SO_KEEPALIVE) == 0 {
				t.Error("SO_KEEPALIVE is off")
			}
		})
	}
}

func option(t *testing.T, c net.Conn, level, opt int) (value int) {
	t.Helper()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var fault error
	if err := raw.Control(func(fd uintptr) { value, fault = syscall.GetsockoptInt(int(fd), level, opt) }); err != nil || fault != nil {
		t.Fatal(err, fault)
	}
	return value
}
