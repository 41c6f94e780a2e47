package transport

import (
	"bufio"
	"net"

	"linger/internal/link"
)

const (
	// coalesceLimit bounds in bytes what goes out in one call together with another request. Written of the first comes when
	// the last is handed over, so only small requests wait for each other.
	coalesceLimit = 64 << 10
	// writeBufferSize is the scratch in bytes of a connection that cannot write a vector: without it a TLS connection would
	// make a record of each piece. Longer pieces go past it uncopied.
	writeBufferSize = 16 << 10
)

// request is one whole request, its length prefix included.
type request struct {
	corr int32
	vec  [][]byte
}

// writeLoop writes requests in the order they were queued until the link ends, and tells which are fully handed over.
func (c *connection) writeLoop(conn net.Conn) error {
	w := newWriter(conn)
	var next request
	held := false // next did not fit into the call before
	for {
		if !held {
			select {
			case <-c.ctx.Done():
				return nil
			case next = <-c.writes:
			}
		}
		w.take(next)
		next, held = c.fill(w)
		if err := w.flush(); err != nil {
			return err
		}
		for _, corr := range w.corrs {
			c.t.post(link.Event{Kind: link.Written, Link: c.id, Corr: corr})
		}
		w.reset()
	}
}

// fill lets w take what is queued already, and returns the request that did not fit.
func (c *connection) fill(w *writer) (request, bool) {
	for {
		select {
		case r := <-c.writes:
			if !w.take(r) {
				return r, true
			}
		default:
			return request{}, false
		}
	}
}

// writer turns requests into as few calls as the connection allows. Only the write loop touches it. Its arrays are used again.
type writer struct {
	conn   net.Conn
	buf    *bufio.Writer // nil when conn has writev
	pieces [][]byte      // of the requests taken
	bufs   net.Buffers   // the same slice while it is written: WriteTo eats it up
	corrs  []int32       // of the requests taken
	size   int           // bytes taken
}

func newWriter(conn net.Conn) *writer {
	w := &writer{conn: conn}
	switch conn.(type) {
	case *net.TCPConn, *net.UnixConn:
	default:
		w.buf = bufio.NewWriterSize(conn, writeBufferSize)
	}
	return w
}

// take adds r to the next call: the first request always, another one while all together stay small.
func (w *writer) take(r request) bool {
	size := 0
	for _, piece := range r.vec {
		size += len(piece)
	}
	if len(w.corrs) > 0 && w.size+size > coalesceLimit {
		return false
	}
	w.size += size
	w.pieces = append(w.pieces, r.vec...)
	w.corrs = append(w.corrs, r.corr)
	return true
}

// flush returns when the connection has all that was taken.
func (w *writer) flush() error {
	if w.buf == nil {
		w.bufs = w.pieces
		_, err := w.bufs.WriteTo(w.conn)
		return err
	}
	for _, piece := range w.pieces {
		if _, err := w.buf.Write(piece); err != nil {
			return err
		}
	}
	return w.buf.Flush()
}

// reset forgets the requests, whose memory is no longer ours.
func (w *writer) reset() {
	clear(w.pieces)
	w.pieces, w.bufs, w.corrs, w.size = w.pieces[:0], nil, w.corrs[:0], 0
}
