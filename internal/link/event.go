package link

import (
	"errors"
	"fmt"
)

// ID names one dialled connection. IDs are never used twice in a process; 0 is no link.
type ID uint64

// ErrCutHandshake is in the error of a Closed whose peer ended the connection, or lost it, while the TLS handshake waited for it.
var ErrCutHandshake = errors.New("connection lost during the TLS handshake")

// EventKind says what happened.
type EventKind uint8

const (
	// Resolved is the answer to Order{Resolve}: Host, and either Addrs or Err.
	Resolved EventKind = iota + 1
	// Up says that TCP (and TLS, where configured) is established on Link.
	Up
	// Written says that the request with correlation id Corr is fully written on Link: its memory is no longer read.
	Written
	// Received carries one response frame without its length prefix.
	Received
	// Ending says that the peer has ended Link, Err says how: a request ordered from here on will not be written. Closed
	// follows. A link may end without it.
	Ending
	// Closed is the last event of Link. Err says why; nil when we ordered it ourselves.
	Closed
	// Proof is the answer to Order{Challenge}: the SASL session of Link wants Token to be sent, and Complete says that it needs
	// to hear nothing more; or Err, which ends the exchange.
	Proof
)

func (k EventKind) String() string {
	switch k {
	case Resolved:
		return "resolved"
	case Up:
		return "up"
	case Written:
		return "written"
	case Received:
		return "received"
	case Ending:
		return "ending"
	case Closed:
		return "closed"
	case Proof:
		return "proof"
	}
	return fmt.Sprintf("EventKind(%d)", uint8(k))
}

// Event is what transport tells the client. Which fields count depends on Kind.
type Event struct {
	Kind  EventKind
	Link  ID       // all but Resolved
	Host  string   // Resolved: the name that was asked for, as it stood in the order
	Addrs []string // Resolved: IP addresses without a port, in the resolver's order; owned by the receiver
	Corr  int32    // Written
	Frame []byte   // Received: one response from its correlation id on; owned by the receiver
	// Token and Complete are what the SASL session says (Proof). A nil Token is nothing to send.
	Token    []byte
	Complete bool
	Err      error // Resolved, Ending, Closed, Proof
}
