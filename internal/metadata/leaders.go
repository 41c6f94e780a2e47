package metadata

import "slices"

// LeaderHint is a broker's word, along with an error, that somebody else leads a partition now (KIP-951).
type LeaderHint struct {
	Topic     string
	Partition int32
	Leader    int32
	Epoch     int32
}

// UpdateLeaders takes in hints with the nodes that came with them, and reports whether there is a new snapshot. A hint
// counts if its epoch is newer than any seen, its leader is a known node and the partition is known; all other
// partitions stay as they are (Java: updatePartitionLeadership).
func (s *Store) UpdateLeaders(hints []LeaderHint, nodes []Node) (changed bool) {
	nodes = overlay(s.cluster.Nodes, nodes)
	for _, h := range hints {
		if h.Epoch < 0 || h.Leader < 0 || h.Partition < 0 || h.Epoch <= s.epoch(h.Topic, h.Partition) {
			continue
		}
		if !slices.ContainsFunc(nodes, func(n Node) bool { return n.ID == h.Leader }) {
			continue
		}
		if _, ok := s.cached(h.Topic, h.Partition); !ok {
			continue
		}
		s.setEpoch(h.Topic, h.Partition, h.Epoch)
		k := s.known[h.Topic]
		k.leaders[h.Partition] = Partition{h.Leader, h.Epoch}
		k.topic = nil // to be shown anew
		changed = true
	}
	if changed {
		s.rebuild(s.cluster.ClusterID, nodes)
		s.renewView()
	}
	return changed
}

// overlay is old with the nodes of more in their places, new ones at the end.
func overlay(old, more []Node) []Node {
	nodes := slices.Clone(old)
	for _, n := range more {
		if at := slices.IndexFunc(nodes, func(o Node) bool { return o.ID == n.ID }); at >= 0 {
			nodes[at] = n
		} else {
			nodes = append(nodes, n)
		}
	}
	return nodes
}
