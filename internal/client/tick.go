package client

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/clock"
)

// Tick does what is due: connections and requests that took too long, idle connections, bootstrap names to ask for
// again. It costs nothing before NextWake.
func (m *Machine) Tick(now clock.Instant) {
	if now < m.wake {
		return
	}
	m.wake = clock.Never
	m.tickBootstrap(now)
	for _, n := range m.all {
		m.tickNode(now, n)
	}
	m.closeIdle(now)
}

func (m *Machine) tickNode(now clock.Instant, n *node) {
	switch {
	case n.state == Connecting:
		m.tickSetup(now, n)
	case n.state.connected():
		if !m.tickExchange(now, n.link) {
			m.tickRequests(now, n.link)
		}
	case n.state != Unknown && n.backoffEnd() > now:
		m.wakeAt(n.backoffEnd())
	}
	if n.throttledUntil > now {
		m.wakeAt(n.throttledUntil)
	}
}

// tickSetup bounds how long resolving and dialling may take (KIP-601).
func (m *Machine) tickSetup(now clock.Instant, n *node) {
	switch {
	case now < n.setupDeadline():
		m.wakeAt(n.setupDeadline())
	case n.link != nil:
		m.abandon(now, n.link, setupTimeout, nil)
	default:
		_ = m.lost(now, n, setupTimeout, nil)
	}
}

// tickRequests closes a connection on which a request has waited too long: its answer might still come, and nobody could
// say then whose it is.
func (m *Machine) tickRequests(now clock.Instant, c *conn) {
	for _, r := range c.requests {
		if d := r.deadline(); now < d {
			m.wakeAt(d)
			continue
		}
		m.abandon(now, c, requestTimeout, r.late())
		return
	}
}

// late says for how long r has waited in vain, and for what.
func (r *Request) late() error {
	what := "answer to"
	if !r.written {
		what = "way to write"
	}
	throttled := ""
	if r.throttled > 0 {
		throttled = fmt.Sprintf(" and %d ms of throttling", r.throttled.Milliseconds())
	}
	return fmt.Errorf("no %s %s request %d within %d ms (request.timeout.ms)%s", what, kmsg.NameForKey(r.Key), r.Corr, r.Timeout.Milliseconds(), throttled)
}

// idleEnd is when c has been idle for too long, if nothing happens on it.
func (m *Machine) idleEnd(c *conn) clock.Instant {
	if m.o.MaxIdle < 0 {
		return clock.Never
	}
	return past(c.lastActive.Add(m.o.MaxIdle))
}

// closeIdle closes connections that nobody has used for connections.max.idle.ms, the longest unused first. One that waits
// for an answer is in use: Java would cut it.
func (m *Machine) closeIdle(now clock.Instant) {
	for _, n := range m.all {
		c := n.link
		if c == nil || !c.up || c.closing || len(c.requests) > 0 || c.auth != nil {
			continue
		}
		if end := m.idleEnd(c); now < end {
			m.wakeAt(end)
			continue
		}
		m.idle = append(m.idle, c)
	}
	slices.SortStableFunc(m.idle, func(a, b *conn) int { return int(min(max(a.lastActive-b.lastActive, -1), 1)) })
	for _, c := range m.idle {
		m.abandon(now, c, idle, nil)
	}
	clear(m.idle)
	m.idle = m.idle[:0]
}
