//go:build unix

package security_test

import (
	"context"
	"net"
	"sync"

	"linger/test/broker/kafkatest"
)

// mover is a dialer that connects to the address it was told, whatever it is asked for: so a producer meets, with its next
// connection, a listener that wants something else. It counts connections, and the requests by kind where they are not
// encrypted.
type mover struct {
	mu       sync.Mutex
	target   string // "" for what is asked for
	dials    int
	moves    int // how often to was called
	open     map[*moved]bool
	requests map[uint16]int    // by API key
	versions map[uint16]uint16 // of the last one, by API key
}

func newMover(target string) *mover {
	return &mover{target: target, open: map[*moved]bool{}, requests: map[uint16]int{}, versions: map[uint16]uint16{}}
}

func (m *mover) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	m.mu.Lock()
	moves := m.moves
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
	if m.moves != moves { // it leads where nobody is to go any more
		conn.Close()
	} else {
		m.open[mc] = true
	}
	return mc, nil
}

// to sends every further connection to target, and cuts those that are.
func (m *mover) to(target string) {
	m.mu.Lock()
	m.target = target
	m.moves++
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

// moved is one connection; it follows the requests that go out.
type moved struct {
	net.Conn
	of *mover

	mu    sync.Mutex
	heads kafkatest.RequestHeads
}

func (c *moved) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.heads.Follow(p, func(h kafkatest.RequestHead) { c.of.count(h.Key, h.Version) })
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
