package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"linger/internal/link"
	"linger/internal/sasl"
)

// writeQueueLimit is how many requests may wait for a link's writer. The client sends to a broker only when its newest
// request there is fully written, so a queue rarely holds more than one; the rest is slack for the handshake.
const writeQueueLimit = 32

var errQueueFull = fmt.Errorf("more than %d requests wait to be written", writeQueueLimit)

// connection is one link, from its dial to its Closed event.
type connection struct {
	t      *Transport
	id     link.ID
	dial   link.Order
	ctx    context.Context // ends with the reason why the link ends; the first reason stays
	end    context.CancelCauseFunc
	writes chan request // engine → writer

	secured *secured // nil: plain text; the reader's

	session   sasl.Session   // the newest; only the goroutine of the challenge that is out touches it
	exchanges sync.WaitGroup // challenges that are out; none is added once the transport has forgotten the link
}

func newConnection(t *Transport, o *link.Order) *connection {
	c := &connection{t: t, id: o.Link, dial: *o, writes: make(chan request, writeQueueLimit)}
	c.ctx, c.end = context.WithCancelCause(t.ctx)
	return c
}

// queue hands a request to the writer, or to nobody when the link ends first.
func (c *connection) queue(r request) {
	select {
	case c.writes <- r:
	default:
		c.end(errQueueFull)
	}
}

// run is the link's own goroutine: it dials, then reads. Whatever ends the link is found in its context; Wait of the
// transport waits for run.
//
// A dialer or a connection of the application's own may end the goroutine that it is called on (runtime.Goexit, as a test's
// FailNow does). What must happen at a link's end is therefore deferred, here and in serve.
func (c *connection) run() {
	defer c.t.wg.Done()
	defer c.ended()
	if conn, err := c.establish(); err != nil {
		c.end(err)
	} else {
		c.serve(conn)
	}
}

var errGone = errors.New("the connection ended the goroutine that it was used on")

// ended tells the engine, once, when nothing of the link runs any more.
func (c *connection) ended() {
	c.end(errGone) // in the usual case there is a reason already
	c.t.forget(c.id)
	c.exchanges.Wait()
	reason := context.Cause(c.ctx)
	if errors.Is(reason, errOrdered) {
		reason = nil
	}
	c.t.post(link.Event{Kind: link.Closed, Link: c.id, Err: reason})
}

// serve runs both halves over conn and returns when both have ended and conn is closed.
//
// The story of an end: A (an order, the reader's or the writer's error, Wait) cancels the context. The closer runs and
// closes conn; reads and writes under way fail; each half returns, its own late reason losing against A's. A half that
// stands in no call sees the context itself: the writer in its select, the reader at its next read.
func (c *connection) serve(conn net.Conn) {
	closed := make(chan struct{})
	context.AfterFunc(c.ctx, func() {
		defer close(closed)
		conn.Close()
	})
	c.t.post(link.Event{Kind: link.Up, Link: c.id})

	written, readerDone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		defer c.end(errGone)
		err := c.writeLoop(conn)
		if isReset(err) {
			// A broker that turns us away says why and hangs up: the reader, whose end is near, still finds that in the socket.
			select {
			case <-readerDone:
			case <-c.ctx.Done():
			}
		}
		c.end(err)
	}()
	defer func() {
		c.end(errGone)
		close(readerDone)
		<-written
		<-closed
	}()
	err := c.readLoop(conn)
	if c.ctx.Err() == nil {
		// The writer has yet to return. Told only then, the client would in the meantime give a dead link a request.
		c.t.post(link.Event{Kind: link.Ending, Link: c.id, Err: err})
	}
	c.end(err)
}
