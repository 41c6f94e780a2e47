package sim

import (
	"errors"
	"strings"
	"time"

	"linger/internal/clock"
	"linger/internal/link"
	"linger/internal/wire"
)

// network plays the transport and the wires: links keep the promises of package link, whatever happens to them.
type network struct {
	w     *world
	links map[link.ID]*socket
	open  int
}

// socket is one link.
//
//	dialling ──► up ──► closing ──► closed
//	   └─────────────────────┴────────┘
type socket struct {
	w      *world
	id     link.ID
	broker *broker
	state  socketState

	writes   []write       // orders not carried out yet, oldest first
	busy     bool          // the first of them is being written
	buried   bool          // nothing comes back any more: an answer was lost
	arrivals clock.Instant // when the last frame from the broker arrives
	told     clock.Instant // when the last Written is reported
	lastUse  clock.Instant
	queued   int // requests at the broker or on their way there, not handled yet
	open     int // requests that are to be answered and have not been
}

type socketState uint8

const (
	dialling socketState = iota
	up
	closing
	closed
)

// write is one request on its way into the socket.
type write struct {
	corr int32
	vec  [][]byte
	read []byte // what the socket has taken so far
	at   int    // which slice of vec is next
	from int    // where in it
}

var (
	errRefused = errors.New("connection refused")
	errReset   = errors.New("connection reset by peer")
	errNoHost  = errors.New("no such host")
)

func (n *network) start(w *world) {
	n.w = w
	n.links = make(map[link.ID]*socket)
}

func (n *network) do(o *link.Order) {
	n.w.trace.note(n.w.now, "order", "kind %d link %d corr %d", int64(o.Kind), int64(o.Link), int64(o.Corr))
	n.w.trace.text(n.w.now, "order", "%v", o)
	switch o.Kind {
	case link.Resolve:
		n.resolve(o.Host)
	case link.Dial:
		n.dial(o)
	case link.Write:
		c := n.links[o.Link]
		if c == nil || c.state != up {
			if c == nil {
				n.w.fail("write ordered on link %d, which was never dialled", o.Link)
			}
			return // Closed is on its way, and says it all
		}
		c.writes = append(c.writes, write{corr: o.Corr, vec: o.Vec})
		c.countOpen()
		c.writeNext()
	case link.Close:
		if c := n.links[o.Link]; c != nil {
			c.close(o.Err, true)
		} else {
			n.w.fail("close ordered on link %d, which was never dialled", o.Link)
		}
	}
}

// countOpen checks that no more requests are on their way than may be.
func (c *socket) countOpen() {
	s := &c.w.set
	if s.acks == 0 {
		return
	}
	switch c.open++; {
	case c.open > s.maxInFlight:
		c.w.fail("%d requests are in flight on link %d, %d may be", c.open, c.id, s.maxInFlight)
	case c.open == s.maxInFlight && c.open > 1:
		c.w.reach(FullPipe)
	}
}

func (n *network) resolve(host string) {
	w := n.w
	w.after(w.dice.upTo(2*time.Millisecond), func() {
		e := link.Event{Kind: link.Resolved, Host: host}
		if w.linkFault(NameUnknown) {
			e.Err = errNoHost
		} else {
			e.Addrs = []string{"10.0.0." + strings.TrimPrefix(host, "broker")}
			w.reach(NameResolved)
		}
		w.event(e)
	})
}

func (n *network) dial(o *link.Order) {
	w := n.w
	if n.links[o.Link] != nil {
		w.fail("link %d dialled twice", o.Link)
		return
	}
	c := &socket{w: w, id: o.Link, broker: w.cluster.at(o.Addr)}
	n.links[o.Link] = c
	n.open++
	delay := w.dice.upTo(2 * w.set.latency)
	slow := w.linkFault(DialSlow)
	if slow {
		delay += time.Duration(w.set.setupMaxMs) * 2 * time.Millisecond
	}
	refused := !slow && w.linkFault(DialRefused)
	w.after(delay, func() {
		switch {
		case c.state != dialling:
		case refused || c.broker == nil || !c.broker.up:
			c.close(errRefused, false)
		default:
			c.state, c.lastUse = up, w.now
			w.reach(LinkUp)
			w.event(link.Event{Kind: link.Up, Link: c.id})
			c.watchIdle()
		}
	})
}

// linkFault decides whether a connection meets the fault now.
func (w *world) linkFault(f Fault) bool {
	if w.healed || !w.dice.chance(w.set.linkFaults/3) {
		return false
	}
	w.fault(f)
	return true
}

// watchIdle lets the broker close a link that nobody uses, now and then.
func (c *socket) watchIdle() {
	wait := c.w.dice.ms(40, 120)
	c.w.after(wait, func() {
		switch {
		case c.state != up || c.w.healed:
		case c.busy || c.queued > 0 || c.w.now.Sub(c.lastUse) < wait:
			c.watchIdle()
		case c.w.dice.chance(0.2):
			c.w.fault(IdleCut)
			c.cut(errReset)
		}
	})
}

// writeNext begins with the oldest order, unless a write is going on.
//
// The bytes are taken when they leave and not before: all at the end of an ordinary write, and piece by piece of a slow
// one. Until then they belong to the machine, which must not touch them.
func (c *socket) writeNext() {
	w := c.w
	if c.busy || len(c.writes) == 0 || c.state != up {
		return
	}
	c.busy = true
	size := c.writes[0].size()
	took, pieces := time.Duration(w.dice.IntN(300_000)), 1
	cut := false
	if w.linkFault(WriteSlow) {
		took, pieces = w.dice.ms(10, int(w.set.requestTimeout.Milliseconds())*3/2), 4
	} else if size > 0 && w.linkFault(CutWriting) {
		took, pieces, cut = w.dice.ms(1, 30), 4, true
	}
	stop := pieces
	if cut {
		stop = w.dice.between(1, pieces-1)
	}
	for i := 1; i <= stop; i++ {
		share := size * i / pieces
		last := i == stop
		w.after(took*time.Duration(i)/time.Duration(pieces), func() {
			if c.state != up {
				return
			}
			c.writes[0].take(share)
			switch {
			case !last:
			case cut:
				c.cut(errReset)
			default:
				c.wrote()
			}
		})
	}
}

// size is how many bytes there are to write.
func (x *write) size() (n int) {
	for _, part := range x.vec {
		n += len(part)
	}
	return n
}

// take copies bytes until upTo of them have been taken.
func (x *write) take(upTo int) {
	for len(x.read) < upTo && x.at < len(x.vec) {
		part := x.vec[x.at][x.from:]
		n := min(len(part), upTo-len(x.read))
		x.read = append(x.read, part[:n]...)
		if x.from += n; x.from == len(x.vec[x.at]) {
			x.at, x.from = x.at+1, 0
		}
	}
}

// wrote ends a write: the socket has all bytes, the broker will, and the machine is told.
func (c *socket) wrote() {
	w := c.w
	x := c.writes[0]
	c.writes = c.writes[:copy(c.writes, c.writes[1:])]
	c.busy = false
	c.lastUse = w.now
	x.vec = nil
	c.queued++
	w.after(w.set.latency, func() {
		if c.state >= closing || !c.broker.arrive(c, x.read) {
			c.queued--
		}
	})
	c.told = max(c.told, w.now)
	if w.linkFault(WrittenLate) {
		c.told = c.told.Add(w.dice.ms(1, 60))
	}
	w.agenda.add(c.told, func() {
		if c.state == closed {
			return // the reader had already returned: Closed stands for it
		}
		w.reach(LinkWritten)
		w.event(link.Event{Kind: link.Written, Link: c.id, Corr: x.corr})
	})
	c.writeNext()
}

// answer brings a frame of the broker's to the machine. Frames of one link stay in order, however late one is.
func (c *socket) answer(frame []byte, extra time.Duration) {
	if c.state != up || c.buried {
		return
	}
	w := c.w
	c.arrivals = max(c.arrivals, w.now.Add(w.set.latency/2+w.dice.upTo(w.set.latency)+extra))
	w.agenda.add(c.arrivals, func() {
		if c.state != up {
			return
		}
		c.lastUse = w.now
		c.open--
		w.reach(LinkReceived)
		w.event(link.Event{Kind: link.Received, Link: c.id, Frame: frame})
	})
}

// cut ends the link from the broker's side.
func (c *socket) cut(err error) { c.close(err, false) }

// close ends the link: at once for the broker, a moment later for the machine, which is told once. Until then the
// socket may still be reading the request that was being written, so its bytes must still be what they were.
func (c *socket) close(err error, ours bool) {
	if c.state >= closing {
		return
	}
	w := c.w
	c.state = closing
	w.after(w.dice.upTo(3*time.Millisecond), func() {
		for i := range c.writes {
			c.lookUnbroken(&c.writes[i])
		}
		c.state, c.writes = closed, nil
		w.net.open--
		if ours {
			w.reach(LinkClosedByUs)
		} else {
			w.reach(LinkClosedByPeer)
		}
		w.event(link.Event{Kind: link.Closed, Link: c.id, Err: err})
	})
}

// lookUnbroken reads a request that goes nowhere any more as the socket might have.
func (c *socket) lookUnbroken(x *write) {
	x.take(x.size())
	if h, body, err := readHeader(x.read); err != nil {
		c.w.fail("a request changed while it was being written: %v", err)
	} else if h.key == wire.KeyProduce {
		if _, err := readProduce(h, body); err != nil {
			c.w.fail("a produce request changed while it was being written: %v", err)
		}
	}
}

// quiet reports whether no request is on its way to a broker or waits at one.
func (n *network) quiet() bool {
	for _, c := range n.links {
		if c.queued > 0 || len(c.writes) > 0 {
			return false
		}
	}
	return true
}

// cutAll ends every link of the broker.
func (n *network) cutAll(b *broker) {
	for id := link.ID(1); id <= link.ID(len(n.links)); id++ { // in order: a map has none
		if c := n.links[id]; c != nil && c.broker == b {
			c.cut(errReset)
		}
	}
}
