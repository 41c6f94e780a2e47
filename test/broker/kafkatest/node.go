//go:build unix

package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	startPatience = 5 * time.Minute // three nodes take ten seconds; on a busy machine, many times that
	stopPatience  = 3 * time.Minute
	askPatience   = 20 * time.Second // for one answer; a node that is not there refuses the connection at once
	pollEvery     = 50 * time.Millisecond
)

// Node is one combined broker and controller. Its methods are for one goroutine at a time.
type Node struct {
	id    int32
	ports ports
	dir   string
	java  jvm
	opts  Options
	proc  *process // nil while it does not run
}

// ID is the node's broker id, from 1.
func (n *Node) ID() int32 { return n.id }

// Addr is the address of the plaintext listener.
func (n *Node) Addr() string { return n.AddrOf(plainListener) }

// AddrOf is the address of the listener name, one of Options.Listeners.
func (n *Node) AddrOf(listener string) string {
	host := Listener{}.host()
	for _, l := range n.opts.Listeners {
		if l.Name == listener {
			host = l.host()
		}
	}
	return fmt.Sprintf("%s:%d", host, n.ports[listener])
}

// LogFile is the path of the file with everything the node said, in all its lives.
func (n *Node) LogFile() string { return filepath.Join(n.dir, "broker.log") }

// DataDir is the folder with the partitions' segments.
func (n *Node) DataDir() string { return filepath.Join(n.dir, "data") }

// Running reports whether the node's process is alive (a paused one is).
func (n *Node) Running() bool { return n.proc != nil && n.proc.running() }

// Start starts a node that was stopped or killed, on its old ports and data, and waits until it is a broker of the
// cluster again.
func (n *Node) Start(ctx context.Context) error {
	if n.Running() {
		return fmt.Errorf("kafkatest: node %d runs already", n.id)
	}
	if err := n.launch(); err != nil {
		return err
	}
	return n.waitReady(ctx, n.id)
}

// Stop shuts the node down in order: it hands its leaderships over first, where somebody is there to take them.
func (n *Node) Stop() error {
	if !n.Running() {
		return fmt.Errorf("kafkatest: node %d does not run", n.id)
	}
	return n.wrap(n.proc.stop(stopPatience))
}

// Kill ends the node at once, as a power cut would.
func (n *Node) Kill() error {
	if !n.Running() {
		return fmt.Errorf("kafkatest: node %d does not run", n.id)
	}
	return n.wrap(n.proc.kill())
}

// Pause freezes the node: its sockets stay open and, once Pause has returned, nothing is answered. Resume lets it go on.
func (n *Node) Pause() error { return n.wrap(n.proc.pause()) }

// Resume ends a Pause.
func (n *Node) Resume() error { return n.wrap(n.proc.signal(syscall.SIGCONT)) }

func (n *Node) wrap(err error) error {
	if err != nil {
		return fmt.Errorf("kafkatest: node %d: %w", n.id, err)
	}
	return nil
}

// propertiesFile is the path of the node's server.properties.
func (n *Node) propertiesFile() string { return filepath.Join(n.dir, "server.properties") }

// format writes the metadata that a node needs before its first start.
func (n *Node) format(ctx context.Context, clusterID string, o Options) error {
	args := []string{"format", "-t", clusterID, "-c", n.propertiesFile()}
	if o.TransactionVersion != 0 {
		args = append(args, "--feature", fmt.Sprintf("transaction.version=%d", o.TransactionVersion))
	}
	for _, user := range slices.Sorted(maps.Keys(o.Scram)) {
		for _, mechanism := range []string{"SCRAM-SHA-256", "SCRAM-SHA-512"} {
			args = append(args, "--add-scram", fmt.Sprintf("%s=[name=%s,password=%s]", mechanism, user, o.Scram[user]))
		}
	}
	_, _, err := n.java.tool(ctx, "kafka.tools.StorageTool", args...)
	return err
}

// launch starts the process; its output goes to the end of the log file.
func (n *Node) launch() error {
	log, err := os.OpenFile(n.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return n.wrap(err)
	}
	defer log.Close() // the child has its own descriptor
	cmd := n.java.broker(n.propertiesFile(), n.opts.JVM)
	cmd.Stdout, cmd.Stderr = log, log
	n.proc, err = launch(cmd)
	return n.wrap(err)
}

// waitReady waits until the node answers, and its answer names each of the given brokers as alive.
func (n *Node) waitReady(ctx context.Context, ids ...int32) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := n.knows(ctx, ids)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-n.proc.done:
			return n.failure(fmt.Errorf("ended while starting: %w", errors.Join(n.proc.err, err)))
		case <-ctx.Done():
			return n.failure(fmt.Errorf("did not become ready within %v: %w", startPatience, err))
		}
	}
}

// knows asks the node itself, and no other, which brokers are alive.
func (n *Node) knows(ctx context.Context, ids []int32) error {
	md, err := n.metadata(ctx, nil)
	if err != nil {
		return err
	}
	alive := map[int32]bool{}
	for _, b := range md.Brokers {
		alive[b.NodeID] = true
	}
	for _, id := range ids {
		if !alive[id] {
			return fmt.Errorf("broker %d is not registered or fenced", id)
		}
	}
	return nil
}

// ask has this node, and no other, answer a request.
func (n *Node) ask(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(n.Addr()), kgo.DialTimeout(askPatience))
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	return cl.SeedBrokers()[0].Request(ctx, req)
}

// metadata is the node's own view of the cluster and of the topics named.
func (n *Node) metadata(ctx context.Context, topics []string) (*kmsg.MetadataResponse, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // none; null would be all
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, t)
	}
	resp, err := n.ask(ctx, req)
	if err != nil {
		return nil, err
	}
	return resp.(*kmsg.MetadataResponse), nil
}

// failure adds the end of the node's log to err.
func (n *Node) failure(err error) error {
	log, _ := os.ReadFile(n.LogFile()) // the error at hand matters more
	return fmt.Errorf("kafkatest: node %d %w; the end of %s:\n%s", n.id, err, n.LogFile(), tail(log, 30))
}
