package client

import (
	"math/rand/v2"
	"time"

	"linger/internal/backoff"
	"linger/internal/clock"
	"linger/internal/link"
)

// Options are the client's limits, named for Kafka's keys.
type Options struct {
	ClientID string // client.id
	// SoftwareVersion is this library's, for ApiVersions (KIP-511); empty sends "unknown".
	SoftwareVersion string
	MaxInFlight     int           // max.in.flight.requests.per.connection, at least 1
	RequestTimeout  time.Duration // request.timeout.ms
	// MaxIdle is connections.max.idle.ms; below zero idle connections are kept.
	MaxIdle time.Duration

	ReconnectBackoffMs, ReconnectBackoffMaxMs int64 // reconnect.backoff.ms, reconnect.backoff.max.ms
	SetupTimeoutMs, SetupTimeoutMaxMs         int64 // socket.connection.setup.timeout.ms, …max.ms
	SendBuf, RecvBuf                          int   // send.buffer.bytes, receive.buffer.bytes; -1 the system's

	// RetryBackoff is the pause between two attempts to resolve the bootstrap names (retry.backoff.ms).
	RetryBackoff time.Duration
	// Rebootstrap obeys a broker that asks to start over (metadata.recovery.strategy=rebootstrap, KIP-1242), and
	// ClusterCheck gives brokers what they need to notice (metadata.cluster.check.enable).
	Rebootstrap, ClusterCheck bool

	// SASL is the mechanism to log in with before anything else (sasl.mechanism with a SASL security.protocol); empty: none.
	SASL string
	// Unsecured is the security.protocol of a client without SASL, such as PLAINTEXT, for the suspicion that brokers want a
	// login (see suspect); empty suspects nothing.
	Unsecured string

	// Rand is the only source of randomness: jitter, and where the search for the least loaded node starts.
	Rand *rand.Rand
}

// Machine is the step machine. Only one goroutine may call it.
type Machine struct {
	o         Options
	reconnect backoff.Exponential
	setup     backoff.Exponential

	nodes   []*node // the present cluster, in its order
	all     []*node // those and the ones that have left but still have a past; in order of first appearance
	byID    map[int32]*node
	links   map[link.ID]*conn // every dialled link that has not reported Closed
	lookups map[string]bool   // names being resolved

	nextLink    link.ID
	corr        int32
	clusterID   string
	finalized   Features
	boot        *bootstrap
	served      bool  // some broker has answered more than ApiVersions
	refusals    int64 // attempts that failed authentication since some node was last ready
	rebootstrap bool  // a broker asked for it
	closed      bool

	// wake is not later than the earliest deadline of any node. Deadlines that vanish do not raise it: the next scan
	// does, so that sending costs no scan.
	wake clock.Instant

	orders  []link.Order
	answers []Answer
	losses  []Loss
	logs    []LogLine
	idle    []*conn // scratch of closeIdle
}

// New makes a machine that knows no brokers.
func New(o Options) *Machine {
	if o.SoftwareVersion == "" {
		o.SoftwareVersion = "unknown"
	}
	return &Machine{
		o:         o,
		reconnect: backoff.NewExponential(o.ReconnectBackoffMs, backoff.ReconnectMultiplier, o.ReconnectBackoffMaxMs, backoff.ReconnectJitter),
		setup:     backoff.NewExponential(o.SetupTimeoutMs, backoff.ConnectionSetupMultiplier, o.SetupTimeoutMaxMs, backoff.ConnectionSetupJitter),
		byID:      make(map[int32]*node),
		links:     make(map[link.ID]*conn),
		lookups:   make(map[string]bool),
		finalized: Features{Epoch: -1},
		wake:      clock.Never,
	}
}

// ClientID is Options.ClientID.
func (m *Machine) ClientID() string { return m.o.ClientID }

// SASL numbers its requests from the top of the range (Java: SaslClientAuthenticator), so that their answers can be told
// from ours.
const firstReservedCorr = 1<<31 - 8

// NextCorr is a fresh correlation id. It counts from 0, leaves out the reserved range and goes on from the smallest
// number: ids below zero are as good as any.
func (m *Machine) NextCorr() int32 {
	if m.corr >= firstReservedCorr {
		m.corr = -1 << 31
	}
	c := m.corr
	m.corr++
	return c
}

// Handle takes one event of the transport's.
func (m *Machine) Handle(now clock.Instant, e link.Event) {
	if e.Kind == link.Resolved {
		m.resolved(now, &e)
		return
	}
	c := m.links[e.Link]
	if c == nil {
		return
	}
	switch e.Kind {
	case link.Up:
		m.linkUp(now, c)
	case link.Written:
		m.written(now, c, e.Corr)
	case link.Received:
		m.received(now, c, e.Frame)
	case link.Ending:
		m.linkEnding(now, c, e.Err)
	case link.Closed:
		m.linkClosed(now, c, e.Err)
	case link.Proof:
		m.proof(now, c, &e)
	}
}

// Orders appends what the transport shall do, in order, and forgets it.
func (m *Machine) Orders(dst []link.Order) []link.Order {
	dst = append(dst, m.orders...)
	clear(m.orders)
	m.orders = m.orders[:0]
	return dst
}

// Answers appends the requests that have ended, per connection in the order in which they were sent, and forgets them.
func (m *Machine) Answers(dst []Answer) []Answer {
	dst = append(dst, m.answers...)
	clear(m.answers)
	m.answers = m.answers[:0]
	return dst
}

// NextWake is when Tick has something to do even if nothing happens; clock.Never when only events matter. It may be
// early, never late.
func (m *Machine) NextWake() clock.Instant { return m.wake }

func (m *Machine) wakeAt(t clock.Instant) { m.wake = min(m.wake, t) }

// Connections counts what is open.
type Connections struct {
	Links      int // dialled and not reported closed, those being closed included
	Connecting int // nodes that resolve, dial or log in
	Ready      int // nodes that could take a request
	InFlight   int // requests that have not ended
}

// Connections counts what is open, for metrics and for an orderly end: after CloseAll there is nothing left to wait for
// once Links is 0.
func (m *Machine) Connections() Connections {
	n := Connections{Links: len(m.links)}
	for _, nd := range m.all {
		switch nd.state {
		case Connecting, Authenticating:
			n.Connecting++
		case Ready:
			n.Ready++
		}
		if nd.link != nil {
			n.InFlight += len(nd.link.requests)
		}
	}
	return n
}
