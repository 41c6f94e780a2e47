package transport

import (
	"errors"
	"fmt"
	"net"

	"linger/internal/link"
)

// establish dials and returns a connection that is ready for frames. It is the one place where a connection is made and
// wrapped. The TLS handshake is bounded by the link's context as the dial is.
func (c *connection) establish() (net.Conn, error) {
	conn, err := c.callDialer()
	if err != nil {
		return nil, err
	}
	if err := tune(conn, &c.dial); err != nil {
		conn.Close()
		return nil, err
	}
	if c.t.tls == nil {
		return conn, nil
	}
	secure, err := c.secure(conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return secure, nil
}

// callDialer keeps the faults of a dialer of the application's own to the one connection that it was asked for.
func (c *connection) callDialer() (conn net.Conn, err error) {
	defer func() {
		if p := recover(); p != nil {
			conn, err = nil, fmt.Errorf("the dialer panicked: %v", p)
		}
	}()
	if conn, err = c.t.dial(c.ctx, "tcp", c.dial.Addr); conn == nil && err == nil {
		err = errNoConnection
	}
	return conn, err
}

var errNoConnection = errors.New("the dialer gave neither a connection nor an error")

// tune sets what Java sets on each socket: no delay, keep-alive, and the buffer sizes that were configured. A connection
// from a dialer of the user's own need not be a socket; what it does not have is left out.
func tune(conn net.Conn, o *link.Order) error {
	if s, ok := conn.(interface{ SetNoDelay(bool) error }); ok {
		if err := s.SetNoDelay(true); err != nil {
			return err
		}
	}
	if s, ok := conn.(interface{ SetKeepAlive(bool) error }); ok {
		if err := s.SetKeepAlive(true); err != nil {
			return err
		}
	}
	if s, ok := conn.(interface{ SetWriteBuffer(int) error }); ok && o.SendBuf >= 0 {
		if err := s.SetWriteBuffer(o.SendBuf); err != nil {
			return err
		}
	}
	if s, ok := conn.(interface{ SetReadBuffer(int) error }); ok && o.RecvBuf >= 0 {
		if err := s.SetReadBuffer(o.RecvBuf); err != nil {
			return err
		}
	}
	return nil
}
