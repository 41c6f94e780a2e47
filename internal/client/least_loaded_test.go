package client

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"linger/internal/link"
	"linger/internal/metadata"
)

func threeNodes(t *testing.T, change ...func(*Options)) *world {
	w := newWorld(t, change...)
	w.m.SetNodes(0, []metadata.Node{{ID: 1, Host: "alpha", Port: 1}, {ID: 2, Host: "beta", Port: 1}, {ID: 3, Host: "gamma", Port: 1}})
	return w
}

func (w *world) wantLeast(want int32, why string) {
	w.t.Helper()
	got, ok := w.m.LeastLoaded(w.now)
	if ok != (want != 0) || ok && got != want {
		w.t.Errorf("%s: got node %d, %v, want %d", why, got, ok, want)
	}
}

func TestLeastLoadedPrefersReadyThenConnectingThenTheLongestUntried(t *testing.T) {
	w := newWorld(t)
	w.wantLeast(0, "no nodes")
	w = threeNodes(t, func(o *Options) { o.MaxInFlight = 2 })
	w.wantLeast(1, "nothing tried")
	w.turn(closed(w.dial(1), errors.New("refused")))
	w.after(time.Second)
	w.wantLeast(2, "one tried")
	w.turn(closed(w.dial(2), errors.New("refused")))
	w.after(time.Second)
	w.turn(closed(w.dial(3), errors.New("refused")))
	w.after(time.Second)
	w.wantLeast(1, "all tried, node 1 the longest ago")
	l := w.dial(3)
	w.wantLeast(3, "one is being connected")
	w.turn(link.Event{Kind: link.Up, Link: l})
	w.wantLeast(3, "its versions are being asked for")
	w.greet(w.orders[0], helloBody(5, helloAnswer()))
	two := w.connect(2)
	w.wantLeast(2, "two are ready, the first one found has nothing in flight")
	a := w.send(2)
	w.turn(written(two, a))
	w.wantLeast(3, "the other one has nothing in flight")
	b, c := w.send(3), (*Request)(nil)
	w.turn(written(l, b))
	c = w.send(3)
	w.turn(written(l, c))
	w.wantLeast(2, "both have some in flight, this one fewer")
	d := w.send(2)
	w.turn(written(two, d))
	w.wantLeast(1, "both are full")
	w.turn(closed(w.dial(1), errors.New("refused")))
	w.wantLeast(0, "two are full and one backs off")
	if !w.m.AnyReady() {
		t.Error("the cluster counts as unreachable although two brokers are connected")
	}
}

func TestLeastLoadedStartsAtARandomNode(t *testing.T) {
	seen := map[int32]int{}
	w := threeNodes(t, func(o *Options) { o.Rand = rand.New(rand.NewPCG(3, 4)) })
	for range 300 {
		n, _ := w.m.LeastLoaded(w.now)
		seen[n]++
	}
	for n := int32(1); n <= 3; n++ {
		if seen[n] < 60 {
			t.Errorf("node %d was chosen %d times of 300", n, seen[n])
		}
	}
}

func TestConnectingIsAboutTheClustersNodes(t *testing.T) {
	w := twoNodes(t)
	if w.m.Connecting() {
		t.Error("connecting before anything was dialled")
	}
	w.m.Connect(w.now, 1)
	if !w.m.Connecting() {
		t.Error("resolving does not count as connecting")
	}
	w.m.SetNodes(w.now, []metadata.Node{{ID: 2, Host: "beta", Port: 9092}})
	if w.m.Connecting() {
		t.Error("a node that left the cluster still counts")
	}
}
