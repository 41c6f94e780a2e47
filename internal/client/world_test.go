package client

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/clock"
	"linger/internal/link"
	"linger/internal/metadata"
	"linger/internal/wire"
)

// middle is a source of randomness that is always in the middle: jitter is none, searches start at the first node.
type middle struct{}

func (middle) Uint64() uint64 { return 1 << 52 }

// always draws the same.
type always uint64

func (a always) Uint64() uint64 { return uint64(a) }

func randOf(n uint64) *rand.Rand { return rand.New(always(n)) }

// world drives a machine by hand and keeps what came out of it.
type world struct {
	t       testing.TB
	m       *Machine
	now     clock.Instant
	orders  []link.Order // of the last turn
	answers []Answer     // likewise
	losses  []Loss
	logs    []LogLine
}

func defaults() Options {
	return Options{
		ClientID: "producer-1", SoftwareVersion: "1.0", MaxInFlight: 5, RequestTimeout: 30 * time.Second, MaxIdle: 9 * time.Minute,
		ReconnectBackoffMs: 50, ReconnectBackoffMaxMs: 1000, SetupTimeoutMs: 10000, SetupTimeoutMaxMs: 30000,
		SendBuf: 131072, RecvBuf: 32768, RetryBackoff: 100 * time.Millisecond, Rand: rand.New(middle{}),
	}
}

func newWorld(t testing.TB, change ...func(*Options)) *world {
	o := defaults()
	for _, c := range change {
		c(&o)
	}
	return &world{t: t, m: New(o)}
}

// twoNodes is a cluster of two brokers, each with one address.
func twoNodes(t testing.TB, change ...func(*Options)) *world {
	w := newWorld(t, change...)
	w.m.SetNodes(0, []metadata.Node{{ID: 1, Host: "alpha", Port: 9092}, {ID: 2, Host: "beta", Port: 9092}})
	return w
}

// turn does what a turn of the sender does with the machine.
func (w *world) turn(events ...link.Event) {
	for _, e := range events {
		w.m.Handle(w.now, e)
	}
	w.m.Tick(w.now)
	w.collect()
}

func (w *world) collect() {
	w.orders = w.m.Orders(nil)
	w.answers = w.m.Answers(nil)
	w.losses = w.m.Losses(w.losses)
	w.logs = w.m.Logs(w.logs)
}

func (w *world) after(d time.Duration) *world {
	w.now = w.now.Add(d)
	return w
}

// dial connects to the node up to its Dial order and returns its link.
func (w *world) dial(node int32) link.ID {
	w.t.Helper()
	w.m.Connect(w.now, node)
	w.collect()
	if len(w.orders) == 1 && w.orders[0].Kind == link.Resolve {
		w.turn(link.Event{Kind: link.Resolved, Host: w.orders[0].Host, Addrs: []string{"10.0.0." + string('0'+node)}})
	}
	if len(w.orders) != 1 || w.orders[0].Kind != link.Dial {
		w.t.Fatalf("connecting to node %d: got orders %v, want a dial", node, w.orders)
	}
	return w.orders[0].Link
}

// connect connects to the node all the way.
func (w *world) connect(node int32) link.ID {
	w.t.Helper()
	l := w.dial(node)
	w.turn(link.Event{Kind: link.Up, Link: l})
	hello := w.sole(link.Write)
	w.turn(link.Event{Kind: link.Written, Link: l, Corr: hello.Corr}, frame(l, hello.Corr, helloBody(5, helloAnswer())))
	if w.m.State(node) != Ready {
		w.t.Fatalf("node %d is %v after its handshake, want ready", node, w.m.State(node))
	}
	return l
}

// sole is the only order of the last turn.
func (w *world) sole(k link.OrderKind) link.Order {
	w.t.Helper()
	if len(w.orders) != 1 || w.orders[0].Kind != k {
		w.t.Fatalf("got orders %v, want one %v", w.orders, k)
	}
	return w.orders[0]
}

func (w *world) send(node int32, change ...func(*Request)) *Request {
	r := &Request{Key: wire.KeyProduce, Version: 11, Corr: w.m.NextCorr(), Node: node, Vec: [][]byte{{1, 2, 3}}}
	for _, c := range change {
		c(r)
	}
	w.m.Send(w.now, r)
	w.collect()
	return r
}

func noAnswer(r *Request) { r.NoAnswer = true }

func written(l link.ID, r *Request) link.Event {
	return link.Event{Kind: link.Written, Link: l, Corr: r.Corr}
}

func closed(l link.ID, err error) link.Event { return link.Event{Kind: link.Closed, Link: l, Err: err} }

// answer is a frame with header v1, as Produce 9 and later have.
func answer(l link.ID, r *Request, body ...byte) link.Event {
	return frame(l, r.Corr, append([]byte{0}, body...))
}

func frame(l link.ID, corr int32, rest []byte) link.Event {
	return link.Event{Kind: link.Received, Link: l, Frame: append(binary.BigEndian.AppendUint32(nil, uint32(corr)), rest...)}
}

func helloAnswer() *kmsg.ApiVersionsResponse {
	r := kmsg.NewPtrApiVersionsResponse()
	for _, k := range [][3]int16{{22, 0, 6}, {0, 0, 13}, {3, 0, 13}, {18, 0, 5}} { // out of order on purpose
		r.ApiKeys = append(r.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: k[0], MinVersion: k[1], MaxVersion: k[2]})
	}
	return r
}

func helloBody(version int16, r *kmsg.ApiVersionsResponse) []byte {
	r.Version = version
	return r.AppendTo(nil)
}

// wantAnswers compares the answers of the last turn with pairs of request and kind.
func (w *world) wantAnswers(pairs ...any) {
	w.t.Helper()
	if len(w.answers) != len(pairs)/2 {
		w.t.Fatalf("got %d answers %v, want %d", len(w.answers), w.answers, len(pairs)/2)
	}
	for i, a := range w.answers {
		r, k := pairs[2*i].(*Request), pairs[2*i+1].(AnswerKind)
		if a.Request != r || a.Kind != k {
			w.t.Errorf("answer %d: got %v of request %d, want %v of request %d", i, a.Kind, a.Request.Corr, k, r.Corr)
		}
		if (a.Kind == Answered) != (a.Err == nil) {
			w.t.Errorf("answer %d: %v with error %v", i, a.Kind, a.Err)
		}
	}
}

// lines are the log lines of at least that level so far.
func (w *world) lines(least Level) (texts []string) {
	for _, l := range w.logs {
		if l.Level >= least {
			texts = append(texts, l.Text)
		}
	}
	return texts
}
