package broker

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// Options of a Server.
type Options struct {
	Ports   []int     // one per broker; nil chooses free ports
	Control int       // port of the control listener; 0 chooses a free one
	Log     io.Writer // JSON lines
}

// Server is a running scenario.
type Server struct {
	sc      *Scenario
	cluster *kfake.Cluster
	start   time.Time
	control net.Listener
	quit    chan struct{}
	once    sync.Once

	logMu sync.Mutex
	log   io.Writer

	mu       sync.Mutex
	n        int
	nconn    int
	topicIDs map[[16]byte]string
	nodes    []*node
	released map[string]chan struct{}
}

// node is the client side of one broker.
type node struct {
	s     *Server
	id    int32
	addr  string
	feed  chan net.Conn // connections for kfake, or nil
	dial  func() (net.Conn, error)
	dead  chan struct{}
	once  sync.Once
	laddr net.Addr

	mu    sync.Mutex
	ln    net.Listener
	conns map[*conn]struct{}
	hung  bool
}

// node is the net.Listener kfake listens on.

func (n *node) Accept() (net.Conn, error) {
	select {
	case c := <-n.feed:
		return c, nil
	case <-n.dead:
		return nil, errors.New("closed")
	}
}
func (n *node) Close() error   { n.once.Do(func() { close(n.dead); n.down() }); return nil }
func (n *node) Addr() net.Addr { return n.laddr }

func (n *node) pipe() (net.Conn, error) {
	a, b := net.Pipe()
	select {
	case n.feed <- b:
		return a, nil
	case <-n.dead:
		return nil, errors.New("closed")
	}
}

func (n *node) up() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ln != nil {
		return nil
	}
	ln, err := net.Listen("tcp", n.addr)
	if err != nil {
		return err
	}
	n.ln = ln
	n.addr = ln.Addr().String()
	n.laddr = ln.Addr()
	go n.accept(ln)
	return nil
}

func (n *node) down() {
	n.mu.Lock()
	if n.ln != nil {
		n.ln.Close()
		n.ln = nil
	}
	n.mu.Unlock()
	n.disconnect()
}

func (n *node) disconnect() {
	n.mu.Lock()
	var cs []*conn
	for c := range n.conns {
		cs = append(cs, c)
	}
	n.mu.Unlock()
	for _, c := range cs {
		c.close()
	}
}

func (n *node) accept(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		back, err := n.dial()
		if err != nil {
			c.Close()
			continue
		}
		n.s.mu.Lock()
		n.s.nconn++
		id := n.s.nconn
		n.s.mu.Unlock()
		cc := &conn{n: n, id: id, client: c, back: back, queue: make(chan *pending, 4096), closed: make(chan struct{}), waiting: map[int16]int{}}
		n.mu.Lock()
		n.conns[cc] = struct{}{}
		n.mu.Unlock()
		go cc.read()
		go cc.process()
	}
}

// Start runs a scenario.
func Start(sc *Scenario, o Options) (*Server, error) {
	s := newServer(sc, o)
	if sc.Brokers == 0 {
		sc.Brokers = 1
	}
	if sc.Topics == nil {
		sc.Topics = map[string]int32{"t": 1}
	}
	var i int
	opts := []kfake.Opt{
		kfake.NumBrokers(sc.Brokers),
		kfake.ClusterID("faults"),
		kfake.ListenFn(func(_, addr string) (net.Listener, error) {
			if i < len(o.Ports) {
				addr = fmt.Sprintf("127.0.0.1:%d", o.Ports[i])
			}
			n := &node{s: s, id: int32(i), addr: addr, feed: make(chan net.Conn), dead: make(chan struct{}), conns: map[*conn]struct{}{}}
			n.dial = n.pipe
			if err := n.up(); err != nil {
				return nil, err
			}
			s.nodes = append(s.nodes, n)
			i++
			return n, nil
		}),
	}
	if sc.Auto {
		opts = append(opts, kfake.AllowAutoTopicCreation(), kfake.DefaultNumPartitions(1))
	}
	if len(sc.Configs) > 0 {
		opts = append(opts, kfake.BrokerConfigs(sc.Configs))
	}
	for t, p := range sc.Topics {
		opts = append(opts, kfake.SeedTopics(p, t))
	}
	c, err := kfake.NewCluster(opts...)
	if err != nil {
		return nil, err
	}
	s.cluster = c
	for t, n := range sc.Topics {
		for p := int32(0); p < n; p++ {
			if err := c.MoveTopicPartition(t, p, sc.Leaders[fmt.Sprintf("%s-%d", t, p)]); err != nil {
				return nil, err
			}
		}
	}
	return s, s.listenControl(o.Control)
}

// Proxy records and scripts the traffic to real brokers: ports[i] goes to
// backends[i]. The brokers must advertise the proxy's ports.
func Proxy(sc *Scenario, backends []string, o Options) (*Server, error) {
	s := newServer(sc, o)
	for i, b := range backends {
		n := &node{s: s, id: int32(i), addr: fmt.Sprintf("127.0.0.1:%d", o.Ports[i]), dead: make(chan struct{}), conns: map[*conn]struct{}{}}
		n.dial = func() (net.Conn, error) { return net.Dial("tcp", b) }
		if err := n.up(); err != nil {
			return nil, err
		}
		s.nodes = append(s.nodes, n)
	}
	return s, s.listenControl(o.Control)
}

func newServer(sc *Scenario, o Options) *Server {
	return &Server{sc: sc, start: time.Now(), log: o.Log, quit: make(chan struct{}), topicIDs: map[[16]byte]string{}, released: map[string]chan struct{}{}}
}

// Bootstrap is the bootstrap.servers value for the scenario.
func (s *Server) Bootstrap() string {
	var as []string
	for _, n := range s.nodes {
		as = append(as, n.addr)
	}
	return strings.Join(as, ",")
}

// ControlAddr is where control commands are taken.
func (s *Server) ControlAddr() string { return s.control.Addr().String() }

// Done is closed by the control command "quit".
func (s *Server) Done() <-chan struct{} { return s.quit }

// Close stops everything.
func (s *Server) Close() {
	s.once.Do(func() { close(s.quit) })
	if s.control != nil {
		s.control.Close()
	}
	for _, n := range s.nodes {
		n.Close()
	}
	if s.cluster != nil {
		s.cluster.Close()
	}
}

func (s *Server) listenControl(port int) error {
	ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	s.control = ln
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				sc := bufio.NewScanner(c)
				for sc.Scan() {
					line := strings.TrimSpace(sc.Text())
					if line == "quit" {
						fmt.Fprintln(c, "ok")
						s.once.Do(func() { close(s.quit) })
						return
					}
					if err := s.Command(line); err != nil {
						fmt.Fprintln(c, "error:", err)
						continue
					}
					fmt.Fprintln(c, "ok")
				}
			}()
		}
	}()
	return nil
}

func (s *Server) release(name string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, ok := s.released[name]
	if !ok {
		ch = make(chan struct{})
		s.released[name] = ch
	}
	return ch
}
