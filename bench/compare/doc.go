// Command compare measures producers against each other, the same workloads and harness (package perf) for all:
//
//	go run ./bench/compare --workloads W1,W6 --rounds 5
//
// Each run is two fresh processes of this program, a null broker and a client. In mode null, on Linux, each has a core to
// itself, so that the client's cost is all there is to see and it has GOMAXPROCS=1; in mode free nothing is pinned.
//
// With --bootstrap-server the broker is a real one: nothing is pinned, each run has a topic of its own, and what arrived is
// counted by its end offsets.
//
// Runs are interleaved, client after client and round after round, so that what drifts on the machine hits all alike. A
// client's ratio is the median over the rounds of its cost divided by franz-go's in the same round: CPU time per record,
// or for a paced workload the 99th percentile of the latency. How many records fill --seconds is found by a short run
// before the first round, since clients differ. The broker counts what arrives, and a run that lost a record fails.
package main
