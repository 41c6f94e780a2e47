package config

import (
	"strconv"
	"sync/atomic"
)

// lastClient is the number of the producer named last: the one piece of state of this package, and of the project.
// Names must differ within a process or their metrics and quotas would run together; the first is producer-1.
var lastClient atomic.Int64

// nameClient gives a producer without a client.id its name. It comes after the checks: a refused configuration takes
// no number.
func (p *parser) nameClient() *Error {
	if p.was(clientID) {
		return nil
	}
	name, why := p.str(transactionalID), "made from transactional.id"
	if name == "" {
		name, why = strconv.FormatInt(lastClient.Add(1), 10), "counted within the process"
	}
	p.values[clientID] = "producer-" + name
	p.why[clientID] = why
	return nil
}

// logPrefix is how Java's producer begins its log lines.
func (p *parser) logPrefix() string {
	id := p.shown(clientID, p.str(clientID))
	if !p.was(clientID) {
		id = p.shown(transactionalID, id) // it may have been made from that
	}
	if _, ok := p.values[transactionalID].(string); ok {
		return "[Producer clientId=" + id + ", transactionalId=" + p.shown(transactionalID, p.str(transactionalID)) + "] "
	}
	return "[Producer clientId=" + id + "] "
}

// shown is text, which tells the value of key, as it may stand in a log line or an error.
func (p *parser) shown(key, text string) string {
	if p.set[key].hidden {
		return hidden
	}
	return text
}
