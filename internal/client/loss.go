package client

import (
	"fmt"
	"time"

	"linger/internal/clock"
	"linger/internal/kerr"
	"linger/internal/metadata"
)

// reason says why a connection ended or did not come about.
type reason uint8

const (
	refused         reason = iota + 1 // could not be dialled
	unresolved                        // its name has no address
	setupTimeout                      // dialling took too long
	requestTimeout                    // a request took too long
	brokeLogin                        // the peer closed it during SASL
	brokeOff                          // the peer closed it during the handshake
	dropped                           // the peer closed it with requests in flight
	closedIdle                        // the peer closed it while nothing was in flight
	unauthenticated                   // one side could not prove who it is
	nonsense                          // the peer said what no broker would say
	idle                              // we closed it, unused for connections.max.idle.ms
	moved                             // the node has a new address
	rebootstrap                       // the client starts over
	shutdown                          // the client ends
)

// planned reports whether the end is nothing that went wrong.
func (r reason) planned() bool {
	switch r {
	case closedIdle, idle, moved, rebootstrap, shutdown:
		return true
	}
	return false
}

// kind is how requests end that were in flight.
func (r reason) kind() AnswerKind {
	switch r {
	case requestTimeout, setupTimeout:
		return TimedOut
	case unauthenticated:
		return AuthFailed
	}
	return Disconnected
}

// Loss tells that a node was lost or could not be reached. In Java each one asks for fresh metadata, counts as a failed
// fetch if one was due, and an authentication failure is fatal (DefaultMetadataUpdater.handleServerDisconnect).
type Loss struct {
	Node int32
	Auth bool  // authentication failed
	Err  error // nil when it was planned
}

// Losses appends the nodes lost since the last call, in order, and forgets them.
func (m *Machine) Losses(dst []Loss) []Loss {
	dst = append(dst, m.losses...)
	clear(m.losses)
	m.losses = m.losses[:0]
	return dst
}

// lost takes n down, says so once, and returns the error that it amounts to: nil when it was planned.
func (m *Machine) lost(now clock.Instant, n *node, why reason, cause error) error {
	checking, setup := n.state == CheckingVersions || n.state == Authenticating, n.setup
	to := Down
	if why == unauthenticated {
		to = Unauthenticated
	}
	m.becomeDown(now, n, to)
	var err error
	if !why.planned() {
		err = n.failed(why, setup, cause)
		n.lastErr, n.trouble, n.troubledAt = err, err, now
	}
	m.losses = append(m.losses, Loss{Node: n.ID, Auth: why == unauthenticated, Err: err})
	m.logLoss(n, why, setup, cause)
	if n.ID < 0 && n.known && err != nil && (checking || why == dropped) {
		// The connection stood but metadata never came: the address is likely no plain broker.
		m.warn("Bootstrap broker %s:%d (id: %d rack: null) disconnected", n.Host, n.Port, n.ID)
	}
	return err
}

// LinkError says which broker could not be reached or was lost, and why. errors.Is finds the kind, which is one of
// kerr.ErrDisconnected, ErrTimeout and ErrAuthentication, and the cause.
type LinkError struct {
	Node  metadata.Node
	Kind  *kerr.Situation
	Cause error // may be nil
}

// Error names the broker and the cause; the kind only when there is no cause.
func (e *LinkError) Error() string {
	cause := e.Cause
	if cause == nil {
		cause = e.Kind
	}
	return fmt.Sprintf("node %d (%s:%d): %v", e.Node.ID, e.Node.Host, e.Node.Port, cause)
}

// Unwrap gives the kind and the cause. Of a failed authentication the broker's own code comes first: it says more.
func (e *LinkError) Unwrap() []error {
	switch {
	case e.Cause == nil:
		return []error{e.Kind}
	case e.Kind == kerr.ErrAuthentication:
		return []error{e.Cause, e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

func (n *node) failed(why reason, setup time.Duration, cause error) error {
	switch why {
	case setupTimeout:
		cause = fmt.Errorf("no connection within %d ms (socket.connection.setup.timeout.ms)", setup.Milliseconds())
	case unresolved:
		cause = fmt.Errorf("%s can't be resolved: %w", n.Host, cause)
	case brokeLogin:
		cause = withCause(duringLogin, cause)
	}
	e := &LinkError{Node: n.Node, Kind: kerr.ErrDisconnected, Cause: cause}
	switch why.kind() {
	case TimedOut:
		e.Kind = kerr.ErrTimeout
	case AuthFailed:
		e.Kind = kerr.ErrAuthentication
	}
	return e
}

func (m *Machine) logLoss(n *node, why reason, setup time.Duration, err error) {
	switch why {
	case refused:
		m.warn("Connection to node %v could not be established. Node may not be available.%s", n, because(err))
	case unresolved:
		m.warn("Error connecting to node %v: %v", n, err)
	case setupTimeout:
		m.info("Disconnecting from node %v due to socket connection setup timeout. The timeout value is %d ms.", n, setup.Milliseconds())
	case requestTimeout:
		m.info("Disconnecting from node %v due to request timeout.", n)
	case brokeOff:
		m.warn("Connection to node %v ended before it named its versions.%s", n, because(err))
	case brokeLogin:
		m.warn("Connection to node %v terminated during authentication. The listener may want another security.protocol, or a firewall or a fault of the network closed it.%s", n, because(err))
	case dropped:
		m.info("Node %v disconnected with %d requests in flight.%s", n, n.inFlight(), because(err))
	case unauthenticated:
		m.error("Connection to node %v failed authentication due to: %v", n, err)
	case nonsense:
		m.warn("Disconnecting from node %v.%s", n, because(err))
	case closedIdle:
		m.debug("Idle connection to node %v was closed by the peer.", n)
	case idle:
		m.debug("Idle connection to node %v disconnected.", n)
	case moved:
		m.info("Node %v has a new address, disconnecting from the old one.", n)
	case rebootstrap:
		m.info("Disconnecting from node %v due to client rebootstrap.", n)
	}
}

func (n *node) inFlight() int {
	if n.link == nil {
		return 0
	}
	return len(n.link.requests)
}

func because(err error) string {
	if err == nil {
		return ""
	}
	return " " + err.Error()
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

func (l Level) String() string { return [...]string{"debug", "info", "warn", "error"}[l] }

// LogLine is one line for the log, without secrets.
type LogLine struct {
	Level Level
	Text  string
}

// Logs appends what there is to tell and forgets it.
func (m *Machine) Logs(dst []LogLine) []LogLine {
	dst = append(dst, m.logs...)
	clear(m.logs)
	m.logs = m.logs[:0]
	return dst
}

func (m *Machine) log(l Level, format string, args []any) {
	m.logs = append(m.logs, LogLine{Level: l, Text: fmt.Sprintf(format, args...)})
}

func (m *Machine) debug(format string, args ...any) { m.log(Debug, format, args) }
func (m *Machine) info(format string, args ...any)  { m.log(Info, format, args) }
func (m *Machine) warn(format string, args ...any)  { m.log(Warn, format, args) }
func (m *Machine) error(format string, args ...any) { m.log(Error, format, args) }
