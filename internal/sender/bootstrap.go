package sender

import (
	"fmt"

	"linger/internal/clock"
	"linger/internal/kerr"
	"linger/internal/metadata"
)

// begin is the first turn: the bootstrap nodes are the cluster, once their names have resolved (KIP-909).
func (s *Sender) begin(now clock.Instant) {
	s.started = true
	if len(s.o.Unresolved) > 0 {
		s.resolving = true
		s.client.ResolveBootstrap(now, s.o.Unresolved, s.o.ResolveTimeout)
		return
	}
	s.adopt(now)
}

// takeBootstrap looks whether the search for bootstrap nodes has ended. Without any node every caller that waits for
// metadata is told why, as is every later one.
func (s *Sender) takeBootstrap(now clock.Instant) {
	if !s.resolving {
		return
	}
	nodes, err := s.client.Bootstrap()
	switch {
	case err != nil:
		s.resolving = false
		s.meta.BootstrapFailed(fmt.Errorf("%w: %w", kerr.ErrConfig, err))
	case len(nodes) > 0:
		s.resolving = false
		addresses := make([]metadata.Address, len(nodes))
		for i, n := range nodes {
			addresses[i] = metadata.Address{Host: n.Host, Port: n.Port}
		}
		s.meta.Bootstrap(addresses)
		s.adopt(now)
	}
}
