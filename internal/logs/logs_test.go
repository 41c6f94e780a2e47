package logs

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"linger/internal/inside"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tap is the application's handler: it does what the test says and keeps what it was told.
type tap struct {
	with string
	do   func(text string)
	kept *kept
}

type kept struct {
	mu    sync.Mutex
	lines []string
}

func newTap(do func(text string)) *tap { return &tap{do: do, kept: new(kept)} }

func (h *tap) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }
func (h *tap) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &tap{with: h.with + fmt.Sprint(attrs), do: h.do, kept: h.kept}
}
func (h *tap) WithGroup(name string) slog.Handler {
	return &tap{with: h.with + name, do: h.do, kept: h.kept}
}
func (h *tap) Handle(_ context.Context, r slog.Record) error {
	if h.do != nil {
		h.do(r.Message)
	}
	h.kept.mu.Lock()
	defer h.kept.mu.Unlock()
	h.kept.lines = append(h.kept.lines, h.with+r.Message)
	return nil
}

func (h *tap) lines() []string {
	h.kept.mu.Lock()
	defer h.kept.mu.Unlock()
	return h.kept.lines
}

func TestLinesComeInOrderAndStopWritesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTap(func(string) { time.Sleep(time.Second) }) // virtual: a slow handler
		q := New(h, new(inside.Set))
		log := slog.New(q)
		log.Info("before")
		if len(h.lines()) != 1 {
			t.Error("a line before the start was not written at once")
		}
		q.Start()
		started := time.Now()
		want := []string{"before"}
		for i := range 100 {
			log.Info(fmt.Sprint(i))
			want = append(want, fmt.Sprint(i))
		}
		log.Debug("that nobody wants")
		log.With("k", 1).WithGroup("g").Info("derived")
		if took := time.Since(started); took != 0 {
			t.Errorf("writing took %v: it waits for the handler", took)
		}
		q.Stop()
		log.Info("after")
		want = append(want, "[k=1]gderived", "after")
		if diff := cmp.Diff(want, h.lines()); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
	})
}

func TestLinesThatFindNoRoomAreCountedInTheirPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		h := newTap(func(string) { <-gate })
		q := New(h, new(inside.Set))
		q.Start()
		log := slog.New(q)
		log.Info("stuck")
		synctest.Wait()
		for i := range Limit + 7 {
			log.Info(fmt.Sprint(i))
		}
		gate <- struct{}{} // the handler takes one, which makes room
		synctest.Wait()
		log.Info("room again")
		log.Info("no room again")
		close(gate)
		q.Stop()
		got := h.lines()
		told := func(n int) string {
			return fmt.Sprintf("%d log lines were lost: the log handler panicked, or is slower than what there is to say", n)
		}
		if diff := cmp.Diff([]string{fmt.Sprint(Limit - 1), told(7), "room again", told(1)}, got[len(got)-4:]); diff != "" {
			t.Errorf("the last lines (-want +got):\n%s", diff)
		}
		if len(got) != Limit+4 {
			t.Errorf("%d lines, want %d", len(got), Limit+4)
		}
	})
}

func TestAHandlersFaultsCostTheirLineAlone(t *testing.T) {
	for name, fault := range map[string]func(){"panic": func() { panic("no") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			h := newTap(func(text string) {
				if text == "bad" {
					fault()
				}
			})
			q := New(h, new(inside.Set))
			q.Start()
			log := slog.New(q)
			for _, text := range []string{"a", "bad", "bad", "b"} {
				log.Info(text)
			}
			q.Stop()
			got := strings.Join(h.lines(), ", ")
			if strings.Contains(got, "bad") || !strings.HasPrefix(got, "a") || !strings.Contains(got, "b") || !strings.Contains(got, "lost") {
				t.Errorf("wrote %q, want a, b, and how many were lost", got)
			}
		})
	}
	t.Run("always", func(t *testing.T) {
		calls := 0
		h := newTap(func(string) { calls++; panic("no") })
		q := New(h, new(inside.Set))
		q.Start()
		slog.New(q).Info("x")
		q.Stop()
		if calls != 2 {
			t.Errorf("%d calls, want the line and the one that tells of it", calls)
		}
	})
}

// A handler may write to the log that it handles: while the queue runs the line waits its turn; later it would go on for
// ever, and is dropped.
func TestAHandlerThatLogsIsNotCalledInsideItself(t *testing.T) {
	var set inside.Set
	var log *slog.Logger
	depth, deepest := 0, 0
	h := newTap(nil)
	h.do = func(text string) {
		depth++
		deepest = max(deepest, depth)
		if !set.Has() {
			t.Error("the handler is not known to be inside")
		}
		if len(text) < 5 {
			log.Info(text + "+")
		}
		depth--
	}
	q := New(h, &set)
	log = slog.New(q)
	q.Start()
	log.Info("a")
	q.Stop()
	log.Info("b")
	if diff := cmp.Diff([]string{"a", "a+", "a++", "a+++", "a++++", "b"}, h.lines()); diff != "" || deepest != 1 {
		t.Errorf("lines (-want +got), %d deep:\n%s", deepest, diff)
	}
	if set.Has() {
		t.Error("the test is taken for a handler")
	}
}

func TestALogThatNobodyReadsCostsNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(slog.DiscardHandler, new(inside.Set))
		before := runtime.NumGoroutine()
		q.Start()
		if slog.New(q).Enabled(t.Context(), slog.LevelError) || runtime.NumGoroutine() > before { // an earlier test's may end
			t.Error("lines are made, or there is a goroutine for them")
		}
		q.Stop()
	})
}
