package sasl

import "context"

// Mechanism makes sessions. Its methods are safe for concurrent use.
type Mechanism interface {
	// Name is the registered name, as in sasl.mechanism: "SCRAM-SHA-256".
	Name() string
	// Session begins one exchange with a broker that is known as host, without its port.
	Session(host string) (Session, error)
}

// Session is the client's half of one exchange. Only one goroutine uses it.
type Session interface {
	// Next answers the broker's challenge; the first call, with nil, gives the initial response. It may take as long as ctx
	// lets it. The response is the caller's; a nil one says that the client has nothing to send. An error ends the exchange:
	// the peer is not who it must be, or the mechanism can't go on.
	Next(ctx context.Context, challenge []byte) (response []byte, err error)
	// Complete reports whether the client has said all it has to say and is content with what the broker said.
	Complete() bool
}
