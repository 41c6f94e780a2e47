// Package client decides about connections: which to open, when one has failed, what may be sent on it, and which
// answer belongs to which request. It is Java's NetworkClient, ClusterConnectionStates and InFlightRequests in one step
// machine: events of internal/link go in, orders of internal/link and answers to requests come out.
//
// # The plain version
//
//	conn := dial(resolve(node.host))
//	versions := ask(conn, ApiVersions)
//	write(conn, request);  answer := read(conn)
//
// # The real one
//
// Each broker has a node here, and a node has at most one link at a time. Nothing waits: every step is an order that
// goes out and an event that comes back, or a deadline that passes (Tick, NextWake).
//
//	      Connect            Up, with SASL           logged in           ApiVersions answered
//	down ────────► connecting ──────► authenticating ───────► checking versions ─────────────► ready
//	 ▲  resolve, dial  │ Up, without       │                      ▲    │                        │
//	 │                 └───────────────────┼──────────────────────┘    │                        │
//	 └─────────────────────────────────────┴───────────────────────────┴────────────────────────┘
//	    refused, setup timeout, request timeout, bad answer, idle, closed by the broker;
//	    then the reconnect back-off of that broker, doubling, with jitter (KIP-144)
//
// A node that one side could not prove itself to is unauthenticated, which for all decisions is a kind of down. A login that runs
// out is done again on the ready connection (sasl.go), between the requests that are in flight and those to come.
//
// In flight is one queue per link, oldest first. An answer must carry the correlation id of the oldest request that
// waits; anything else closes the link, and everything on it fails as a network error.
//
// # Memory
//
// A request lends its bytes to the connection. They are given back, as an Answer, only when the connection no longer
// reads them: the request is fully written and answered (written, if nobody answers), or its link has reported Closed.
// A time-out is therefore decided at once, the link ordered closed and the broker reported lost, while the answers of
// what was on the link follow with Closed.
//
// # What it refuses
//
// It reads no clock, opens no socket, computes nothing of a login and interprets no answers but those to its own requests,
// ApiVersions, SaslHandshake and SaslAuthenticate: bodies go to whoever asked. The order of everything that comes out
// depends on the order of what went in and on the random numbers passed in, never on a map.
package client
