//go:build unix

package security_test

import (
	"context"
	"encoding/binary"
	"net"
	"sync"
)

// mover is a dialer that connects to the address it was told, whatever it is asked for: so a producer meets, with its next
// connection, a listener that wants something else. It counts connections, and the requests by kind where they are not
// encrypted.
type mover struct {
	mu       sync.Mutex
	target   string // "" for what is asked for
	dials    int
	open     map[*moved]bool
	requests map[uint16]int    // by API key
	versions map[uint16]uint16 // of the last one, by API key
}

func newMover(target string) *mover {
	return &mover{target: target, open: map[*moved]bool{}, requests: map[uint16]int{}, versions: map[uint16]uint16{}}
}

func (m *mover) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	m.mu.Lock()
	if m.target != "" {
		addr = m.target
	}
	m.dials++
	m.mu.Unlock()
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	mc := &moved{Conn: conn, of: m}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open[mc] = true
	return mc, nil
}

// to sends every further connection to target, and cuts those that are.
func (m *mover) to(target string) {
	m.mu.Lock()
	m.target = target
	cut := m.open
	m.open = map[*moved]bool{}
	m.mu.Unlock()
	for c := range cut {
		c.Conn.Close()
	}
}

// dialled is how many connections were asked for so far.
func (m *mover) dialled() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dials
}

// seen is how many requests with that API key were written, and the version of the last one.
func (m *mover) seen(key uint16) (n int, version int16) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests[key], int16(m.versions[key])
}

// moved is one connection; it follows the frames that go out.
type moved struct {
	net.Conn
	of *mover

	mu   sync.Mutex
	head []byte // of the request being written: its length, API key and version
	skip int    // bytes of it still to come
}

const headLen = 8

func (c *moved) Write(p []byte) (int, error) {
	c.mu.Lock()
	for rest := p; len(rest) > 0; {
		if c.skip > 0 {
			n := min(c.skip, len(rest))
			c.skip, rest = c.skip-n, rest[n:]
			continue
		}
		n := min(headLen-len(c.head), len(rest))
		c.head, rest = append(c.head, rest[:n]...), rest[n:]
		if len(c.head) == headLen {
			c.skip = int(binary.BigEndian.Uint32(c.head)) - (headLen - 4)
			c.of.count(binary.BigEndian.Uint16(c.head[4:]), binary.BigEndian.Uint16(c.head[6:]))
			c.head = c.head[:0]
		}
	}
	c.mu.Unlock()
	return c.Conn.Write(p)
}

func (m *mover) count(key, version uint16) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[key]++
	m.versions[key] = version
}

func (c *moved) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
