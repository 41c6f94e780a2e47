package partition

// View is what a choice needs to know of one topic: an immutable part of a metadata snapshot, shared freely.
type View struct {
	// Count is the number of partitions of the topic, with and without a leader.
	Count int32
	// Available lists the partitions with a leader, in the order of the metadata.
	Available []int32
	// InRack lists those of Available whose leader is in the client's rack; nil when the choice is not rack-aware.
	InRack []int32
}

// NewView lists the available partitions of a topic with count partitions. leader gives each partition's leader (node id,
// negative when it has none). With rackAware, rackOf names a node's rack ("" when it has none) and rack is client.rack;
// without, rackOf is not called and may be nil. A node without a rack is in nobody's rack.
func NewView(count int32, leader func(partition int32) int32, rackAware bool, rack string, rackOf func(node int32) string) *View {
	v := &View{Count: count}
	for p := range count {
		node := leader(p)
		if node < 0 {
			continue
		}
		v.Available = append(v.Available, p)
		if rackAware && rack != "" && rackOf(node) == rack {
			v.InRack = append(v.InRack, p)
		}
	}
	return v
}

// uniform draws with equal weights: among the leaders in the client's rack, else among all leaders, else among all
// partitions. random is not negative. A topic without partitions gives -1.
func (v *View) uniform(random int32) int32 {
	switch {
	case len(v.InRack) > 0:
		return v.InRack[int(random)%len(v.InRack)]
	case len(v.Available) > 0:
		return v.Available[int(random)%len(v.Available)]
	case v.Count > 0:
		return random % v.Count
	}
	return -1
}
