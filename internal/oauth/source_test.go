package oauth

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"linger/internal/clock"
)

// provider gives out tokens and remembers when it was asked.
type provider struct {
	mu    sync.Mutex
	begun time.Time
	asked []time.Duration
	life  time.Duration // of the tokens; 0: they have no expiry
	slow  time.Duration
	err   error
}

func (p *provider) fetch(ctx context.Context) (Token, error) {
	p.mu.Lock()
	p.asked = append(p.asked, time.Since(p.begun))
	n, slow, err := len(p.asked), p.slow, p.err
	p.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		return Token{}, ctx.Err()
	}
	if err != nil {
		return Token{}, err
	}
	t := Token{Value: string(rune('A' - 1 + n)), Principal: "me", Start: time.Now()}
	if p.life != 0 {
		t.Expiry = time.Now().Add(p.life)
	}
	return t, nil
}

func (p *provider) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
}

func (p *provider) times() []time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]time.Duration(nil), p.asked...)
}

// inBubble runs a test of a source over a provider whose tokens live an hour, with factor 0.8 and no jitter.
func inBubble(t *testing.T, test func(t *testing.T, s *Source, p *provider, log *notes)) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{begun: time.Now(), life: time.Hour}
		o, log := optionsOf(t, nil)
		o.Fetch = p.fetch
		s := sourceOf(t, o)
		test(t, s, p, log)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func wantToken(t *testing.T, s *Source, value string) {
	t.Helper()
	got, err := s.Token(background())
	if err != nil || got.Value != value {
		t.Errorf("token %q, %v; want %q", got.Value, err, value)
	}
}

func wantAsked(t *testing.T, p *provider, at ...time.Duration) {
	t.Helper()
	got := p.times()
	if len(got) != len(at) {
		t.Fatalf("asked at %v, want %v", got, at)
	}
	for i := range at {
		if got[i] != at[i] {
			t.Errorf("asked at %v, want %v", got, at)
		}
	}
}

func TestNothingIsFetchedBeforeTheFirstLogin(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Source, p *provider, _ *notes) {
		time.Sleep(time.Hour)
		wantAsked(t, p)
		wantToken(t, s, "A")
		wantToken(t, s, "A")
		wantAsked(t, p, time.Hour)
	})
}

func TestATokenIsReplacedAheadOfTimeWithoutAnybodyAsking(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Source, p *provider, _ *notes) {
		wantToken(t, s, "A")
		time.Sleep(48*time.Minute - 1)
		wantToken(t, s, "A")
		time.Sleep(2 * time.Nanosecond)
		synctest.Wait()
		wantToken(t, s, "B")
		time.Sleep(48 * time.Minute)
		synctest.Wait()
		wantAsked(t, p, 0, 48*time.Minute, 96*time.Minute)
	})
}

func TestAllWhoNeedATokenWaitForOneFetch(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Source, p *provider, _ *notes) {
		p.slow = time.Second
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { wantToken(t, s, "A") })
		}
		wg.Wait()
		wantAsked(t, p, 0)
	})
}

func TestARefreshThatFailsKeepsTheOldTokenAndIsTriedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Source, p *provider, log *notes) {
		wantToken(t, s, "A")
		p.fail(errors.New("it rains"))
		time.Sleep(48*time.Minute + 25*time.Second)
		wantToken(t, s, "A")
		wantAsked(t, p, 0, 48*time.Minute, 48*time.Minute+10*time.Second, 48*time.Minute+20*time.Second)
		wantText(t, log.String(), "No new token for OAUTHBEARER; trying again in 10 seconds.", "it rains")
		p.fail(nil)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		wantToken(t, s, "E")
	})
}

func TestOnceTheOldTokenHasEndedTheErrorIsReported(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Source, p *provider, _ *notes) {
		wantToken(t, s, "A")
		cause := errors.New("it rains")
		p.fail(cause)
		time.Sleep(time.Hour + time.Second)
		if _, err := s.Token(background()); !errors.Is(err, cause) {
			t.Errorf("got %v", err)
		}
		p.fail(nil)
		if got, err := s.Token(background()); err != nil || got.Value == "A" {
			t.Errorf("got %v %v", got, err)
		}
	})
}

func TestAFirstFetchThatFailsIsTriedAgainByTheNextLoginOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Source, p *provider, _ *notes) {
		cause := errors.New("it rains")
		p.fail(cause)
		if _, err := s.Token(background()); !errors.Is(err, cause) {
			t.Errorf("got %v", err)
		}
		time.Sleep(time.Hour)
		wantAsked(t, p, 0)
		p.fail(nil)
		wantToken(t, s, "B")
	})
}

func TestATokenWithoutAnExpiryIsUsedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Source, p *provider, log *notes) {
		p.life = 0
		wantToken(t, s, "A")
		wantToken(t, s, "B")
		p.fail(errors.New("it rains"))
		if _, err := s.Token(background()); err == nil {
			t.Error("there is a token")
		}
		time.Sleep(time.Hour)
		wantAsked(t, p, 0, 0, 0)
		if log.String() != "" {
			t.Errorf("logged %s", log)
		}
	})
}

func TestATokenThatHasEndedAlreadyIsUsedOnceAndToldOf(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Source, p *provider, log *notes) {
		p.life = -time.Minute
		wantToken(t, s, "A")
		wantToken(t, s, "B")
		synctest.Wait()
		wantText(t, log.String(), "Are the clocks")
	})
}

func TestWhoWaitsCanGiveUpAndTheFetchGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Source, p *provider, _ *notes) {
		p.slow = time.Minute
		ctx, cancel := context.WithTimeout(background(), time.Second)
		defer cancel()
		if _, err := s.Token(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		wantToken(t, s, "A")
		wantAsked(t, p, 0)
	})
}

func TestCloseEndsAFetchUnderWayAndWaitsForIt(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Source, p *provider, log *notes) {
		p.slow = time.Hour
		result := make(chan error, 1)
		go func() {
			_, err := s.Token(background())
			result <- err
		}()
		time.Sleep(time.Second)
		begun := time.Now()
		_ = s.Close()
		if err := <-result; err == nil {
			t.Error("there is a token")
		}
		if waited := time.Since(begun); waited != 0 {
			t.Errorf("waited %v", waited)
		}
		if _, err := s.Token(background()); !errors.Is(err, errClosed) {
			t.Errorf("got %v", err)
		}
		_ = s.Close()
		if log.String() != "" {
			t.Errorf("logged %s", log)
		}
	})
}

// Close may come between a Token and the goroutine that would have fetched for it.
func TestCloseReleasesWhoWaitsForAFetchThatNeverBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := optionsOf(t, nil)
		o.Fetch = (&provider{}).fetch
		s := sourceOf(t, o)
		s.started = true
		close(s.done) // as if the goroutine had seen the end first
		result := make(chan error, 1)
		go func() {
			_, err := s.Token(background())
			result <- err
		}()
		synctest.Wait()
		_ = s.Close()
		if err := <-result; !errors.Is(err, errClosed) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAFetchThatPanicsIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := optionsOf(t, nil)
		o.Fetch = func(context.Context) (Token, error) { panic("s3cret") }
		s := sourceOf(t, o)
		_, err := s.Token(background())
		if err == nil {
			t.Fatal("no error")
		}
		wantText(t, err.Error(), "panicked")
		wantNoSecret(t, err.Error(), "s3cret")
		_ = s.Close()
	})
}

func TestTheRefreshOptionsAreRead(t *testing.T) {
	o, _ := optionsOf(t, nil, keyWindowFactor+"=0.6", keyWindowJitter+"=0.1", keyMinPeriod+"=7", keyBuffer+"=8")
	if got, want := refreshOf(settings{cfg: o.Config}), (Refresh{0.6, 0.1, 7, 8}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestRetriesWaitTwiceAsLongEachTimeAndEndWithTheLongestWait(t *testing.T) {
	tests := map[string]struct {
		first, longest int64
		fails          int // how many calls fail
		final          bool
		want           []time.Duration
	}{
		"success at once":     {100, 1000, 0, false, []time.Duration{0}},
		"success in the end":  {100, 1000, 2, false, []time.Duration{0, 100, 300}},
		"no success":          {100, 1000, 99, false, []time.Duration{0, 100, 300, 700, 1000}},
		"nothing to hope for": {100, 1000, 99, true, []time.Duration{0}},
		"no back-off, no try": {0, 1000, 99, false, []time.Duration{0}},
		"both the same":       {100, 100, 99, false, []time.Duration{0, 100}},
		"no time for retries": {0, 0, 99, false, []time.Duration{0}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				var at []time.Duration
				err := retry{tt.first, tt.longest, clock.Real()}.do(background(), func(context.Context) error {
					at = append(at, time.Since(begun)/time.Millisecond)
					switch {
					case len(at) > tt.fails:
						return nil
					case tt.final:
						return permanent{errors.New("no")}
					}
					return errors.New("no")
				})
				if (err == nil) != (tt.fails < len(tt.want)) {
					t.Error(err)
				}
				if err != nil && len(tt.want) > 1 {
					wantText(t, err.Error(), fmt.Sprintf("no (%d tries, ", len(tt.want)))
				}
				if len(at) != len(tt.want) {
					t.Fatalf("called at %v, want %v", at, tt.want)
				}
				for i := range at {
					if at[i] != tt.want[i] {
						t.Fatalf("called at %v, want %v", at, tt.want)
					}
				}
			})
		})
	}
	r := retry{firstMs: 1 << 40}
	if got := r.waitMs(60); got <= 0 {
		t.Errorf("a wait of %d ms", got)
	}
}

func TestRetriesStopWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(background(), 150*time.Millisecond)
		defer cancel()
		begun := time.Now()
		calls := 0
		err := retry{100, 10_000, clock.Real()}.do(ctx, func(context.Context) error { calls++; return errors.New("no") })
		if err == nil || calls != 2 || time.Since(begun) != 150*time.Millisecond {
			t.Errorf("%v after %d calls and %v", err, calls, time.Since(begun))
		}
	})
}

func TestASourceDoesNotPrintItsToken(t *testing.T) {
	o, _ := optionsOf(t, nil)
	o.Fetch = func(context.Context) (Token, error) {
		return Token{Value: "s3cret", Expiry: time.Now().Add(time.Hour)}, nil
	}
	s := sourceOf(t, o)
	wantToken(t, s, "s3cret")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
		wantNoSecret(t, fmt.Sprintf(verb, s), "s3cret")
	}
}
