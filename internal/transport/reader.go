package transport

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"linger/internal/link"
)

const (
	// readBufferSize in bytes takes several small answers in one call; most produce answers are under 100 bytes.
	readBufferSize = 8 << 10
	// believedSize is how much memory in bytes a length prefix gets at once. For a longer frame memory doubles with
	// what has arrived.
	believedSize = 256 << 10
	// peekSize is how many bytes of a peer that does not speak Kafka are looked at, to say what it speaks.
	peekSize = 64
)

// errPeerClosed is the everyday end: the broker closed the connection between two answers.
var errPeerClosed = fmt.Errorf("connection closed by the peer: %w", io.EOF)

// readLoop posts frame after frame until the connection ends or what it says cannot be Kafka's.
func (c *connection) readLoop(conn net.Conn) error {
	r := bufio.NewReaderSize(conn, readBufferSize)
	for {
		size, err := c.readSize(r)
		if err != nil {
			return err
		}
		frame, err := readFrame(r, size)
		if err != nil {
			return err
		}
		c.t.post(link.Event{Kind: link.Received, Link: c.id, Frame: frame})
	}
}

// readSize reads a length prefix and checks it before anybody takes memory for it.
func (c *connection) readSize(r *bufio.Reader) (int, error) {
	prefix, err := r.Peek(4)
	if err != nil {
		if errors.Is(err, io.EOF) && len(prefix) == 0 {
			return 0, errPeerClosed
		}
		return 0, broken(err)
	}
	size := int32(binary.BigEndian.Uint32(prefix))
	if err := c.check(r, size); err != nil {
		return 0, err
	}
	_, err = r.Discard(4)
	return int(size), err
}

// readFrame reads size bytes into memory of their own.
func readFrame(r *bufio.Reader, size int) ([]byte, error) {
	frame := make([]byte, min(size, believedSize))
	for filled := 0; ; {
		if _, err := io.ReadFull(r, frame[filled:]); err != nil {
			return nil, broken(err)
		}
		if filled = len(frame); filled == size {
			return frame, nil
		}
		frame = append(frame, make([]byte, min(size-filled, filled))...)
	}
}

// broken names the end of a stream inside a frame.
func broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("connection closed by the peer inside an answer: %w", io.ErrUnexpectedEOF)
	}
	return err
}
