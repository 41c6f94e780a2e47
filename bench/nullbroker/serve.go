package nullbroker

import (
	"encoding/binary"
	"fmt"
	"net"
)

const (
	readBuffer = 1 << 20
	maxFrame   = 128 << 20
	frameSize  = 4 // bytes of a frame's length
)

// serve reads whatever is there, answers each request that is complete, and writes the answers with one call. It ends
// when the peer or Close ends the connection.
func (b *Broker) serve(c net.Conn) {
	defer c.Close()
	in := make([]byte, readBuffer)
	var out []byte
	start, end := 0, 0 // in[start:end] is unread
	for {
		n, err := c.Read(in[end:])
		if err != nil {
			return
		}
		end += n
		out = out[:0]
		for {
			frame, need, ferr := nextFrame(in[start:end])
			if ferr == nil && frame != nil {
				out, ferr = b.answer(out, frame)
				start += frameSize + len(frame)
			}
			if ferr != nil {
				b.fail(ferr)
				return
			}
			if frame == nil {
				in = room(in, need)
				break
			}
		}
		if len(out) > 0 {
			if _, err := c.Write(out); err != nil {
				return
			}
		}
		end = copy(in, in[start:end])
		start = 0
	}
}

// nextFrame is the first frame of p without its length, nil while it is not all there; need is how many bytes it takes.
func nextFrame(p []byte) (frame []byte, need int, err error) {
	if len(p) < frameSize {
		return nil, frameSize, nil
	}
	size := int(int32(binary.BigEndian.Uint32(p)))
	if size < 8 || size > maxFrame {
		return nil, 0, fmt.Errorf("a request of %d bytes", size)
	}
	if len(p) < frameSize+size {
		return nil, frameSize + size, nil
	}
	return p[frameSize : frameSize+size], 0, nil
}

// room is in with at least need bytes, its content kept.
func room(in []byte, need int) []byte {
	if need <= len(in) {
		return in
	}
	return append(in, make([]byte, need-len(in))...)
}
