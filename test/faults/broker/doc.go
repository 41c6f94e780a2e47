// Package broker is for scripted faults: it runs a fake Kafka cluster (kfake) behind an interposer that follows a scenario's
// rules and records every request.
//
// A client talks to a real TCP port. Every connection is read, recorded and matched against the rules one request after the
// other, as a real broker does; what no rule answers goes to the kfake broker behind it:
//
//	client ──► node ──► conn.read ──► conn.process ──► rule: answer, delay, drop, close, truncate
//	                                       └─────────► kfake
//
// It owns its ports, its cluster and the journal of what it saw (JSON lines, see Event). It refuses to judge: comparing is for
// package faults. A connection's requests are read before the answer to the first is written, so that a rule can wait
// until several are on their way.
package broker
