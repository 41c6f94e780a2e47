package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// maxTexts bounds how many different lines the console remembers.
const maxTexts = 256

// console is a log for people: the text alone, each only once. A producer that looks for its broker ten times a second has
// little new to say.
type console struct {
	level slog.Level
	with  string // attributes of a derived logger
	state *consoleState
}

type consoleState struct {
	mu   sync.Mutex
	out  io.Writer
	seen map[string]bool
}

func newConsole(out io.Writer, verbose bool) *slog.Logger {
	level := slog.LevelWarn
	if verbose {
		level = slog.LevelInfo
	}
	return slog.New(&console{level: level, state: &consoleState{out: out, seen: map[string]bool{}}})
}

// Enabled is slog.Handler's.
func (c *console) Enabled(_ context.Context, l slog.Level) bool { return l >= c.level }

// Handle is slog.Handler's.
func (c *console) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s%s", levelName(r.Level), r.Message, c.with)
	r.Attrs(func(a slog.Attr) bool {
		b.WriteString(" " + a.String())
		return true
	})
	b.WriteByte('\n')
	s := c.state
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[b.String()] || len(s.seen) == maxTexts {
		return nil
	}
	s.seen[b.String()] = true
	_, err := io.WriteString(s.out, b.String())
	return err
}

func levelName(l slog.Level) string {
	if l == slog.LevelWarn {
		return "warning"
	}
	return strings.ToLower(l.String())
}

// WithAttrs is slog.Handler's.
func (c *console) WithAttrs(attrs []slog.Attr) slog.Handler {
	derived := *c
	for _, a := range attrs {
		derived.with += " " + a.String()
	}
	return &derived
}

// WithGroup is slog.Handler's; groups make no difference here.
func (c *console) WithGroup(string) slog.Handler { return c }
