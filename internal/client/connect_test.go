package client

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linger/internal/clock"
	"linger/internal/kerr"
	"linger/internal/link"
	"linger/internal/metadata"
)

const ms = time.Millisecond

// NET-12: 50 ms, doubled per failure up to 1000 ms, 20 % either way, per broker, and back to the start after success.
func TestReconnectDelayDoublesPerBrokerAndStartsAfresh(t *testing.T) {
	w := twoNodes(t)
	var got []time.Duration
	for range 7 {
		l := w.dial(1)
		w.turn(closed(l, errors.New("connection refused")))
		d := w.m.ConnectionDelay(w.now, 1)
		if w.m.CanConnect(w.now.Add(d-1), 1) || !w.m.CanConnect(w.now.Add(d), 1) {
			t.Errorf("after failure %d: connectable before its %v are over, or not after", len(got)+1, d)
		}
		if wake := w.m.NextWake(); wake > w.now.Add(d) {
			t.Errorf("the end of the back-off wakes nobody")
		}
		got = append(got, d)
		w.after(d)
	}
	if want := []time.Duration{50 * ms, 100 * ms, 200 * ms, 400 * ms, 800 * ms, 1000 * ms, 1000 * ms}; !cmp.Equal(got, want) {
		t.Errorf("delays %v, want %v", got, want)
	}
	if d := w.m.ConnectionDelay(w.now, 2); d != 0 {
		t.Errorf("the other broker waits %v too", d)
	}
	l := w.connect(1)
	w.turn(closed(l, io.EOF))
	if d := w.m.ConnectionDelay(w.now, 1); d != 50*ms {
		t.Errorf("after a success: %v, want 50ms", d)
	}
}

// NET-12: another host under the same id starts afresh.
func TestARenamedNodeStartsItsBackOffAfresh(t *testing.T) {
	w := twoNodes(t)
	for range 4 {
		w.turn(closed(w.dial(1), errors.New("refused")))
		w.after(time.Second)
	}
	w.m.SetNodes(w.now, []metadata.Node{{ID: 1, Host: "gamma", Port: 9092}})
	w.turn(closed(w.dial(1), errors.New("refused")))
	if d := w.m.ConnectionDelay(w.now, 1); d != 50*ms {
		t.Errorf("delay %v, want 50ms", d)
	}
}

// NET-12: the jitter.
func TestReconnectDelayIsOffByAFifthEitherWay(t *testing.T) {
	low, high := time.Duration(math.MaxInt64), time.Duration(0)
	w := twoNodes(t, func(o *Options) { o.Rand = rand.New(rand.NewPCG(1, 2)) })
	for range 500 {
		w.turn(closed(w.connect(1), io.EOF))
		d := w.m.ConnectionDelay(w.now, 1)
		low, high = min(low, d), max(high, d)
		w.after(d)
	}
	if low < 40*ms || low > 42*ms || high > 60*ms || high < 58*ms {
		t.Errorf("delays between %v and %v, want 40 to 60 ms used to the full", low, high)
	}
}

// NET-13, B26: dialling is bounded by a time-out that doubles while it fails, TLS and resolving included.
func TestConnectionSetupIsBoundedAndTheBoundGrows(t *testing.T) {
	for name, silent := range map[string]func(w *world) link.ID{
		"the address does not answer": func(w *world) link.ID { return w.dial(1) },
		"the name does not resolve": func(w *world) link.ID {
			w.m.Connect(w.now, 1)
			w.collect()
			return 0
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := twoNodes(t)
			for i, want := range []time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second, 30 * time.Second} {
				l := silent(w)
				if d := w.m.ConnectionDelay(w.now, 1); d != want {
					t.Fatalf("attempt %d may take %v, want %v", i+1, d, want)
				}
				w.after(want).turn()
				if w.m.State(1) != Connecting {
					t.Fatalf("attempt %d: %v before its time is over", i+1, w.m.State(1))
				}
				if wake := w.m.NextWake(); wake > w.now+1 {
					t.Fatalf("attempt %d: the time-out wakes nobody", i+1)
				}
				w.after(1).turn()
				if w.m.State(1) != Down || !errors.Is(w.m.LastError(1), kerr.ErrTimeout) {
					t.Fatalf("attempt %d: %v, %v: want down for a time-out", i+1, w.m.State(1), w.m.LastError(1))
				}
				if l != 0 {
					w.sole(link.Close)
					w.turn(closed(l, nil))
				}
				w.after(2 * time.Second)
			}
		})
	}
}

// B26: a peer that accepts and then says nothing is bounded by request.timeout.ms, the handshake's too.
func TestASilentPeerIsLeftAfterTheRequestTimeOut(t *testing.T) {
	w := twoNodes(t)
	l := w.dial(1)
	w.turn(link.Event{Kind: link.Up, Link: l})
	w.turn(link.Event{Kind: link.Written, Link: l, Corr: w.sole(link.Write).Corr})
	w.after(30*time.Second + 1).turn()
	w.sole(link.Close)
	w.turn(closed(l, nil))
	w.wantAnswers() // the handshake's request is nobody's
	if len(w.losses) != 1 || !errors.Is(w.losses[0].Err, kerr.ErrTimeout) {
		t.Errorf("got losses %v, want one for a time-out", w.losses)
	}
}

// B26: a peer that stops reading holds up nobody else and is left as well.
func TestAPeerThatStopsReadingHoldsUpNobodyElse(t *testing.T) {
	w := twoNodes(t)
	one, two := w.connect(1), w.connect(2)
	stuck := w.send(1)
	w.after(time.Second)
	other := w.send(2)
	w.turn(written(two, other), answer(two, other))
	w.wantAnswers(other, Answered)
	w.after(29*time.Second + 1).turn()
	if o := w.sole(link.Close); o.Link != one || !strings.Contains(o.Err.Error(), "write") {
		t.Errorf("got %v, want link %d closed since its request could not be written", o, one)
	}
	w.turn(closed(one, nil))
	w.wantAnswers(stuck, TimedOut)
}

// NET-14: every address in turn, then the name is asked again, and never the same address twice in a row.
func TestAllAddressesOfANameAreTriedInTurn(t *testing.T) {
	w := newWorld(t)
	w.m.SetNodes(0, []metadata.Node{{ID: 1, Host: "alpha", Port: 9092}})
	var tried []string
	answers := [][]string{{"10.0.0.1", "10.0.0.2", "10.0.0.3"}, {"10.0.0.3", "10.0.0.1"}, {"10.0.0.1"}, {"fd00::1", "10.0.0.9", "fd00::2"}}
	for range 7 {
		w.m.Connect(w.now, 1)
		w.collect()
		if w.orders[0].Kind == link.Resolve {
			tried = append(tried, "resolve")
			w.turn(link.Event{Kind: link.Resolved, Host: "alpha", Addrs: answers[0]})
			answers = answers[1:]
		}
		o := w.sole(link.Dial)
		if o.Host != "alpha" || o.Node != 1 {
			t.Errorf("dial order %v does not name its host and node", o)
		}
		tried = append(tried, o.Addr)
		w.turn(closed(o.Link, errors.New("connection refused")))
		w.after(2 * time.Second)
	}
	want := []string{
		"resolve", "10.0.0.1:9092", "10.0.0.2:9092", "10.0.0.3:9092",
		"resolve", "10.0.0.1:9092", // 10.0.0.3 was tried last
		"resolve", "10.0.0.1:9092", // the only one there is
		"resolve", "[fd00::1]:9092", "[fd00::2]:9092", // only the first one's kind
	}
	if diff := cmp.Diff(want, tried); diff != "" {
		t.Errorf("tried (-want +got):\n%s", diff)
	}
}

// NET-14: a connection that had worked is resolved anew, and its address is not the first choice.
func TestALostConnectionIsResolvedAnew(t *testing.T) {
	w := newWorld(t)
	w.m.SetNodes(0, []metadata.Node{{ID: 1, Host: "alpha", Port: 9092}})
	both := link.Event{Kind: link.Resolved, Host: "alpha", Addrs: []string{"10.0.0.1", "10.0.0.8"}}
	w.m.Connect(0, 1)
	w.collect()
	w.turn(both)
	l := w.sole(link.Dial).Link
	w.turn(link.Event{Kind: link.Up, Link: l})
	w.turn(closed(l, io.EOF))
	w.after(time.Second).m.Connect(w.now, 1)
	w.collect()
	w.sole(link.Resolve) // although the list has a second address left
	w.turn(both)
	if o := w.sole(link.Dial); o.Addr != "10.0.0.8:9092" {
		t.Errorf("dials %s, want the address that was not just lost", o.Addr)
	}
}

// NET-15: both buffer sizes reach the transport.
func TestDialOrdersCarryTheBufferSizes(t *testing.T) {
	w := twoNodes(t)
	w.dial(1)
	if o := w.orders[0]; o.SendBuf != 131072 || o.RecvBuf != 32768 {
		t.Errorf("got %d and %d, want 131072 and 32768", o.SendBuf, o.RecvBuf)
	}
}

func TestANameIsAskedForOnceForAllNodesThatWaitForIt(t *testing.T) {
	w := newWorld(t)
	w.m.SetNodes(0, []metadata.Node{{ID: 1, Host: "lb", Port: 1}, {ID: 2, Host: "lb", Port: 2}})
	w.m.Connect(0, 1)
	w.m.Connect(0, 2)
	w.collect()
	w.sole(link.Resolve)
	w.turn(link.Event{Kind: link.Resolved, Host: "lb", Addrs: []string{"::1"}})
	if len(w.orders) != 2 || w.orders[0].Addr != "[::1]:1" || w.orders[1].Addr != "[::1]:2" {
		t.Errorf("got %v, want both dialled", w.orders)
	}
}

// B22: a name that does not resolve is a failed attempt of that node, with the reason at hand.
func TestANameThatDoesNotResolveIsAFailedAttempt(t *testing.T) {
	w := twoNodes(t)
	for i, answer := range []link.Event{{Err: errors.New("no such host")}, {}} {
		w.m.Connect(w.now, 1)
		w.collect()
		answer.Kind, answer.Host = link.Resolved, "alpha"
		w.turn(answer)
		if w.m.State(1) != Down || w.m.LastError(1) == nil || len(w.losses) != i+1 {
			t.Errorf("%v, last error %v, losses %v", w.m.State(1), w.m.LastError(1), w.losses)
		}
		w.after(time.Second)
	}
	if lines := w.lines(Warn); len(lines) != 2 || !strings.Contains(lines[0], "no such host") {
		t.Errorf("warnings %q", lines)
	}
}

// NET-11: unused for connections.max.idle.ms, the longest unused first.
func TestIdleConnectionsAreClosedOldestFirst(t *testing.T) {
	w := twoNodes(t)
	one, two := w.connect(1), w.connect(2)
	w.after(time.Minute)
	r := w.send(1) // node 1 is now the younger one
	w.turn(written(one, r), answer(one, r))
	w.after(8 * time.Minute).turn()
	if len(w.orders) != 0 {
		t.Fatalf("closed at exactly nine minutes: %v", w.orders)
	}
	if wake := w.m.NextWake(); wake > w.now+1 {
		t.Errorf("nobody wakes for the idle connection: %v", wake)
	}
	w.after(1).turn()
	if o := w.sole(link.Close); o.Link != two || o.Err != nil {
		t.Errorf("got %v, want link %d closed without a reason", o, two)
	}
	w.after(time.Minute).turn()
	if o := w.sole(link.Close); o.Link != one {
		t.Errorf("got %v, want link %d", o, one)
	}
	w.turn(closed(one, nil), closed(two, nil))
	if lines := w.lines(Info); len(lines) != 0 {
		t.Errorf("a planned end is logged loudly: %q", lines)
	}
	if w.m.LastError(1) != nil || w.m.LastError(2) != nil || len(w.losses) != 2 || w.losses[0].Err != nil {
		t.Errorf("errors %v, %v, losses %v: want two losses that are nobody's fault", w.m.LastError(1), w.m.LastError(2), w.losses)
	}
}

// NET-11: also when both are due at once.
func TestIdleConnectionsOfOneTurnAreClosedOldestFirst(t *testing.T) {
	w := twoNodes(t)
	two := w.connect(2)
	w.after(time.Second)
	one := w.connect(1)
	w.after(time.Hour).turn()
	if len(w.orders) != 2 || w.orders[0].Link != two || w.orders[1].Link != one {
		t.Errorf("got %v, want link %d before link %d", w.orders, two, one)
	}
}

// NET-11: the limit may be shorter than all others.
func TestAShortIdleLimitWakesInTime(t *testing.T) {
	w := twoNodes(t, func(o *Options) { o.MaxIdle = 100 * ms })
	l := w.connect(1)
	wake := func(want time.Duration) {
		t.Helper()
		if got := w.m.NextWake(); got > w.now.Add(want+1) {
			t.Errorf("wakes after %v, want %v", got.Sub(w.now), want)
		}
	}
	wake(100 * ms)
	r := w.send(1)
	w.turn(written(l, r))
	w.after(200 * ms).turn() // in use
	w.turn(answer(l, r))
	wake(100 * ms)
}

// NET-11: a connection that waits for an answer is not idle, and a limit below zero closes none.
func TestAConnectionInUseIsNotIdle(t *testing.T) {
	w := twoNodes(t, func(o *Options) { o.RequestTimeout = time.Hour })
	l := w.connect(1)
	w.turn(written(l, w.send(1)))
	w.after(10 * time.Minute).turn()
	if len(w.orders) != 0 {
		t.Errorf("closed with a request in flight: %v", w.orders)
	}
	w = twoNodes(t, func(o *Options) { o.MaxIdle = -ms })
	w.connect(1)
	w.after(1000 * time.Hour).turn()
	if len(w.orders) != 0 || w.m.NextWake() != clock.Never {
		t.Errorf("closed although it should be kept: %v, wake %v", w.orders, w.m.NextWake())
	}
}

// B23: the broker closes a connection that is idle: noticed, no error, no warning, and the next attempt is soon.
func TestABrokersCloseOfAnIdleConnectionIsNoEvent(t *testing.T) {
	w := twoNodes(t)
	for range 20 {
		l := w.connect(1)
		r := w.send(1)
		w.turn(written(l, r), answer(l, r))
		w.after(6 * time.Second).turn(closed(l, fmt.Errorf("connection closed by the peer: %w", io.EOF)))
		w.wantAnswers()
		if w.m.State(1) != Down || w.m.ConnectionDelay(w.now, 1) > 60*ms {
			t.Fatalf("state %v, delay %v: want it noticed and the back-off at its start", w.m.State(1), w.m.ConnectionDelay(w.now, 1))
		}
		w.after(100 * ms)
	}
	if lines := w.lines(Info); len(lines) != 0 {
		t.Errorf("planned ends are logged loudly: %q", lines)
	}
	if err := w.m.LastError(1); err != nil {
		t.Errorf("a planned end counts as an error: %v", err)
	}
}

func TestAFailedAuthenticationIsTold(t *testing.T) {
	w := twoNodes(t)
	l := w.dial(1)
	w.turn(closed(l, fmt.Errorf("%w: unknown certificate authority", kerr.ErrAuthentication)))
	if w.m.State(1) != Unauthenticated || len(w.losses) != 1 || !w.losses[0].Auth {
		t.Errorf("state %v, losses %v", w.m.State(1), w.losses)
	}
	if d := w.m.ConnectionDelay(w.now, 1); d != 100*ms {
		t.Errorf("delay %v, want the back-off grown twice as in Java", d)
	}
	if lines := w.lines(Error); len(lines) != 1 {
		t.Errorf("error lines %q, want one", lines)
	}
}

func TestAnUnreachableBootstrapBrokerIsNamed(t *testing.T) {
	w := newWorld(t)
	w.m.SetNodes(0, BootstrapNodes([]HostPort{{"alpha", 9092}, {"beta", 9093}}))
	w.turn(closed(w.dial(-1), errors.New("connection refused")))
	l := w.dial(-2)
	w.turn(link.Event{Kind: link.Up, Link: l})
	w.turn(closed(l, errors.New("the peer speaks HTTP, not Kafka")))
	got := errors.Join(w.m.LastError(-1), w.m.LastError(-2)).Error()
	for _, want := range []string{"-1 (alpha:9092)", "connection refused", "-2 (beta:9093)", "speaks HTTP"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not name %q", got, want)
		}
	}
	if lines := w.lines(Warn); len(lines) != 3 || lines[2] != "Bootstrap broker beta:9093 (id: -2 rack: null) disconnected" {
		t.Errorf("warnings %q", lines)
	}
}

func TestStartOverClosesEveryConnection(t *testing.T) {
	w := twoNodes(t)
	one := w.connect(1)
	w.m.Connect(w.now, 2)
	w.m.StartOver(w.now)
	w.collect()
	if len(w.orders) != 2 || w.orders[1].Kind != link.Close || w.orders[1].Link != one {
		t.Errorf("got %v, want a lookup and then link %d closed", w.orders, one)
	}
	if w.m.State(1) != Down || w.m.State(2) != Down {
		t.Errorf("states %v and %v, want both down", w.m.State(1), w.m.State(2))
	}
}

func TestNodesThatLeftAreForgottenOnceTheirPastDoesNotMatter(t *testing.T) {
	w := twoNodes(t)
	l := w.connect(1)
	w.turn(closed(w.dial(2), errors.New("refused")))
	rest := []metadata.Node{{ID: 3, Host: "gamma", Port: 1}}
	w.m.SetNodes(w.now, rest)
	if w.m.State(1) != Ready || w.m.State(2) != Down {
		t.Error("a node that just left has lost its link or its back-off")
	}
	if _, ok := w.m.LeastLoaded(w.now); !ok {
		t.Error("the new node is not offered")
	}
	w.after(time.Hour).turn()
	w.turn(closed(l, nil))
	w.after(time.Hour)
	w.m.SetNodes(w.now, rest)
	if len(w.m.all) != 1 || len(w.m.byID) != 1 {
		t.Errorf("%d nodes are remembered, want 1", len(w.m.all))
	}
}
