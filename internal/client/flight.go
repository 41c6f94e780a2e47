package client

import (
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/clock"
	"linger/internal/kerr"
	"linger/internal/link"
	"linger/internal/wire"
)

// Ready reports whether the node can take a request now: it is connected and its versions are known, it does not throttle
// us, its newest request is fully written, and fewer than the limit are unanswered (Java: canSendRequest). While its SASL
// session must be renewed it can't: Connect renews it.
func (m *Machine) Ready(now clock.Instant, nodeID int32) bool {
	n := m.byID[nodeID]
	return n != nil && m.ready(now, n)
}

func (m *Machine) ready(now clock.Instant, n *node) bool {
	if n.state != Ready || n.throttledUntil > now {
		return false
	}
	c := n.link
	return c.auth == nil && !c.reauthDue(now) && !c.retiring && c.unwritten == 0 && len(c.requests) < m.o.MaxInFlight
}

// InFlight is the number of requests to the node that have not ended.
func (m *Machine) InFlight(nodeID int32) int {
	if n := m.byID[nodeID]; n != nil {
		return n.inFlight()
	}
	return 0
}

// Send takes a request for a node that is Ready. It ends, sooner or later, in exactly one Answer: at once when the node
// does not speak the version, or when it is not Ready after all.
func (m *Machine) Send(now clock.Instant, r *Request) {
	r.SentAt = now
	n := m.byID[r.Node]
	if n == nil || !m.ready(now, n) {
		m.answer(r, Disconnected, fmt.Errorf("node %d is not ready: %w", r.Node, kerr.ErrDisconnected))
		return
	}
	if !n.versions.has(r.Key, r.Version) {
		m.answer(r, VersionMismatch, fmt.Errorf("node %v does not support version %d of API %d: %w", n, r.Version, r.Key, &kerr.Error{Op: "send", Code: kerr.UnsupportedVersion}))
		return
	}
	m.launch(now, n.link, r)
}

// launch puts r behind what is in flight.
func (m *Machine) launch(now clock.Instant, c *conn, r *Request) {
	r.SentAt = now
	r.throttled, r.written, r.answered, r.malformed, r.body = 0, false, false, false, nil
	if r.Timeout == 0 {
		r.Timeout = m.o.RequestTimeout
	}
	c.requests = append(c.requests, r)
	c.unwritten++
	c.lastActive = now
	m.wakeAt(r.deadline())
	m.orders = append(m.orders, link.Order{Kind: link.Write, Link: c.id, Node: c.node.ID, Corr: r.Corr, Vec: r.Vec})
}

// written marks the request; one that nobody answers is over.
//
// It does not wait for older requests that are to be answered: those with and those without an answer are two orders,
// each kept (Java: handleCompletedSends).
func (m *Machine) written(now clock.Instant, c *conn, corr int32) {
	for i, r := range c.requests {
		if r.written || r.Corr != corr {
			continue
		}
		r.written = true
		c.unwritten--
		c.lastActive = now
		if r.NoAnswer {
			copy(c.requests[i:], c.requests[i+1:])
			c.requests[len(c.requests)-1] = nil
			c.requests = c.requests[:len(c.requests)-1]
			m.answer(r, Answered, nil)
		}
		m.release(now, c)
		return
	}
}

// received gives a frame to the oldest request that waits for one. Any other correlation id means that we no longer know
// which answer is whose.
//
// Once we decided to close the link its answers come too late: a request that was declared timed out must not be found
// done after all.
func (m *Machine) received(now clock.Instant, c *conn, frame []byte) {
	if c.closing {
		return
	}
	c.lastActive = now
	r := c.awaiting()
	corr, err := wire.CorrelationID(frame)
	switch {
	case c.node.state == Authenticating && (r == nil || err != nil || corr != r.Corr):
		m.abandon(now, c, unauthenticated, strange(errors.New("an answer to nothing that was asked")))
		return
	case r == nil:
		m.abandon(now, c, nonsense, fmt.Errorf("answer with correlation id %d, and no request waits for one", corr))
		return
	case err == nil && corr != r.Corr:
		m.abandon(now, c, nonsense, fmt.Errorf("answer with correlation id %d, want %d", corr, r.Corr))
		return
	case err == nil:
		r.body, err = wire.ResponseBody(frame, r.Key, flexible(r.Key, r.Version))
	}
	if err != nil {
		r.malformed = true
		m.abandon(now, c, nonsense, fmt.Errorf("answer to request %d can't be read: %w", r.Corr, err))
		return
	}
	r.answered = true
	if !c.own(r) {
		m.served, c.served = true, true
		c.node.suspicions, c.node.trouble = 0, nil
	}
	m.release(now, c)
}

// own reports whether the machine itself asked r: the caller hears nothing of it.
func (c *conn) own(r *Request) bool { return r == c.hello || c.auth != nil && r == c.auth.request }

// awaiting is the oldest request that waits for an answer.
func (c *conn) awaiting() *Request {
	for _, r := range c.requests {
		if !r.answered && !r.NoAnswer {
			return r
		}
	}
	return nil
}

// release hands out, oldest first, the requests that the connection has let go.
func (m *Machine) release(now clock.Instant, c *conn) {
	n := 0
	for n < len(c.requests) && c.requests[n].over() {
		n++
	}
	var own *Request
	for _, r := range c.requests[:n] {
		if c.own(r) {
			own = r
			continue
		}
		m.answer(r, Answered, nil)
	}
	rest := copy(c.requests, c.requests[n:])
	clear(c.requests[rest:])
	c.requests = c.requests[:rest]
	switch {
	case rest > 0 || c.closing:
	case c.retiring:
		m.abandon(now, c, moved, nil)
	case own == nil:
		m.wakeAt(m.idleEnd(c))
	case own == c.hello:
		c.hello = nil
		m.takeHello(now, c, own)
	default:
		m.takeSASL(now, c, own)
	}
}

func (m *Machine) answer(r *Request, k AnswerKind, err error) {
	a := Answer{Request: r, Kind: k, Err: err}
	if k == Answered {
		a.Body = r.body
	}
	r.body = nil
	m.answers = append(m.answers, a)
}

// Throttle obeys throttle_time_ms of an answer, for the versions in which a broker leaves the waiting to us: nothing is
// sent to the node for ms milliseconds, and what is in flight gets as much more time (KIP-219; in Java: maybeThrottle).
func (m *Machine) Throttle(now clock.Instant, nodeID int32, ms int32) {
	n := m.byID[nodeID]
	if n == nil || ms <= 0 {
		return
	}
	d := time.Duration(ms) * time.Millisecond
	if n.link != nil {
		for _, r := range n.link.requests {
			r.throttled += d
		}
	}
	if until := now.Add(d); n.state != Unknown && until > n.throttledUntil {
		n.throttledUntil = until // it never gets shorter
		m.wakeAt(until)
	}
}

// flexible reports whether the version has tagged fields, in its response header too.
func flexible(key, version int16) bool {
	if key == wire.KeyProduce {
		return version >= 9
	}
	req := kmsg.RequestForKey(key)
	if req == nil {
		return false
	}
	req.SetVersion(version)
	return req.IsFlexible()
}
