package nullbroker

import (
	"crypto/sha256"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
)

// Options say what kind of broker it is.
type Options struct {
	// Listen is the host and port; port 0 picks one.
	Listen string
	// Partitions is how many each topic has.
	Partitions int
	// Brokers is how many nodes the cluster is said to have, all of them at this address; 0 means 1. Partitions are led in turn.
	Brokers int
	// Verify decodes and checks each batch.
	Verify bool
}

// Broker is a running broker, node 1 of a cluster of one or, as clients see it, several. Its methods are safe for concurrent use.
type Broker struct {
	o        Options
	listener net.Listener
	addr     *net.TCPAddr
	verifier *verifier // nil unless Verify

	mu     sync.RWMutex
	byName map[string]*topic
	byID   map[[16]byte]*topic
	conns  map[net.Conn]bool
	closed bool
	wait   sync.WaitGroup // accept loop and connections

	nextProducer                      atomic.Int64
	requests, batches, records, bytes atomic.Int64
	version                           atomic.Int32
	failed                            atomic.Int64
	firstFailure                      atomic.Pointer[string]
}

type topic struct {
	name string
	id   [16]byte
	next []atomic.Int64 // offset, by partition
}

// Start listens and serves until Close.
func Start(o Options) (*Broker, error) {
	if o.Partitions < 1 {
		return nil, fmt.Errorf("%d partitions: want one or more", o.Partitions)
	}
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, err
	}
	b := &Broker{
		o: o, listener: l, addr: l.Addr().(*net.TCPAddr),
		byName: map[string]*topic{}, byID: map[[16]byte]*topic{}, conns: map[net.Conn]bool{},
	}
	if o.Verify {
		b.verifier = newVerifier()
	}
	b.wait.Go(b.accept)
	return b, nil
}

// Addr is the address as clients want it.
func (b *Broker) Addr() string { return b.addr.String() }

// Close ends every connection and returns when all goroutines have ended.
func (b *Broker) Close() {
	b.listener.Close()
	b.mu.Lock()
	b.closed = true
	for c := range b.conns {
		c.Close()
	}
	b.mu.Unlock()
	b.wait.Wait()
}

// accept ends when Close closes the listener.
func (b *Broker) accept() {
	for {
		c, err := b.listener.Accept()
		if err != nil {
			return
		}
		if !b.keep(c) {
			c.Close()
			return
		}
		b.wait.Go(func() {
			b.serve(c)
			b.mu.Lock()
			delete(b.conns, c)
			b.mu.Unlock()
		})
	}
}

func (b *Broker) keep(c net.Conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.conns[c] = true
	}
	return !b.closed
}

// fail counts what a client did wrong.
func (b *Broker) fail(err error) {
	b.failed.Add(1)
	text := err.Error()
	b.firstFailure.CompareAndSwap(nil, &text)
}

// topic finds a topic, made when it is new. Its id comes from its name.
func (b *Broker) topic(name []byte) *topic {
	b.mu.RLock()
	t := b.byName[string(name)]
	b.mu.RUnlock()
	if t != nil {
		return t
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t = b.byName[string(name)]; t == nil {
		sum := sha256.Sum256(name)
		t = &topic{name: string(name), id: [16]byte(sum[:]), next: make([]atomic.Int64, b.o.Partitions)}
		b.byName[t.name], b.byID[t.id] = t, t
	}
	return t
}

func (b *Broker) topicByID(id [16]byte) *topic {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.byID[id]
}

// Seen is what a broker was given.
type Seen struct {
	// Requests are produce requests, ProduceVersion the version of the last one.
	Requests       int64 `json:"requests"`
	ProduceVersion int32 `json:"produce_version"`
	Batches        int64 `json:"batches"`
	Records        int64 `json:"records"`
	Bytes          int64 `json:"bytes"`
	// Failures are requests that could not be read and, with Verify, batches that are wrong.
	Failures     int64  `json:"failures"`
	FirstFailure string `json:"first_failure,omitempty"`
	// Contents is nil without Verify.
	Contents *Contents `json:"contents,omitempty"`
}

// Seen is what the broker has been given so far.
func (b *Broker) Seen() Seen {
	s := Seen{
		Requests: b.requests.Load(), ProduceVersion: b.version.Load(), Batches: b.batches.Load(),
		Records: b.records.Load(), Bytes: b.bytes.Load(), Failures: b.failed.Load(),
	}
	if first := b.firstFailure.Load(); first != nil {
		s.FirstFailure = *first
	}
	if b.verifier != nil {
		c := b.verifier.contents()
		s.Contents = &c
	}
	return s
}
