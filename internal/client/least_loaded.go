package client

import (
	"math"

	"linger/internal/clock"
)

// LeastLoaded is the node of the cluster to ask when any will do: a ready one with nothing in flight, else the ready one
// with the fewest requests in flight, else one that is being connected, else the one that was not tried for longest and
// may be connected now. It is false when there is none: all are backing off, throttled or busy (Java: leastLoadedNode).
// The search starts at a random node.
func (m *Machine) LeastLoaded(now clock.Instant) (nodeID int32, ok bool) {
	if len(m.nodes) == 0 {
		return 0, false
	}
	var ready, connecting, connectable *node
	fewest := math.MaxInt
	offset := m.o.Rand.IntN(len(m.nodes))
	for i := range m.nodes {
		n := m.nodes[(offset+i)%len(m.nodes)]
		switch {
		case m.ready(now, n):
			count := n.inFlight()
			if count == 0 {
				return n.ID, true
			}
			if count < fewest {
				fewest, ready = count, n
			}
		case n.state == Connecting || n.state == Authenticating || n.state == CheckingVersions || n.renewing(now):
			connecting = n
		case m.canConnect(now, n):
			if connectable == nil || connectable.lastAttempt > n.lastAttempt {
				connectable = n
			}
		}
	}
	for _, n := range []*node{ready, connecting, connectable} {
		if n != nil {
			return n.ID, true
		}
	}
	return 0, false
}
