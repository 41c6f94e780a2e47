package logs

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"linger/internal/inside"
)

// Limit is how many lines may wait for the handler. A producer in trouble says a few lines a second for each broker.
const Limit = 1000

// Queue is a slog.Handler that hands its lines on. Its methods are safe for concurrent use.
type Queue struct {
	to     slog.Handler
	inside *inside.Set
	done   chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex
	more   sync.Cond // there is a line, or the end
	lines  []line
	lost   int       // and not told yet
	lostAt time.Time // of the last one
	phase  phase
}

type phase uint8

const (
	before phase = iota // lines are written where they come from
	running
	stopping // what waits is written, what comes still joins it
	after    // as before
)

// line is one record for one handler: the queue's, or one derived from it.
type line struct {
	ctx    context.Context //nolint:containedctx // it belongs to the record
	record slog.Record
	to     slog.Handler
	report bool // of lost lines
}

// New makes a queue in front of to. A goroutine that is in one of its methods is in set meanwhile.
func New(to slog.Handler, set *inside.Set) *Queue {
	q := &Queue{to: to, inside: set, done: make(chan struct{})}
	q.more.L = &q.mu
	return q
}

// Enabled is always true: the handler is asked on the queue's goroutine.
func (q *Queue) Enabled(context.Context, slog.Level) bool { return q.to != slog.DiscardHandler }

// Handle takes one line. It waits for nobody while the queue runs.
func (q *Queue) Handle(ctx context.Context, r slog.Record) error {
	q.put(line{ctx: ctx, record: r.Clone(), to: q.to})
	return nil
}

// WithAttrs is a handler whose lines go through the queue, too.
func (q *Queue) WithAttrs(attrs []slog.Attr) slog.Handler { return derived{q, q.to.WithAttrs(attrs)} }

// WithGroup is a handler whose lines go through the queue, too.
func (q *Queue) WithGroup(name string) slog.Handler { return derived{q, q.to.WithGroup(name)} }

// derived is the queue with attributes.
type derived struct {
	*Queue
	to slog.Handler
}

func (d derived) Handle(ctx context.Context, r slog.Record) error {
	d.put(line{ctx: ctx, record: r.Clone(), to: d.to})
	return nil
}
func (d derived) WithAttrs(attrs []slog.Attr) slog.Handler {
	return derived{d.Queue, d.to.WithAttrs(attrs)}
}
func (d derived) WithGroup(name string) slog.Handler { return derived{d.Queue, d.to.WithGroup(name)} }

func (q *Queue) put(l line) {
	q.mu.Lock()
	if q.phase == before || q.phase == after {
		q.mu.Unlock()
		if !q.inside.Has() {
			q.write(l)
		}
		return
	}
	defer q.mu.Unlock()
	if len(q.lines) >= Limit {
		q.lose(l)
		return
	}
	q.report()
	q.lines = append(q.lines, l)
	q.more.Signal()
}

func (q *Queue) lose(l line) {
	if !l.report { // else a handler that always panics would be told so for ever
		q.lost++
		q.lostAt = l.record.Time
	}
}

// report puts a line in the place of those that were lost.
func (q *Queue) report() {
	if q.lost == 0 {
		return
	}
	text := fmt.Sprintf("%d log lines were lost: the log handler panicked, or is slower than what there is to say", q.lost)
	q.lines = append(q.lines, line{context.Background(), slog.NewRecord(q.lostAt, slog.LevelWarn, text, 0), q.to, true})
	q.lost = 0
}

// take is the next line; false at the end.
func (q *Queue) take() (l line, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.lines) == 0 {
		if q.report(); len(q.lines) > 0 {
			break
		}
		if q.phase == stopping {
			q.phase = after
			return line{}, false
		}
		q.more.Wait()
	}
	l = q.lines[0]
	q.lines[0] = line{}
	q.lines = q.lines[1:]
	return l, true
}

// write is the only place where the application's handler is called.
func (q *Queue) write(l line) {
	defer q.inside.Enter()()
	written := false
	defer func() {
		_ = recover()
		if !written {
			q.mu.Lock()
			q.lose(l)
			q.mu.Unlock()
		}
	}()
	if l.to.Enabled(l.ctx, l.record.Level) {
		_ = l.to.Handle(l.ctx, l.record) // there is nobody left to tell
	}
	written = true
}
