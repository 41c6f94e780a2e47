package linger

import (
	"fmt"
	"net"
	"time"

	"linger/internal/inside"
)

// guardedConn is a connection of the application's own kind, as a dialer of its own gives. What such code does wrong costs
// the connection and not the process: a panic is the call's error, and so is a count that can't be. Close of the producer
// inside it does not wait for itself.
type guardedConn struct {
	net.Conn
	inside *inside.Set
}

// guardConn leaves the standard library's sockets as they are: they hold no code of the application's, and write several
// pieces in one call.
func (c *core) guardConn(conn net.Conn) net.Conn {
	switch conn.(type) {
	case nil, *net.TCPConn, *net.UnixConn:
		return conn
	}
	return &guardedConn{conn, &c.inside}
}

// Read is net.Conn's.
func (g *guardedConn) Read(b []byte) (n int, err error) {
	n, err = g.read(b)
	return count("Read", n, len(b), err)
}

func (g *guardedConn) read(b []byte) (n int, err error) {
	defer g.leave("Read", g.inside.In(), &err)
	return g.Conn.Read(b)
}

// Write is net.Conn's.
func (g *guardedConn) Write(b []byte) (n int, err error) {
	n, err = g.write(b)
	return count("Write", n, len(b), err)
}

func (g *guardedConn) write(b []byte) (n int, err error) {
	defer g.leave("Write", g.inside.In(), &err)
	return g.Conn.Write(b)
}

// Close is net.Conn's. When it panics nobody knows whether reads and writes under way have come back: a deadline may bring
// them back.
func (g *guardedConn) Close() error {
	fine := false
	err := g.call("Close", func() error { err := g.Conn.Close(); fine = true; return err })
	if !fine {
		_ = g.SetDeadline(time.Unix(1, 0))
	}
	return err
}

// SetDeadline is net.Conn's.
func (g *guardedConn) SetDeadline(t time.Time) error {
	return g.call("SetDeadline", func() error { return g.Conn.SetDeadline(t) })
}

// SetReadDeadline is net.Conn's.
func (g *guardedConn) SetReadDeadline(t time.Time) error {
	return g.call("SetReadDeadline", func() error { return g.Conn.SetReadDeadline(t) })
}

// SetWriteDeadline is net.Conn's.
func (g *guardedConn) SetWriteDeadline(t time.Time) error {
	return g.call("SetWriteDeadline", func() error { return g.Conn.SetWriteDeadline(t) })
}

// SetNoDelay, like the three below, is a socket's, and does nothing where the connection has no such thing.
func (g *guardedConn) SetNoDelay(on bool) error {
	if s, ok := g.Conn.(interface{ SetNoDelay(bool) error }); ok {
		return g.call("SetNoDelay", func() error { return s.SetNoDelay(on) })
	}
	return nil
}

// SetKeepAlive asks for signs of life while nothing is sent.
func (g *guardedConn) SetKeepAlive(on bool) error {
	if s, ok := g.Conn.(interface{ SetKeepAlive(bool) error }); ok {
		return g.call("SetKeepAlive", func() error { return s.SetKeepAlive(on) })
	}
	return nil
}

// SetWriteBuffer sets send.buffer.bytes.
func (g *guardedConn) SetWriteBuffer(bytes int) error {
	if s, ok := g.Conn.(interface{ SetWriteBuffer(int) error }); ok {
		return g.call("SetWriteBuffer", func() error { return s.SetWriteBuffer(bytes) })
	}
	return nil
}

// SetReadBuffer sets receive.buffer.bytes.
func (g *guardedConn) SetReadBuffer(bytes int) error {
	if s, ok := g.Conn.(interface{ SetReadBuffer(int) error }); ok {
		return g.call("SetReadBuffer", func() error { return s.SetReadBuffer(bytes) })
	}
	return nil
}

// call does what may be any code, but reads and writes: these are many, and must not allocate.
func (g *guardedConn) call(method string, do func() error) (err error) {
	defer g.leave(method, g.inside.In(), &err)
	return do()
}

// leave is deferred around the application's code.
func (g *guardedConn) leave(method string, goroutine uint64, err *error) {
	g.inside.Out(goroutine)
	if fault := recover(); fault != nil {
		*err = fmt.Errorf("the connection's %s panicked: %v", method, fault)
	}
}

func count(method string, n, most int, err error) (int, error) {
	if n < 0 || n > most {
		return 0, fmt.Errorf("the connection's %s says %d bytes of %d", method, n, most)
	}
	return n, err
}
