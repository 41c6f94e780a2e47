package client

import (
	"strconv"
	"strings"

	"linger/internal/clock"
	"linger/internal/link"
)

// addresses are what a host name stands for, tried one after the other (KIP-302, KIP-899; in Java: NodeConnectionState).
type addresses struct {
	list []string // empty: to be resolved
	at   int
	last string // the one tried last, also by an earlier list
}

// next moves on. After the last one the name is to be resolved again.
func (a *addresses) next() {
	if len(a.list) == 0 {
		return
	}
	if a.at++; a.at == len(a.list) {
		a.forget()
	}
}

func (a *addresses) forget() { a.list, a.at = nil, 0 }

// set takes a fresh answer of the resolver's. Only addresses of the first one's kind count (Java:
// ClientUtils.filterPreferredAddresses), and the one that was tried last is not tried twice in a row if there is
// another: the reason we are here may be that very address.
func (a *addresses) set(list []string) {
	a.list, a.at = a.list[:0], 0
	for _, s := range list {
		if isV6(s) == isV6(list[0]) {
			a.list = append(a.list, s)
		}
	}
	if len(a.list) > 1 && a.list[0] == a.last {
		a.at = 1
	}
}

func (a *addresses) current() string {
	a.last = a.list[a.at]
	return a.last
}

func isV6(ip string) bool { return strings.Contains(ip, ":") }

func joinHostPort(ip string, port int32) string {
	if isV6(ip) {
		ip = "[" + ip + "]"
	}
	return ip + ":" + strconv.Itoa(int(port))
}

// lookUp asks for the addresses of a host, unless an answer is on its way already.
func (m *Machine) lookUp(host string) {
	if m.lookups[host] {
		return
	}
	m.lookups[host] = true
	m.orders = append(m.orders, link.Order{Kind: link.Resolve, Host: host})
}

// resolved gives the resolver's answer to everyone who waits for it. Nodes that gave up waiting ask again.
func (m *Machine) resolved(now clock.Instant, e *link.Event) {
	delete(m.lookups, e.Host)
	err := e.Err
	if err == nil && len(e.Addrs) == 0 {
		err = errNoAddress
	}
	m.bootstrapResolved(now, e.Host, err)
	for _, n := range m.all {
		if !n.resolving || n.Host != e.Host {
			continue
		}
		n.resolving = false
		if err != nil {
			_ = m.lost(now, n, unresolved, err)
			continue
		}
		n.addresses.set(e.Addrs)
		m.dial(now, n)
	}
}
