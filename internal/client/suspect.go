package client

import (
	"errors"
	"fmt"

	"linger/internal/clock"
	"linger/internal/kerr"
	"linger/internal/link"
)

// enoughSuspicions is how often in a row a peer must behave like a listener that wants SASL before we say that it is one.
const enoughSuspicions = 3

// suspect looks at a connection that the peer dropped with requests in flight. A listener with SASL answers ApiVersions to
// anybody and closes the connection at the next request of who has not logged in: Java's client learns nothing from that
// and waits for max.block.ms. When no broker ever answered more than ApiVersions, and a node does this again and again at the
// first request, then it is taken for such a listener, and that is an authentication failure. Else it is only mentioned: a
// broker that is going down can look the same.
func (m *Machine) suspect(c *conn, cause error) (reason, error) {
	if m.o.Unsecured == "" || c.served || len(c.requests) == 0 || c.awaiting() != c.requests[0] {
		return dropped, cause
	}
	with := "SASL_PLAINTEXT"
	if m.o.Unsecured == "SSL" {
		with = "SASL_SSL"
	}
	if !m.served {
		c.node.suspicions++
	}
	if m.served || c.node.suspicions < enoughSuspicions {
		return dropped, withCause(fmt.Sprintf("the broker answers ApiVersions and closes the connection at the first request, as listeners do that want a login "+
			"(security.protocol is %s, not %s)", m.o.Unsecured, with), cause)
	}
	e := loginError(kerr.None, kerr.ClassInvalidConfiguration,
		fmt.Sprintf("the broker answers ApiVersions and closes the connection at the first request, %d times in a row: the listener wants a login, "+
			"and security.protocol is %s; set it to %s, with sasl.mechanism and sasl.jaas.config", c.node.suspicions, m.o.Unsecured, with))
	e.Err = kerr.ErrAuthentication
	return unauthenticated, e
}

// enoughCuts is how often in a row a peer must cut the TLS handshake short before we say that it speaks no TLS. The
// back-off between the attempts makes that a third of a second.
const enoughCuts = 4

// suspectPlain looks at a connection that did not come about. A listener without TLS takes a handshake for a request of
// some hundred megabytes and hangs up without a word; Java's client tries again until max.block.ms. A node that was never
// reached and does so again and again is taken for such a listener. One that was reached before is only down, as brokers behind
// a proxy can be.
func suspectPlain(n *node, cause error) (reason, error) {
	if !errors.Is(cause, link.ErrCutHandshake) {
		n.cuts = 0
		return refused, cause
	}
	n.cuts++
	if n.reached || n.cuts < enoughCuts {
		return refused, cause
	}
	e := loginError(kerr.None, kerr.ClassInvalidConfiguration,
		fmt.Sprintf("SSL handshake failed: the peer hung up without an answer, %d times in a row: the listener does not seem to speak TLS; "+
			"set security.protocol to PLAINTEXT or SASL_PLAINTEXT, or name a listener with TLS in bootstrap.servers", n.cuts))
	e.Err = fmt.Errorf("%w: %w", kerr.ErrAuthentication, cause)
	return unauthenticated, e
}

// withCause is what an error may mean and, if there is one, the error itself.
func withCause(text string, cause error) error {
	if cause == nil {
		return errors.New(text)
	}
	return fmt.Errorf("%s: %w", text, cause)
}

// enoughRefusals is how often in a row authentication must fail before what waits for a node is given up. Once may be a change
// of passwords that is not complete, or a token that has just run out.
const enoughRefusals = 2

// Refused is why the node lets nobody in: its last attempts, two at least, all failed authentication. It is nil when the
// last attempt ended otherwise.
func (m *Machine) Refused(nodeID int32) error {
	n := m.byID[nodeID]
	if n == nil || n.refusals < enoughRefusals {
		return nil
	}
	return n.lastErr
}

// AllRefused is why no node of the cluster lets anybody in: the last attempt at each of them failed authentication, and two
// attempts at least were made. It is nil when any node is yet to be tried.
func (m *Machine) AllRefused() error {
	if m.refusals < enoughRefusals || len(m.nodes) == 0 {
		return nil
	}
	for _, n := range m.nodes {
		if n.refusals == 0 {
			return nil
		}
	}
	return m.nodes[0].lastErr
}

// mayRenew reports whether the SASL session of n's connection is to be renewed and nothing stands in the way.
func (n *node) mayRenew(now clock.Instant) bool {
	return n.state == Ready && n.link.auth == nil && n.throttledUntil <= now && n.link.reauthDue(now) && !n.link.retiring
}

// renewing reports whether a ready node waits for the renewal of its SASL session, or for somebody to begin it.
func (n *node) renewing(now clock.Instant) bool {
	return n.state == Ready && !n.link.retiring && (n.link.auth != nil || n.link.reauthDue(now))
}
