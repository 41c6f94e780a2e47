package partition

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linger/test/oracle"
)

func TestOracleMurmur2(t *testing.T) { // PART-04, PART-11
	type vector struct {
		ID         string
		Key        string
		Murmur2    int32
		ToPositive int32
		Partition  map[string]int32
	}
	var set struct{ Cases []vector }
	oracle.Load(t, "murmur2.json", &set)
	oracle.Run(t, set.Cases, func(v vector) string { return v.ID }, nil, func(t *testing.T, v vector) {
		key, err := hex.DecodeString(v.Key)
		if err != nil {
			t.Fatal(err)
		}
		if got := Murmur2(key); got != v.Murmur2 {
			t.Errorf("Murmur2 is %d, Java %d", got, v.Murmur2)
		}
		if got := ToPositive(Murmur2(key)); got != v.ToPositive {
			t.Errorf("ToPositive is %d, Java %d", got, v.ToPositive)
		}
		for n, want := range v.Partition {
			count, err := strconv.Atoi(n)
			if err != nil {
				t.Fatal(err)
			}
			if got := ForKey(key, count); got != want {
				t.Errorf("of %d partitions: %d, Java %d", count, got, want)
			}
		}
	})
}

type clusterVector struct {
	Leaders []int32
	Racks   []string
}

// view is the cluster's view as the metadata room would hand it in.
func (c clusterVector) view(rackAware bool, rack string) *View {
	return NewView(int32(len(c.Leaders)),
		func(p int32) int32 { return c.Leaders[p] }, rackAware, rack,
		func(node int32) string { return c.Racks[node] })
}

type tableVector struct {
	Length              int
	CumulativeFrequency []int32
	PartitionIDs        []int32 `json:"partitionIds"`
}

type stickyStep struct {
	Partition          int32
	AppendedBytes      int
	EnableSwitch       bool
	ProducedBytesOfOld string
	Switched           bool
	Next               int32
	RandomsUsed        int
}

type partitionerVector struct {
	ID, Kind           string
	Cluster            clusterVector
	RackAware          bool
	Rack               string
	QueueSizes         []int32
	PartitionIDs       []int32 `json:"partitionIds"`
	LeaderRacks        []*string
	Length             int
	Total              *tableVector
	InThisRack         *tableVector
	RangeEnd           *int32
	RangeEndInThisRack *int32
	Picks              [][2]int32
	Updates            []struct {
		QueueSizes []int32
		Table      *tableVector
		PickOf7    int32
	}
	StickyBatchSize    int32
	Randoms            []int32
	Steps              []stickyStep
	AppendedBytes      int
	Partitions         []json.RawMessage
	RandomsUsed        int
	PartitionsPerTopic int32
	Calls              [][2]any
}

func TestOraclePartitioner(t *testing.T) { // PART-17, PART-18, PART-25, PART-26, PART-32
	var set struct{ Cases []partitionerVector }
	oracle.Load(t, "partitioner.json", &set)
	rules := []oracle.Rule[partitionerVector]{{
		Name: "round robin over no partitions answers -1",
		Reason: "Java divides by zero. A topic whose partitions are known has at least one, so only a wrong caller gets here;" +
			" -1 is refused as any negative answer of a partitioner.",
		Matches: func(v partitionerVector) bool { return v.Kind == "round-robin" && len(v.Cluster.Leaders) == 0 },
		Instead: func(t *testing.T, v partitionerVector) {
			var r RoundRobin
			if got := r.Next("t", v.Cluster.view(false, "")); got != -1 {
				t.Errorf("got %d, want -1", got)
			}
		},
	}}
	oracle.Run(t, set.Cases, func(v partitionerVector) string { return v.ID }, rules, func(t *testing.T, v partitionerVector) {
		switch v.Kind {
		case "load":
			sameLoad(t, v)
		case "load-replaced":
			sameReplacedLoad(t, v)
		case "sticky":
			sameSticky(t, v)
		case "sticky-with-load":
			sameStickyWithLoad(t, v)
		case "update-null":
			sameUpdateOfNone(t, v)
		case "round-robin":
			sameRoundRobin(t, v)
		case "round-robin-topics":
			sameRoundRobinOfTopics(t, v)
		default:
			t.Fatalf("unknown kind %q", v.Kind)
		}
	})
}

// draws hands out randoms in turn, then fails.
type draws struct {
	t    *testing.T
	next []int32
	used int
}

func (d *draws) random() int32 {
	if d.used == len(d.next) {
		d.t.Fatal("more random numbers are drawn than in Java")
	}
	d.used++
	return d.next[d.used-1]
}

func (v partitionerVector) racks() []string {
	racks := make([]string, len(v.LeaderRacks))
	for i, r := range v.LeaderRacks {
		if r != nil {
			racks[i] = *r
		}
	}
	return racks
}

func sameLoad(t *testing.T, v partitionerVector) {
	var d draws
	d.t = t
	s := NewSticky(1, v.RackAware, v.Rack, d.random)
	s.UpdateLoad(slices.Clone(v.QueueSizes), v.PartitionIDs, v.racks(), v.Length)
	checkTable(t, s.Load(), v.Total, v.InThisRack)
	if table := s.Load(); table != nil {
		checkEnd(t, "range end", table.Total, v.RangeEnd)
		checkEnd(t, "range end in this rack", table.InRack, v.RangeEndInThisRack)
	}
	view := v.Cluster.view(v.RackAware, v.Rack)
	for _, pick := range v.Picks {
		d.next, d.used = []int32{pick[0]}, 0
		if got := s.draw(view); got != pick[1] {
			t.Errorf("random %d picks %d, Java %d", pick[0], got, pick[1])
		}
	}
}

func checkTable(t *testing.T, got *LoadTable, total, inRack *tableVector) {
	t.Helper()
	if (got == nil) != (total == nil) {
		t.Fatalf("table is %v, Java's %v", got, total)
	}
	if got == nil {
		return
	}
	checkFrequencies(t, "total", got.Total, *total)
	if got.RackAware != (inRack != nil) {
		t.Fatalf("rack-aware is %t, Java's table in this rack is %v", got.RackAware, inRack)
	}
	if inRack != nil {
		checkFrequencies(t, "in this rack", got.InRack, *inRack)
	}
}

func checkFrequencies(t *testing.T, name string, got Frequencies, want tableVector) {
	t.Helper()
	w := Frequencies{Cumulative: want.CumulativeFrequency[:want.Length], Partitions: want.PartitionIDs[:want.Length]}
	if !got.equal(&w) {
		t.Errorf("%s: %s", name, cmp.Diff(w, got))
	}
}

func checkEnd(t *testing.T, name string, got Frequencies, want *int32) {
	t.Helper()
	if want == nil {
		return
	}
	if end := got.Cumulative[len(got.Cumulative)-1]; end != *want {
		t.Errorf("%s is %d, Java %d", name, end, *want)
	}
}

func sameReplacedLoad(t *testing.T, v partitionerVector) {
	d := &draws{t: t}
	s := NewSticky(1, false, "", d.random)
	ids := make([]int32, len(v.Cluster.Leaders))
	for i := range ids {
		ids[i] = int32(i)
	}
	for i, u := range v.Updates {
		s.UpdateLoad(slices.Clone(u.QueueSizes), ids[:len(u.QueueSizes)], nil, len(u.QueueSizes))
		checkTable(t, s.Load(), u.Table, nil)
		d.next, d.used = []int32{7}, 0
		if got := s.draw(v.Cluster.view(false, "")); got != u.PickOf7 {
			t.Errorf("update %d: 7 picks %d, Java %d", i, got, u.PickOf7)
		}
	}
}

func sameSticky(t *testing.T, v partitionerVector) {
	d := &draws{t: t, next: slices.Repeat(v.Randoms, 1+len(v.Steps))}
	s := NewSticky(v.StickyBatchSize, false, "", d.random)
	view := v.Cluster.view(false, "")
	for i, step := range v.Steps {
		c := s.Peek(view)
		if c.Partition() != step.Partition {
			t.Fatalf("step %d: partition %d, Java %d", i, c.Partition(), step.Partition)
		}
		switched := s.Update(c, view, step.AppendedBytes, step.EnableSwitch)
		if switched != step.Switched || s.Changed(c) != step.Switched {
			t.Errorf("step %d: switched %t, changed %t, Java %t", i, switched, s.Changed(c), step.Switched)
		}
		if got := strconv.Itoa(int(c.Produced())); got != step.ProducedBytesOfOld {
			t.Errorf("step %d: produced %s, Java %s", i, got, step.ProducedBytesOfOld)
		}
		if got := s.Peek(view).Partition(); got != step.Next {
			t.Errorf("step %d: next is %d, Java %d", i, got, step.Next)
		}
		if d.used != step.RandomsUsed {
			t.Errorf("step %d: %d random numbers used, Java %d", i, d.used, step.RandomsUsed)
		}
	}
}

func sameStickyWithLoad(t *testing.T, v partitionerVector) {
	d := &draws{t: t, next: append(slices.Clone(v.Randoms), 0)}
	s := NewSticky(v.StickyBatchSize, false, "", d.random)
	ids := make([]int32, len(v.QueueSizes))
	for i := range ids {
		ids[i] = int32(i)
	}
	s.UpdateLoad(slices.Clone(v.QueueSizes), ids, nil, len(ids))
	view := &View{Count: int32(len(ids)), Available: ids}
	for i, raw := range v.Partitions {
		c := s.Peek(view)
		if want := number(t, raw); c.Partition() != want {
			t.Errorf("choice %d is %d, Java %d", i, c.Partition(), want)
		}
		if !s.Update(c, view, v.AppendedBytes, true) {
			t.Errorf("choice %d did not switch after %d bytes", i, v.AppendedBytes)
		}
	}
}

func sameUpdateOfNone(t *testing.T, v partitionerVector) {
	d := &draws{t: t}
	s := NewSticky(1, false, "", d.random)
	if s.Update(nil, &View{Count: 1}, 1000, true) || s.Changed(nil) {
		t.Error("an update without a choice switched")
	}
	if d.used != v.RandomsUsed {
		t.Errorf("%d random numbers used, Java %d", d.used, v.RandomsUsed)
	}
}

func sameRoundRobin(t *testing.T, v partitionerVector) {
	var r RoundRobin
	view := v.Cluster.view(false, "")
	for i, raw := range v.Partitions {
		if got, want := r.Next("t", view), number(t, raw); got != want {
			t.Errorf("call %d gives %d, Java %d", i, got, want)
		}
	}
}

func sameRoundRobinOfTopics(t *testing.T, v partitionerVector) {
	var r RoundRobin
	view := &View{Count: v.PartitionsPerTopic}
	for p := range v.PartitionsPerTopic {
		view.Available = append(view.Available, p)
	}
	for i, call := range v.Calls {
		want, err := call[1].(json.Number).Int64()
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Next(call[0].(string), view); int64(got) != want {
			t.Errorf("call %d for topic %s gives %d, Java %d", i, call[0], got, want)
		}
	}
}

func number(t *testing.T, raw json.RawMessage) int32 {
	t.Helper()
	n, err := strconv.ParseInt(string(raw), 10, 32)
	if err != nil {
		t.Fatalf("not a partition: %s", raw)
	}
	return int32(n)
}
