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

// readLoop posts frame after frame until the connection ends or what it says cannot be Kafka's (B24: the length is checked
// before memory is taken). Each frame has memory of its own, since its receiver keeps it.
func (c *connection) readLoop(conn net.Conn) error {
	frames := wire.FrameReader{R: bufio.NewReaderSize(conn, readBufferSize), Limit: c.t.frameLimit}
	for answers := 0; ; answers++ {
		frame, err := frames.Next(nil)
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
