package client

import (
	"fmt"
	"time"

	"linger/internal/clock"
	"linger/internal/metadata"
)

// HostPort is one entry of bootstrap.servers.
type HostPort struct {
	Host string // as written, an IPv6 address without brackets
	Port int32
}

// BootstrapNodes gives bootstrap addresses the ids that stand for them until brokers are known: -1, -2 and so on.
func BootstrapNodes(servers []HostPort) []metadata.Node {
	nodes := make([]metadata.Node, 0, len(servers))
	for i, s := range servers {
		nodes = append(nodes, metadata.Node{ID: int32(-1 - i), Host: s.Host, Port: s.Port})
	}
	return nodes
}

// bootstrap is the search for servers that resolve (KIP-909).
type bootstrap struct {
	servers  []HostPort
	waiting  []bool // per server: not answered yet
	found    []bool
	open     int // answers still to come
	timeout  time.Duration
	deadline clock.Instant
	retryAt  clock.Instant // Never while answers are to come
	err      error
}

// ResolveBootstrap starts to resolve servers in the background, for at most timeout (bootstrap.resolve.timeout.ms). As
// soon as all have been asked and one has resolved, those that have are the cluster; see Bootstrap.
func (m *Machine) ResolveBootstrap(now clock.Instant, servers []HostPort, timeout time.Duration) {
	m.boot = &bootstrap{
		servers: servers, waiting: make([]bool, len(servers)), found: make([]bool, len(servers)),
		timeout: timeout, deadline: now.Add(timeout),
	}
	m.wakeAt(m.boot.deadline)
	m.askBootstrap()
}

// Bootstrap reports how ResolveBootstrap stands: the nodes once there are some, or why there will be none.
func (m *Machine) Bootstrap() (nodes []metadata.Node, err error) {
	b := m.boot
	if b == nil {
		return nil, nil
	}
	if b.err != nil || b.open > 0 {
		return nil, b.err
	}
	return b.nodes(), nil
}

func (b *bootstrap) nodes() []metadata.Node {
	var found []HostPort
	for i, s := range b.servers {
		if b.found[i] {
			found = append(found, s)
		}
	}
	return BootstrapNodes(found)
}

func (m *Machine) askBootstrap() {
	b := m.boot
	b.retryAt = clock.Never
	for i, s := range b.servers {
		b.waiting[i], b.open = true, b.open+1
		m.lookUp(s.Host)
	}
}

// bootstrapResolved notes an answer for all servers of that host.
func (m *Machine) bootstrapResolved(now clock.Instant, host string, err error) {
	b := m.boot
	if b == nil || b.open == 0 || b.err != nil {
		return
	}
	for i, s := range b.servers {
		if !b.waiting[i] || s.Host != host {
			continue
		}
		b.waiting[i], b.found[i], b.open = false, err == nil, b.open-1
		if err != nil {
			m.warn("Couldn't resolve server %s:%d from bootstrap.servers as DNS resolution failed for %s: %v", s.Host, s.Port, s.Host, err)
		}
	}
	if b.open > 0 {
		return
	}
	if nodes := b.nodes(); len(nodes) > 0 {
		m.SetNodes(now, nodes)
		return
	}
	b.retryAt = now.Add(m.o.RetryBackoff)
	m.wakeAt(b.retryAt)
}

// tickBootstrap gives up or asks again.
func (m *Machine) tickBootstrap(now clock.Instant) {
	b := m.boot
	if b == nil || b.err != nil || b.open == 0 && b.retryAt == clock.Never {
		return
	}
	if now >= b.deadline {
		b.err = fmt.Errorf("Failed to resolve bootstrap servers after %dms. Please check your bootstrap.servers configuration and DNS settings.", b.timeout.Milliseconds())
		return
	}
	m.wakeAt(b.deadline)
	switch {
	case now >= b.retryAt:
		m.askBootstrap()
	case b.open == 0:
		m.wakeAt(b.retryAt)
	}
}
