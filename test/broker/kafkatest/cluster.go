//go:build unix

package kafkatest

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Cluster is a running Kafka cluster on the loopback interface.
type Cluster struct {
	nodes    []*Node
	reserved *reserved // nil before they are chosen
	opts     Options
	dir      string
	java     jvm
}

// portTries is how often Start chooses other ports when one of them was taken between choice and use.
const portTries = 3

// Start starts a cluster and waits until every node answers and knows every other. The caller ends it with Close. Tests
// take StartT or a Set instead.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	java, err := findJVM(ctx)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		c, err := start(ctx, java, o)
		if err == nil || try == portTries || !strings.Contains(err.Error(), "Address already in use") {
			return c, err
		}
	}
}

// StartT starts a cluster for one test and ends it with the test. Its folder with logs and data is removed if the test
// passed, else kept and named in the test's output. Under -short the test is skipped.
func StartT(tb testing.TB, o Options) *Cluster {
	tb.Helper()
	skipShort(tb)
	c, err := Start(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("broker logs and data are kept in %s", c.dir)
		}
		if err := c.Close(tb.Failed()); err != nil {
			tb.Error(err)
		}
	})
	return c
}

func skipShort(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("-short leaves real brokers out")
	}
}

func start(ctx context.Context, java jvm, o Options) (c *Cluster, err error) {
	dir, err := os.MkdirTemp("", "linger-kafka-")
	if err != nil {
		return nil, fmt.Errorf("kafkatest: %w", err)
	}
	c = &Cluster{opts: o, dir: dir, java: java}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close(true))
		}
	}()
	if err := c.layOut(); err != nil {
		return c, err
	}
	id := clusterID()
	if err := c.each(func(n *Node) error { return n.format(ctx, id, o) }); err != nil {
		return c, err
	}
	if err := c.each((*Node).launch); err != nil {
		return c, err
	}
	return c, c.each(func(n *Node) error { return n.waitReady(ctx, c.ids()...) })
}

// layOut gives each node its ports, folder and properties.
func (c *Cluster) layOut() error {
	n, names := c.opts.nodes(), []string{plainListener, controllerListener}
	for _, l := range c.opts.Listeners {
		names = append(names, l.Name)
	}
	var err error
	if c.reserved, err = reservePorts(n * len(names)); err != nil {
		return err
	}
	free := c.reserved.ports
	all := make([]ports, n)
	for i := range all {
		all[i] = ports{}
		for k, name := range names {
			all[i][name] = free[i*len(names)+k]
		}
	}
	for i := range n {
		node := &Node{id: int32(i + 1), ports: all[i], dir: filepath.Join(c.dir, fmt.Sprintf("node-%d", i+1)), java: c.java, opts: c.opts}
		if err := os.MkdirAll(node.DataDir(), 0o755); err != nil {
			return node.wrap(err)
		}
		text := serverProperties(c.opts, i+1, all, node.DataDir())
		if err := os.WriteFile(node.propertiesFile(), []byte(text), 0o644); err != nil {
			return node.wrap(err)
		}
		c.nodes = append(c.nodes, node)
	}
	return nil
}

// clusterID is a random id in Kafka's form: 16 bytes in URL-safe base64. One that begins with a dash would be taken for an
// option.
func clusterID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[0] &= 0x7f
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// each runs f for all nodes at once and joins the errors.
func (c *Cluster) each(f func(*Node) error) error {
	errs := make([]error, len(c.nodes))
	var wg sync.WaitGroup
	for i, n := range c.nodes {
		wg.Go(func() { errs[i] = f(n) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (c *Cluster) ids() []int32 {
	var ids []int32
	for _, n := range c.nodes {
		ids = append(ids, n.id)
	}
	return ids
}

// Close kills every node. The folder with logs and data is removed unless keep is true. Closing twice does nothing more.
func (c *Cluster) Close(keep bool) error {
	var errs []error
	for _, n := range c.nodes {
		if n.Running() {
			errs = append(errs, n.Kill())
		}
	}
	if c.reserved != nil {
		c.reserved.release()
	}
	if !keep {
		errs = append(errs, os.RemoveAll(c.dir))
	}
	return errors.Join(errs...)
}

// Dir is the cluster's folder: node-1 and so on, each with broker.log, server.properties and data.
func (c *Cluster) Dir() string { return c.dir }

// Nodes are all nodes in the order of their ids, running or not.
func (c *Cluster) Nodes() []*Node { return c.nodes }

// Node returns the node with that id, from 1. It panics if there is none.
func (c *Cluster) Node(id int32) *Node { return c.nodes[id-1] }

// Addrs are the plaintext addresses of all nodes.
func (c *Cluster) Addrs() []string { return c.AddrsOf(plainListener) }

// AddrsOf are the addresses of one of Options.Listeners.
func (c *Cluster) AddrsOf(listener string) []string {
	var addrs []string
	for _, n := range c.nodes {
		addrs = append(addrs, n.AddrOf(listener))
	}
	return addrs
}

// Bootstrap is Addrs in the form of bootstrap.servers.
func (c *Cluster) Bootstrap() string { return strings.Join(c.Addrs(), ",") }

// Client is a franz-go client for the cluster, closed with the test.
func (c *Cluster) Client(tb testing.TB, opts ...kgo.Opt) *kgo.Client {
	tb.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(c.Addrs()...)}, opts...)...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(cl.Close)
	return cl
}
