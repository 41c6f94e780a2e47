//go:build unix

package producer_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"linger/test/broker/kafkatest"
)

// cutter is a dialer whose connections can be cut between a broker's append and its answer. It also counts how connections
// end.
type cutter struct {
	mu     sync.Mutex
	armed  int  // answers to Produce still to be lost
	mute   bool // answers to Produce are swallowed, and their connections stay
	conns  map[*cuttable]bool
	cuts   int
	closed chan struct{} // one token for each connection that the broker ended
}

func newCutter() *cutter {
	return &cutter{conns: map[*cuttable]bool{}, closed: make(chan struct{}, 1000)}
}

func (c *cutter) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	cut := &cuttable{Conn: conn, of: c, produces: map[uint32]bool{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns[cut] = true
	return cut, nil
}

// loseAnswers lets the next n answers to Produce requests get lost, each with its connection.
func (c *cutter) loseAnswers(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = n
}

// swallowAnswers lets no further answer to a Produce request come through; the connections stay, and so does everything else.
// From now on no record can succeed.
func (c *cutter) swallowAnswers() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mute = true
}

// lost is how many answers got lost.
func (c *cutter) lost() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cuts
}

// awaitLost waits until n answers got lost.
func (c *cutter) awaitLost(ctx context.Context, t *testing.T, n int) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for c.lost() < n {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%d answers were lost, want %d", c.lost(), n)
		}
	}
}

// open is how many connections are open.
func (c *cutter) open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.conns)
}

// cuttable is one connection. It follows the frames in both directions: what goes out to learn which correlation ids are
// Produce requests, what comes in to hold an answer back until it is known to be one.
type cuttable struct {
	net.Conn
	of *cutter

	mu       sync.Mutex
	produces map[uint32]bool
	heads    kafkatest.RequestHeads

	pending []byte // of the answer that was read, not yet handed out; the reader's own
}

const produceKey = 0

func (c *cuttable) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.heads.Follow(p, func(h kafkatest.RequestHead) {
		if h.Key == produceKey {
			c.produces[h.Corr] = true
		}
	})
	c.mu.Unlock()
	return c.Conn.Write(p)
}

// Read takes a whole answer before it gives any of it: when it is there, the broker has done what was asked.
func (c *cuttable) Read(p []byte) (int, error) {
	for len(c.pending) == 0 {
		answer, err := c.answer()
		if err != nil {
			c.ended(err)
			return 0, err
		}
		switch c.fate(binary.BigEndian.Uint32(answer[4:])) {
		case lostWithConnection:
			c.Close()
			return 0, io.ErrUnexpectedEOF
		case handedOut:
			c.pending = answer
		}
	}
	n := copy(p, c.pending)
	c.pending = c.pending[n:]
	return n, nil
}

// answer reads one from the broker.
func (c *cuttable) answer() ([]byte, error) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(c.Conn, head); err != nil {
		return nil, err
	}
	body := make([]byte, int(binary.BigEndian.Uint32(head))-4)
	_, err := io.ReadFull(c.Conn, body)
	return append(head, body...), err
}

// What becomes of an answer.
type fate int

const (
	handedOut fate = iota
	lostWithConnection
	swallowed
)

// fate decides about an answer, and counts those that get lost.
func (c *cuttable) fate(corr uint32) fate {
	c.mu.Lock()
	produce := c.produces[corr]
	delete(c.produces, corr)
	c.mu.Unlock()
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	switch {
	case !produce:
		return handedOut
	case c.of.mute:
		return swallowed
	case c.of.armed == 0:
		return handedOut
	}
	c.of.armed--
	c.of.cuts++
	return lostWithConnection
}

func (c *cuttable) ended(err error) {
	if err == io.EOF {
		c.of.closed <- struct{}{}
	}
}

func (c *cuttable) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
