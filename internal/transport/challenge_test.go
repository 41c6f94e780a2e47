package transport

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"linger/internal/link"
	"linger/internal/sasl"
)

// talker is a mechanism whose sessions do what next says.
type talker struct {
	next    func(ctx context.Context, turn int, challenge []byte) ([]byte, error)
	refuses error
	hosts   *[]string
}

func (talker) Name() string { return "TALK" }

func (m talker) Session(host string) (sasl.Session, error) {
	*m.hosts = append(*m.hosts, host)
	return &talk{m: m}, m.refuses
}

type talk struct {
	m    talker
	turn int
}

func (s *talk) Next(ctx context.Context, challenge []byte) ([]byte, error) {
	s.turn++
	return s.m.next(ctx, s.turn, challenge)
}

func (s *talk) Complete() bool { return s.turn == 2 }

// upLink is a transport with one link, 1, that is up.
func upLink(t *testing.T, m sasl.Mechanism) (*Transport, inbox) {
	t.Helper()
	in := newInbox()
	dialer, peers := pipeDialer()
	tr := New(Options{Dialer: dialer, Post: in.post, SASL: m})
	o := dialOrder(1, "10.0.0.1:9092")
	o.Host = "alpha"
	do(tr, o)
	in.want(t, link.Up)
	peer := <-peers
	t.Cleanup(func() { peer.Close() })
	return tr, in
}

func challengeOrder(token []byte) link.Order {
	return link.Order{Kind: link.Challenge, Link: 1, Token: token}
}

func TestAChallengeIsAnsweredByTheLinksSession(t *testing.T) {
	var hosts []string
	tr, in := upLink(t, talker{hosts: &hosts, next: func(_ context.Context, turn int, challenge []byte) ([]byte, error) {
		return append([]byte{byte(turn)}, challenge...), nil
	}})
	for _, step := range []struct {
		challenge []byte
		want      string
		complete  bool
	}{{nil, "\x01", false}, {[]byte{}, "\x02", true}, {nil, "\x01", false}, {[]byte("more"), "\x02more", true}} {
		do(tr, challengeOrder(step.challenge))
		e := in.want(t, link.Proof)
		if e.Link != 1 || string(e.Token) != step.want || e.Complete != step.complete || e.Err != nil {
			t.Errorf("challenge %q: %v token %q", step.challenge, e, e.Token)
		}
	}
	if len(hosts) != 2 || hosts[0] != "alpha" {
		t.Errorf("sessions with %v, want two with alpha: nil begins one", hosts)
	}
	tr.Wait()
	in.want(t, link.Closed)
}

func TestWhatASessionThatFailsSays(t *testing.T) {
	broken := errors.New("no token")
	for name, it := range map[string]struct {
		m    func(hosts *[]string) sasl.Mechanism
		want string
	}{
		"it has an error": {func(h *[]string) sasl.Mechanism {
			return talker{hosts: h, next: func(context.Context, int, []byte) ([]byte, error) { return nil, broken }}
		}, "no token"},
		"there is no session":   {func(h *[]string) sasl.Mechanism { return talker{hosts: h, refuses: broken} }, "no token"},
		"there is no mechanism": {func(*[]string) sasl.Mechanism { return nil }, "no SASL session"},
		"it panics with a secret": {func(h *[]string) sasl.Mechanism {
			return talker{hosts: h, next: func(context.Context, int, []byte) ([]byte, error) { panic("hunter2") }}
		}, "panicked with a string"},
		"it ends its goroutine": {func(h *[]string) sasl.Mechanism {
			return talker{hosts: h, next: func(context.Context, int, []byte) ([]byte, error) { runtime.Goexit(); return nil, nil }}
		}, "did not return"},
	} {
		t.Run(name, func(t *testing.T) {
			tr, in := upLink(t, it.m(new([]string)))
			do(tr, challengeOrder(nil))
			if e := in.want(t, link.Proof); e.Err == nil || !strings.Contains(e.Err.Error(), it.want) || e.Token != nil || e.Complete {
				t.Errorf("%v", e)
			}
			tr.Wait()
			in.want(t, link.Closed)
		})
	}
}

// SEC-11, and the promise of Closed: nothing of the link comes after it, and it waits for a session that is told to stop.
func TestAThinkingSessionIsStoppedWithItsLink(t *testing.T) {
	thinks := make(chan struct{})
	tr, in := upLink(t, talker{hosts: new([]string), next: func(ctx context.Context, _ int, _ []byte) ([]byte, error) {
		close(thinks)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}})
	do(tr, challengeOrder(nil))
	<-thinks
	why := errors.New("enough")
	do(tr, closeOrder(1, why))
	in.want(t, link.Proof)
	if e := in.want(t, link.Closed); e.Err != why {
		t.Errorf("closed for %v", e.Err)
	}
	do(tr, challengeOrder(nil)) // of a link that is no more
	tr.Wait()
	in.wantNone(t)
}
