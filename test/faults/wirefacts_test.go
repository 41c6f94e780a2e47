package faults

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// transactional lists the requests that make the fact "txn".
var transactional = map[string]bool{
	"InitProducerId": true, "AddPartitionsToTxn": true, "AddOffsetsToTxn": true, "TxnOffsetCommit": true, "EndTxn": true, "FindCoordinator": true,
}

// names calls random producer ids P1, P2, … in the order of their appearance.
type names map[int64]string

func (n names) of(id *int64) string {
	if id == nil || *id < 0 {
		return "-"
	}
	if _, known := n[*id]; !known {
		n[*id] = fmt.Sprintf("P%d", len(n)+1)
	}
	return n[*id]
}

// watch takes in what the broker saw on the wire.
func (f *facts) watch(c comparison, seen []brokerLine) {
	requests := slices.DeleteFunc(slices.Clone(seen), func(l brokerLine) bool { return l.N == 0 })
	slices.SortFunc(requests, func(a, b brokerLine) int { return cmp.Compare(a.N, b.N) })
	f.Produce, f.Txn, f.Versions = map[string][]string{}, []string{}, map[string][]int{}
	ids := names{}
	for i := range requests {
		l := &requests[i]
		if l.API != "Metadata" && !slices.Contains(f.Versions[l.API], l.Version) {
			f.Versions[l.API] = append(f.Versions[l.API], l.Version)
			slices.Sort(f.Versions[l.API])
		}
		switch {
		case l.API == "Produce":
			for j := range l.Req.Batches {
				b := &l.Req.Batches[j]
				f.Produce[b.TP] = append(f.Produce[b.TP], produceLine(l, b, ids))
			}
		case transactional[l.API]:
			f.Txn = append(f.Txn, txnLine(l, ids))
		}
	}
	f.Txn = folded(f.Txn)
	if !c.LooseRetries {
		return
	}
	for tp, lines := range f.Produce {
		f.Produce[tp] = uncounted(folded(lines))
	}
	f.Txn = slices.DeleteFunc(uncounted(f.Txn), func(l string) bool { return strings.Contains(l, "FindCoordinator") })
}

// fate is what became of a request, unless it was answered in the ordinary way.
func (l *brokerLine) fate(answer string) string {
	if answer == "" || l.Did != "pass" && l.Did != "error" {
		return l.Did
	}
	return answer
}

func produceLine(l *brokerLine, b *batch, ids names) string {
	answer := ""
	for _, p := range l.Answer.Parts {
		if p.TP == b.TP {
			answer = p.Error
		}
	}
	codec := ""
	if b.Codec != "none" {
		codec = " " + b.Codec
	}
	return fmt.Sprintf("%s@%d %s/%d seq %d +%d%s acks=%d -> %s", l.Client, l.Broker, ids.of(b.PID), b.Epoch, b.Seq, b.Count, codec, l.Req.Acks, l.fate(answer))
}

func txnLine(l *brokerLine, ids names) string {
	what := ""
	switch q := &l.Req; l.API {
	case "FindCoordinator":
		what = fmt.Sprintf("type %d %s", q.KeyType, strings.Join(q.Keys, ","))
	default:
		id := "None"
		if q.TxnID != nil {
			id = *q.TxnID
		}
		what = fmt.Sprintf("%s %s/%d%s", id, ids.of(q.PID), q.Epoch, l.tail())
	}
	answer := l.Answer.Error
	if answer == "" {
		var parts []string
		for _, tp := range slices.Sorted(maps.Keys(l.Answer.Errors)) {
			parts = append(parts, tp+":"+l.Answer.Errors[tp])
		}
		answer = strings.Join(parts, ",")
	}
	answer = l.fate(answer)
	if l.Answer.PID != nil && *l.Answer.PID >= 0 {
		answer += fmt.Sprintf(" %s/%d", ids.of(l.Answer.PID), l.Answer.Epoch)
	}
	return fmt.Sprintf("%s: %s %s -> %s", l.Client, l.API, what, answer)
}

// tail is what a transaction request is about besides its producer.
func (l *brokerLine) tail() string {
	q := &l.Req
	switch l.API {
	case "EndTxn":
		if q.Commit {
			return " commit"
		}
		return " abort"
	case "AddPartitionsToTxn":
		return " " + strings.Join(slices.Sorted(slices.Values(q.Partitions)), ",")
	case "AddOffsetsToTxn":
		return " " + q.Group
	case "TxnOffsetCommit":
		return " " + q.Group + " " + strings.Join(slices.Sorted(slices.Values(q.Offsets)), ",")
	}
	return ""
}

// folded counts equal lines in a row: "line", "line" become "line x2".
func folded(lines []string) []string {
	out := []string{}
	for i := 0; i < len(lines); {
		j := i + 1
		for j < len(lines) && lines[j] == lines[i] {
			j++
		}
		line := lines[i]
		if j-i > 1 {
			line += fmt.Sprintf(" x%d", j-i)
		}
		out = append(out, line)
		i = j
	}
	return out
}

var count = regexp.MustCompile(` x\d+$`)

// uncounted forgets how often a folded line came.
func uncounted(lines []string) []string {
	out := []string{}
	for _, l := range lines {
		out = append(out, count.ReplaceAllString(l, " x*"))
	}
	return out
}
