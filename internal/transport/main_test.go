package transport

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"

	"go.uber.org/goleak"

	"linger/internal/link"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inbox takes the place of the engine's: events come out one by one.
type inbox chan link.Event

func newInbox() inbox { return make(inbox, 4096) }

func (in inbox) post(e link.Event) { in <- e }

// want takes the next event and fails when it is of another kind.
func (in inbox) want(t *testing.T, kind link.EventKind) link.Event {
	t.Helper()
	e := <-in
	if e.Kind != kind {
		t.Fatalf("got event %v of link %d (error %v), want %v", e.Kind, e.Link, e.Err, kind)
	}
	return e
}

// wantEnd is want(Closed) of a link that the peer ends: Ending comes first, with the same reason.
func (in inbox) wantEnd(t *testing.T) link.Event {
	t.Helper()
	ending := in.want(t, link.Ending)
	e := in.want(t, link.Closed)
	if ending.Link != e.Link || ending.Err != e.Err {
		t.Errorf("link %d ends (%v) and link %d is closed (%v)", ending.Link, ending.Err, e.Link, e.Err)
	}
	return e
}

// wantNone fails when an event is waiting.
func (in inbox) wantNone(t *testing.T) {
	t.Helper()
	select {
	case e := <-in:
		t.Fatalf("got event %v of link %d (error %v), want none", e.Kind, e.Link, e.Err)
	default:
	}
}

// pipeDialer gives each dial one end of an in-memory connection and hands the other end out in peers.
func pipeDialer() (DialFunc, chan net.Conn) {
	peers := make(chan net.Conn, 16)
	return func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		peers <- theirs
		return ours, nil
	}, peers
}

func dialOrder(id link.ID, addr string) link.Order {
	return link.Order{Kind: link.Dial, Link: id, Addr: addr, SendBuf: -1, RecvBuf: -1}
}

func writeOrder(id link.ID, corr int32, pieces ...[]byte) link.Order {
	return link.Order{Kind: link.Write, Link: id, Corr: corr, Vec: pieces}
}

func closeOrder(id link.ID, why error) link.Order {
	return link.Order{Kind: link.Close, Link: id, Err: why}
}

func do(t *Transport, orders ...link.Order) { t.Do(orders) }

// frame puts the length prefix before body.
func frame(body string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// readN reads exactly n bytes from the peer's end.
func readN(t *testing.T, c io.Reader, n int) string {
	t.Helper()
	b := make([]byte, n)
	if _, err := io.ReadFull(c, b); err != nil {
		t.Fatalf("peer reads %d bytes: %v", n, err)
	}
	return string(b)
}

// serve listens on the loopback interface and runs handle for each connection; both end with the test.
func serve(t *testing.T, handle func(net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var handlers []chan struct{}
		for {
			c, err := l.Accept()
			if err != nil {
				break
			}
			h := make(chan struct{})
			handlers = append(handlers, h)
			go func() {
				defer close(h)
				defer c.Close()
				handle(c)
			}()
		}
		for _, h := range handlers {
			<-h
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return l.Addr().String()
}

// reset has the close of c, which is to come, reset the connection.
func reset(c *net.TCPConn) { _ = c.SetLinger(0) }
