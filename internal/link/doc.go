// Package link holds the few values that travel between the room that decides about connections (internal/client) and the
// room that has them (internal/transport). It owns nothing and does nothing.
//
// A link is one attempt at one connection: it gets a new ID when it is dialled and never comes back after it is closed.
//
//	client                       transport
//	  Order{Resolve, Host}  ──►  DNS        ──►  Event{Resolved, Host, Addrs | Err}
//	  Order{Dial, Link}     ──►  TCP (TLS)  ──►  Event{Up, Link}          or Closed
//	  Order{Write, Corr}    ──►  writev     ──►  Event{Written, Corr}
//	                             reader     ──►  Event{Received, Frame}, at the end of the stream Event{Ending, Err}
//	  Order{Challenge}      ──►  SASL       ──►  Event{Proof, Token | Err}
//	  Order{Close, Link}    ──►  close      ──►  Event{Closed, Err}
//
// Two promises carry the memory rules of the whole producer:
//
//   - After Order{Write} the bytes of Vec belong to transport until Written with that correlation id or Closed of that link.
//   - Closed comes exactly once for every dialled link, after its reader and its writer have both returned. Nothing about
//     the link comes after it, so whoever sees Closed may free what the link was reading from.
package link
