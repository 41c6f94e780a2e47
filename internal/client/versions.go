package client

import (
	"sort"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/wire"
)

// versionRange is what a broker speaks of one API.
type versionRange struct{ key, min, max int16 }

// versionTable is ordered by key.
type versionTable []versionRange

func (t versionTable) find(key int16) (versionRange, bool) {
	i := sort.Search(len(t), func(i int) bool { return t[i].key >= key })
	if i < len(t) && t[i].key == key {
		return t[i], true
	}
	return versionRange{}, false
}

func (t versionTable) has(key, version int16) bool {
	r, ok := t.find(key)
	return ok && r.min <= version && version <= r.max
}

func newVersionTable(keys []kmsg.ApiVersionsResponseApiKey) versionTable {
	t := make(versionTable, 0, len(keys))
	for _, k := range keys {
		t = append(t, versionRange{k.ApiKey, k.MinVersion, k.MaxVersion})
	}
	sort.SliceStable(t, func(i, j int) bool { return t[i].key < t[j].key })
	return t
}

// oldest is the oldest version this client speaks; 0 for all but Produce (KIP-896).
func oldest(key int16) int16 {
	if key == wire.KeyProduce {
		return wire.MinProduceVersion
	}
	return 0
}

// Version is the newest version of the API that the node and a client up to clientMax both speak. It is false when there
// is none, or when the node is not connected (NodeApiVersions.latestUsableVersion in Java).
func (m *Machine) Version(nodeID int32, key, clientMax int16) (int16, bool) {
	n := m.byID[nodeID]
	if n == nil {
		return 0, false
	}
	r, ok := n.versions.find(key)
	v := min(r.max, clientMax)
	if !ok || v < r.min || v < oldest(key) {
		return 0, false
	}
	return v, true
}

// Feature is a finalized feature of the cluster, such as transaction.version.
type Feature struct {
	Name     string
	Min, Max int16
}

// Features are what a broker says the cluster has finalized (KIP-584), in the broker's order.
type Features struct {
	Epoch int64 // -1 when the broker doesn't know
	List  []Feature
}

// Level is the highest finalized level of the feature, 0 without it.
func (f Features) Level(name string) int16 {
	for i := range f.List {
		if f.List[i].Name == name {
			return f.List[i].Max
		}
	}
	return 0
}

// Features is what the node said when it was connected; it is empty when it isn't.
func (m *Machine) Features(nodeID int32) Features {
	if n := m.byID[nodeID]; n != nil {
		return n.features
	}
	return Features{Epoch: -1}
}

// Finalized is the newest set of features that any broker has told so far, by epoch (Java: ApiVersions.update).
func (m *Machine) Finalized() Features { return m.finalized }

func newFeatures(resp *kmsg.ApiVersionsResponse) Features {
	f := Features{Epoch: resp.FinalizedFeaturesEpoch}
	for _, k := range resp.FinalizedFeatures {
		f.List = append(f.List, Feature{Name: k.Name, Min: k.MinVersionLevel, Max: k.MaxVersionLevel})
	}
	return f
}
