package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// reference is the client that ratios are taken against.
const reference = "franz"

// row is one client's medians in one workload.
type row struct {
	workload, title, client string
	paced                   bool
	ratio                   float64 // 0 when the reference did not run
	spread                  float64 // of the cost: (largest - smallest) / median
	cpuNs, krecords, mb     float64
	allocs, rssMB, pauseMs  float64 // pauseMs: the longest of all runs
	p50, p99, p999          float64
	perBatch, otherLoad     float64
}

// cost is what is compared.
func (r *run) cost() float64 {
	if r.Paced {
		return r.Result.LatencyMs.P99
	}
	return r.Result.CPUNs
}

// summarize makes one row of each workload and client, in the order of their first runs.
func summarize(runs []run) []row {
	type group struct{ workload, client string }
	var order []group
	by := map[group][]run{}
	for _, r := range runs {
		g := group{r.Workload, r.Client}
		if by[g] == nil {
			order = append(order, g)
		}
		by[g] = append(by[g], r)
	}
	var rows []row
	for i, g := range order {
		if i > 0 && order[i-1].workload != g.workload || i == 0 {
			for _, g := range order {
				if g.workload == order[i].workload {
					rows = append(rows, medians(by[g], by[group{g.workload, reference}]))
				}
			}
		}
	}
	return rows
}

func medians(runs, peers []run) row {
	m := func(f func(*run) float64) float64 {
		var v []float64
		for i := range runs {
			v = append(v, f(&runs[i]))
		}
		return median(v)
	}
	r := row{
		workload: runs[0].Workload, title: runs[0].Title, client: runs[0].Client, paced: runs[0].Paced, ratio: median(paired(runs, peers)),
		cpuNs: m(func(r *run) float64 { return r.Result.CPUNs }), krecords: m(func(r *run) float64 { return r.Result.RecordsPerS / 1e3 }),
		mb: m(func(r *run) float64 { return r.Result.MBPerS }), rssMB: m(func(r *run) float64 { return r.Result.MaxRSSMB }),
		p50: m(func(r *run) float64 { return r.Result.LatencyMs.P50 }), p99: m(func(r *run) float64 { return r.Result.LatencyMs.P99 }),
		p999:     m(func(r *run) float64 { return r.Result.LatencyMs.P999 }),
		perBatch: m(func(r *run) float64 { return float64(r.Broker.Records) / float64(r.Broker.Batches) }),
		allocs: m(func(r *run) float64 {
			if r.Result.AllocsPerRec == nil {
				return 0
			}
			return *r.Result.AllocsPerRec
		}),
		otherLoad: m(func(r *run) float64 { return r.OtherLoad }),
	}
	least, most := runs[0].cost(), runs[0].cost()
	for i := range runs {
		r.pauseMs = max(r.pauseMs, runs[i].Result.GCPauseMaxMs)
		least, most = min(least, runs[i].cost()), max(most, runs[i].cost())
	}
	if mid := m((*run).cost); mid > 0 {
		r.spread = (most - least) / mid
	}
	return r
}

// paired are the ratios of costs within each round that both took part in.
func paired(runs, peers []run) (ratios []float64) {
	for i := range runs {
		for j := range peers {
			if peers[j].Round == runs[i].Round && peers[j].cost() > 0 {
				ratios = append(ratios, runs[i].cost()/peers[j].cost())
			}
		}
	}
	return ratios
}

// median is 0 for nothing.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	mid := len(v) / 2
	if len(v)%2 == 1 {
		return v[mid]
	}
	return (v[mid-1] + v[mid]) / 2
}

// markdown is one table; a workload's title and what its ratio is of stand above it.
func markdown(rows []row) string {
	var b strings.Builder
	for i, r := range rows {
		if i == 0 || rows[i-1].workload != r.workload {
			by := "CPU per record"
			if r.paced {
				by = "99th percentile of the latency"
			}
			fmt.Fprintf(&b, "- %s: %s; ratio of %s\n", r.workload, r.title, by)
		}
	}
	b.WriteString("\n| | client | ratio | CPU ns/record | spread | krecords/s | MB/s | allocs/record | peak RSS MB | longest GC pause ms | records/batch | p50 ms | p99 ms | p99.9 ms | other load |\n")
	b.WriteString("|---|---|" + strings.Repeat("--:|", 13) + "\n")
	for i, r := range rows {
		name := r.workload
		if i > 0 && rows[i-1].workload == name {
			name = ""
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %.0f | %.0f %% | %.0f | %.0f | %.3f | %.0f | %.2f | %s | %.2f | %.2f | %.2f | %.0f %% |\n",
			name, r.client, known("%.2f", r.ratio), r.cpuNs, 100*r.spread, r.krecords, r.mb, r.allocs, r.rssMB, r.pauseMs, known("%.0f", r.perBatch), r.p50, r.p99, r.p999, 100*r.otherLoad)
	}
	return b.String()
}

// known is v in the format, or a dash: without franz-go there is no ratio, and a cluster does not tell its batches.
func known(format string, v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return fmt.Sprintf(format, v)
}
