package client

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/clock"
	"linger/internal/kerr"
	"linger/internal/link"
	"linger/internal/wire"
)

// exchange is one run of SASL on a connection (Java: SaslClientAuthenticator):
//
//	ApiVersions v0 ──► SaslHandshake v1 ──► SaslAuthenticate, as often as the mechanism needs it
//
// The first run stands between Up and the versions that the node is used with; a broker answers nothing else before it.
// Later runs (KIP-368, see reauthenticate) begin with the handshake and stand behind what is in flight. What to say is not
// known here: each challenge goes to the link's session as an order and comes back as a proof.
type exchange struct {
	again      bool
	request    *Request // what the broker is asked; nil while the session thinks
	complete   bool     // the session needs to hear nothing more
	lifetimeMs int64
	deadline   clock.Instant // request.timeout.ms for the whole of it
}

const (
	keySaslHandshake    = 17
	keySaslAuthenticate = 36

	// handshakeVersion is the first one that goes with SaslAuthenticate. Older brokers take naked tokens (before 1.0, KIP-152).
	handshakeVersion       = 1
	maxAuthenticateVersion = 2
	// lifetimesFrom is the first SaslAuthenticate version that tells how long the session lasts (KIP-368).
	lifetimesFrom = 1
)

// The part of a session's life after which the client logs in anew: between 85 and 95 percent of it, so that many
// connections do not do it together (Java: SaslClientAuthenticator.ReauthInfo).
const (
	reauthWindow = 0.85
	reauthJitter = 0.10
)

// login starts the first run on a fresh connection. ApiVersions is asked in version 0: what a broker can't read before the
// login it takes for a token.
func (m *Machine) login(now clock.Instant, c *conn) {
	m.beginExchange(now, c, false)
	req := kmsg.NewApiVersionsRequest()
	m.ask(now, c, &req)
}

func (m *Machine) beginExchange(now clock.Instant, c *conn, again bool) {
	c.auth = &exchange{again: again, deadline: past(now.Add(m.o.RequestTimeout))}
	m.wakeAt(c.auth.deadline)
}

// ask sends a message of the exchange, under a correlation id of the reserved range: a late answer to one of the caller's
// requests can't be taken for its answer.
func (m *Machine) ask(now clock.Instant, c *conn, req kmsg.Request) {
	if c.authCorr < firstReservedCorr {
		c.authCorr = firstReservedCorr
	}
	corr := c.authCorr
	c.authCorr++
	c.auth.request = &Request{
		Key: req.Key(), Version: req.GetVersion(), Corr: corr, Node: c.node.ID,
		Vec: [][]byte{wire.AppendRequest(nil, req, corr, m.o.ClientID)},
	}
	m.launch(now, c, c.auth.request)
}

// reauthDue reports whether nothing may go out on c before a new login.
func (c *conn) reauthDue(now clock.Instant) bool { return now >= c.reauthAt }

// reauthenticate begins the next run. As in Java it begins when there is something to send; what is in flight is answered
// first, as brokers answer in order, and new requests wait.
func (m *Machine) reauthenticate(now clock.Instant, c *conn) {
	m.debug("Re-authenticating with node %v, %d requests in flight.", c.node, len(c.requests))
	m.beginExchange(now, c, true)
	m.shakeHands(now, c)
}

func (m *Machine) shakeHands(now clock.Instant, c *conn) {
	req := kmsg.NewSASLHandshakeRequest()
	req.Version, req.Mechanism = handshakeVersion, m.o.SASL
	m.ask(now, c, &req)
}

// takeSASL takes an answer of the exchange.
func (m *Machine) takeSASL(now clock.Instant, c *conn, r *Request) {
	c.auth.request = nil
	switch r.Key {
	case wire.KeyApiVersions:
		m.takeSASLVersions(now, c, r)
	case keySaslHandshake:
		m.takeHandshake(now, c, r)
	case keySaslAuthenticate:
		m.takeChallenge(now, c, r)
	}
}

// readSASL reads the answer to r into resp. One that can't be read ends the link: the peer is no broker with SASL.
func (m *Machine) readSASL(now clock.Instant, c *conn, r *Request, resp kmsg.Response) bool {
	resp.SetVersion(r.Version)
	if err := resp.ReadFrom(r.body); err != nil {
		m.abandon(now, c, unauthenticated, strange(err))
		return false
	}
	return true
}

func (m *Machine) takeSASLVersions(now clock.Instant, c *conn, r *Request) {
	resp := kmsg.NewPtrApiVersionsResponse()
	if !m.readSASL(now, c, r, resp) {
		return
	}
	table := newVersionTable(resp.ApiKeys)
	authenticate, ok := table.find(keySaslAuthenticate)
	if !ok || authenticate.min > maxAuthenticateVersion || !table.has(keySaslHandshake, handshakeVersion) {
		m.abandon(now, c, unauthenticated, loginError(kerr.UnsupportedVersion, kerr.ClassFatal,
			"the broker speaks no SaslAuthenticate, which came with Kafka 1.0"))
		return
	}
	c.authVersion = min(authenticate.max, maxAuthenticateVersion)
	m.shakeHands(now, c)
}

func (m *Machine) takeHandshake(now clock.Instant, c *conn, r *Request) {
	resp := kmsg.NewPtrSASLHandshakeResponse()
	if !m.readSASL(now, c, r, resp) {
		return
	}
	if code := kerr.Code(resp.ErrorCode); code != kerr.None {
		m.abandon(now, c, unauthenticated, m.refusedHandshake(code, resp.SupportedMechanisms))
		return
	}
	m.challenge(c, nil)
}

// refusedHandshake says with Java's words what the broker offers instead.
func (m *Machine) refusedHandshake(code kerr.Code, enabled []string) error {
	e := loginError(code, kerr.ClassInvalidConfiguration, "")
	list := "[" + strings.Join(enabled, ", ") + "]"
	switch code {
	case kerr.UnsupportedSASLMechanism:
		e.Msg = fmt.Sprintf("Client SASL mechanism '%s' not enabled in the server, enabled mechanisms are %s", m.o.SASL, list)
	case kerr.IllegalSASLState:
		e.Msg = fmt.Sprintf("Unexpected handshake request with client mechanism %s, enabled mechanisms are %s", m.o.SASL, list)
		if len(enabled) == 0 {
			e.Msg += "; the listener takes clients without SASL: set security.protocol to PLAINTEXT or SSL, or use the address of a SASL listener"
		}
	default:
		e.Code = kerr.IllegalSASLState
		e.Msg = fmt.Sprintf("Unknown error code %s, client mechanism is %s, enabled mechanisms are %s", code.Name(), m.o.SASL, list)
	}
	return e
}

// strange is Java's error for what can't be read during a login.
func strange(err error) error {
	return loginError(kerr.IllegalSASLState, kerr.ClassInvalidConfiguration,
		fmt.Sprintf("Invalid SASL mechanism response, server may be expecting a different protocol (%v)", err))
}

// loginError is what ends an exchange, in the words of text.
func loginError(code kerr.Code, class kerr.Class, text string) *kerr.Error {
	return &kerr.Error{Op: "authenticate", Partition: -1, Code: code, Class: class, Msg: text}
}

// challenge hands to the session what the broker said; nil begins one.
func (m *Machine) challenge(c *conn, said []byte) {
	m.orders = append(m.orders, link.Order{Kind: link.Challenge, Link: c.id, Node: c.node.ID, Token: said})
}

// proof takes what the session says.
func (m *Machine) proof(now clock.Instant, c *conn, e *link.Event) {
	switch {
	case c.closing || c.auth == nil:
	case e.Err != nil:
		m.abandon(now, c, unauthenticated, &sessionError{e.Err})
	case e.Token != nil:
		c.auth.complete = e.Complete
		req := kmsg.NewSASLAuthenticateRequest()
		req.Version, req.SASLAuthBytes = c.authVersion, e.Token
		m.ask(now, c, &req)
	case e.Complete:
		m.authenticated(now, c)
	default:
		m.abandon(now, c, unauthenticated, &sessionError{fmt.Errorf("mechanism %s has nothing to say and is not content", m.o.SASL)})
	}
}

// takeChallenge takes the broker's half of a round: its error, the next challenge, or the end.
func (m *Machine) takeChallenge(now clock.Instant, c *conn, r *Request) {
	resp := kmsg.NewPtrSASLAuthenticateResponse()
	if !m.readSASL(now, c, r, resp) {
		return
	}
	if code := kerr.Code(resp.ErrorCode); code != kerr.None {
		e := loginError(code, code.Class(), "")
		if resp.ErrorMessage != nil {
			e.Msg = *resp.ErrorMessage
		}
		m.abandon(now, c, unauthenticated, e)
		return
	}
	if r.Version >= lifetimesFrom && resp.SessionLifetimeMillis > 0 {
		c.auth.lifetimeMs = resp.SessionLifetimeMillis
	}
	if c.auth.complete {
		m.authenticated(now, c)
		return
	}
	m.challenge(c, append([]byte{}, resp.SASLAuthBytes...)) // never nil, which would begin anew
}

// authenticated ends the exchange well.
func (m *Machine) authenticated(now clock.Instant, c *conn) {
	a := c.auth
	c.auth, c.reauthAt, c.lastActive = nil, clock.Never, now
	if a.lifetimeMs > 0 {
		c.reauthAt = now.AddMs(int64(float64(a.lifetimeMs) * (reauthWindow + m.o.Rand.Float64()*reauthJitter)))
	}
	if a.again {
		m.debug("Re-authenticated with node %v; the session lasts %d ms.", c.node, a.lifetimeMs)
		m.wakeAt(m.idleEnd(c))
		return
	}
	m.debug("Authenticated with node %v by %s; the session lasts %d ms.", c.node, m.o.SASL, a.lifetimeMs)
	m.becomeChecking(c.node)
	m.sendHello(now, c, maxHelloVersion)
}

// tickExchange bounds the exchange, the session's thinking included: a peer or an identity provider that says nothing must
// not hold a connection for ever, as it may in Java.
func (m *Machine) tickExchange(now clock.Instant, c *conn) (late bool) {
	if c.auth == nil {
		return false
	}
	if now < c.auth.deadline {
		m.wakeAt(c.auth.deadline)
		return false
	}
	m.abandon(now, c, requestTimeout, fmt.Errorf("the SASL exchange by %s was not over within %d ms (request.timeout.ms)",
		m.o.SASL, m.o.RequestTimeout.Milliseconds()))
	return true
}

// sessionError is what our own half of the exchange says: a broker that can't prove itself, no token to be had.
type sessionError struct{ cause error }

func (e *sessionError) Error() string   { return "authenticate: " + e.cause.Error() }
func (e *sessionError) Unwrap() []error { return []error{e.cause, kerr.ErrAuthentication} }

// JavaException names the exception that Java's client has in its place.
func (e *sessionError) JavaException() string { return kerr.SASLAuthenticationFailed.Exception() }

const duringLogin = "connection ended during the SASL exchange: the listener may want another security.protocol, or a firewall or a broker's fault closed it"
