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
	if id, ok := p.values[transactionalID].(string); ok {
		return "[Producer clientId=" + p.str(clientID) + ", transactionalId=" + id + "] "
	}
	return "[Producer clientId=" + p.str(clientID) + "] "
}
