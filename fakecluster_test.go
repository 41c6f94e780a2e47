package linger_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
	"linger/internal/compress"
	"linger/internal/kerr"
	"linger/internal/record"
)

// cluster is a Kafka cluster for tests in a synctest bubble: brokers behind net.Pipe that answer what a producer asks and
// keep what it produces. It knows nothing of sequences; a test that wants an odd answer hooks in.
type cluster struct {
	t *testing.T

	mu      sync.Mutex
	brokers []int32
	topics  map[string]*fakeTopic
	hooks   map[kmsg.Key]func(*call) bool
	onDial  func(ctx context.Context, addr string) (net.Conn, error) // nil, nil: as usual
	conns   map[net.Conn]int32                                       // the brokers' ends, with the broker's id
	dialled []string
	calls   []string // "Produce", "Metadata" … in order of arrival
	nextPID int64
	maxAPI  map[kmsg.Key]int16
	logs    []logLine
	checks  bool // sequences
	racks   map[int32]string
	login   *fakeLogin  // nil: no SASL
	tls     *tls.Config // nil: plain text
}

type logLine struct {
	level slog.Level
	text  string // message and attributes
}

type fakeTopic struct {
	id       [16]byte
	leaders  []int32 // by partition, -1 none
	epochs   []int32
	err      kerr.Code
	log      [][]stored          // by partition
	last     map[string]accepted // by producer, epoch and partition
	byAppend int64               // LogAppendTime in ms, 0 off
}

// accepted is the window of what a producer's batches were: like Kafka's, of five.
type accepted struct {
	next    int32
	batches []acceptedBatch
}

type acceptedBatch struct {
	seq  int32
	base int64
}

// numbered makes the cluster look at sequences, as brokers do: a batch it has comes again at its offset, a gap is an error.
func (c *cluster) numbered() { c.change(func() { c.checks = true }) }

// accept appends the batch. The caller holds c.mu.
func (ft *fakeTopic) accept(b batch, checks bool) (kerr.Code, int64) {
	base := int64(len(ft.log[b.partition]))
	if checks && b.pid >= 0 {
		key := fmt.Sprint(b.pid, b.epoch, b.partition)
		w := ft.last[key]
		for _, old := range w.batches {
			if old.seq == b.seq {
				return kerr.None, old.base
			}
		}
		if b.seq != w.next {
			return kerr.OutOfOrderSequenceNumber, -1
		}
		w.next += int32(len(b.records))
		w.batches = append(w.batches, acceptedBatch{b.seq, base})
		w.batches = w.batches[max(0, len(w.batches)-5):]
		ft.last[key] = w
	}
	ft.log[b.partition] = append(ft.log[b.partition], b.records...)
	return kerr.None, base
}

// stored is one record in a log.
type stored struct {
	key, value  []byte
	headers     []linger.Header
	timestampMs int64
}

// call is one request of the producer's.
type call struct {
	c       *cluster
	conn    net.Conn
	broker  int32
	key     kmsg.Key
	version int16
	corr    int32
	client  string
	req     kmsg.Request
	turn    chan struct{} // closed once the request before it on the connection is answered
	done    chan struct{} // closed once this one is
	end     chan struct{} // closed with the connection
}

// bubble runs test against a new cluster in a bubble, where time passes only while everybody waits, and no goroutine may
// be left at the end.
func bubble(t *testing.T, test func(t *testing.T, c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		t.Cleanup(c.close)
		test(t, c)
	})
}

func newCluster(t *testing.T, brokers int) *cluster {
	c := &cluster{
		t: t, topics: map[string]*fakeTopic{}, hooks: map[kmsg.Key]func(*call) bool{}, conns: map[net.Conn]int32{}, nextPID: 1000,
		maxAPI: map[kmsg.Key]int16{kmsg.Produce: 13, kmsg.Metadata: 13, kmsg.ApiVersions: 4, kmsg.InitProducerID: 5},
	}
	c.setBrokers(brokers)
	return c
}

func (c *cluster) setBrokers(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.brokers = nil
	for i := range n {
		c.brokers = append(c.brokers, int32(i+1))
	}
}

// topic adds a topic; its partitions are led by the brokers in turn.
func (c *cluster) topic(name string, partitions int) *fakeTopic {
	c.mu.Lock()
	defer c.mu.Unlock()
	ft := &fakeTopic{last: map[string]accepted{}, id: [16]byte{15: byte(len(c.topics) + 1)}}
	c.topics[name] = ft
	ft.grow(c, partitions)
	return ft
}

func (ft *fakeTopic) grow(c *cluster, partitions int) {
	for p := len(ft.leaders); p < partitions; p++ {
		ft.leaders = append(ft.leaders, c.brokers[p%len(c.brokers)])
		ft.epochs = append(ft.epochs, 1)
		ft.log = append(ft.log, nil)
	}
}

// change does what it is given while no request is being answered.
func (c *cluster) change(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// on lets hook see each request of a kind first; when it returns false the request is answered as usual.
func (c *cluster) on(key kmsg.Key, hook func(*call) bool) { c.change(func() { c.hooks[key] = hook }) }

// holdAll keeps the answers of a kind back until release is called; then they all come.
func (c *cluster) holdAll(key kmsg.Key) (release func()) {
	gate := make(chan struct{})
	c.on(key, func(call *call) bool {
		go func() {
			select {
			case <-gate:
				call.asUsual()
			case <-call.end:
			}
		}()
		return true
	})
	return sync.OnceFunc(func() { close(gate); c.on(key, nil) })
}

func (c *cluster) options(more ...linger.Option) []linger.Option {
	return append([]linger.Option{
		linger.BootstrapServers("10.0.0.1:9092"), linger.WithDialer(c.dial), linger.WithLogger(slog.New(c)), linger.ClientID("test"),
	}, more...)
}

// producer makes a producer of bytes that is closed, and asked whether its memory came home, when the test ends.
func (c *cluster) producer(more ...linger.Option) *linger.Producer[[]byte, []byte] {
	c.t.Helper()
	return producerOf[[]byte, []byte](c, linger.ByteArray, linger.ByteArray, more...)
}

func producerOf[K, V any](c *cluster, key linger.Serializer[K], value linger.Serializer[V], more ...linger.Option) *linger.Producer[K, V] {
	c.t.Helper()
	p, err := linger.New(key, value, c.options(more...)...)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		// Whatever a test left buffered need not be waited for.
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		report, err := p.Shutdown(ctx)
		if err != nil {
			c.t.Errorf("shutdown: %v", err)
		}
		// ACC-27: on every path a test has taken.
		if report.BytesLeft != 0 {
			c.t.Errorf("%d bytes of buffer.memory did not come home", report.BytesLeft)
		}
	})
	return p
}

func brokerAddr(id int32) string { return fmt.Sprintf("10.0.0.%d:9092", id) }

func (c *cluster) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c.mu.Lock()
	c.dialled = append(c.dialled, addr)
	hook, brokers := c.onDial, slices.Clone(c.brokers)
	c.mu.Unlock()
	if hook != nil {
		if conn, err := hook(ctx, addr); conn != nil || err != nil {
			return conn, err
		}
	}
	for _, id := range brokers {
		if addr == brokerAddr(id) {
			return c.connect(id), nil
		}
	}
	return nil, fmt.Errorf("dial %s %s: connection refused", network, addr)
}

// connect opens a connection to the broker.
func (c *cluster) connect(id int32) net.Conn {
	ours, theirs := net.Pipe()
	c.change(func() {
		if c.tls != nil {
			theirs = tls.Server(buffered(theirs), c.tls)
		}
		c.conns[theirs] = id
	})
	go c.serve(theirs, id)
	return ours
}

// close cuts all connections, closeBroker those of one broker.
func (c *cluster) close() { c.closeBroker(0) }

func (c *cluster) closeBroker(id int32) {
	c.mu.Lock()
	conns := maps.Clone(c.conns)
	c.mu.Unlock()
	for conn, broker := range conns {
		if id == 0 || id == broker {
			conn.Close()
		}
	}
}

// dials counts connections made so far.
func (c *cluster) dials() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.dialled)
}

// count is how many requests of a kind have come.
func (c *cluster) count(name string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.calls {
		if s == name {
			n++
		}
	}
	return n
}

// open counts connections that neither side has closed. The caller holds c.mu.
func (c *cluster) open() int { return len(c.conns) }

// openNow is open for who does not hold c.mu.
func (c *cluster) openNow() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open()
}

func (c *cluster) serve(conn net.Conn, broker int32) {
	defer c.change(func() { delete(c.conns, conn) })
	defer conn.Close()
	end := make(chan struct{})
	defer close(end)
	turn := make(chan struct{})
	close(turn)
	for {
		frame, err := readFrame(conn)
		if err != nil {
			return
		}
		call := parseCall(frame)
		call.c, call.conn, call.broker, call.turn, call.done, call.end = c, conn, broker, turn, make(chan struct{}), end
		turn = call.done
		c.mu.Lock()
		c.calls = append(c.calls, call.key.Name())
		hook := c.hooks[call.key]
		c.mu.Unlock()
		if !c.admits(call) {
			return
		}
		if hook == nil || !hook(call) {
			call.asUsual()
		}
	}
}

func readFrame(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(size[:]))
	_, err := io.ReadFull(r, frame)
	return frame, err
}

func parseCall(frame []byte) *call {
	call := &call{
		key: kmsg.Key(binary.BigEndian.Uint16(frame)), version: int16(binary.BigEndian.Uint16(frame[2:])), corr: int32(binary.BigEndian.Uint32(frame[4:])),
	}
	call.req = kmsg.RequestForKey(call.key.Int16())
	call.req.SetVersion(call.version)
	n := int(binary.BigEndian.Uint16(frame[8:]))
	call.client = string(frame[10 : 10+n])
	body := frame[10+n:]
	if call.req.IsFlexible() {
		body = body[1:] // no tags
	}
	if err := call.req.ReadFrom(body); err != nil {
		panic(fmt.Sprintf("the producer's %s request can't be read: %v", call.key.Name(), err))
	}
	return call
}

// answer writes the response after those of earlier requests of the connection, without waiting for it.
func (call *call) answer(resp kmsg.Response) { call.write(call.frame(resp)) }

// frame is the response with its length and correlation id in front.
func (call *call) frame(resp kmsg.Response) []byte {
	resp.SetVersion(call.version)
	head := binary.BigEndian.AppendUint32(make([]byte, 4, 128), uint32(call.corr))
	if resp.IsFlexible() && call.key != kmsg.ApiVersions {
		head = append(head, 0)
	}
	frame := resp.AppendTo(head)
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	return frame
}

// write sends bytes as they are in the place of the answer.
func (call *call) write(frame []byte) {
	go func() {
		select {
		case <-call.turn:
		case <-call.end:
			return
		}
		_, _ = call.conn.Write(frame)
		close(call.done)
	}()
}

// hangUp closes the connection instead of an answer.
func (call *call) hangUp() { call.conn.Close() }

func (call *call) asUsual() {
	c := call.c
	c.mu.Lock()
	resp := call.usual()
	c.mu.Unlock()
	if resp == nil { // acks=0
		close(call.done)
		return
	}
	call.answer(resp)
}

// usual is the answer of a healthy broker. The caller holds c.mu.
func (call *call) usual() kmsg.Response {
	c := call.c
	switch req := call.req.(type) {
	case *kmsg.ApiVersionsRequest:
		resp := kmsg.NewPtrApiVersionsResponse()
		for key, version := range c.maxAPI {
			k := kmsg.NewApiVersionsResponseApiKey()
			k.ApiKey, k.MinVersion, k.MaxVersion = key.Int16(), 0, version
			resp.ApiKeys = append(resp.ApiKeys, k)
		}
		return resp
	case *kmsg.MetadataRequest:
		return c.metadata(req)
	case *kmsg.SASLHandshakeRequest:
		return call.handshake(req)
	case *kmsg.SASLAuthenticateRequest:
		return call.authenticate(req)
	case *kmsg.InitProducerIDRequest:
		resp := kmsg.NewPtrInitProducerIDResponse()
		resp.ProducerID, resp.ProducerEpoch = c.nextPID, 0
		c.nextPID++
		return resp
	case *kmsg.ProduceRequest:
		resp := call.produced(func(ft *fakeTopic, b batch) (kerr.Code, int64) {
			if ft == nil || int(b.partition) >= len(ft.log) {
				return kerr.UnknownTopicOrPartition, -1
			}
			return ft.accept(b, c.checks)
		})
		if req.Acks == 0 {
			return nil
		}
		return resp
	}
	panic("no answer for " + call.key.Name())
}

func (c *cluster) metadata(req *kmsg.MetadataRequest) *kmsg.MetadataResponse {
	resp := kmsg.NewPtrMetadataResponse()
	resp.ClusterID = kmsg.StringPtr("cluster")
	for _, id := range c.brokers {
		b := kmsg.NewMetadataResponseBroker()
		host, _, _ := net.SplitHostPort(brokerAddr(id))
		b.NodeID, b.Host, b.Port = id, host, 9092
		if rack, ok := c.racks[id]; ok {
			b.Rack = &rack
		}
		resp.Brokers = append(resp.Brokers, b)
	}
	for _, asked := range req.Topics {
		rt := kmsg.NewMetadataResponseTopic()
		rt.Topic = asked.Topic
		ft := c.topics[*asked.Topic]
		switch {
		case ft == nil && (*asked.Topic == "" || strings.ContainsAny(*asked.Topic, "/ü ") || *asked.Topic == ".."):
			rt.ErrorCode = int16(kerr.InvalidTopicException)
		case ft == nil:
			rt.ErrorCode = int16(kerr.UnknownTopicOrPartition)
		case ft.err != kerr.None:
			rt.ErrorCode = int16(ft.err)
		default:
			rt.TopicID = ft.id
			for p, leader := range ft.leaders {
				rp := kmsg.NewMetadataResponseTopicPartition()
				rp.Partition, rp.Leader, rp.LeaderEpoch = int32(p), leader, ft.epochs[p]
				rp.Replicas, rp.ISR = c.brokers, c.brokers
				if leader < 0 {
					rp.ErrorCode = int16(kerr.LeaderNotAvailable)
				}
				rt.Partitions = append(rt.Partitions, rp)
			}
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

// batch is one batch of a Produce request.
type batch struct {
	topic     string
	partition int32
	codec     string
	pid       int64
	epoch     int16
	seq       int32
	bytes     int
	records   []stored
}

func (b *batch) values() []string {
	var all []string
	for _, r := range b.records {
		all = append(all, string(r.value))
	}
	return all
}

// batches reads the Produce request. The caller does not hold c.mu.
func (call *call) batches() []batch {
	call.c.mu.Lock()
	defer call.c.mu.Unlock()
	var all []batch
	call.each(func(ft *fakeTopic, b batch) { all = append(all, b) })
	return all
}

func (call *call) each(do func(ft *fakeTopic, b batch)) {
	for _, t := range call.req.(*kmsg.ProduceRequest).Topics {
		name, ft := call.c.find(t.Topic, t.TopicID)
		for _, p := range t.Partitions {
			b, err := readBatch(p.Records)
			if err != nil {
				panic(fmt.Sprintf("the producer's batch for %s-%d can't be read: %v", name, p.Partition, err))
			}
			b.topic, b.partition = name, p.Partition
			do(ft, b)
		}
	}
}

func (c *cluster) find(name string, id [16]byte) (string, *fakeTopic) {
	if name != "" {
		return name, c.topics[name]
	}
	for name, ft := range c.topics {
		if ft.id == id {
			return name, ft
		}
	}
	return fmt.Sprintf("%x", id), nil
}

// produced answers each batch with what decide says. The caller holds c.mu.
func (call *call) produced(decide func(ft *fakeTopic, b batch) (kerr.Code, int64)) *kmsg.ProduceResponse {
	resp := kmsg.NewPtrProduceResponse()
	for _, t := range call.req.(*kmsg.ProduceRequest).Topics {
		rt := kmsg.NewProduceResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		resp.Topics = append(resp.Topics, rt)
	}
	call.each(func(ft *fakeTopic, b batch) {
		rp := kmsg.NewProduceResponseTopicPartition()
		rp.Partition = b.partition
		code, base := decide(ft, b)
		rp.ErrorCode, rp.BaseOffset = int16(code), base
		if ft != nil && ft.byAppend > 0 {
			rp.LogAppendTime = ft.byAppend
		}
		for i := range resp.Topics {
			if name, _ := call.c.find(resp.Topics[i].Topic, resp.Topics[i].TopicID); name == b.topic {
				resp.Topics[i].Partitions = append(resp.Topics[i].Partitions, rp)
			}
		}
	})
	return resp
}

// fail answers every batch of the request with an error.
func (call *call) fail(code kerr.Code) {
	call.c.mu.Lock()
	resp := call.produced(func(*fakeTopic, batch) (kerr.Code, int64) { return code, -1 })
	call.c.mu.Unlock()
	call.answer(resp)
}

func readBatch(b []byte) (batch, error) {
	var rb kmsg.RecordBatch
	if err := rb.ReadFrom(b); err != nil {
		return batch{}, err
	}
	codec := compress.Type(rb.Attributes & 7)
	plain, err := compress.Decompress(codec, rb.Records, 64<<20)
	if err != nil {
		return batch{}, err
	}
	out := batch{codec: codec.String(), pid: rb.ProducerID, epoch: rb.ProducerEpoch, seq: rb.FirstSequence, bytes: len(b)}
	r := record.NewReader([][]byte{plain}, rb.FirstTimestamp, int(rb.NumRecords))
	var rec record.Record
	for r.Next(&rec) {
		s := stored{key: slices.Clone(rec.Key), value: slices.Clone(rec.Value), timestampMs: rec.Timestamp}
		headers, err := record.DecodeHeaders(rec.Headers)
		if err != nil {
			return batch{}, err
		}
		for _, h := range headers {
			s.headers = append(s.headers, linger.Header{Key: h.Key, Value: slices.Clone(h.Value)})
		}
		out.records = append(out.records, s)
	}
	return out, r.Err()
}

// records are the records in a partition's log.
func (c *cluster) records(topic string, partition int) []stored {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.topics[topic].log[partition])
}

func (c *cluster) values(topic string, partition int) []string {
	b := batch{records: c.records(topic, partition)}
	return b.values()
}

// Enabled, Handle, WithAttrs and WithGroup make the cluster a slog.Handler that keeps the producer's log.
func (c *cluster) Enabled(context.Context, slog.Level) bool { return true }

func (c *cluster) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool { text += fmt.Sprintf(" %s=%v", a.Key, a.Value); return true })
	c.change(func() { c.logs = append(c.logs, logLine{r.Level, text}) })
	return nil
}

func (c *cluster) WithAttrs([]slog.Attr) slog.Handler { return c }
func (c *cluster) WithGroup(string) slog.Handler      { return c }

// logged returns the log lines of at least that level that contain text. It is for the test's own goroutine: lines come a
// moment after what they tell of.
func (c *cluster) logged(level slog.Level, text string) (lines []string) {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.logs {
		if l.level >= level && strings.Contains(l.text, text) {
			lines = append(lines, l.text)
		}
	}
	return lines
}

type (
	rec      = linger.Record[[]byte, []byte]
	producer = *linger.Producer[[]byte, []byte]
)

// plain is a keyless record of topic t.
func plain(v string) rec { return rec{Topic: "t", Value: []byte(v)} }

// plainOn is plain for one partition.
func plainOn(partition int32, v string) rec {
	return rec{Topic: "t", Value: []byte(v), Partition: linger.On(partition)}
}

func mustSend[K, V any](t *testing.T, p *linger.Producer[K, V], r linger.Record[K, V], cb linger.Callback) linger.Future {
	t.Helper()
	f, err := p.Send(t.Context(), r, cb)
	if err != nil {
		t.Fatalf("send: %v", err)
	}
	return f
}

func mustWait(t *testing.T, f linger.Future) linger.RecordMetadata {
	t.Helper()
	md, err := f.Wait(t.Context())
	if err != nil {
		t.Fatalf("wait: %v", err)
	}
	return md
}

// warm makes the producer know topic t, have its producer id and a connection, so that time stands still for what follows.
func warm(t *testing.T, p producer) {
	t.Helper()
	if err := p.Warm(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// took is how much virtual time do takes.
func took(do func()) time.Duration {
	start := time.Now()
	do()
	return time.Since(start)
}

// about allows for what timers are late by on purpose, and for limits that count whole milliseconds.
func about(got, want time.Duration) bool {
	return got > want-time.Millisecond && got < want+time.Millisecond
}

// rest is elapse for the test's own goroutine, which then sees all that has happened.
func rest(d time.Duration) {
	elapse(d)
	synctest.Wait()
}

// elapse lets virtual time pass: everything in the bubble that waits for it goes first.
func elapse(d time.Duration) { time.Sleep(d) }
