//go:build unix

package kafkatest

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// Version is the Apache Kafka that this package runs.
const Version = "4.4.0"

// Options says what cluster a test needs. The zero value is one node with Kafka's defaults, plaintext.
type Options struct {
	// Nodes is how many combined broker and controller nodes to start; 0 means 1. Three is the other sensible number:
	// a quorum of three keeps working while one of them is away.
	Nodes int

	// Props are server properties set on every node, after and above the ones this package writes.
	Props map[string]string

	// TransactionVersion is the finalized feature level of transaction.version: 1 (KIP-98), 2 (KIP-890), or 0 for the
	// default of the release, which is 2.
	TransactionVersion int

	// TwoPhaseCommit lets producers take part in two-phase commit (KIP-939): transaction.two.phase.commit.enable, and
	// unstable.api.versions.enable for InitProducerId v6.
	TwoPhaseCommit bool

	// Listeners are further client listeners beside the plaintext one.
	Listeners []Listener

	// Scram are users and their passwords, for SCRAM-SHA-256 and SCRAM-SHA-512, known from the first start on.
	Scram map[string]string

	// JVM are further arguments of the brokers' Java, such as -Dname=value.
	JVM []string
}

// Listener is one more way into each broker.
type Listener struct {
	Name     string            // in capitals, such as SASL or TLS; PLAINTEXT and CONTROLLER are taken
	Protocol string            // SSL, SASL_PLAINTEXT, SASL_SSL or PLAINTEXT
	Props    map[string]string // without the prefix listener.name.<name>., which is added
	Host     string            // what the broker calls itself there; 127.0.0.1 if empty. It must be a loopback name
}

// host is what clients of the listener connect to.
func (l Listener) host() string { return cmp.Or(l.Host, "127.0.0.1") }

// nodes is the number of nodes asked for.
func (o Options) nodes() int { return cmp.Or(o.Nodes, 1) }

// check reports an option that can't be served.
func (o Options) check() error {
	if o.Nodes < 0 {
		return fmt.Errorf("kafkatest: %d nodes", o.Nodes)
	}
	if o.TransactionVersion < 0 || o.TransactionVersion > 2 {
		return fmt.Errorf("kafkatest: transaction.version %d, want 1 or 2 (0: the default)", o.TransactionVersion)
	}
	taken := map[string]bool{"": true, plainListener: true, controllerListener: true}
	for _, l := range o.Listeners {
		if taken[l.Name] {
			return fmt.Errorf("kafkatest: listener name %q is empty or taken", l.Name)
		}
		taken[l.Name] = true
	}
	return nil
}

// key is equal for equal options; a Set shares clusters by it.
func (o Options) key() string {
	o.Nodes = o.nodes()
	b, err := json.Marshal(o) // sorts map keys
	if err != nil {
		panic(err) // strings and numbers only
	}
	return string(b)
}
