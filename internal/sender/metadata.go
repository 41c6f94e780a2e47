package sender

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/accumulator"
	"linger/internal/client"
	"linger/internal/clock"
	"linger/internal/kerr"
	"linger/internal/metadata"
	"linger/internal/wire"
)

const maxMetadataVersion = 13

// fetchMetadata sends a metadata request when one is due and a node can take it (Java: DefaultMetadataUpdater.maybeUpdate).
func (s *Sender) fetchMetadata(now clock.Instant) {
	if s.client.RebootstrapRequired() || s.meta.RebootstrapDue(now) {
		s.rebootstrap(now)
	}
	if !s.meta.Due(now) {
		return
	}
	node, ok := s.client.LeastLoaded(now)
	if !ok {
		s.noNode(now)
		return
	}
	if !s.client.Ready(now, node) {
		s.meta.Defer(now)
		s.client.Connect(now, node)
		return
	}
	version, ok := s.client.Version(node, int16(kmsg.Metadata), maxMetadataVersion)
	if !ok {
		s.meta.Failed(now, &kerr.Error{Op: "metadata", Partition: -1, Code: kerr.UnsupportedVersion, Class: kerr.ClassFatal})
		return
	}
	req := s.meta.Request(now)
	req.Version = version
	s.send(now, node, req, metadataOwner{})
}

// noNode looks again later. Only when no node is connected, however busy or throttling, nor being connected is the cluster out of
// reach, and the search starts over from bootstrap.servers (KIP-899).
func (s *Sender) noNode(now clock.Instant) {
	if s.client.AnyReady() || s.client.Connecting() {
		s.meta.Defer(now)
		return
	}
	if s.meta.Unreachable(now) {
		s.startOver(now)
	}
}

// rebootstrap goes back to bootstrap.servers because the brokers give no metadata or asked for it (KIP-1102).
func (s *Sender) rebootstrap(now clock.Instant) {
	s.meta.Rebootstrap(now)
	s.startOver(now)
}

func (s *Sender) startOver(now clock.Instant) {
	s.client.StartOver(now)
	s.adopt(now)
}

// send frames a request of kmsg's and gives it to the connection of node.
func (s *Sender) send(now clock.Instant, node int32, req kmsg.Request, owner any) {
	corr := s.client.NextCorr()
	frame := wire.AppendRequest(nil, req, corr, s.client.ClientID())
	s.client.Send(now, &client.Request{
		Key: req.Key(), Version: req.GetVersion(), Corr: corr, Node: node, Vec: [][]byte{frame}, Owner: owner,
	})
}

func (s *Sender) takeMetadataAnswer(now clock.Instant, a *client.Answer) {
	if a.Kind != client.Answered {
		s.meta.Failed(now, a.Err)
		return
	}
	resp := kmsg.NewPtrMetadataResponse()
	resp.Version = a.Request.Version
	if err := resp.ReadFrom(a.Body); err != nil {
		err = fmt.Errorf("metadata answer of broker %d can't be read: %w", a.Request.Node, err)
		s.meta.Failed(now, err)
		s.client.Disconnect(now, a.Request.Node, err)
		return
	}
	s.throttle(now, a.Request.Node, resp)
	for _, topic := range s.sched.Touched(s.topics[:0]) {
		s.meta.Touch(topic.Name, topic.LastUsed())
	}
	if s.meta.Update(now, resp) {
		s.adopt(now)
	}
}

// adopt makes the store's cluster the one that the client and the schedule work with.
func (s *Sender) adopt(now clock.Instant) {
	c := s.meta.Cluster()
	s.client.SetNodes(now, c.Nodes)
	s.client.SetClusterID(c.ClusterID)
	s.sched.SetCluster(c, now)
}

// noteLeader keeps the broker's hint at a newer leader (KIP-951).
func (s *Sender) noteLeader(b *accumulator.Batch, a partitionAnswer) {
	if a.leader < 0 || a.leaderEpoch < 0 || (a.code != kerr.NotLeaderOrFollower && a.code != kerr.FencedLeaderEpoch) {
		return
	}
	s.leaders = append(s.leaders, metadata.LeaderHint{Topic: b.Queue.Topic.Name, Partition: b.Queue.Partition, Leader: a.leader, Epoch: a.leaderEpoch})
}

func (s *Sender) takeLeaders(now clock.Instant, resp *wire.ProduceResponse) {
	if s.meta.UpdateLeaders(s.leaders, hintedNodes(resp)) {
		s.adopt(now)
	}
}

func hintedNodes(resp *wire.ProduceResponse) []metadata.Node {
	nodes := make([]metadata.Node, 0, len(resp.Nodes))
	for _, n := range resp.Nodes {
		nodes = append(nodes, metadata.Node{ID: n.NodeID, Host: n.Host, Port: n.Port, Rack: n.Rack})
	}
	return nodes
}

// publish hands out the view and the identity when they are news.
func (s *Sender) publish() {
	if id := s.whoami(); id != s.identity {
		s.identity = id
		published := id // a copy, so that a turn without news costs no memory
		s.fx.Identity = &published
	}
	if v := s.meta.View(); v != nil && v.Version != s.viewVersion {
		s.viewVersion = v.Version
		s.fx.View = v
	}
}

// takeLosses lets the metadata store hear of nodes that were lost or could not be reached: each asks for fresh
// metadata (Java: DefaultMetadataUpdater.handleServerDisconnect).
func (s *Sender) takeLosses(now clock.Instant) {
	s.losses = s.client.Losses(s.losses[:0])
	for _, l := range s.losses {
		s.meta.Disconnected(now, l.Err)
		s.refused = s.refused || l.Auth
	}
}
