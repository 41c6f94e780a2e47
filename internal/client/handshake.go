package client

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/clock"
	"linger/internal/kerr"
	"linger/internal/wire"
)

// maxHelloVersion is the newest ApiVersions that 4.4.0 speaks: v5 brought cluster and node id (KIP-1242).
const maxHelloVersion = 5

// softwareName tells brokers whose client this is (KIP-511).
const softwareName = "linger"

// helloThrottlesFrom is the first ApiVersions version in which the waiting is left to the client (KIP-219).
const helloThrottlesFrom = 2

// sendHello asks a fresh connection which versions its peer speaks.
func (m *Machine) sendHello(now clock.Instant, c *conn, version int16) {
	req := kmsg.NewApiVersionsRequest()
	req.Version = version
	req.ClientSoftwareName, req.ClientSoftwareVersion = softwareName, m.o.SoftwareVersion
	if m.o.Rebootstrap && m.o.ClusterCheck && m.clusterID != "" && c.node.ID >= 0 {
		// Both or neither. A broker of another cluster, or another broker at this address, will tell us so.
		req.ClusterID, req.NodeID = &m.clusterID, c.node.ID
	}
	corr := m.NextCorr()
	c.hello = &Request{
		Key: wire.KeyApiVersions, Version: version, Corr: corr, Node: c.node.ID,
		Vec: [][]byte{wire.AppendRequest(nil, &req, corr, m.o.ClientID)},
	}
	m.launch(now, c, c.hello)
}

// takeHello makes the node ready, or asks again in an older version, or gives the link up.
func (m *Machine) takeHello(now clock.Instant, c *conn, r *Request) {
	resp, err := readHello(r)
	if err != nil {
		m.abandon(now, c, nonsense, fmt.Errorf("answer to ApiVersions can't be read: %w", err))
		return
	}
	if resp.ThrottleMillis > 0 && r.Version >= helloThrottlesFrom {
		m.Throttle(now, c.node.ID, resp.ThrottleMillis)
	}
	switch code := kerr.Code(resp.ErrorCode); {
	case code == kerr.None:
		m.welcome(c.node, resp)
		m.wakeAt(m.idleEnd(c))
	case code == kerr.RebootstrapRequired && m.o.Rebootstrap:
		m.info("Rebootstrap requested by server due to cluster metadata mismatch for cluster %s and node %v.", m.clusterID, c.node)
		m.rebootstrap = true
		m.StartOver(now)
	case code == kerr.UnsupportedVersion && r.Version > 0:
		m.sendHello(now, c, olderHello(r.Version, resp))
	default:
		m.abandon(now, c, nonsense, fmt.Errorf("error %v in answer to ApiVersions v%d", code, r.Version))
	}
}

func (m *Machine) welcome(n *node, resp *kmsg.ApiVersionsResponse) {
	n.versions, n.features = newVersionTable(resp.ApiKeys), newFeatures(resp)
	if n.features.Epoch > m.finalized.Epoch {
		m.finalized = n.features
	}
	m.becomeReady(n)
	m.debug("Node %v is ready: %d APIs, finalized features %v of epoch %d.", n, len(n.versions), n.features.List, n.features.Epoch)
}

// olderHello is the version to ask in after UNSUPPORTED_VERSION: the one that the answer names, which brokers do since
// 2.4, else 0. It is older than the one refused, or a confused broker would keep us asking for ever.
func olderHello(refused int16, resp *kmsg.ApiVersionsResponse) int16 {
	i := slices.IndexFunc(resp.ApiKeys, func(k kmsg.ApiVersionsResponseApiKey) bool { return k.ApiKey == wire.KeyApiVersions })
	if i < 0 || resp.ApiKeys[i].MaxVersion >= refused {
		return 0
	}
	return max(resp.ApiKeys[i].MaxVersion, 0)
}

// readHello reads an answer to ApiVersions. A broker that does not know the version answers with that error, in version 0
// (KIP-35). Java tries version 0 after any failure; a body that says something else yet can't be read is no answer of a
// broker's, and short nonsense would pass as one that speaks nothing.
func readHello(r *Request) (*kmsg.ApiVersionsResponse, error) {
	resp := kmsg.NewPtrApiVersionsResponse()
	if len(r.body) >= 2 && kerr.Code(binary.BigEndian.Uint16(r.body)) == kerr.UnsupportedVersion && resp.ReadFrom(r.body) == nil {
		return resp, nil
	}
	*resp = kmsg.NewApiVersionsResponse()
	resp.Version = r.Version
	return resp, resp.ReadFrom(r.body)
}

// RebootstrapRequired reports, once, that a broker asked the client to start over from its bootstrap addresses. The
// connections are being closed already.
func (m *Machine) RebootstrapRequired() bool {
	asked := m.rebootstrap
	m.rebootstrap = false
	return asked
}
