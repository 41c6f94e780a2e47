package client

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"linger/internal/clock"
	"linger/internal/link"
	"linger/internal/metadata"
	"linger/internal/wire"
)

// peer is what the model knows of one link: which bytes the transport still reads, and who is owed an answer.
type peer struct {
	node     int32
	up       bool
	ordered  bool // its end was ordered
	toWrite  []int32
	toAnswer []int32
	order    []int32 // correlation ids of answers handed out, requests with an answer only

	asked   map[int32]int16 // which API, of requests that are the machine's own
	in      bool            // logged in, and not about to do so again
	until   clock.Instant   // the end of the session
	thinks  bool            // a challenge is out
	thought int             // challenges of this exchange
}

// model is a transport and a cluster with arbitrary behaviour around a machine, and a twin that is fed the same.
type model struct {
	t       *rapid.T
	m, twin *Machine
	now     clock.Instant
	peers   map[link.ID]*peer
	ids     []link.ID // of peers, in order
	lookups []string
	sent    map[int32]*Request
	on      map[int32]link.ID
	over    map[int32]bool
	written map[int32]bool
	max     int
	sasl    bool
}

func newModel(t *rapid.T) *model {
	seed, limit := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 3).Draw(t, "max in flight")
	sasl := rapid.Bool().Draw(t, "sasl")
	mk := func() *Machine {
		o := defaults()
		o.MaxInFlight, o.MaxIdle, o.Rand = limit, 40*time.Second, rand.New(rand.NewPCG(seed, 1))
		if sasl {
			o.SASL = "PLAIN"
		}
		m := New(o)
		m.SetNodes(0, modelNodes(0))
		return m
	}
	return &model{
		t: t, m: mk(), twin: mk(), max: limit, sasl: sasl, peers: map[link.ID]*peer{}, sent: map[int32]*Request{},
		on: map[int32]link.ID{}, over: map[int32]bool{}, written: map[int32]bool{},
	}
}

func modelNodes(generation int) []metadata.Node {
	var nodes []metadata.Node
	for id := int32(1); id <= 3; id++ {
		if generation > 0 && int(id) == generation%3+1 {
			continue
		}
		host := fmt.Sprintf("host%d", id)
		if generation > 1 && id == 2 {
			host = "elsewhere"
		}
		nodes = append(nodes, metadata.Node{ID: id, Host: host, Port: 9092})
	}
	return nodes
}

// both does the same to the machine and to its twin, which must answer alike.
func (w *model) both(do func(m *Machine)) {
	do(w.m)
	do(w.twin)
	w.turn()
}

func (w *model) handle(e link.Event) { w.both(func(m *Machine) { m.Handle(w.now, e) }) }

func (w *model) turn() {
	early := w.m.NextWake()
	w.m.Tick(w.now)
	w.twin.Tick(w.now)
	orders, answers := w.m.Orders(nil), w.m.Answers(nil)
	w.sameAsTwin(orders, answers)
	if early > w.now && w.m.NextWake() != early {
		w.t.Fatalf("Tick at %d changed the wake-up from %d to %d: it should cost nothing before", w.now, early, w.m.NextWake())
	}
	for _, a := range answers {
		w.answered(a)
	}
	for _, o := range orders {
		w.ordered(o)
	}
}

func (w *model) sameAsTwin(orders []link.Order, answers []Answer) {
	a, b := fmt.Sprint(orders, w.m.Logs(nil), w.m.Losses(nil), w.m.NextWake()), fmt.Sprint(w.twin.Orders(nil), w.twin.Logs(nil), w.twin.Losses(nil), w.twin.NextWake())
	if a != b {
		w.t.Fatalf("same events, other effects:\n%s\n%s", a, b)
	}
	other := w.twin.Answers(nil)
	if !slices.EqualFunc(answers, other, func(x, y Answer) bool { return x.Request.Corr == y.Request.Corr && x.Kind == y.Kind }) {
		w.t.Fatalf("same events, other answers: %v, %v", answers, other)
	}
}

// answered checks that a request ends once, in order, and that nobody reads its memory any more.
func (w *model) answered(a Answer) {
	c := a.Request.Corr
	if w.over[c] || w.sent[c] != a.Request {
		w.t.Fatalf("request %d ended twice, or was never sent", c)
	}
	w.over[c] = true
	l, launched := w.on[c]
	if !launched {
		return
	}
	p := w.peers[l]
	if p == nil {
		return // its link has ended
	}
	if !w.written[c] {
		w.t.Fatalf("request %d was handed back while link %d may read it", c, l)
	}
	if !a.Request.NoAnswer {
		if n := len(p.order); n > 0 && p.order[n-1] > c {
			w.t.Fatalf("request %d was answered after %d", c, p.order[n-1])
		}
		p.order = append(p.order, c)
	}
}

// ordered plays the transport, which trusts nobody.
func (w *model) ordered(o link.Order) {
	switch o.Kind {
	case link.Resolve:
		if slices.Contains(w.lookups, o.Host) {
			w.t.Fatalf("%s is asked for twice at a time", o.Host)
		}
		w.lookups = append(w.lookups, o.Host)
	case link.Dial:
		for _, id := range w.ids {
			if p := w.peers[id]; p != nil && p.node == o.Node {
				w.t.Fatalf("a second link to node %d beside %d", o.Node, id)
			}
		}
		w.peers[o.Link] = &peer{node: o.Node, asked: map[int32]int16{}, until: clock.Never}
		w.ids = append(w.ids, o.Link)
	case link.Write:
		p := w.peers[o.Link]
		own := w.sent[o.Corr] == nil
		if p == nil || !p.up || p.ordered || !own && len(p.toWrite) > 0 {
			w.t.Fatalf("request %d is written on a link that can't take it: %+v", o.Corr, p)
		}
		limit := w.max
		switch {
		case own:
			limit++
			w.own(o, p)
		case w.sasl && (!p.in || w.now >= p.until):
			w.t.Fatalf("request %d is written on a link that is not logged in: %+v", o.Corr, p)
		}
		p.toWrite = append(p.toWrite, o.Corr)
		w.on[o.Corr] = o.Link
		if r := w.sent[o.Corr]; r == nil || !r.NoAnswer {
			p.toAnswer = append(p.toAnswer, o.Corr)
		}
		if len(p.toAnswer) > limit {
			w.t.Fatalf("%d requests in flight to node %d, %d are allowed", len(p.toAnswer), p.node, limit)
		}
	case link.Challenge:
		p := w.peers[o.Link]
		if p == nil || !p.up || p.ordered || p.thinks {
			w.t.Fatalf("a challenge on a link that can't take it: %+v", p)
		}
		if o.Token == nil {
			p.thought = 0
		}
		p.thinks = true
		p.thought++
	case link.Close:
		p := w.peers[o.Link]
		if p == nil || p.ordered {
			w.t.Fatalf("link %d is closed twice", o.Link)
		}
		p.ordered = true
	}
}

// some draws one of the links that fit; nil when none does.
func (w *model) some(fits func(p *peer) bool) (link.ID, *peer) {
	var ids []link.ID
	for _, id := range w.ids {
		if p := w.peers[id]; p != nil && fits(p) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return 0, nil
	}
	id := rapid.SampledFrom(ids).Draw(w.t, "link")
	return id, w.peers[id]
}

func (w *model) actions() map[string]func(*rapid.T) {
	node := func() int32 { return rapid.Int32Range(1, 3).Draw(w.t, "node") }
	return map[string]func(*rapid.T){
		"connect": func(*rapid.T) { n := node(); w.both(func(m *Machine) { m.Connect(w.now, n) }) },
		"send": func(*rapid.T) {
			n, silent := node(), rapid.Bool().Draw(w.t, "no answer")
			if !w.m.Ready(w.now, n) {
				return
			}
			w.both(func(m *Machine) {
				r := &Request{Key: wire.KeyProduce, Version: 11, Corr: m.NextCorr(), Node: n, Vec: [][]byte{{1}}, NoAnswer: silent}
				if m == w.m {
					w.sent[r.Corr] = r
				}
				m.Send(w.now, r)
			})
		},
		"greet": func(*rapid.T) { w.greet(node()) },
		"resolved": func(*rapid.T) {
			if len(w.lookups) == 0 {
				return
			}
			host := w.lookups[0]
			w.lookups = w.lookups[1:]
			e := link.Event{Kind: link.Resolved, Host: host, Addrs: []string{"10.0.0.1", "10.0.0.2"}}
			if rapid.IntRange(0, 4).Draw(w.t, "resolves") == 0 {
				e.Addrs, e.Err = nil, errors.New("no such host")
			}
			w.handle(e)
		},
		"up": func(*rapid.T) {
			if id, p := w.some(func(p *peer) bool { return !p.up && !p.ordered }); p != nil {
				p.up = true
				w.handle(link.Event{Kind: link.Up, Link: id})
			}
		},
		"written": func(*rapid.T) { w.write() },
		"answer":  func(*rapid.T) { w.reply() },
		"again":   func(*rapid.T) { w.write(); w.reply() },
		"proof": func(*rapid.T) {
			if id, p := w.some(func(p *peer) bool { return p.thinks }); p != nil {
				w.prove(id, rapid.IntRange(0, 9).Draw(w.t, "content") > 0)
			}
		},
		"nonsense": func(*rapid.T) {
			if id, p := w.some(func(p *peer) bool { return p.up }); p != nil {
				w.handle(frame(id, 1<<30, nil))
			}
		},
		"closed": func(*rapid.T) {
			if id, p := w.some(func(p *peer) bool { return p.ordered || rapid.IntRange(0, 3).Draw(w.t, "dies") == 0 }); p != nil {
				w.end(id)
			}
		},
		"throttle": func(*rapid.T) { n := node(); w.both(func(m *Machine) { m.Throttle(w.now, n, 500) }) },
		"time": func(*rapid.T) {
			if wake := w.m.NextWake(); wake != clock.Never && rapid.Bool().Draw(w.t, "to the wake-up") {
				w.now = max(w.now, wake)
			} else {
				w.now = w.now.Add(time.Duration(rapid.Int64Range(1, int64(20*time.Second)).Draw(w.t, "later")))
			}
			w.turn()
		},
		"nodes": func(*rapid.T) {
			nodes := modelNodes(rapid.IntRange(0, 4).Draw(w.t, "generation"))
			w.both(func(m *Machine) { m.SetNodes(w.now, nodes) })
		},
		"least loaded": func(*rapid.T) {
			a, ok := w.m.LeastLoaded(w.now)
			if b, okToo := w.twin.LeastLoaded(w.now); a != b || ok != okToo {
				w.t.Fatalf("twins choose %d and %d", a, b)
			}
		},
	}
}

// greet takes a node that may be connected all the way to ready.
func (w *model) greet(node int32) {
	if !w.m.CanConnect(w.now, node) {
		return
	}
	w.both(func(m *Machine) { m.Connect(w.now, node) })
	for len(w.lookups) > 0 {
		host := w.lookups[0]
		w.lookups = w.lookups[1:]
		w.handle(link.Event{Kind: link.Resolved, Host: host, Addrs: []string{"10.0.0.1"}})
	}
	for _, id := range w.ids {
		p := w.peers[id]
		if p == nil || p.node != node || p.up {
			continue
		}
		p.up = true
		w.handle(link.Event{Kind: link.Up, Link: id})
		for w.m.State(node).connected() && w.m.State(node) != Ready {
			if p.thinks {
				w.prove(id, true)
				continue
			}
			w.writeOn(id)
			w.replyOn(id, false)
		}
	}
	if !w.m.Ready(w.now, node) && w.m.State(node) != Ready {
		w.t.Fatalf("node %d is %v after its handshake", node, w.m.State(node))
	}
}

func (w *model) write() {
	if id, p := w.some(func(p *peer) bool { return len(p.toWrite) > 0 }); p != nil {
		w.writeOn(id)
	}
}

func (w *model) writeOn(id link.ID) {
	p := w.peers[id]
	c := p.toWrite[0]
	p.toWrite = p.toWrite[1:]
	w.written[c] = true
	w.handle(link.Event{Kind: link.Written, Link: id, Corr: c})
}

func (w *model) reply() {
	if id, p := w.some(func(p *peer) bool { return len(p.toAnswer) > 0 }); p != nil {
		w.replyOn(id, rapid.IntRange(0, 9).Draw(w.t, "refused") == 0)
	}
}

func (w *model) replyOn(id link.ID, refused bool) {
	p := w.peers[id]
	c := p.toAnswer[0]
	p.toAnswer = p.toAnswer[1:]
	body := []byte{0}
	if w.sent[c] == nil {
		body = w.ownAnswer(p, c, refused)
	}
	w.handle(frame(id, c, body))
}

// own notes a request of the machine's own.
func (w *model) own(o link.Order, p *peer) {
	key, version := int16(binary.BigEndian.Uint16(o.Vec[0][4:])), int16(binary.BigEndian.Uint16(o.Vec[0][6:]))
	p.asked[o.Corr] = key
	switch {
	case w.sasl && key == wire.KeyApiVersions && version > 0 && !p.in:
		w.t.Fatalf("node %d is asked for its versions before the login", p.node)
	case key == keySaslHandshake:
		p.in = false
	}
}

// ownAnswer is the answer to a request of the machine's own; an exchange takes one round or two.
func (w *model) ownAnswer(p *peer, corr int32, refused bool) []byte {
	switch key := p.asked[corr]; {
	case key == keySaslHandshake:
		resp := kmsg.NewPtrSASLHandshakeResponse()
		if resp.Version = handshakeVersion; refused {
			resp.ErrorCode = 33
		}
		return resp.AppendTo(nil)
	case key == keySaslAuthenticate:
		resp := kmsg.NewPtrSASLAuthenticateResponse()
		if resp.Version = maxAuthenticateVersion; refused {
			resp.ErrorCode = 58
		} else if p.thought > 1 {
			p.in, p.until = true, w.now.Add(5*time.Second)
			resp.SessionLifetimeMillis = 5_000
		}
		return append([]byte{0}, resp.AppendTo(nil)...)
	case w.sasl && !p.in:
		return saslVersions(0, 2)
	}
	return helloBody(5, helloAnswer())
}

// prove lets the session of a link say its word: a first one, a last one, or that it can't go on.
func (w *model) prove(id link.ID, content bool) {
	p := w.peers[id]
	p.thinks = false
	e := link.Event{Kind: link.Proof, Link: id, Token: []byte("token"), Complete: p.thought > 1}
	if !content {
		e = link.Event{Kind: link.Proof, Link: id, Err: errors.New("no")}
	}
	w.handle(e)
}

func (w *model) end(id link.ID) {
	delete(w.peers, id)
	w.handle(link.Event{Kind: link.Closed, Link: id, Err: errors.New("reset")})
}

// NET-03, NET-06, NET-18: whatever happens, each request ends exactly once and in order, its memory is never handed back
// while a link may read it, no broker has two links or too many requests, and the same events have the same effects.
func TestPropertyEveryRequestEndsOnceInOrderAndUnread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newModel(t)
		w.turn()
		for id := int32(1); id <= 3; id++ {
			w.greet(id)
		}
		t.Repeat(w.actions())
		w.both(func(m *Machine) { m.CloseAll(w.now) })
		for _, id := range w.ids {
			if w.peers[id] != nil {
				w.end(id)
			}
		}
		for c := range w.sent {
			if !w.over[c] {
				t.Fatalf("request %d never ended", c)
			}
		}
		if n := w.m.Connections(); n != (Connections{}) {
			t.Fatalf("left after the end: %+v", n)
		}
	})
}
