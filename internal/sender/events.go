package sender

import (
	"linger/internal/accumulator"
	"linger/internal/clock"
	"linger/internal/link"
	"linger/internal/metadata"
)

// Kind says what an Event tells.
type Kind uint8

const (
	// Nudge says that appends left something to look at; the accumulator's signals say what.
	Nudge Kind = iota
	// Link is news from a connection.
	Link
	// Sealed gives back a batch that went out in Effects.Seals.
	Sealed
	// Delivered says that N batches of earlier completions have run their callbacks.
	Delivered
	// TopicWanted registers a topic that a caller waits for, or renews its idle expiry.
	TopicWanted
	// RefreshWanted is TopicWanted by a caller that the current view does not satisfy.
	RefreshWanted
	// CloseBegin starts an orderly close: everything buffered is sent, nothing new comes in.
	CloseBegin
	// CloseForce fails whatever is left.
	CloseForce
)

// Event is one thing that happened since the last turn.
type Event struct {
	Kind  Kind
	Link  link.Event
	Batch *accumulator.Batch
	N     int
	Topic string
}

// Effects is what a turn wants done. The slices are the sender's and valid until the next Step.
type Effects struct {
	// Orders go to the transport, in order.
	Orders []link.Order
	// Seals go to the compression workers; each comes back as a Sealed event.
	Seals []*accumulator.Batch
	// Free are batches whose memory goes home, before Completions are delivered.
	Free []*accumulator.Batch
	// Completions are delivered in order.
	Completions []accumulator.Completion
	// View, when not nil, is published to the callers that wait for metadata.
	View *metadata.View
	// Identity, when not nil, is who the producer is from now on.
	Identity *Identity
	// Logs are written by the engine.
	Logs []LogLine
	// WakeAt is when the next turn is due if nothing happens before; clock.Never when only events matter.
	WakeAt clock.Instant
	// Done says that the sender is finished: links are closed, nothing is incomplete.
	Done bool
}

// Level of a log line.
type Level uint8

// The levels, as in log/slog.
const (
	Debug Level = iota
	Info
	Warn
	Error
)

// LogLine is one line for the log, without secrets.
type LogLine struct {
	Level Level
	Text  string
}

func (fx *Effects) reset() {
	fx.Orders = fx.Orders[:0]
	clear(fx.Seals)
	fx.Seals = fx.Seals[:0]
	clear(fx.Free)
	fx.Free = fx.Free[:0]
	clear(fx.Completions)
	fx.Completions = fx.Completions[:0]
	fx.View, fx.Identity = nil, nil
	fx.Logs = fx.Logs[:0]
	fx.WakeAt = clock.Never
	fx.Done = false
}

// Identity is who the producer is to the brokers, and in what state.
type Identity struct {
	// State is "none" without idempotence, else the transaction manager's state in small letters.
	State string
	// ProducerID and Epoch are -1 until a broker has given them.
	ProducerID int64
	Epoch      int16
	// Err is why the state is an error state.
	Err error
	// Refusal is what every send fails with in such a state, nil in all others.
	Refusal error
}
