package faults

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// facts is what one run comes down to. The names of its fields in JSON are the names of the facts.
type facts struct {
	Records  any                       `json:"records"`
	Twice    []string                  `json:"twice"` // records with two outcomes
	Order    map[string][]string       `json:"order"` // of the successful callbacks, by partition
	Ops      []string                  `json:"ops"`
	State    []string                  `json:"state"`
	Log      map[string]map[string]any `json:"log"`
	Bounds   map[string]bool           `json:"bounds"`
	Produce  map[string][]string       `json:"produce"`
	Txn      []string                  `json:"txn"`
	Versions map[string][]int          `json:"versions"`

	records map[string]string
	ms      map[int]int64 // by operation
}

// factsOf boils both sides' lines down, in the form of decoded JSON.
func factsOf(c comparison, said []driverLine, seen []brokerLine) (map[string]any, error) {
	f := &facts{
		Twice: []string{}, Order: map[string][]string{}, Ops: []string{}, State: []string{}, Bounds: map[string]bool{},
		records: map[string]string{}, ms: map[int]int64{},
	}
	if c.NoCauses {
		for i := range said {
			said[i].Causes = nil
		}
	}
	f.listen(said)
	f.Log = contents(seen)
	f.watch(c, seen)
	for i := range c.Bounds {
		name, good, err := f.within(&c.Bounds[i])
		if err != nil {
			return nil, err
		}
		f.Bounds[name] = good
	}
	f.Records = f.records
	if c.Outcomes {
		f.Records = counted(f.records)
	}
	return plain(f, c.Skip)
}

// plain turns facts into what decoding their JSON gives, without those to skip.
func plain(f *facts, skip []string) (map[string]any, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	for _, k := range skip {
		delete(m, k)
	}
	return m, nil
}

// listen takes in what the driver said.
func (f *facts) listen(said []driverLine) {
	thrown := map[string]bool{}
	for i := range said {
		if l := &said[i]; l.Type == "record" && l.Thrown {
			thrown[recordName(l)] = true
		}
	}
	for i := range said {
		switch l := &said[i]; l.Type {
		case "record":
			f.record(l, thrown[recordName(l)])
		case "op":
			f.Ops = append(f.Ops, fmt.Sprintf("%d %s(%s) %s", l.I, l.Op, l.P, outcome(l)))
			f.ms[l.I] = l.Ms
		case "state":
			why := ""
			if l.Error != "" && (l.State == "fatal" || l.State == "abortable") {
				why = "/" + l.Error
			}
			f.State = append(f.State, fmt.Sprintf("%d (%s) %s%s", l.I, l.P, l.State, why))
		}
	}
	slices.Sort(f.Twice)
	f.Twice = slices.Compact(f.Twice)
}

func recordName(l *driverLine) string { return fmt.Sprintf("%s-%d", l.P, l.ID) }

func outcome(l *driverLine) string {
	if l.OK {
		return "ok"
	}
	return "error " + l.failure()
}

// record takes in one outcome of a record: a throw counts before a callback, and then only the first.
func (f *facts) record(l *driverLine, thrown bool) {
	name := recordName(l)
	if _, again := f.records[name]; again || thrown && !l.Thrown {
		f.Twice = append(f.Twice, name)
		return
	}
	switch {
	case l.Thrown:
		f.records[name] = "thrown " + l.failure()
	case !l.OK:
		f.records[name] = "error " + l.failure()
	default:
		f.records[name] = fmt.Sprintf("ok %s-%s@%s", l.Topic, number(l.Partition, "None"), number(l.Offset, "?"))
		if l.Partition != nil {
			tp := fmt.Sprintf("%s-%d", l.Topic, *l.Partition)
			f.Order[tp] = append(f.Order[tp], name)
		}
	}
}

func number[T int32 | int64](n *T, none string) string {
	if n == nil {
		return none
	}
	return fmt.Sprint(*n)
}

func counted(records map[string]string) map[string]int {
	n := map[string]int{}
	for _, v := range records {
		if strings.HasPrefix(v, "ok") {
			v = "ok"
		}
		n[v]++
	}
	return n
}

// contents is what the partitions hold; committed records are named where they are not all.
func contents(seen []brokerLine) map[string]map[string]any {
	logs := map[string]map[string]any{}
	for _, l := range seen {
		if l.Type != "log" {
			continue
		}
		logs[l.TP] = map[string]any{"all": l.All}
		if !slices.Equal(l.All, l.Committed) {
			logs[l.TP]["committed"] = l.Committed
		}
	}
	return logs
}

// within names a bound and says whether it holds.
func (f *facts) within(b *bound) (name string, good bool, err error) {
	orElse := func(n json.Number, otherwise string) string {
		if n == "" {
			return otherwise
		}
		return n.String()
	}
	if b.Op != nil {
		low, high := orElse(b.MinMs, "0"), orElse(b.MaxMs, "")
		ms, known := f.ms[*b.Op]
		good, err = between(float64(ms), low, orElse(b.MaxMs, "1e9"))
		return fmt.Sprintf("op %d takes %s..%s ms", *b.Op, low, high), known && good, err
	}
	low, high := orElse(b.MinShare, "0"), orElse(b.MaxShare, "1")
	total := 0
	for _, l := range f.Log {
		total += len(l["all"].([]string))
	}
	held := 0
	if l := f.Log[b.TP]; l != nil {
		held = len(l["all"].([]string))
	}
	good, err = between(float64(held)/float64(max(total, 1)), low, high)
	return fmt.Sprintf("%s holds %s..%s of the records", b.TP, low, high), total > 0 && good, err
}

func between(x float64, low, high string) (bool, error) {
	l, err := json.Number(low).Float64()
	if err != nil {
		return false, err
	}
	h, err := json.Number(high).Float64()
	return l <= x && x <= h, err
}
