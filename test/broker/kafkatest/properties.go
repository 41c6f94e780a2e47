//go:build unix

package kafkatest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const (
	plainListener      = "PLAINTEXT"
	controllerListener = "CONTROLLER"
)

// ports are the loopback ports of one node, by listener name; the controller's is among them.
type ports map[string]int

// serverProperties renders server.properties of node id (1-based). all holds the ports of every node.
func serverProperties(o Options, id int, all []ports, logDir string) string {
	props := map[string]string{
		"process.roles": "broker,controller",
		"node.id":       strconv.Itoa(id),
		"log.dirs":      logDir,

		// Topics are made by the tests that use them; one that appears by itself hides a mistake.
		"auto.create.topics.enable": "false",

		// Records may carry any timestamp. With the default, seven days, a segment of old ones goes half a minute after the
		// start, while a test is reading it.
		"log.retention.ms": "-1",

		// A killed node loses its leaderships when its session ends, and tests wait for it. A shorter time than this, the default,
		// would also take them from a node that a busy machine does not let run.
		"broker.session.timeout.ms":    "9000",
		"broker.heartbeat.interval.ms": "1000",

		// Five minutes after the start the controller would give leaderships back, in the middle of some test.
		"auto.leader.rebalance.enable": "false",

		"group.initial.rebalance.delay.ms": "0",
		"num.io.threads":                   "4",
		"num.network.threads":              "2",
		"log.cleaner.dedupe.buffer.size":   "10485760", // 128 MiB by default, a third of our heap
	}
	maps.Copy(props, listenerProperties(o, id, all))
	maps.Copy(props, internalTopics(o.nodes()))
	if o.TwoPhaseCommit {
		props["transaction.two.phase.commit.enable"] = "true"
		props["unstable.api.versions.enable"] = "true"
	}
	maps.Copy(props, o.Props)

	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(props)) {
		fmt.Fprintf(&b, "%s=%s\n", k, escapeValue(props[k]))
	}
	return b.String()
}

// internalTopics are as replicated as the cluster allows, and small: each partition costs start-up time.
func internalTopics(nodes int) map[string]string {
	replicas, minISR := strconv.Itoa(min(nodes, 3)), strconv.Itoa(min(max(nodes-1, 1), 2))
	return map[string]string{
		"offsets.topic.replication.factor":                 replicas,
		"offsets.topic.num.partitions":                     "4",
		"transaction.state.log.replication.factor":         replicas,
		"transaction.state.log.min.isr":                    minISR,
		"transaction.state.log.num.partitions":             "4",
		"share.coordinator.state.topic.num.partitions":     "1",
		"share.coordinator.state.topic.min.isr":            "1",
		"share.coordinator.state.topic.replication.factor": replicas,
	}
}

// listenerProperties are where a node listens, where it says so, and who votes.
func listenerProperties(o Options, id int, all []ports) map[string]string {
	mine := all[id-1]
	var voters []string
	for i, p := range all {
		voters = append(voters, fmt.Sprintf("%d@127.0.0.1:%d", i+1, p[controllerListener]))
	}
	listeners := append([]Listener{{Name: plainListener, Protocol: "PLAINTEXT"}}, o.Listeners...)
	var protocols, open, advertised []string
	props := map[string]string{
		"controller.quorum.voters":   strings.Join(voters, ","),
		"controller.listener.names":  controllerListener,
		"inter.broker.listener.name": plainListener,
	}
	for _, l := range listeners {
		protocols = append(protocols, l.Name+":"+l.Protocol)
		open = append(open, fmt.Sprintf("%s://127.0.0.1:%d", l.Name, mine[l.Name]))
		advertised = append(advertised, fmt.Sprintf("%s://%s:%d", l.Name, l.host(), mine[l.Name]))
		for k, v := range l.Props {
			props["listener.name."+strings.ToLower(l.Name)+"."+k] = v
		}
	}
	protocols = append(protocols, controllerListener+":PLAINTEXT")
	open = append(open, fmt.Sprintf("%s://127.0.0.1:%d", controllerListener, mine[controllerListener]))
	props["listener.security.protocol.map"] = strings.Join(protocols, ",")
	props["listeners"] = strings.Join(open, ",")
	props["advertised.listeners"] = strings.Join(advertised, ",")
	return props
}

// escapeValue writes v so that java.util.Properties reads it back unchanged.
func escapeValue(v string) string {
	v = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(v)
	if strings.HasPrefix(v, " ") {
		v = `\` + v
	}
	return v
}
