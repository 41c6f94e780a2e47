// Package perf measures a producer: one workload, the client's own CPU time, latency and memory, one JSON line.
//
// It is the harness of "linger perf" and of the comparison with other clients in bench: a client is a Sender, everything
// else (payloads, pacing, counting of outcomes, accounting) is the same for all of them.
//
// CPU time is the process's, user and system, from the end of the warm-up to the last outcome. With a rate the load is
// an open loop: record i is due at a fixed instant and its latency counts from then, however late it was sent, so that
// a stall counts for every record it delays. Without a rate one record in 64 is timed from Send to its outcome.
package perf
