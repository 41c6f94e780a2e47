package metadata

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/clock"
	"linger/internal/kerr"
)

// knownTopic is a topic as brokers described it; topic is what the snapshot shows of it.
type knownTopic struct {
	id       [16]byte
	internal bool
	leaders  []Partition // as told, also of nodes that are not in the cluster
	order    []int32     // partitions as listed; never changed, since snapshots share it
	topic    *Topic      // nil when it must be made anew
}

const noEpoch int32 = -1

// maxPartitions bounds what a broker can make us allocate for one topic.
const maxPartitions = 1 << 20

// reliableEpochs is the first version of the answer whose leader epochs can be compared: before, a broker could have
// sent any (KAFKA-9212).
const reliableEpochs = 9

// absorb makes a snapshot of the answer: of it alone, or of it on top of what is known when only new topics were
// asked for (Java: handleMetadataResponse, MetadataSnapshot.mergeWith).
func (s *Store) absorb(now clock.Instant, resp *kmsg.MetadataResponse, out *request) {
	newOnly := out.newOnly
	next := &merge{known: make(map[string]*knownTopic), ids: make(map[string][16]byte), refused: make(map[string]kerr.Code)}
	s.failed = make(map[string]kerr.Code)
	answered := make(map[string]bool, len(resp.Topics))
	for i := range resp.Topics {
		if t := &resp.Topics[i]; t.Topic != nil {
			answered[*t.Topic] = true
		}
	}
	if newOnly {
		s.keepOthers(now, next, answered)
	}
	for i := range resp.Topics {
		if t := &resp.Topics[i]; t.Topic != nil {
			s.absorbTopic(now, next, t, resp.Version >= reliableEpochs, newOnly)
		}
	}
	clusterID := ""
	if resp.ClusterID != nil {
		clusterID = *resp.ClusterID
	}
	s.known, s.listed, s.ids, s.refused = next.known, next.listed, next.ids, next.refused
	s.rebuild(clusterID, nodesOf(resp))
	for name := range s.epochs {
		if !s.retain(name, now) {
			delete(s.epochs, name)
		}
	}
	for name := range answered {
		if u := s.topics[name]; u != nil {
			u.fresh = false
		}
	}
	for i := range out.topics {
		name := *out.topics[i].Topic
		if u := s.topics[name]; u != nil && !answered[name] {
			u.ignored = true
		}
	}
}

// merge is a snapshot in the making.
type merge struct {
	known   map[string]*knownTopic
	listed  []string
	ids     map[string][16]byte
	refused map[string]kerr.Code
}

func (m *merge) add(name string, t *knownTopic) {
	if m.known[name] == nil {
		m.listed = append(m.listed, name)
	}
	m.known[name] = t
}

// keepOthers takes over what the answer does not speak of.
func (s *Store) keepOthers(now clock.Instant, next *merge, answered map[string]bool) {
	for _, name := range s.listed {
		if !answered[name] && s.retain(name, now) {
			next.add(name, s.known[name])
		}
	}
	for name, id := range s.ids {
		if !answered[name] && s.retain(name, now) {
			next.ids[name] = id
		}
	}
	for name, code := range s.refused {
		if !answered[name] && s.retain(name, now) {
			next.refused[name] = code
		}
	}
}

func (s *Store) absorbTopic(now clock.Instant, next *merge, t *kmsg.MetadataResponseTopic, reliable, newOnly bool) {
	name, code := *t.Topic, kerr.Code(t.ErrorCode)
	if code != kerr.None {
		s.failed[name] = code
	}
	hasID := t.TopicID != ([16]byte{})
	if hasID && !newOnly {
		next.ids[name] = t.TopicID
	}
	if !s.retain(name, now) {
		return
	}
	if code == kerr.None {
		if hasID {
			next.ids[name] = t.TopicID
		}
		next.add(name, s.absorbPartitions(name, t, reliable))
		return
	}
	if code.InvalidMetadata() {
		s.wantAll = true
	}
	if code == kerr.InvalidTopicException || code == kerr.TopicAuthorizationFailed {
		next.refused[name] = code
	}
}

func (s *Store) absorbPartitions(name string, t *kmsg.MetadataResponseTopic, reliable bool) *knownTopic {
	k := &knownTopic{id: t.TopicID, internal: t.IsInternal}
	// Only two valid ids can differ; the old one may have been lost while the topic was gone.
	var listed []bool // by partition
	recreated := t.TopicID != ([16]byte{}) && s.ids[name] != t.TopicID
	for i := range t.Partitions {
		p := &t.Partitions[i]
		if p.Partition < 0 || p.Partition >= maxPartitions {
			continue
		}
		if kerr.Code(p.ErrorCode).InvalidMetadata() {
			s.wantAll = true
		}
		leader, ok := s.latest(name, p, reliable, recreated)
		if !ok {
			continue
		}
		for int(p.Partition) >= len(k.leaders) {
			k.leaders, listed = append(k.leaders, Partition{NoLeader, noEpoch}), append(listed, false)
		}
		k.leaders[p.Partition] = leader
		if !listed[p.Partition] { // of one that comes twice the last word counts
			listed[p.Partition] = true
			k.order = append(k.order, p.Partition)
		}
	}
	return k
}

// latest is what to believe of a partition's leader: the answer, or what is known when the answer is older. It is not
// ok when that leaves nothing (Java: updateLatestMetadata).
func (s *Store) latest(name string, p *kmsg.MetadataResponseTopicPartition, reliable, recreated bool) (leader Partition, ok bool) {
	told := Partition{max(p.Leader, NoLeader), noEpoch}
	if !reliable {
		s.setEpoch(name, p.Partition, noEpoch)
		s.sameAnswers = 0
		return told, true
	}
	if p.LeaderEpoch < 0 {
		// No leader, no news of the epoch. Java forgets the one it has seen here, and then believes the next stale
		// answer; keeping it costs nothing, since an epoch never falls while the topic lives (CASES B21).
		s.sameAnswers = 0
		return told, true
	}
	told.LeaderEpoch = p.LeaderEpoch
	seen := s.epoch(name, p.Partition)
	if seen == noEpoch || recreated || p.LeaderEpoch > seen {
		s.sameAnswers = 0
	} else if p.LeaderEpoch < seen {
		return s.cached(name, p.Partition)
	}
	s.setEpoch(name, p.Partition, p.LeaderEpoch)
	return told, true
}

func (s *Store) cached(name string, partition int32) (Partition, bool) {
	k := s.known[name]
	if k == nil || int(partition) >= len(k.leaders) {
		return Partition{}, false
	}
	return k.leaders[partition], true
}

func (s *Store) epoch(name string, partition int32) int32 {
	if seen := s.epochs[name]; int(partition) < len(seen) {
		return seen[partition]
	}
	return noEpoch
}

func (s *Store) setEpoch(name string, partition, epoch int32) {
	seen := s.epochs[name]
	if epoch == noEpoch && int(partition) >= len(seen) {
		return
	}
	for int(partition) >= len(seen) {
		seen = append(seen, noEpoch)
	}
	seen[partition] = epoch
	s.epochs[name] = seen
}

func nodesOf(resp *kmsg.MetadataResponse) []Node {
	nodes := make([]Node, 0, len(resp.Brokers))
	for i := range resp.Brokers {
		b := &resp.Brokers[i]
		rack := ""
		if b.Rack != nil {
			rack = *b.Rack
		}
		nodes = append(nodes, Node{b.NodeID, b.Host, b.Port, rack})
	}
	return nodes
}

// rebuild makes the snapshot of what is known. Topics that have not changed are shared with the one before.
func (s *Store) rebuild(clusterID string, nodes []Node) {
	sameNodes := slices.Equal(nodes, s.cluster.Nodes)
	there := make(map[int32]bool, len(nodes))
	for _, n := range nodes {
		there[n.ID] = true
	}
	topics := make([]*Topic, 0, len(s.listed))
	for _, name := range s.listed {
		k := s.known[name]
		if k.topic == nil || !sameNodes {
			k.topic = k.show(name, there)
		}
		topics = append(topics, k.topic)
	}
	s.cluster = NewCluster(s.version+1, clusterID, nodes, topics)
}

func (k *knownTopic) show(name string, there map[int32]bool) *Topic {
	t := &Topic{Name: name, ID: k.id, Internal: k.internal, Partitions: make([]Partition, len(k.leaders)), Listed: k.order}
	for i, p := range k.leaders {
		if !there[p.Leader] {
			p.Leader = NoLeader // led by a broker that the answer does not list
		}
		t.Partitions[i] = p
	}
	return t
}
