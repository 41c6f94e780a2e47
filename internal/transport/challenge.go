package transport

import (
	"errors"
	"fmt"

	"linger/internal/link"
	"linger/internal/sasl"
)

// challenge lets the SASL session of a link think, on a goroutine of its own. The client orders the next challenge of a link
// only after the proof of the one before, so a session has one goroutine at a time; the events between them make what one has
// written visible to the next.
func (t *Transport) challenge(o *link.Order) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.links[o.Link]
	if c == nil {
		return
	}
	c.exchanges.Add(1) // under the lock: after forget nobody adds
	go c.prove(o.Token)
}

// prove answers one challenge. A session that is told to stop by its context says so in an error, which nobody hears: the
// link's Closed says why it ended.
func (c *connection) prove(said []byte) {
	defer c.exchanges.Done()
	proof := link.Event{Kind: link.Proof, Link: c.id, Err: errNoReturn} // what stands when the mechanism ends this goroutine
	defer func() { c.t.post(proof) }()
	proof.Token, proof.Complete, proof.Err = c.next(said)
}

// next keeps the faults of a mechanism of the application's own to the one connection that it was asked for.
func (c *connection) next(said []byte) (token []byte, complete bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			// What it panicked with may quote what it was working on: a secret.
			token, complete, err = nil, false, fmt.Errorf("the SASL mechanism panicked with a %T", p)
		}
	}()
	if said == nil {
		if c.session, err = c.begin(); err != nil {
			return nil, false, err
		}
	}
	if c.session == nil {
		return nil, false, errNoSession
	}
	if token, err = c.session.Next(c.ctx, said); err != nil {
		return nil, false, err
	}
	return token, c.session.Complete(), nil
}

var (
	errNoSession = errors.New("there is no SASL session")
	errNoReturn  = errors.New("the SASL mechanism did not return")
)

func (c *connection) begin() (sasl.Session, error) {
	if c.t.sasl == nil {
		return nil, errNoSession
	}
	return c.t.sasl.Session(c.dial.Host)
}
