package metadata

import "linger/internal/clock"

// Address is one of bootstrap.servers.
type Address struct {
	Host string
	Port int32
}

// Bootstrap makes the addresses the nodes to ask first, under the ids -1, -2, … in their order.
func (s *Store) Bootstrap(addresses []Address) {
	s.bootstrap = make([]Node, len(addresses))
	for i, a := range addresses {
		s.bootstrap[i] = Node{ID: int32(-1 - i), Host: a.Host, Port: a.Port}
	}
	s.startOver()
}

// BootstrapFailed notes that bootstrap.servers did not resolve in time: every caller that waits is told err, for good
// (KIP-909).
func (s *Store) BootstrapFailed(err error) {
	s.bootstrapFailed = err
	s.renewView()
}

func (s *Store) startOver() {
	s.wantAll = true
	s.known, s.listed = make(map[string]*knownTopic), nil
	s.ids, s.refused, s.failed = make(map[string][16]byte), nil, nil
	c := NewCluster(s.version+1, "", s.bootstrap, nil)
	c.Bootstrap = true
	s.publish(c)
}

// attempt notes that an update is due from now on, unless it was before.
func (s *Store) attempt(now clock.Instant) {
	if !s.attempting {
		s.attempting, s.attemptStart = true, now
	}
}

// Unreachable notes that an update is due and there is no node to ask: none connected, and none that may be connected
// to now. With metadata.recovery.strategy=rebootstrap it goes back to bootstrap.servers at once and reports that
// (KIP-899); the caller adopts the new Cluster.
func (s *Store) Unreachable(now clock.Instant) (rebootstrapped bool) {
	s.Defer(now)
	if !s.o.Rebootstrap || len(s.cluster.Nodes) == 0 {
		return false
	}
	s.Rebootstrap(now)
	return true
}

// RebootstrapDue reports whether brokers have failed to give metadata for so long, or asked for it, that the caller
// should close its connections and call Rebootstrap (KIP-1102).
func (s *Store) RebootstrapDue(now clock.Instant) bool { return s.rebootstrapAt() <= now }

// rebootstrapAt is the first instant that is more than the trigger after the start of the attempt.
func (s *Store) rebootstrapAt() clock.Instant {
	if !s.o.Rebootstrap || !s.attempting {
		return clock.Never
	}
	if s.attemptStart == longAgo {
		return longAgo
	}
	return s.attemptStart.AddMs(s.o.RebootstrapTriggerMs).AddMs(1)
}

// Rebootstrap starts over with bootstrap.servers: brokers and topics are forgotten, what topics to ask for is not. A
// request that is out stays out.
func (s *Store) Rebootstrap(now clock.Instant) {
	s.startOver()
	s.attempting, s.attemptStart = true, now
}
