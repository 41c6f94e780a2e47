package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"linger/internal/link"
)

// NET-04: finished sends, finished receives and the end of the connection are told, each once, in their order.
func TestRequestGoesOutWholeAndAnswersComeBackAsFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newInbox()
		dial, peers := pipeDialer()
		tr := New(Options{Dialer: dial, Post: in.post})
		defer tr.Wait()

		do(tr, dialOrder(1, "10.0.0.1:9092"), writeOrder(1, 7, []byte("he"), nil, []byte("llo")))
		in.want(t, link.Up)
		peer := <-peers
		if got := readN(t, peer, 5); got != "hello" {
			t.Errorf("the peer read %q, want %q", got, "hello")
		}
		if e := in.want(t, link.Written); e.Corr != 7 || e.Link != 1 {
			t.Errorf("got Written(%d) of link %d, want Written(7) of link 1", e.Corr, e.Link)
		}

		large := strings.Repeat("x", 300_000)
		go peer.Write(append(append(append(frame("one"), frame("")...), frame(large)...), frame("four")...))
		for _, want := range []string{"one", "", large, "four"} {
			if e := in.want(t, link.Received); string(e.Frame) != want {
				t.Errorf("got a frame of %d bytes, want %d", len(e.Frame), len(want))
			}
		}
		do(tr, closeOrder(1, nil))
		if e := in.want(t, link.Closed); e.Err != nil {
			t.Errorf("got error %v after an ordinary close order, want none", e.Err)
		}
	})
}

func TestFramesDoNotShareMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newInbox()
		dial, peers := pipeDialer()
		tr := New(Options{Dialer: dial, Post: in.post})
		defer tr.Wait()
		do(tr, dialOrder(1, ""))
		in.want(t, link.Up)
		peer := <-peers
		go peer.Write(append(frame("first"), frame("second")...))
		first := in.want(t, link.Received).Frame
		second := in.want(t, link.Received).Frame
		_ = append(first, "!!!!!!!!!!!!!!!!"...)
		for i := range first {
			first[i] = '?'
		}
		if string(second) != "second" {
			t.Errorf("writing over the first frame changed the second to %q", second)
		}
	})
}

// B07, at this level: while the peer does not read, the request's memory is in use and nothing says otherwise.
func TestNoWrittenBeforeThePeerTakesTheLastByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newInbox()
		dial, peers := pipeDialer()
		tr := New(Options{Dialer: dial, Post: in.post})
		defer tr.Wait()
		do(tr, dialOrder(1, ""), writeOrder(1, 1, []byte("abc"), []byte("def")))
		in.want(t, link.Up)
		peer := <-peers
		synctest.Wait()
		in.wantNone(t)
		readN(t, peer, 5)
		synctest.Wait()
		in.wantNone(t)
		readN(t, peer, 1)
		in.want(t, link.Written)
	})
}

func TestClosedComesOnceWithTheFirstReason(t *testing.T) {
	why := errors.New("request.timeout.ms passed")
	dialFailed := errors.New("connection refused")
	tests := []struct {
		name string
		// end ends the link; peer is nil while it is not up.
		end    func(tr *Transport, peer net.Conn)
		dial   DialFunc // nil: in memory
		want   error    // nil: none
		text   string   // of the reason, a part
		wantUp bool
	}{
		{
			name:   "close order gives the reason",
			end:    func(tr *Transport, _ net.Conn) { do(tr, closeOrder(1, why), closeOrder(1, nil)) },
			want:   why,
			wantUp: true,
		},
		{
			name:   "peer closes between frames",
			end:    func(_ *Transport, peer net.Conn) { peer.Close() },
			want:   io.EOF,
			text:   "does this listener speak TLS, or ask for a login? See security.protocol",
			wantUp: true,
		},
		{
			name: "peer closes inside a frame",
			end: func(_ *Transport, peer net.Conn) {
				peer.Write(frame("hello")[:6])
				peer.Close()
			},
			want:   io.ErrUnexpectedEOF,
			wantUp: true,
		},
		{
			name: "peer closes inside a length prefix",
			end: func(_ *Transport, peer net.Conn) {
				peer.Write([]byte{0, 0})
				peer.Close()
			},
			want:   io.ErrUnexpectedEOF,
			wantUp: true,
		},
		{
			name: "close order while the writer is stuck",
			end: func(tr *Transport, _ net.Conn) {
				do(tr, writeOrder(1, 1, []byte("nobody reads this")))
				synctest.Wait()
				do(tr, closeOrder(1, why))
			},
			want:   why,
			wantUp: true,
		},
		{
			name:   "wait of the transport",
			end:    func(tr *Transport, _ net.Conn) { tr.Wait() },
			want:   errStopped,
			wantUp: true,
		},
		{
			name: "more writes are queued than the limit",
			end: func(tr *Transport, _ net.Conn) {
				for corr := range int32(writeQueueLimit + 2) { // one is in the writer's hands
					do(tr, writeOrder(1, corr, []byte("nobody reads this")))
					synctest.Wait()
				}
			},
			want:   errQueueFull,
			wantUp: true,
		},
		{
			name: "dial fails",
			dial: func(context.Context, string, string) (net.Conn, error) { return nil, dialFailed },
			end:  func(*Transport, net.Conn) {},
			want: dialFailed,
		},
		{
			name: "close order while dialing",
			dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
			end:  func(tr *Transport, _ net.Conn) { do(tr, closeOrder(1, why)) },
			want: why,
		},
		{
			name: "wait of the transport while dialing",
			dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
			end:  func(tr *Transport, _ net.Conn) { tr.Wait() },
			want: errStopped,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := newInbox()
				dial, peers := pipeDialer()
				if tt.dial != nil {
					dial = tt.dial
				}
				tr := New(Options{Dialer: dial, Post: in.post})
				do(tr, dialOrder(1, ""))
				var peer net.Conn
				if tt.wantUp {
					in.want(t, link.Up)
					peer = <-peers
				}
				synctest.Wait()
				tt.end(tr, peer)
				wantEnd := in.wantEnd
				if !errors.Is(tt.want, io.EOF) && !errors.Is(tt.want, io.ErrUnexpectedEOF) {
					wantEnd = func(t *testing.T) link.Event { return in.want(t, link.Closed) } // our end, not the peer's
				}
				e := wantEnd(t)
				if !errors.Is(e.Err, tt.want) {
					t.Errorf("got reason %v, want %v", e.Err, tt.want)
				}
				if tt.text != "" && !strings.Contains(e.Err.Error(), tt.text) {
					t.Errorf("the reason %v does not say %q", e.Err, tt.text)
				}
				// The link is gone: orders for it do nothing.
				do(tr, writeOrder(1, 1, []byte("late")), closeOrder(1, nil))
				tr.Wait()
				in.wantNone(t)
				if peer != nil {
					if _, err := io.Copy(io.Discard, peer); err != nil && !errors.Is(err, io.ErrClosedPipe) {
						t.Errorf("the peer's end: %v, want it closed", err)
					}
				}
			})
		})
	}
}

// A dial that succeeds after all when the link is closed already must not leave its connection open.
func TestCloseOrderRacingWithASuccessfulDialClosesTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newInbox()
		ours, theirs := net.Pipe()
		tr := New(Options{Post: in.post, Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return ours, nil
		}})
		do(tr, dialOrder(1, ""))
		synctest.Wait()
		do(tr, closeOrder(1, nil))
		if _, err := theirs.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the peer's end: %v, want EOF", err)
		}
		tr.Wait()
		for e := range in {
			if e.Kind == link.Closed {
				break
			}
		}
		in.wantNone(t)
	})
}

// CLOSE-13, B31: nothing of a link is left once Wait has returned, whatever state it was in. (TestMain looks for goroutines.)
func TestWaitLeavesNoSocketBehind(t *testing.T) {
	in := newInbox()
	ended := make(chan struct{}, 16)
	addr := serve(t, func(c net.Conn) {
		io.Copy(io.Discard, c)
		ended <- struct{}{}
	})
	tr := New(Options{Post: in.post})
	const links = 10
	for id := range link.ID(links) {
		do(tr, dialOrder(id, addr))
		in.want(t, link.Up)
	}
	for id := range link.ID(links / 2) {
		do(tr, writeOrder(id, 1, make([]byte, 100_000)))
	}
	tr.Wait()
	for range links {
		<-ended
	}
	closed := make(map[link.ID]int)
	for len(in) > 0 {
		if e := <-in; e.Kind == link.Closed {
			closed[e.Link]++
		}
	}
	for id := range link.ID(links) {
		if closed[id] != 1 {
			t.Errorf("link %d: got %d Closed events, want 1", id, closed[id])
		}
	}
}

func TestResolveAnswersEachOrderOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newInbox()
		unknown := errors.New("no such host")
		tr := New(Options{Post: in.post, Resolver: func(ctx context.Context, host string) ([]string, error) {
			switch host {
			case "good":
				return []string{"10.0.0.1", "10.0.0.2"}, nil
			case "bad":
				return nil, unknown
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		do(tr, link.Order{Kind: link.Resolve, Host: "good"})
		if e := in.want(t, link.Resolved); e.Host != "good" || !cmp.Equal(e.Addrs, []string{"10.0.0.1", "10.0.0.2"}) || e.Err != nil {
			t.Errorf("got %+v", e)
		}
		do(tr, link.Order{Kind: link.Resolve, Host: "bad"})
		if e := in.want(t, link.Resolved); e.Host != "bad" || e.Addrs != nil || !errors.Is(e.Err, unknown) {
			t.Errorf("got %+v", e)
		}
		do(tr, link.Order{Kind: link.Resolve, Host: "hangs"})
		synctest.Wait()
		in.wantNone(t)
		tr.Wait()
		if e := in.want(t, link.Resolved); e.Err == nil {
			t.Errorf("a look-up that was stopped answered %v", e.Addrs)
		}
	})
}

func TestAddressesPutIPv4First(t *testing.T) {
	tests := []struct {
		name     string
		in, want []string
	}{
		{"mixed: each kind keeps its order", []string{"::1", "10.0.0.2", "fe80::1", "10.0.0.1"}, []string{"10.0.0.2", "10.0.0.1", "::1", "fe80::1"}},
		{"mapped addresses are IPv4", []string{"::ffff:10.0.0.1"}, []string{"10.0.0.1"}},
		{"listed once per socket type", []string{"10.0.0.1", "10.0.0.1", "10.0.0.1"}, []string{"10.0.0.1"}},
		{"IPv6 alone", []string{"::1"}, []string{"::1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var ips []netip.Addr
			for _, s := range tt.in {
				ips = append(ips, netip.MustParseAddr(s))
			}
			if diff := cmp.Diff(tt.want, ipv4First(ips)); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSystemResolverKnowsLiterals(t *testing.T) {
	got, err := systemResolver(t.Context(), "127.0.0.1")
	if err != nil || !cmp.Equal(got, []string{"127.0.0.1"}) {
		t.Errorf("got %v, %v", got, err)
	}
}
