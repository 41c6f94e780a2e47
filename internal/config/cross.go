package config

import (
	"fmt"
	"strings"
)

// crossCheck is what holds between keys, in Java's order (ProducerConfig.postProcessParsedConfig).
func (p *parser) crossCheck() *Error {
	if err := p.checkMechanism(); err != nil {
		return err
	}
	p.warnOfStaticBackoff()
	p.capReconnectBackoff()
	return p.checkIdempotence()
}

func (p *parser) checkMechanism() *Error {
	if strings.HasPrefix(strings.ToUpper(p.str(securityProtocol)), "SASL_") && p.str(saslMechanism) == "" {
		return Invalid(saslMechanism, nil, "When the security.protocol configuration enables SASL, "+
			"mechanism must be non-null and non-empty string.")
	}
	return nil
}

// warnOfStaticBackoff tells of first waits that are longer than the longest.
func (p *parser) warnOfStaticBackoff() {
	for _, pair := range [...]struct{ first, longest, what string }{
		{retryBackoff, retryBackoffMax, "backoff"},
		{setupTimeout, setupTimeoutMax, "connection setup timeout"},
	} {
		first, longest := p.int(pair.first), p.int(pair.longest)
		if p.values[pair.first] == nil || p.values[pair.longest] == nil || first <= longest {
			continue
		}
		p.warn(fmt.Sprintf("Configuration '%s' with value '%d' is greater than configuration '%s' with value '%d'. "+
			"A static %s with value '%d' will be applied.", pair.first, first, pair.longest, longest, pair.what, longest))
	}
}

// capReconnectBackoff: who sets the first wait alone means that wait, not one that grows to a default he never saw.
func (p *parser) capReconnectBackoff() {
	if !p.was(reconnectBackoff) || p.was(reconnectBackoffMax) {
		return
	}
	p.warn("Disabling exponential reconnect backoff because " + reconnectBackoff + " is set, but " +
		reconnectBackoffMax + " is not.")
	p.values[reconnectBackoffMax] = p.values[reconnectBackoff]
	p.why[reconnectBackoffMax] = "equal to " + reconnectBackoff + ", which was set alone"
}

// inFlightWithIdempotence is how many batches of one producer a broker remembers per partition (KIP-98).
const inFlightWithIdempotence = 5

// checkIdempotence is the table of conflicts. What contradicts idempotence is an error when idempotence was asked for
// and switches it off when it is there by default; too many requests in flight are an error either way.
func (p *parser) checkIdempotence() *Error {
	if p.str(acks) == "all" {
		p.values[acks] = "-1"
	}
	if p.values[enableIdempotence] == nil {
		return Invalid(enableIdempotence, nil, "Value must be non-null") // Java: NullPointerException
	}
	on, asked, off := p.bool(enableIdempotence), p.was(enableIdempotence), ""
	if on && p.int(retries) == 0 {
		if asked {
			return &Error{Key: retries, Message: "Must set retries to non-zero when using the idempotent producer."}
		}
		off = "retries is set to 0"
		p.info("Idempotence will be disabled because " + off + ".")
	}
	if a := p.str(acks); on && a != "-1" {
		if asked {
			return &Error{Key: acks, Message: "Must set acks to all in order to use the idempotent producer. " +
				"Otherwise we cannot guarantee idempotence."}
		}
		off = "acks is set to " + p.shown(acks, a) + ", not set to 'all'"
		p.info("Idempotence will be disabled because " + off + ".")
	}
	if n := p.int(maxInFlight); on && n > inFlightWithIdempotence {
		return &Error{Key: maxInFlight, Message: fmt.Sprintf("To use the idempotent producer, %s must be set to at "+
			"most %d. Current value is %d.", maxInFlight, inFlightWithIdempotence, n)}
	}
	if off != "" {
		on = false
		p.values[enableIdempotence] = false
		p.why[enableIdempotence] = "switched off because " + off
	}
	return p.checkTransactions(on)
}

func (p *parser) checkTransactions(idempotent bool) *Error {
	if !idempotent && p.was(transactionalID) {
		return &Error{Key: transactionalID,
			Message: "Cannot set a transactional.id without also enabling idempotence."}
	}
	if p.bool(twoPhaseCommit) && p.was(transactionTimeout) {
		return &Error{Key: transactionTimeout, Message: "Cannot set transaction.timeout.ms when " +
			"transaction.two.phase.commit.enable is set to true. " +
			"Transactions will not expire with two-phase commit enabled."}
	}
	return nil
}

// checkNulls refuses Java's null where Java has no check and runs into a NullPointerException later. Keys of security
// are left to the parts that read them.
func (p *parser) checkNulls() *Error {
	for _, k := range table {
		if p.values[k.Name] == nil && !k.mayBeNull() && k.Group < Security {
			return Invalid(k.Name, nil, "Value must be non-null")
		}
	}
	return nil
}

func (k Key) mayBeNull() bool {
	return k.Default == nil || k.Type == String && k.Name != clientID
}
