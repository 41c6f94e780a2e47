package linger_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"linger"
	"linger/internal/sasl"
)

// oddMechanism is PLAIN under another name that does something of its own at one place, once.
type oddMechanism struct {
	linger.LoginMechanism
	place string
	do    func()
	once  sync.Once
}

func (m *oddMechanism) at(place string) {
	if place == m.place {
		m.once.Do(m.do)
	}
}

func (*oddMechanism) Name() string { return "MINE" }

func (m *oddMechanism) Configure(map[string]string) error { m.at("Configure"); return nil }

func (m *oddMechanism) Session(host string) (linger.LoginSession, error) {
	m.at("Session")
	s, err := m.LoginMechanism.Session(host)
	return &oddSession{s, m}, err
}

type oddSession struct {
	linger.LoginSession
	m *oddMechanism
}

func (s *oddSession) Next(ctx context.Context, challenge []byte) ([]byte, error) {
	s.m.at("Next")
	return s.LoginSession.Next(ctx, challenge)
}

func (s *oddSession) Complete() bool { s.m.at("Complete"); return s.LoginSession.Complete() }

func newOddMechanism(t *testing.T, c *cluster, place string, do func()) *oddMechanism {
	c.secured("MINE").plainNames = []string{"MINE"}
	c.topic("t", 1)
	plain, err := sasl.FromJAAS(sasl.PlainName, plainLogin, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &oddMechanism{LoginMechanism: plain, place: place, do: do}
}

// What goes wrong once in a mechanism of the application's own costs the connection; the next one carries the record.
func TestFaultsOfAMechanismCostItsConnection(t *testing.T) {
	for name, fault := range map[string]func(){"panics": func() { panic("the-secret") }, "ends its goroutine": runtime.Goexit} {
		for _, place := range []string{"Session", "Next", "Complete"} {
			t.Run(place+" "+name, func(t *testing.T) {
				bubble(t, func(t *testing.T, c *cluster) {
					m := newOddMechanism(t, c, place, fault)
					p := c.producer(append(login("MINE", ""), linger.WithSASLMechanism(m))...)
					rest(10 * time.Second)
					mustWait(t, mustSend(t, p, plain("v"), nil))
					if lines := c.logged(-8, "the-secret"); len(lines) != 0 {
						t.Errorf("the log shows what the panic quoted: %v", lines)
					}
				})
			})
		}
	}
}

// A plug-in whose Configure panics is refused by New, which does not repeat the values that it was shown.
func TestAPanicInConfigureIsNewsError(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		m := newOddMechanism(t, c, "Configure", func() { panic("the-secret") })
		_, err := linger.New(linger.ByteArray, linger.ByteArray, c.options(append(login("MINE", ""), linger.WithSASLMechanism(m))...)...)
		if err == nil || !strings.Contains(err.Error(), "sasl.mechanism") || !strings.Contains(err.Error(), "Configure panicked with a string") || strings.Contains(err.Error(), "the-secret") {
			t.Errorf("got %v", err)
		}
	})
}

// CLOSE-11 and beyond: Close inside a mechanism, or inside the function that fetches tokens, does not wait for itself.
func TestCloseInsideALoginReturns(t *testing.T) {
	for _, place := range []string{"Session", "Next", "Complete", "token"} {
		t.Run(place, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				var p producer
				made, done := make(chan struct{}), make(chan linger.Report, 1)
				shutdown := func() {
					<-made
					report, err := p.Shutdown(t.Context())
					if err != nil {
						t.Error(err)
					}
					done <- report
				}
				var opts []linger.Option
				if place == "token" {
					c.admitting("the-token")
					c.topic("t", 1)
					opts = bearer(linger.WithOAuthToken(func(context.Context) (linger.OAuthToken, error) {
						shutdown()
						return linger.OAuthToken{Value: "the-token"}, nil
					}))
				} else {
					opts = append(login("MINE", ""), linger.WithSASLMechanism(newOddMechanism(t, c, place, shutdown)))
				}
				p = c.producer(opts...)
				close(made)
				go func() { _, _ = p.Send(t.Context(), plain("v"), nil) }()
				if report := <-done; !report.Unfinished {
					t.Errorf("inside: %+v, want an unfinished report", report)
				}
				if report, err := p.Shutdown(t.Context()); err != nil || report.Unfinished {
					t.Errorf("afterwards: %+v, %v", report, err)
				}
			})
		})
	}
}
