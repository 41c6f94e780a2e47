package oauth

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"linger/internal/clock"
)

// Source keeps a token as long as it is good, and fetches the next one ahead of time. Nothing is fetched before the first
// Token. It is safe for concurrent use.
//
// # The plain version
//
//	if !good(token) { token = fetch() }
//	return token
//
// # The real one
//
// One goroutine fetches, so there is never more than one fetch under way, and all who need its token wait for it. It begins
// with the first Token, sleeps until the token has to be replaced (Refresh), and ends with Close. A refresh that fails
// leaves the old token in force, is logged, and tried again every 10 seconds; once the old token has ended, Token waits for
// a fetch and reports its error.
type Source struct {
	fetch   func(context.Context) (Token, error)
	refresh Refresh
	clk     clock.Clock
	random  func() float64
	log     *slog.Logger

	live   context.Context // ends with Close, and with it a fetch under way
	end    context.CancelFunc
	wanted chan struct{} // holds a tick when somebody waits for a token
	done   chan struct{} // closed when the goroutine has returned

	mu      sync.Mutex // guards all below
	started bool
	closed  bool
	token   Token
	have    bool
	flight  *flight // the fetch under way, or the one that was asked for; nil for none
}

// flight is one fetch: what it came to is there when done is closed.
type flight struct {
	done  chan struct{}
	token Token
	err   error
}

// newSource makes a source. fetch must return soon after its context ends.
func newSource(fetch func(context.Context) (Token, error), o Options) *Source {
	s := &Source{
		fetch: fetch, refresh: refreshOf(settings{cfg: o.Config}), clk: o.Clock, random: o.Random, log: o.Log,
		wanted: make(chan struct{}, 1), done: make(chan struct{}),
	}
	s.live, s.end = context.WithCancel(context.Background())
	return s
}

func refreshOf(s settings) Refresh {
	period, _ := s.number(keyMinPeriod)
	buffer, _ := s.number(keyBuffer)
	return Refresh{WindowFactor: s.float(keyWindowFactor), WindowJitter: s.float(keyWindowJitter), MinPeriodSecs: period, BufferSecs: buffer}
}

// Token is the token at hand or, when that has ended, a fresh one. A token without an expiry is never kept.
func (s *Source) Token(ctx context.Context) (Token, error) {
	f, t, err := s.begin()
	if f == nil {
		return t, err
	}
	select {
	case <-f.done:
		return f.token, f.err
	case <-ctx.Done():
		return Token{}, fmt.Errorf("waiting for a token: %w", context.Cause(ctx))
	case <-s.live.Done():
		return Token{}, errClosed
	}
}

// begin is the token at hand, or the flight to wait for.
func (s *Source) begin() (*flight, Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, Token{}, errClosed
	}
	if s.have && s.clk.WallMs() < s.token.Expiry.UnixMilli() {
		return nil, s.token, nil
	}
	if s.flight == nil {
		s.flight = &flight{done: make(chan struct{})}
		select {
		case s.wanted <- struct{}{}:
		default:
		}
	}
	if !s.started {
		s.started = true
		go s.run() // stopped and waited for by Close
	}
	return s.flight, Token{}, nil
}

// Close ends a fetch under way and waits until nothing runs any more.
func (s *Source) Close() error {
	s.mu.Lock()
	s.closed = true
	started := s.started
	s.mu.Unlock()
	s.end()
	if started {
		<-s.done
	}
	return nil
}

// run fetches when somebody waits and when the token has to be replaced.
func (s *Source) run() {
	defer close(s.done)
	timer := s.clk.NewTimer(clock.Ms(retryMs))
	defer timer.Stop()
	timer.Stop()
	for {
		select {
		case <-s.live.Done():
			return
		case <-s.wanted:
		case <-timer.C():
		}
		timer.Stop()
		if wait, ok := s.renew(); ok {
			timer.Reset(clock.Ms(wait))
		}
	}
}

// renew makes one fetch, tells those who wait, and says in how many milliseconds the next one is due; ok is false when
// none is before somebody asks.
func (s *Source) renew() (waitMs int64, ok bool) {
	s.mu.Lock()
	if s.flight == nil {
		s.flight = &flight{done: make(chan struct{})}
	}
	f, old := s.flight, s.token
	s.mu.Unlock()
	f.token, f.err = s.tryFetch()
	s.mu.Lock()
	s.flight = nil
	select {
	case <-s.wanted: // whoever asked since has been waiting for this very flight
	default:
	}
	if f.err == nil {
		s.token, s.have = f.token, !f.token.Expiry.IsZero()
	}
	have := s.have
	s.mu.Unlock()
	close(f.done)
	return s.next(f, old, have)
}

func (s *Source) tryFetch() (t Token, err error) {
	defer func() {
		if r := recover(); r != nil {
			// What it panicked with may quote what it was working on: a secret.
			t, err = Token{}, fmt.Errorf("fetching a token panicked with a %T", r)
		}
	}()
	return s.fetch(s.live)
}

// next plans and logs what comes after a fetch. old is the token before it, have whether one is at hand now.
func (s *Source) next(f *flight, old Token, have bool) (waitMs int64, ok bool) {
	now := s.clk.WallMs()
	switch {
	case s.live.Err() != nil:
		return 0, false
	case f.err != nil && have:
		s.log.Warn("No new token for OAUTHBEARER; trying again in 10 seconds.", "old", old, "err", f.err)
		return retryMs, true
	case f.err != nil || !have:
		return 0, false // who asked gets the error, or asks again
	}
	expiry := f.token.Expiry.UnixMilli()
	if now > expiry {
		s.log.Error("The token for OAUTHBEARER had ended when it was fetched. Are the clocks of this host and of the "+
			"identity provider in step?", "token", f.token)
		return 0, false
	}
	start := now
	if !f.token.Start.IsZero() {
		start = f.token.Start.UnixMilli()
	}
	due := s.refresh.at(now, start, expiry, s.random())
	s.log.Debug("There is a new token for OAUTHBEARER.", "token", f.token, "refreshInMs", due-now)
	return due - now, true
}

// Format keeps the token out of every format: fmt looks into fields without asking their String.
func (s *Source) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "source of tokens for OAUTHBEARER")
}
