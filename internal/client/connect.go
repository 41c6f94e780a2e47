package client

import (
	"errors"
	"math"
	"slices"
	"time"

	"linger/internal/clock"
	"linger/internal/kerr"
	"linger/internal/link"
	"linger/internal/metadata"
)

var errNoAddress = errors.New("the name has no address")

// forgetAfter is how long a node that has left the cluster keeps its back-off.
const forgetAfter = 10 * time.Minute

// SetNodes makes nodes, in this order, the cluster. A node that has a new address keeps its link until what is in
// flight on it is over, takes nothing new there, and is dialled anew. A node that is no longer listed keeps its link
// until it falls idle: batches on their way may still be answered.
func (m *Machine) SetNodes(now clock.Instant, nodes []metadata.Node) {
	for _, n := range m.all {
		n.known = false
	}
	m.nodes = m.nodes[:0]
	for _, d := range nodes {
		n := m.node(d)
		if n.known {
			continue // listed twice
		}
		n.known = true
		moved := n.Host != d.Host || n.Port != d.Port
		renamed := n.Host != d.Host
		n.Node = d
		if renamed {
			n.addresses = addresses{}
			n.failedAttempts, n.failedSetups = 0, 0
		}
		if moved {
			m.move(now, n, renamed)
		}
		m.nodes = append(m.nodes, n)
	}
	m.forgetOld(now)
}

// move leaves the old address of n.
func (m *Machine) move(now clock.Instant, n *node, renamed bool) {
	c := n.link
	switch {
	case c == nil && n.resolving && renamed:
		_ = m.lost(now, n, moved, nil)
	case c == nil || c.closing:
	case n.idle():
		m.abandon(now, c, moved, nil)
	default:
		c.retiring = true
	}
}

// forgetOld drops nodes that have left the cluster and whose past no longer matters.
func (m *Machine) forgetOld(now clock.Instant) {
	kept := m.all[:0]
	for _, n := range m.all {
		if !n.known && n.link == nil && n.state.down() && now.Sub(n.lastAttempt) > forgetAfter {
			delete(m.byID, n.ID)
			continue
		}
		kept = append(kept, n)
	}
	clear(m.all[len(kept):])
	m.all = kept
}

// SetClusterID tells the machine which cluster it believes to talk to; brokers may check it (KIP-1242).
func (m *Machine) SetClusterID(id string) { m.clusterID = id }

// CanConnect reports whether the node has no connection and its back-off is over.
func (m *Machine) CanConnect(now clock.Instant, nodeID int32) bool {
	n := m.byID[nodeID]
	return n != nil && m.canConnect(now, n)
}

// canConnect is Java's rule, and: the last link has reported its end. Else requests that are still held by it would be
// overtaken by newer ones.
func (m *Machine) canConnect(now clock.Instant, n *node) bool {
	if m.closed || !n.state.down() || n.link != nil {
		return false
	}
	return n.state == Unknown || now >= n.backoffEnd()
}

// Connect is for who has something to send to a node that is not Ready: it starts a connection if the node has none and its
// back-off is over, logs in anew on one whose SASL session must be renewed (KIP-368), and else does nothing.
func (m *Machine) Connect(now clock.Instant, nodeID int32) {
	n := m.byID[nodeID]
	if n == nil {
		return
	}
	if n.mayRenew(now) {
		m.reauthenticate(now, n.link)
		return
	}
	if !m.canConnect(now, n) {
		return
	}
	m.becomeConnecting(now, n)
	if len(n.addresses.list) == 0 {
		n.resolving = true
		m.lookUp(n.Host)
		return
	}
	m.dial(now, n)
}

func (m *Machine) dial(now clock.Instant, n *node) {
	m.nextLink++
	c := &conn{id: m.nextLink, node: n, addr: joinHostPort(n.addresses.current(), n.Port), lastActive: now, reauthAt: clock.Never}
	n.link = c
	m.links[c.id] = c
	m.orders = append(m.orders, link.Order{
		Kind: link.Dial, Link: c.id, Node: n.ID, Host: n.Host, Addr: c.addr, SendBuf: m.o.SendBuf, RecvBuf: m.o.RecvBuf,
	})
	m.debug("Initiating connection to node %v using address %s", n, c.addr)
}

// Connecting reports whether a connection to a node of the cluster is being established. Metadata waits for it rather
// than dial more nodes (Java: isAnyNodeConnecting).
func (m *Machine) Connecting() bool {
	for _, n := range m.nodes {
		if n.state == Connecting {
			return true
		}
	}
	return false
}

// AnyReady reports whether a node of the cluster is connected, however busy, and even if it throttles us. As long as one is,
// the cluster counts as reachable (Java: LeastLoadedNode.hasNodeAvailableOrConnectionReady, which takes throttling nodes for
// unreachable: whoever exceeds his quota loses his connections, with what is in flight on them, as soon as metadata is due).
func (m *Machine) AnyReady() bool {
	return slices.ContainsFunc(m.nodes, func(n *node) bool { return n.state == Ready })
}

// ConnectionDelay is how long to wait before looking at the node again: what is left of its back-off, the time a
// connection may take while one is made, for ever once it is connected (an event will come). A throttled node is worth a
// look when the throttling ends (Java: pollDelayMs).
func (m *Machine) ConnectionDelay(now clock.Instant, nodeID int32) time.Duration {
	n := m.byID[nodeID]
	switch {
	case n == nil || n.state == Unknown:
		return 0
	case n.state == Connecting:
		return n.setup
	case n.state.down():
		return max(n.backoffEnd().Sub(now), 0)
	case n.throttledUntil > now:
		return n.throttledUntil.Sub(now)
	}
	return math.MaxInt64
}

// State is how far the connection to the node has got; Unknown for nodes never heard of.
func (m *Machine) State(nodeID int32) State {
	if n := m.byID[nodeID]; n != nil {
		return n.state
	}
	return Unknown
}

// LastError is why the node could not be reached or was lost; nil since it was last ready. It says, for example, that
// what answers there is no Kafka broker.
func (m *Machine) LastError(nodeID int32) error {
	if n := m.byID[nodeID]; n != nil {
		return n.lastErr
	}
	return nil
}

// Trouble is why the node has answered nothing since the given instant, nil when it has or when nobody knows. Below zero
// stands for any node: then it is the newest trouble. A time-out can name it.
func (m *Machine) Trouble(nodeID int32, since clock.Instant) error {
	var err error
	for _, n := range m.all {
		if (nodeID < 0 || n.ID == nodeID) && n.trouble != nil && n.troubledAt >= since {
			err, since = n.trouble, n.troubledAt
		}
	}
	return err
}

// linkUp goes from connecting to the login, if there is one, else to the handshake.
func (m *Machine) linkUp(now clock.Instant, c *conn) {
	if c.closing {
		return
	}
	c.up = true
	c.node.reached, c.node.cuts = true, 0
	c.lastActive = now
	if m.o.SASL != "" {
		m.becomeAuthenticating(c.node)
		m.login(now, c)
		return
	}
	m.becomeChecking(c.node)
	m.sendHello(now, c, maxHelloVersion)
}

// abandon orders the end of a link. The node is lost at once; the requests end with the link's Closed.
func (m *Machine) abandon(now clock.Instant, c *conn, why reason, cause error) {
	if c.closing {
		return
	}
	c.closing, c.why = true, why
	c.err = m.lost(now, c.node, why, cause)
	m.orders = append(m.orders, link.Order{Kind: link.Close, Link: c.id, Err: c.err})
}

// linkEnding loses the node: nothing more goes out on the link. What is on it ends with Closed.
func (m *Machine) linkEnding(now clock.Instant, c *conn, err error) {
	if c.closing {
		return
	}
	c.closing, c.why = true, whyClosed(c, err)
	switch {
	case c.why == dropped:
		c.why, err = m.suspect(c, err)
	case c.why == refused:
		c.why, err = suspectPlain(c.node, err)
	}
	c.err = m.lost(now, c.node, c.why, err)
}

// linkClosed is the end of a link: whatever was on it has let go.
func (m *Machine) linkClosed(now clock.Instant, c *conn, err error) {
	m.linkEnding(now, c, err)
	delete(m.links, c.id)
	c.node.link = nil
	for _, r := range c.requests {
		if c.own(r) {
			continue
		}
		if r.answered {
			m.answer(r, Answered, nil)
			continue
		}
		kind := c.why.kind()
		if r.malformed {
			kind = Malformed
		}
		m.answer(r, kind, c.failure())
	}
	c.requests = nil
}

// whyClosed is what a close that we did not order means.
func whyClosed(c *conn, err error) reason {
	switch {
	case errors.Is(err, kerr.ErrAuthentication):
		return unauthenticated
	case !c.up:
		return refused
	case c.node.state == Authenticating:
		return brokeLogin
	case c.node.state == CheckingVersions:
		return brokeOff
	case len(c.requests) == 0:
		return closedIdle
	}
	return dropped
}

// failure is the error of requests that end with c. A planned end is an error to them.
func (c *conn) failure() error {
	if c.err != nil {
		return c.err
	}
	return &LinkError{Node: c.node.Node, Kind: kerr.ErrDisconnected, Cause: errors.New("closed by the client")}
}

// Disconnect closes the connection to the node, if there is one, since its peer said something that makes no sense.
// What is on it fails as disconnected.
func (m *Machine) Disconnect(now clock.Instant, nodeID int32, err error) {
	if n := m.byID[nodeID]; n != nil && n.link != nil {
		m.abandon(now, n.link, nonsense, err)
	}
}

// StartOver closes every connection since the client will begin again from the bootstrap addresses (KIP-899, KIP-1242).
func (m *Machine) StartOver(now clock.Instant) {
	for _, n := range m.all {
		m.leave(now, n, rebootstrap)
	}
}

// CloseAll closes every connection and opens no more. What is in flight fails as disconnected.
func (m *Machine) CloseAll(now clock.Instant) {
	m.closed = true
	m.boot = nil
	for _, n := range m.all {
		m.leave(now, n, shutdown)
	}
}

func (m *Machine) leave(now clock.Instant, n *node, why reason) {
	switch {
	case n.link != nil:
		m.abandon(now, n.link, why, nil)
	case n.resolving:
		_ = m.lost(now, n, why, nil)
	}
}
