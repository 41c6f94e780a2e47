package transport

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"

	"linger/internal/link"
	"linger/internal/wire"
)

// readBufferSize in bytes takes several small answers in one call; most produce answers are under 100 bytes.
const readBufferSize = 8 << 10

var (
	// errPeerClosed is the everyday end: the broker closed the connection between two answers.
	errPeerClosed = fmt.Errorf("connection closed by the peer: %w", io.EOF)
	errPeerBroke  = fmt.Errorf("connection closed by the peer inside an answer: %w", io.ErrUnexpectedEOF)
)

// Small answers are cut from slabs of this size, each but the last few bytes of one: a produce answer is under 100 bytes
// for a batch, and memory of its own for each costs more than reading it. An answer that is kept keeps its slab.
const (
	slabSize    = 8 << 10
	slabMinLeft = 512
)

// readLoop posts frame after frame until the connection ends or what it says cannot be Kafka's (B24: the length is checked
// before memory is taken). No two frames share memory, since their receivers keep them.
func (c *connection) readLoop(conn net.Conn) error {
	frames := wire.FrameReader{R: bufio.NewReaderSize(conn, readBufferSize), Limit: c.t.frameLimit}
	var slab []byte
	for answers := 0; ; answers++ {
		if cap(slab) < slabMinLeft {
			slab = make([]byte, 0, slabSize)
		}
		frame, err := frames.Next(slab)
		if n := len(frame); n <= cap(slab) { // else it was too large and has got memory of its own
			slab, frame = slab[n:n:cap(slab)], frame[:n:n]
		}
		switch {
		case err == nil:
			c.t.post(link.Event{Kind: link.Received, Link: c.id, Frame: frame})
		case errors.Is(err, io.ErrUnexpectedEOF):
			return errPeerBroke
		case errors.Is(err, io.EOF):
			return c.readFailed(errPeerClosed, answers)
		default:
			return c.readFailed(err, answers)
		}
	}
}
