package client

import (
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"time"

	"linger/internal/kerr"
	"linger/internal/link"
	"linger/internal/metadata"
)

// NET-01, NET-02: Send queues per broker and leaves the bytes to the next orders.
func TestSendQueuesPerBrokerAndBytesLeaveWithTheOrders(t *testing.T) {
	w := twoNodes(t)
	one, two := w.connect(1), w.connect(2)
	r1 := &Request{Version: 11, Corr: w.m.NextCorr(), Node: 1, Vec: [][]byte{{1}, {2}}}
	r2 := &Request{Version: 11, Corr: w.m.NextCorr(), Node: 2, Vec: [][]byte{{3}}}
	w.m.Send(w.now, r1)
	w.m.Send(w.now, r2)
	if w.m.InFlight(1) != 1 || w.m.InFlight(2) != 1 {
		t.Errorf("in flight: %d and %d, want one each", w.m.InFlight(1), w.m.InFlight(2))
	}
	w.collect()
	if len(w.orders) != 2 || w.orders[0].Link != one || w.orders[1].Link != two || &w.orders[0].Vec[0][0] != &r1.Vec[0][0] {
		t.Errorf("got orders %v, want the two requests as they are, each on its link", w.orders)
	}
	if again := w.m.Orders(nil); len(again) != 0 {
		t.Errorf("orders came twice: %v", again)
	}
}

// NET-03: correlation ids count up from 0 and leave out what SASL reserves.
func TestCorrelationIDsCountUpAndLeaveOutTheReservedRange(t *testing.T) {
	w := newWorld(t)
	if a, b := w.m.NextCorr(), w.m.NextCorr(); a != 0 || b != 1 {
		t.Errorf("got %d, %d, want 0, 1", a, b)
	}
	w.m.corr = 1<<31 - 9
	if a, b, c := w.m.NextCorr(), w.m.NextCorr(), w.m.NextCorr(); a != 1<<31-9 || b != -1<<31 || c != -1<<31+1 {
		t.Errorf("got %d, %d, %d, want the last free id, then the smallest and its successor", a, b, c)
	}
}

// A link that its peer has ended takes nothing more; what is on it ends with Closed, once nobody reads its memory.
func TestEndingLinkTakesNothingMore(t *testing.T) {
	w := twoNodes(t)
	l := w.connect(1)
	r := w.send(1)
	w.turn(link.Event{Kind: link.Ending, Link: l, Err: io.EOF})
	if w.m.Ready(w.now, 1) || w.m.CanConnect(w.now.Add(time.Hour), 1) {
		t.Error("the node takes requests, or is dialled while its link still holds some")
	}
	w.wantAnswers()
	if len(w.losses) != 1 {
		t.Error("the loss is not told at once")
	}
	w.turn(closed(l, io.EOF))
	w.wantAnswers(r, Disconnected)
	if len(w.losses) != 1 || !w.m.CanConnect(w.now.Add(time.Hour), 1) {
		t.Error("the loss is told twice, or the node stays down")
	}
}

// NET-02, NET-05, NET-18: answers come out in the order of their requests, whole and only once both halves are done.
func TestAnswersComeInOrderAndOnlyWhenTheRequestHasLetGo(t *testing.T) {
	w := twoNodes(t)
	l := w.connect(1)
	a := w.send(1)
	w.turn(answer(l, a, 7, 8))
	w.wantAnswers() // answered before its last byte is known to be written: its memory is still lent
	w.turn(written(l, a))
	w.wantAnswers(a, Answered)
	if got := w.answers[0].Body; len(got) != 2 || got[0] != 7 || got[1] != 8 {
		t.Errorf("body %v, want what follows the response header", got)
	}
	b := w.send(1)
	w.turn(written(l, b))
	c := w.send(1)
	w.turn(written(l, c), answer(l, b), answer(l, c))
	w.wantAnswers(b, Answered, c, Answered)
	if w.m.InFlight(1) != 0 {
		t.Errorf("%d requests still in flight", w.m.InFlight(1))
	}
}

// NET-06: no more than the limit, and none before the newest is fully written.
func TestNoRequestBeyondTheLimitNorBeforeTheNewestIsWritten(t *testing.T) {
	w := twoNodes(t, func(o *Options) { o.MaxInFlight = 2 })
	l := w.connect(1)
	ready := func(want bool, when string) {
		t.Helper()
		if got := w.m.Ready(w.now, 1); got != want {
			t.Errorf("%s: ready %v, want %v", when, got, want)
		}
	}
	ready(true, "nothing in flight")
	a := w.send(1)
	ready(false, "newest not written")
	w.turn(written(l, a))
	ready(true, "one of two written")
	b := w.send(1)
	w.turn(written(l, b))
	ready(false, "two of two in flight")
	if node, ok := w.m.LeastLoaded(w.now); ok && node == 1 {
		t.Error("a full node is offered as least loaded")
	}
	w.turn(answer(l, a))
	ready(true, "one answered")
}

func TestARequestForANodeThatIsNotReadyFailsAtOnce(t *testing.T) {
	w := twoNodes(t)
	r := w.send(1)
	w.wantAnswers(r, Disconnected)
	r = w.send(77)
	w.wantAnswers(r, Disconnected)
	if !errors.Is(w.answers[0].Err, kerr.ErrDisconnected) || len(w.orders) != 0 {
		t.Errorf("got %v and orders %v, want a network error and no orders", w.answers[0].Err, w.orders)
	}
}

// NET-07, TMO-01: the time-out runs from sending, holds when it is exceeded, and leaves out the broker's throttling.
func TestRequestTimeOutRunsFromSendingLessThrottling(t *testing.T) {
	for name, c := range map[string]struct {
		throttle, own time.Duration
		alive, late   time.Duration
	}{
		"plain":                      {0, 0, 30 * time.Second, 30*time.Second + time.Nanosecond},
		"throttled for four seconds": {4 * time.Second, 0, 34 * time.Second, 34*time.Second + time.Nanosecond},
		"with a time-out of its own": {0, time.Second, time.Second, time.Second + time.Nanosecond},
		"with both":                  {time.Second, time.Second, 2 * time.Second, 2*time.Second + time.Nanosecond},
	} {
		t.Run(name, func(t *testing.T) {
			w := twoNodes(t)
			l := w.connect(1)
			w.after(time.Minute) // created, as it were, long before it is sent
			r := w.send(1, func(r *Request) { r.Timeout = c.own })
			w.turn(written(l, r))
			w.m.Throttle(w.now, 1, int32(c.throttle.Milliseconds()))
			w.after(c.alive).turn()
			if len(w.orders) != 0 {
				t.Fatalf("after %v: got orders %v, want none", c.alive, w.orders)
			}
			if wake := w.m.NextWake(); wake > w.now.Add(c.late-c.alive) {
				t.Errorf("next wake is %v late", wake.Sub(w.now.Add(c.late-c.alive)))
			}
			w.after(c.late - c.alive).turn()
			w.sole(link.Close)
		})
	}
}

// NET-08, NET-09, TMO-01: one late request closes the connection; all on it fail as timed out, once the link has let go.
func TestATimedOutRequestTakesItsConnectionWithIt(t *testing.T) {
	w := twoNodes(t)
	l := w.connect(1)
	a := w.send(1)
	w.turn(written(l, a))
	w.after(29 * time.Second)
	b := w.send(1)
	w.after(2 * time.Second).turn()
	if o := w.sole(link.Close); o.Link != l || !errors.Is(o.Err, kerr.ErrTimeout) {
		t.Errorf("got %v, want link %d closed for a time-out", o, l)
	}
	w.wantAnswers() // the writer may still read b
	if w.m.State(1) != Down || w.m.CanConnect(w.now.Add(time.Hour), 1) {
		t.Errorf("node is %v, can connect %v: want down, and no second link beside the old one", w.m.State(1), w.m.CanConnect(w.now.Add(time.Hour), 1))
	}
	w.turn(answer(l, a)) // too late
	w.wantAnswers()
	w.turn(closed(l, nil))
	w.wantAnswers(a, TimedOut, b, TimedOut)
	if !errors.Is(w.answers[0].Err, kerr.ErrTimeout) || !errors.Is(w.m.LastError(1), kerr.ErrTimeout) {
		t.Errorf("errors %v and %v, want time-outs", w.answers[0].Err, w.m.LastError(1))
	}
	if len(w.losses) != 1 || w.losses[0].Node != 1 || w.losses[0].Err == nil {
		t.Errorf("got losses %v, want one of node 1", w.losses)
	}
}

// NET-09: what a disconnection fails is a network error, not a time-out.
func TestADisconnectionFailsRequestsAsNetworkErrors(t *testing.T) {
	w := twoNodes(t)
	l := w.connect(1)
	a := w.send(1)
	w.turn(written(l, a))
	b := w.send(1)
	w.turn(closed(l, io.EOF))
	w.wantAnswers(a, Disconnected, b, Disconnected)
	if err := w.answers[1].Err; !errors.Is(err, kerr.ErrDisconnected) || !errors.Is(err, io.EOF) || errors.Is(err, kerr.ErrTimeout) {
		t.Errorf("got %v, want a network error with its cause", err)
	}
}

func TestAnAnswerThatArrivedBeforeTheLinkEndedCounts(t *testing.T) {
	w := twoNodes(t)
	l := w.connect(1)
	a := w.send(1)
	w.turn(answer(l, a, 5), closed(l, io.EOF)) // the Written never came
	w.wantAnswers(a, Answered)
	if len(w.answers[0].Body) != 1 {
		t.Errorf("body %v, want it kept until the end", w.answers[0].Body)
	}
}

// NET-10: with acks=0 a request is over once written, older ones that wait for answers or not.
func TestARequestWithoutAnswerIsOverOnceWritten(t *testing.T) {
	w := twoNodes(t)
	l := w.connect(1)
	a := w.send(1)
	w.turn(written(l, a))
	b := w.send(1, noAnswer)
	w.wantAnswers()
	w.turn(written(l, b))
	w.wantAnswers(b, Answered)
	c := w.send(1)
	w.turn(written(l, c), answer(l, a), answer(l, c))
	w.wantAnswers(a, Answered, c, Answered)
	d := w.send(1, noAnswer)
	w.turn(closed(l, io.EOF))
	w.wantAnswers(d, Disconnected)
}

// NET-17: nothing goes to a throttled broker, and the end of the throttling is a reason to wake.
func TestThrottlingIsObeyed(t *testing.T) {
	w := twoNodes(t)
	w.connect(1)
	w.m.Throttle(w.now, 1, 500)
	w.m.Throttle(w.now, 1, 200) // never shorter
	w.m.Throttle(w.now, 1, 0)
	if w.m.Ready(w.now, 1) {
		t.Error("a throttled node is ready")
	}
	if !w.m.AnyReady() {
		t.Error("a cluster that throttles us counts as unreachable")
	}
	if d := w.m.ConnectionDelay(w.now, 1); d != 500*time.Millisecond {
		t.Errorf("delay %v, want 500 ms", d)
	}
	if got, ok := w.m.LeastLoaded(w.now); !ok || got != 2 {
		t.Errorf("least loaded is %d, %v: want the other node", got, ok)
	}
	if wake := w.m.NextWake(); wake > w.now.Add(500*time.Millisecond) {
		t.Errorf("woken at %v only", wake)
	}
	w.after(499 * time.Millisecond).turn()
	if w.m.Ready(w.now, 1) {
		t.Error("ready a millisecond early")
	}
	if !w.m.Ready(w.now.Add(time.Millisecond), 1) {
		t.Error("not ready when the throttling is over")
	}
}

// NET-03, B25: an answer that fits no request closes the connection, and nothing is credited to another request.
func TestAnAnswerThatFitsNoRequestClosesTheConnection(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(l link.ID, a, b *Request) []link.Event
		kinds  [2]AnswerKind
	}{
		"unknown correlation id": {func(l link.ID, a, b *Request) []link.Event { return []link.Event{frame(l, 999, []byte{0})} }, [2]AnswerKind{Disconnected, Disconnected}},
		"the second one first":   {func(l link.ID, a, b *Request) []link.Event { return []link.Event{answer(l, b)} }, [2]AnswerKind{Disconnected, Disconnected}},
		"the first one twice":    {func(l link.ID, a, b *Request) []link.Event { return []link.Event{answer(l, a), answer(l, a)} }, [2]AnswerKind{0, Disconnected}},
		"no room for an id": {func(l link.ID, a, b *Request) []link.Event {
			return []link.Event{{Kind: link.Received, Link: l, Frame: []byte{0, 0}}}
		}, [2]AnswerKind{Malformed, Disconnected}},
		"a broken header": {func(l link.ID, a, b *Request) []link.Event { return []link.Event{frame(l, a.Corr, []byte{0xff, 0xff})} }, [2]AnswerKind{Malformed, Disconnected}},
	} {
		t.Run(name, func(t *testing.T) {
			w := twoNodes(t)
			l := w.connect(1)
			a := w.send(1)
			w.turn(written(l, a))
			b := w.send(1)
			w.turn(written(l, b))
			w.turn(c.answer(l, a, b)...)
			w.sole(link.Close)
			w.turn(closed(l, nil))
			if c.kinds[0] == 0 {
				w.wantAnswers(b, c.kinds[1])
			} else {
				w.wantAnswers(a, c.kinds[0], b, c.kinds[1])
			}
			if lines := w.lines(Warn); len(lines) != 1 {
				t.Errorf("got warnings %q, want one", lines)
			}
			if w.after(50 * time.Millisecond); !w.m.CanConnect(w.now, 1) {
				t.Error("no new connection after the back-off")
			}
		})
	}
}

// B25: an answer on a connection on which nothing waits for one.
func TestAnAnswerNobodyWaitsForClosesTheConnection(t *testing.T) {
	w := twoNodes(t)
	l := w.connect(1)
	w.turn(frame(l, 12, nil))
	w.sole(link.Close)
}

// B25: the caller finds that a body makes no sense.
func TestDisconnectFailsWhatIsInFlight(t *testing.T) {
	w := twoNodes(t)
	l := w.connect(1)
	a := w.send(1)
	w.m.Disconnect(w.now, 1, errors.New("truncated"))
	w.m.Disconnect(w.now, 1, errors.New("truncated")) // once is enough
	w.m.Disconnect(w.now, 2, errors.New("not connected"))
	w.collect()
	w.sole(link.Close)
	w.turn(closed(l, nil))
	w.wantAnswers(a, Disconnected)
	if len(w.losses) != 1 {
		t.Errorf("got losses %v, want one", w.losses)
	}
}

func TestANodeThatMovedIsLeftWhenNothingIsInFlightThere(t *testing.T) {
	w := twoNodes(t)
	l := w.connect(1)
	a := w.send(1)
	w.turn(written(l, a))
	w.m.SetNodes(w.now, []metadata.Node{{ID: 1, Host: "gamma", Port: 9093}, {ID: 2, Host: "beta", Port: 9092}})
	w.turn()
	if len(w.orders) != 0 || w.m.Ready(w.now, 1) {
		t.Fatalf("orders %v, ready %v: want the request finished first, and nothing new sent", w.orders, w.m.Ready(w.now, 1))
	}
	w.turn(answer(l, a))
	w.wantAnswers(a, Answered)
	w.sole(link.Close)
	w.turn(closed(l, nil))
	w.after(time.Second).m.Connect(w.now, 1)
	w.collect()
	if o := w.sole(link.Resolve); o.Host != "gamma" {
		t.Errorf("resolving %s, want the new name", o.Host)
	}
}

func TestANodeRenamedWhileItsOldNameIsResolvedAsksForTheNewOne(t *testing.T) {
	w := twoNodes(t)
	w.m.Connect(0, 1)
	w.m.SetNodes(0, []metadata.Node{{ID: 1, Host: "gamma", Port: 9092}})
	w.turn(link.Event{Kind: link.Resolved, Host: "alpha", Addrs: []string{"10.0.0.1"}})
	if w.m.State(1) != Down {
		t.Fatalf("node is %v, want it to have given up the old name", w.m.State(1))
	}
	w.after(time.Second).m.Connect(w.now, 1)
	w.collect()
	if o := w.sole(link.Resolve); o.Host != "gamma" {
		t.Errorf("asks for %s", o.Host)
	}
}

func TestARequestCostsNoAllocation(t *testing.T) {
	w := twoNodes(t)
	l := w.connect(1)
	r := &Request{Key: 0, Version: 11, Node: 1, Vec: [][]byte{{1}}}
	body := frame(l, 0, []byte{0, 1}).Frame
	var orders []link.Order
	var answers []Answer
	allocs := testing.AllocsPerRun(100, func() {
		*r = Request{Key: 0, Version: 11, Node: 1, Vec: r.Vec, Corr: w.m.NextCorr()}
		binary.BigEndian.PutUint32(body, uint32(r.Corr))
		w.m.Send(w.now, r)
		orders = w.m.Orders(orders[:0])
		w.m.Handle(w.now, written(l, r))
		w.m.Handle(w.now, link.Event{Kind: link.Received, Link: l, Frame: body})
		w.m.Tick(w.now)
		answers = w.m.Answers(answers[:0])
	})
	if allocs != 0 || len(answers) != 1 || answers[0].Kind != Answered {
		t.Errorf("%v allocations, answers %v", allocs, answers)
	}
}

func TestCloseAllEndsEverythingAndStartsNothing(t *testing.T) {
	w := twoNodes(t)
	l := w.connect(1)
	a := w.send(1)
	w.m.Connect(w.now, 2) // resolving
	w.collect()
	w.m.CloseAll(w.now)
	w.collect()
	if o := w.sole(link.Close); o.Err != nil {
		t.Errorf("closed for %v, want no reason", o.Err)
	}
	if n := w.m.Connections(); n != (Connections{Links: 1, InFlight: 1}) {
		t.Errorf("got %+v, want one link with one request", n)
	}
	w.turn(closed(l, nil), link.Event{Kind: link.Resolved, Host: "beta", Addrs: []string{"10.0.0.2"}})
	w.wantAnswers(a, Disconnected)
	w.after(time.Hour).m.Connect(w.now, 1)
	w.turn()
	if n := w.m.Connections(); n != (Connections{}) || len(w.orders) != 0 {
		t.Errorf("got %+v and orders %v, want nothing left", n, w.orders)
	}
}
