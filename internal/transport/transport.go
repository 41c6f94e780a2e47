package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"

	"linger/internal/link"
	"linger/internal/sasl"
)

// DialFunc opens a connection: network is "tcp", address an "ip:port". It must give up when ctx is cancelled.
type DialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// ResolveFunc finds the IP addresses of host, best first. It must give up when ctx is cancelled.
type ResolveFunc = func(ctx context.Context, host string) ([]string, error)

// Options is what a Transport is made of.
type Options struct {
	// Dialer opens connections; nil dials TCP. It is called on the link's own goroutine.
	Dialer DialFunc
	// Resolver looks names up; nil asks the system and puts IPv4 first, as Java does. It is called on a goroutine of its own,
	// and not for IP addresses.
	Resolver ResolveFunc
	// TLS is the configuration for one connection to host, the name or IP address that was dialled; it becomes the
	// connection's own. It is called on the link's own goroutine. Nil: connections are plain text.
	TLS func(host string) *tls.Config
	// Post takes an event. It is called from many goroutines and must not block for long. Events of one link arrive in order,
	// except that an answer may overtake the Written of its own request.
	Post func(link.Event)
	// SASL computes what brokers are answered during a login; nil when there is none, and then no Challenge is ordered.
	SASL sasl.Mechanism
	// FrameLimit is the largest response in bytes that is believed, its length prefix not counted; 0 means wire.DefaultFrameLimit.
	FrameLimit int
}

// Transport carries out orders. Do and Wait are for one goroutine, the engine's.
type Transport struct {
	dial       DialFunc
	names      Names
	tls        func(host string) *tls.Config // nil: plain text
	post       func(link.Event)
	sasl       sasl.Mechanism
	frameLimit int

	ctx    context.Context // of everything that runs; Wait cancels it
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // one per link and per name being resolved

	mu    sync.Mutex
	links map[link.ID]*connection // until just before their Closed event
}

// errStopped ends the links that are still there when Wait is called.
var errStopped = errors.New("transport stopped")

// errOrdered is the reason of a Close order that gives none; Closed then carries no error.
var errOrdered = errors.New("closed by order")

// New returns a Transport without a goroutine; orders start them.
func New(o Options) *Transport {
	t := &Transport{
		dial:       o.Dialer,
		names:      Names{Resolver: o.Resolver},
		tls:        o.TLS,
		post:       o.Post,
		sasl:       o.SASL,
		frameLimit: o.FrameLimit,
		links:      make(map[link.ID]*connection),
	}
	if t.dial == nil {
		t.dial = (&net.Dialer{}).DialContext
	}
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	return t
}

// Do carries out the orders in turn and never waits for the network. It keeps the memory of Vec until Written or Closed,
// but not the slice of orders. An order for a link that has ended is ignored: its Closed event is on its way.
func (t *Transport) Do(orders []link.Order) {
	for i := range orders {
		o := &orders[i]
		switch o.Kind {
		case link.Resolve:
			t.wg.Add(1)
			go t.lookUp(o.Host)
		case link.Dial:
			t.open(o)
		case link.Write:
			if c := t.find(o.Link); c != nil {
				c.queue(request{corr: o.Corr, vec: o.Vec})
			}
		case link.Close:
			if c := t.find(o.Link); c != nil {
				reason := o.Err
				if reason == nil {
					reason = errOrdered
				}
				c.end(reason)
			}
		case link.Challenge:
			t.challenge(o)
		}
	}
}

// Wait ends what is still running, links and look-ups, and returns when every goroutine has. Each link has had its Closed
// event by then. Nothing may be ordered after it.
func (t *Transport) Wait() {
	t.cancel(errStopped)
	t.wg.Wait()
}

func (t *Transport) open(o *link.Order) {
	c := newConnection(t, o)
	t.mu.Lock()
	t.links[c.id] = c
	t.mu.Unlock()
	t.wg.Add(1)
	go c.run()
}

func (t *Transport) find(id link.ID) *connection {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.links[id]
}

func (t *Transport) forget(id link.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.links, id)
}
