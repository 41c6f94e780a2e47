package sender

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/accumulator"
	"linger/internal/backoff"
	"linger/internal/bufferpool"
	"linger/internal/client"
	"linger/internal/clock"
	"linger/internal/kerr"
	"linger/internal/link"
	"linger/internal/metadata"
	"linger/internal/metrics"
	"linger/internal/txn"
	"linger/internal/wire"
)

// setting is what a scenario may choose.
type setting struct {
	brokers, partitions       int
	linger, delivery, request time.Duration
	batchSize                 int
	memory                    int64
	retries, inFlight         int
	idempotent                bool
	acks                      int16
	produceMax                int16
	lateID                    bool // the producer id is not there when the scenario begins
}

func plainSetting() setting {
	return setting{
		brokers: 1, partitions: 2, delivery: 2 * time.Minute, request: 30 * time.Second, batchSize: 1000, memory: 100_000,
		retries: math.MaxInt32, inFlight: 5, idempotent: true, acks: -1, produceMax: 13,
	}
}

// world is a sender with everything around it in memory: time moves when the test says so, links do what it says.
type world struct {
	t      *testing.T
	set    setting
	clk    *clock.Manual
	now    clock.Instant
	pool   *bufferpool.Pool
	acc    *accumulator.Accumulator
	s      *Sender
	leader []metadata.Partition // what brokers say of topic t

	requests map[int32]*sent // by correlation id
	links    map[link.ID]int32
	out      []string
	events   []Event
	wake     clock.Instant
	done     bool
	results  []*accumulator.Result
}

// sent is a request that a link was ordered to write.
type sent struct {
	link link.ID
	key  int16
	ver  int16
	body kmsg.Request
}

var topicID = [16]byte{1, 2, 3}

func newWorld(t *testing.T, set setting) *world {
	w := &world{t: t, set: set, clk: clock.NewManual(1000), requests: map[int32]*sent{}, links: map[link.ID]int32{}}
	for p := range set.partitions {
		w.leader = append(w.leader, metadata.Partition{Leader: int32(p%set.brokers + 1), LeaderEpoch: 1})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	noJitter := func() float64 { return 0.5 }
	retry := backoff.NewExponential(100, 2, 1000, 0)
	w.pool = bufferpool.New(set.memory, set.batchSize, bufferpool.Full, w.clk)
	w.acc = accumulator.New(accumulator.Options{
		BatchSize: set.batchSize, Linger: set.linger, DeliveryTimeout: set.delivery, RetryBackoff: retry, Jitter: noJitter,
		Pool: w.pool, Clock: w.clk, Coarse: clock.NewCoarse(w.clk), Idempotent: set.idempotent, Adaptive: true,
		Random: func() int32 { return int32(rng.Uint32()) },
	})
	store := metadata.New(metadata.Options{
		MaxAgeMs: 300_000, MaxIdleMs: 300_000, Backoff: retry, ReconnectBackoffMs: 50, Rebootstrap: true, RebootstrapTriggerMs: 300_000, Random: noJitter,
	})
	store.Bootstrap([]metadata.Address{{Host: "b1", Port: 9092}})
	machine := client.New(client.Options{
		ClientID: "test", MaxInFlight: set.inFlight, RequestTimeout: set.request, MaxIdle: 9 * time.Minute,
		ReconnectBackoffMs: 50, ReconnectBackoffMaxMs: 1000, SetupTimeoutMs: 10_000, SetupTimeoutMaxMs: 30_000,
		SendBuf: -1, RecvBuf: -1, Rebootstrap: true, Rand: rng,
	})
	var manager *txn.Manager
	if set.idempotent {
		manager = txn.New(txn.Options{RetryBackoffMs: 100})
	}
	w.s = New(Options{
		Acks: set.acks, Retries: set.retries, MaxRequestSize: 1 << 20, RequestTimeoutMs: int32(set.request.Milliseconds()),
		KeepOrder: set.inFlight == 1, MaxUndelivered: 1000, Counters: new(metrics.Sender),
		Accumulator: w.acc, Client: machine, Metadata: store, Txn: manager,
	})
	return w
}

// connect lets the producer find its cluster and its producer id: everything before the first record.
func (w *world) connect() {
	w.post(Event{Kind: TopicWanted, Topic: "t"})
	for range 20 {
		w.turn()
		for _, corr := range w.open() {
			switch w.requests[corr].key {
			case int16(kmsg.Metadata):
				w.answerMetadata(corr)
			case int16(kmsg.InitProducerID):
				if !w.set.lateID {
					w.answerID(corr, 7, 0)
				}
			}
		}
		if len(w.events) == 0 {
			w.out = nil
			return
		}
	}
	w.t.Fatal("the producer does not come to rest")
}

// open lists the requests without an answer in order.
func (w *world) open() []int32 {
	var list []int32
	for corr := range w.requests {
		list = append(list, corr)
	}
	slices.Sort(list)
	return list
}

func (w *world) post(e Event) { w.events = append(w.events, e) }

// turn steps once with what was posted and carries out the effects as the engine would.
func (w *world) turn() {
	events := w.events
	w.events = nil
	fx := w.s.Step(w.now, events)
	for i := range fx.Orders {
		w.order(fx.Orders[i])
	}
	for _, b := range fx.Free {
		w.sayf("free %s-%d", b.Queue.Topic.Name, b.Queue.Partition)
		w.acc.Free(b)
	}
	for i := range fx.Completions {
		w.deliver(&fx.Completions[i])
	}
	if fx.Identity != nil && fx.Identity.State != "none" {
		w.sayf("identity %s %d/%d", fx.Identity.State, fx.Identity.ProducerID, fx.Identity.Epoch)
	}
	for _, l := range fx.Logs {
		if l.Level >= Warn {
			w.sayf("%s: %s", [...]string{"debug", "info", "warn", "error"}[l.Level], l.Text)
		}
	}
	w.wake, w.done = fx.WakeAt, fx.Done
}

func (w *world) sayf(format string, args ...any) { w.out = append(w.out, fmt.Sprintf(format, args...)) }

func (w *world) deliver(c *accumulator.Completion) {
	text := "done"
	if err := c.Ending.Err; err != nil {
		text = "failed " + kerr.JavaName(err)
	}
	w.sayf("%s %s-%d %d records offset %d", text, c.Result.Topic(), c.Result.Partition(), len(c.Slots), c.Ending.BaseOffset)
	for i := range c.Slots {
		if cb := c.Slots[i].Callback; cb != nil {
			var o accumulator.Outcome
			c.Outcome(int32(i), &o)
			cb.Done(&o)
		}
	}
	c.Finish()
	w.post(Event{Kind: Delivered, N: 1})
}

// order does what transport would: names resolve and links come up at once, requests wait for the test.
func (w *world) order(o link.Order) {
	switch o.Kind {
	case link.Resolve:
		w.post(Event{Kind: Link, Link: link.Event{Kind: link.Resolved, Host: o.Host, Addrs: []string{"10.0.0.1"}}})
	case link.Dial:
		w.links[o.Link] = o.Node
		w.post(Event{Kind: Link, Link: link.Event{Kind: link.Up, Link: o.Link}})
	case link.Close:
		w.sayf("close node %d", w.links[o.Link])
		w.cut(o.Link, o.Err)
	case link.Write:
		w.write(o)
	}
}

func (w *world) cut(id link.ID, why error) {
	for corr, r := range w.requests {
		if r.link == id {
			delete(w.requests, corr)
		}
	}
	delete(w.links, id)
	w.post(Event{Kind: Link, Link: link.Event{Kind: link.Closed, Link: id, Err: why}})
}

func (w *world) write(o link.Order) {
	frame := slices.Concat(o.Vec...)[4:]
	key, ver := int16(binary.BigEndian.Uint16(frame)), int16(binary.BigEndian.Uint16(frame[2:]))
	r := &sent{link: o.Link, key: key, ver: ver, body: kmsg.RequestForKey(key)}
	w.requests[o.Corr] = r
	if key == int16(kmsg.ApiVersions) {
		w.answer(o.Corr, w.versions(ver))
		return
	}
	body := requestBody(w.t, frame, r.body, ver)
	if err := r.body.ReadFrom(body); err != nil {
		w.t.Fatalf("request %d v%d can't be read: %v", key, ver, err)
	}
	w.sayf("write node %d corr=%d %s", w.links[o.Link], o.Corr, describe(w.t, r))
}

// requestBody is what follows the request header.
func requestBody(t *testing.T, frame []byte, req kmsg.Request, ver int16) []byte {
	t.Helper()
	req.SetVersion(ver)
	n := int(binary.BigEndian.Uint16(frame[8:]))
	body := frame[10+n:]
	if req.IsFlexible() {
		body = body[1:] // no tags
	}
	return body
}

// describe shows a request in one line: for each batch its partition, identity, sequence and record count.
func describe(t *testing.T, r *sent) string {
	p, ok := r.body.(*kmsg.ProduceRequest)
	if !ok {
		return fmt.Sprintf("%s v%d", kmsg.NameForKey(r.key), r.ver)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Produce v%d acks %d", r.ver, p.Acks)
	if p.TimeoutMillis != 30_000 {
		fmt.Fprintf(&b, " timeout %v", time.Duration(p.TimeoutMillis)*time.Millisecond)
	}
	if p.TransactionID != nil {
		fmt.Fprintf(&b, " transaction %q", *p.TransactionID)
	}
	for _, topic := range p.Topics {
		name := topic.Topic
		if topic.TopicID == topicID {
			name = "t"
		}
		for _, part := range topic.Partitions {
			h := part.Records
			if len(h) < 61 {
				t.Fatalf("a batch of %d bytes", len(h))
			}
			be := binary.BigEndian
			fmt.Fprintf(&b, " %s-%d(%d/%d seq %d +%d)", name, part.Partition, int64(be.Uint64(h[43:])), int16(be.Uint16(h[51:])), int32(be.Uint32(h[53:])), be.Uint32(h[57:]))
		}
	}
	return b.String()
}

// answer lets the link write the request and bring the answer, in the version of the request.
func (w *world) answer(corr int32, resp kmsg.Response) {
	w.t.Helper()
	w.written(corr)
	w.respond(corr, w.requests[corr], resp)
}

func (w *world) written(corr int32) {
	w.t.Helper()
	if w.requests[corr] == nil {
		w.t.Fatalf("no request %d is being written, only %v", corr, w.open())
	}
	w.post(Event{Kind: Link, Link: link.Event{Kind: link.Written, Link: w.requests[corr].link, Corr: corr}})
}

func (w *world) respond(corr int32, r *sent, resp kmsg.Response) {
	delete(w.requests, corr)
	resp.SetVersion(r.ver)
	frame := binary.BigEndian.AppendUint32(nil, uint32(corr))
	if resp.IsFlexible() && r.key != int16(kmsg.ApiVersions) {
		frame = append(frame, 0)
	}
	w.post(Event{Kind: Link, Link: link.Event{Kind: link.Received, Link: r.link, Frame: resp.AppendTo(frame)}})
}

func (w *world) versions(ver int16) kmsg.Response {
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.Version = ver
	for _, k := range []struct{ key, max int16 }{{wire.KeyProduce, w.set.produceMax}, {3, 13}, {18, 4}, {22, 5}} {
		resp.ApiKeys = append(resp.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: k.key, MaxVersion: k.max})
	}
	return resp
}

func (w *world) answerMetadata(corr int32) {
	resp := kmsg.NewPtrMetadataResponse()
	for i := range w.set.brokers {
		b := kmsg.NewMetadataResponseBroker()
		b.NodeID, b.Host, b.Port = int32(i+1), fmt.Sprintf("b%d", i+1), 9092
		resp.Brokers = append(resp.Brokers, b)
	}
	topic := kmsg.NewMetadataResponseTopic()
	topic.Topic, topic.TopicID = kmsg.StringPtr("t"), topicID
	for p, l := range w.leader {
		part := kmsg.NewMetadataResponseTopicPartition()
		part.Partition, part.Leader, part.LeaderEpoch = int32(p), l.Leader, l.LeaderEpoch
		if l.Leader < 0 {
			part.ErrorCode = int16(kerr.LeaderNotAvailable)
		}
		topic.Partitions = append(topic.Partitions, part)
	}
	resp.Topics = append(resp.Topics, topic)
	w.answer(corr, resp)
}

func (w *world) answerID(corr int32, id int64, epoch int16) {
	resp := kmsg.NewPtrInitProducerIDResponse()
	resp.ProducerID, resp.ProducerEpoch = id, epoch
	w.answer(corr, resp)
}

// outcomeOf is how the broker answers one partition of a produce request.
type outcomeOf struct {
	code        kerr.Code
	offset      int64
	leader      int32
	leaderEpoch int32
}

// produceAnswer answers every batch of the request; a partition that outcomes lacks is a success at offset 0.
func (w *world) produceAnswer(corr int32, outcomes map[int32]outcomeOf) kmsg.Response {
	w.t.Helper()
	if w.requests[corr] == nil {
		w.t.Fatalf("no request %d waits for its answer, only %v", corr, w.open())
	}
	resp := kmsg.NewPtrProduceResponse()
	for _, topic := range w.requests[corr].body.(*kmsg.ProduceRequest).Topics {
		rt := kmsg.NewProduceResponseTopic()
		rt.Topic, rt.TopicID = topic.Topic, topic.TopicID
		for _, part := range topic.Partitions {
			rp := kmsg.NewProduceResponseTopicPartition()
			rp.Partition, rp.LogStartOffset = part.Partition, 0
			o, ok := outcomes[part.Partition]
			if !ok {
				o = outcomeOf{leader: -1}
			}
			rp.ErrorCode, rp.BaseOffset = int16(o.code), o.offset
			if o.code != kerr.None {
				rp.BaseOffset = -1
			}
			if o.leader >= 0 {
				rp.CurrentLeader.LeaderID, rp.CurrentLeader.LeaderEpoch = o.leader, o.leaderEpoch
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

// append adds n records of size bytes to a partition.
func (w *world) append(p int32, size, n int) {
	w.t.Helper()
	for range n {
		a, err := w.acc.TryAppend(w.acc.Topic("t"), p, &accumulator.Entry{TimestampMs: 1000, Value: make([]byte, size)})
		if err != nil {
			w.t.Fatalf("append: %v", err)
		}
		w.results = append(w.results, a.Result)
	}
}

// linkTo is the link to a node.
func (w *world) linkTo(node int32) link.ID {
	w.t.Helper()
	for id, n := range w.links {
		if n == node {
			return id
		}
	}
	w.t.Fatalf("no link to node %d", node)
	return 0
}
