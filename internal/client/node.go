package client

import (
	"fmt"
	"time"

	"linger/internal/clock"
	"linger/internal/link"
	"linger/internal/metadata"
)

// State is how far the connection to a node has got.
type State uint8

const (
	// Unknown: the node was never tried.
	Unknown State = iota
	// Down: it was lost, or could not be reached (Java: DISCONNECTED).
	Down
	// Connecting: its name is being resolved or its address dialled, TLS included.
	Connecting
	// Authenticating: the client logs in by SASL.
	Authenticating
	// CheckingVersions: ApiVersions is asked for.
	CheckingVersions
	// Ready: it takes requests, unless it throttles us or has enough of them.
	Ready
	// Unauthenticated is Down with a reason that trying again seldom cures (Java: AUTHENTICATION_FAILED).
	Unauthenticated
)

func (s State) String() string {
	return [...]string{"unknown", "down", "connecting", "authenticating", "checking versions", "ready", "unauthenticated"}[s]
}

func (s State) down() bool      { return s == Unknown || s == Down || s == Unauthenticated }
func (s State) connected() bool { return s == Authenticating || s == CheckingVersions || s == Ready }

// node is one broker, or one bootstrap address with an id below zero (Java: NodeConnectionState).
//
//	state               left to                              reset on entering
//	Unknown, Down       Connecting                           –
//	Connecting          Authenticating,                      attempt time
//	                    CheckingVersions, Down,
//	                    Unauthenticated
//	Authenticating      CheckingVersions, Down,              failed set-ups
//	                    Unauthenticated
//	CheckingVersions    Ready, Down, Unauthenticated         failed set-ups
//	Ready               Down, Unauthenticated                failed set-ups, failed attempts, refusals, last error
type node struct {
	metadata.Node
	known bool // in the present cluster
	state State

	lastAttempt    clock.Instant // when it was last dialled or lost; -1 while Unknown
	failedAttempts int64
	failedSetups   int64
	backoff        time.Duration // from lastAttempt until the next attempt
	setup          time.Duration // how long Connecting may last
	throttledUntil clock.Instant

	addresses addresses
	resolving bool
	link      *conn // from Dial until Closed; while it is being closed the state is Down already

	versions versionTable
	features Features
	lastErr  error

	trouble    error         // as lastErr, until a request is answered again
	troubledAt clock.Instant // when that was
	refusals   int64         // attempts in a row that failed authentication
	suspicions int           // see suspect
	reached    bool          // a connection stood once, with TLS where configured
	cuts       int           // attempts in a row that ended inside the TLS handshake; see suspectPlain
}

// conn is one link.
type conn struct {
	id         link.ID
	node       *node
	addr       string
	up         bool
	retiring   bool // the node has moved: nothing new goes out, and the link ends when it is idle
	closing    bool // we ordered its end, for the reason below
	why        reason
	err        error
	requests   []*Request // in flight, oldest first
	unwritten  int
	hello      *Request // ApiVersions while CheckingVersions
	lastActive clock.Instant

	auth        *exchange     // while SASL runs
	authVersion int16         // of SaslAuthenticate, as the broker's answer before the login allows
	authCorr    int32         // the next correlation id of an exchange
	served      bool          // it has answered more than the machine's own requests
	reauthAt    clock.Instant // the session must be renewed before anything is sent from then on
}

func (n *node) String() string { return fmt.Sprintf("%d (%s:%d)", n.ID, n.Host, n.Port) }

func (n *node) idle() bool { return n.link == nil || len(n.link.requests) == 0 }

// node finds the node or makes one.
func (m *Machine) node(d metadata.Node) *node {
	n := m.byID[d.ID]
	if n == nil {
		n = &node{Node: d, lastAttempt: -1}
		m.byID[d.ID] = n
		m.all = append(m.all, n)
	}
	return n
}

// becomeConnecting starts an attempt and moves to the next address (Java: ClusterConnectionStates.connecting).
func (m *Machine) becomeConnecting(now clock.Instant, n *node) {
	if n.state == Unknown {
		n.backoff = m.reconnect.Duration(0, m.o.Rand.Float64())
		n.setup = m.setup.Duration(0, m.o.Rand.Float64())
	}
	n.state = Connecting
	n.lastAttempt = now
	n.addresses.next()
	m.wakeAt(n.setupDeadline())
}

func (n *node) setupDeadline() clock.Instant { return past(n.lastAttempt.Add(n.setup)) }

// becomeAuthenticating says that the connection stands. From here on request.timeout.ms bounds the attempt.
func (m *Machine) becomeAuthenticating(n *node) {
	n.state = Authenticating
	m.resetSetup(n)
}

// becomeChecking says that the connection stands and the broker lets us in. From here on request.timeout.ms bounds the attempt.
func (m *Machine) becomeChecking(n *node) {
	n.state = CheckingVersions
	m.resetSetup(n)
}

// becomeReady forgets earlier failures.
func (m *Machine) becomeReady(n *node) {
	n.state = Ready
	n.lastErr = nil
	n.failedAttempts = 0
	n.refusals, m.refusals = 0, 0
	n.backoff = m.reconnect.Duration(0, m.o.Rand.Float64())
	m.resetSetup(n)
}

// becomeDown starts the back-off (Java: ClusterConnectionStates.disconnected). The addresses of a node that had been
// reached are resolved anew: it may have moved.
func (m *Machine) becomeDown(now clock.Instant, n *node, to State) {
	n.lastAttempt = now
	m.growBackoff(n)
	if n.state == Connecting {
		n.failedSetups++
		n.setup = m.setup.Duration(n.failedSetups, m.o.Rand.Float64())
	} else {
		m.resetSetup(n)
		if n.state.connected() {
			n.addresses.forget()
		}
	}
	if to == Unauthenticated {
		n.refusals++
		m.refusals++
		m.growBackoff(n) // twice, as in Java: disconnected, then authenticationFailed
	}
	n.state = to
	n.resolving = false
	n.versions, n.features = nil, Features{}
	m.wakeAt(n.backoffEnd())
}

func (n *node) backoffEnd() clock.Instant { return n.lastAttempt.Add(n.backoff) }

func (m *Machine) growBackoff(n *node) {
	n.backoff = m.reconnect.Duration(n.failedAttempts, m.o.Rand.Float64())
	n.failedAttempts++
}

func (m *Machine) resetSetup(n *node) {
	n.failedSetups = 0
	n.setup = m.setup.Duration(0, m.o.Rand.Float64())
}
