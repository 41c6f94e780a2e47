package link

import "fmt"

// OrderKind says what is to be done.
type OrderKind uint8

const (
	// Resolve asks for the addresses of Host; answered by one Resolved.
	Resolve OrderKind = iota + 1
	// Dial opens Link to Addr; answered by Up or Closed.
	Dial
	// Write sends one request on Link; answered by Written or Closed.
	Write
	// Close ends Link, half-written requests included; answered by Closed.
	Close
	// Challenge hands what the broker said to the SASL session of Link; answered by Proof or Closed.
	Challenge
)

func (k OrderKind) String() string {
	switch k {
	case Resolve:
		return "resolve"
	case Dial:
		return "dial"
	case Write:
		return "write"
	case Close:
		return "close"
	case Challenge:
		return "challenge"
	}
	return fmt.Sprintf("OrderKind(%d)", uint8(k))
}

// Order is what the client wants transport to do. Which fields count depends on Kind.
type Order struct {
	Kind OrderKind
	Link ID    // all but Resolve
	Node int32 // Dial: the broker's id, below zero for a bootstrap address; for names in logs and errors only

	// Host is the name to look up (Resolve), and for Dial the name the address was found under: what a TLS certificate
	// must say.
	Host string
	Addr string // Dial: "ip:port", an IPv6 address in brackets

	Corr int32 // Write
	// Vec is one whole request, its length prefix included, in the order it goes out (one writev). Nobody else touches the
	// bytes nor the slice until Written(Corr) or Closed(Link).
	Vec [][]byte

	// SendBuf and RecvBuf are the socket's buffer sizes in bytes (send.buffer.bytes, receive.buffer.bytes); -1 leaves the
	// system's default. Dial only.
	SendBuf, RecvBuf int

	// Token is what the broker said (Challenge); nil begins a new session, the first or the next (KIP-368). Its bytes belong to
	// transport from then on.
	Token []byte

	Err error // Close: why, for transport's Closed event; nil for an ordinary end
}
