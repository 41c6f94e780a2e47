package client

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/kerr"
	"linger/internal/link"
)

// saslLine carries out the lines about SASL; other lines are not its own.
//
//	asked L C [authenticate MIN MAX]     the broker's answer to ApiVersions v0
//	handshake L C [CODE [MECHANISM…]]    … to SaslHandshake
//	said L C TEXT [lifetime=MS]          … to SaslAuthenticate; "-" is no bytes
//	refused L C CODE [TEXT]              … to SaslAuthenticate, an error
//	proof L TEXT [complete]              the session's word; "-" is nothing
//	proof L error TEXT
//
// The answers come with the Written of their request.
func (s *scenario) saslLine(t *testing.T, verb string, args []string) (own bool) {
	switch verb {
	case "proof":
		s.proofLine(t, args)
		return true
	case "asked", "handshake", "said", "refused":
	default:
		return false
	}
	l, corr := link.ID(number(t, args[0])), int32(number(t, args[1]))
	s.m.Handle(s.now, link.Event{Kind: link.Written, Link: l, Corr: corr})
	s.m.Handle(s.now, frame(l, corr, saslAnswer(t, verb, args[2:])))
	return true
}

func (s *scenario) proofLine(t *testing.T, args []string) {
	e := link.Event{Kind: link.Proof, Link: link.ID(number(t, args[0]))}
	if args[1] == "error" {
		e.Err = errors.New(strings.Join(args[2:], " "))
	} else {
		e.Token, e.Complete = []byte(args[1]), len(args) > 2
		if args[1] == "-" {
			e.Token = nil
		}
	}
	s.m.Handle(s.now, e)
}

func saslAnswer(t *testing.T, verb string, args []string) []byte {
	switch verb {
	case "asked":
		low, high := int16(0), int16(2)
		if len(args) > 0 {
			low, high = int16(number(t, args[1])), int16(number(t, args[2]))
		}
		return saslVersions(low, high)
	case "handshake":
		resp := kmsg.NewPtrSASLHandshakeResponse()
		resp.Version, resp.SupportedMechanisms = handshakeVersion, []string{"PLAIN"}
		if len(args) > 0 {
			resp.ErrorCode, resp.SupportedMechanisms = int16(number(t, args[0])), args[1:]
		}
		return resp.AppendTo(nil)
	}
	resp := kmsg.NewPtrSASLAuthenticateResponse()
	resp.Version = maxAuthenticateVersion
	if verb == "refused" {
		text := strings.Join(args[1:], " ")
		resp.ErrorCode, resp.ErrorMessage = int16(number(t, args[0])), &text
		if text == "" {
			resp.ErrorMessage = nil
		}
		return append([]byte{0}, resp.AppendTo(nil)...)
	}
	if args[0] != "-" {
		resp.SASLAuthBytes = []byte(args[0])
	}
	for _, a := range args[1:] {
		ms, _ := strings.CutPrefix(a, "lifetime=")
		resp.SessionLifetimeMillis = number(t, ms)
	}
	return append([]byte{0}, resp.AppendTo(nil)...)
}

// saslVersions is an answer to ApiVersions v0.
func saslVersions(low, high int16) []byte {
	resp := helloAnswer()
	for _, k := range [][3]int16{{keySaslHandshake, 0, 1}, {keySaslAuthenticate, low, high}} {
		resp.ApiKeys = append(resp.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: k[0], MinVersion: k[1], MaxVersion: k[2]})
	}
	return helloBody(0, resp)
}

func withSASL(o *Options) { o.SASL = "PLAIN" }

// logIn goes through a login on a link that is Up.
func (w *world) logIn(l link.ID, lifetime string) {
	w.t.Helper()
	t, ok := w.t.(*testing.T)
	if !ok {
		w.t.Fatal("not a test")
	}
	for _, step := range [][]string{{"asked"}, {"handshake"}, {"", "token", "complete"}, {"said", "-", lifetime}} {
		if step[0] == "" {
			if w.sole(link.Challenge).Link != l {
				t.Fatal("a challenge to another link")
			}
			w.turn(link.Event{Kind: link.Proof, Link: l, Token: []byte("token"), Complete: true})
			continue
		}
		corr := w.sole(link.Write).Corr
		args := slices.DeleteFunc(step[1:], func(s string) bool { return s == "" })
		w.turn(link.Event{Kind: link.Written, Link: l, Corr: corr}, frame(l, corr, saslAnswer(t, step[0], args)))
	}
}

// KIP-368: the correlation ids of an exchange are those that nobody else has, also after many of them.
func TestAnExchangeCountsInTheReservedRange(t *testing.T) {
	w := twoNodes(t, withSASL)
	l := w.dial(1)
	w.turn(link.Event{Kind: link.Up, Link: l})
	first := w.sole(link.Write).Corr
	w.logIn(l, "lifetime=1000")
	hello := w.sole(link.Write)
	w.turn(link.Event{Kind: link.Written, Link: l, Corr: hello.Corr}, frame(l, hello.Corr, helloBody(5, helloAnswer())))
	if first != firstReservedCorr || hello.Corr != 0 {
		t.Errorf("the exchange begins with %d, the versions with %d", first, hello.Corr)
	}
	seen := map[int32]bool{}
	for range 10 {
		w.after(1000*1e6).m.Connect(w.now, 1)
		w.collect()
		for _, verb := range []string{"handshake", "", "said"} {
			if verb == "" {
				w.turn(link.Event{Kind: link.Proof, Link: l, Token: []byte("token"), Complete: true})
				continue
			}
			corr := w.sole(link.Write).Corr
			if corr < firstReservedCorr {
				t.Fatalf("correlation id %d", corr)
			}
			seen[corr] = true
			args := map[string][]string{"handshake": nil, "said": {"-", "lifetime=1000"}}[verb]
			w.turn(link.Event{Kind: link.Written, Link: l, Corr: corr}, frame(l, corr, saslAnswer(t, verb, args)))
		}
		if !w.m.Ready(w.now, 1) {
			t.Fatal("not ready after a login anew")
		}
	}
	if len(seen) != 8 {
		t.Errorf("%d ids of 8 were used", len(seen))
	}
}

// KIP-368: "a random percentage between 85% and 95%" of the session's life.
func TestASessionIsRenewedBetween85And95PercentOfItsLife(t *testing.T) {
	for draw, want := range map[uint64]int64{0: 850_000, 1 << 52: 900_000, 1<<53 - 1: 950_000} {
		w := twoNodes(t, withSASL)
		w.m.o.Rand = randOf(draw)
		l := w.dial(1)
		w.turn(link.Event{Kind: link.Up, Link: l})
		w.logIn(l, "lifetime=1000000")
		if got := int64(w.m.byID[1].link.reauthAt) / 1e6; got != want {
			t.Errorf("draw %s: renewed after %d ms, want %d", strconv.FormatUint(draw, 16), got, want)
		}
	}
}

// A broker that knows SASL but not SaslAuthenticate would take naked tokens.
func TestABrokerWithoutSaslAuthenticateIsRefused(t *testing.T) {
	w := twoNodes(t, withSASL)
	l := w.dial(1)
	w.turn(link.Event{Kind: link.Up, Link: l})
	corr := w.sole(link.Write).Corr
	w.turn(link.Event{Kind: link.Written, Link: l, Corr: corr}, frame(l, corr, helloBody(0, helloKeys(keySaslHandshake, 0, 0))))
	err := w.m.LastError(1)
	if !errors.Is(err, kerr.ErrAuthentication) || kerr.CodeOf(err) != kerr.UnsupportedVersion || w.m.State(1) != Unauthenticated {
		t.Errorf("%v: %v", w.m.State(1), err)
	}
}

// SEC-07: the second refusal in a row is the one that counts, per node and for all of them.
func TestRefusalsCountInARow(t *testing.T) {
	w := twoNodes(t, withSASL)
	refuse := func(node int32) {
		t.Helper()
		w.after(20 * 1e9)
		l := w.dial(node)
		w.turn(link.Event{Kind: link.Up, Link: l})
		corr := w.sole(link.Write).Corr
		w.turn(link.Event{Kind: link.Written, Link: l, Corr: corr}, frame(l, corr, saslVersions(0, 2)))
		corr = w.sole(link.Write).Corr
		w.turn(link.Event{Kind: link.Written, Link: l, Corr: corr}, frame(l, corr, saslAnswer(t, "handshake", []string{"33"})))
		w.turn(closed(l, nil))
	}
	want := func(one, two, all bool) {
		t.Helper()
		if a, b, c := w.m.Refused(1) != nil, w.m.Refused(2) != nil, w.m.AllRefused() != nil; a != one || b != two || c != all {
			t.Errorf("got %v %v %v, want %v %v %v", a, b, c, one, two, all)
		}
	}
	refuse(1)
	want(false, false, false)
	refuse(1)
	want(true, false, false)
	refuse(2)
	want(true, false, true)
	w.after(20 * 1e9)
	l := w.dial(1)
	w.turn(link.Event{Kind: link.Up, Link: l})
	w.logIn(l, "")
	hello := w.sole(link.Write)
	w.turn(link.Event{Kind: link.Written, Link: l, Corr: hello.Corr}, frame(l, hello.Corr, helloBody(5, helloAnswer())))
	want(false, false, false)
	if w.m.Refused(7) != nil {
		t.Error("a node nobody knows has refused")
	}
}
