package demo

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/vbauerster/cupwriter"
)

// screen is where the tour is told. On a terminal a picture is drawn over its last version and text comes out above it;
// elsewhere everything just follows. It is safe for concurrent use.
type screen struct {
	terminal bool

	mu  sync.Mutex
	out *cupwriter.Writer
	err error // the first failed write; nothing is written after it
}

func newScreen(w io.Writer, terminal bool) *screen {
	s := &screen{out: cupwriter.New(w, terminal), terminal: terminal}
	if s.out.IsTerminal() {
		columns, _, err := s.out.GetTermSize()
		s.terminal = terminal && err == nil && columns >= pictureColumns
	}
	return s
}

// say prints a paragraph; a picture below it is wiped away until it is drawn again.
func (s *screen) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, format+"\n", args...)
	s.flush(0)
}

// draw shows the next version of a picture.
func (s *screen) draw(picture string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.WriteString(picture)
	lines := 0
	if s.terminal {
		lines = strings.Count(picture, "\n")
	}
	s.flush(lines)
}

// keep draws for the last time.
func (s *screen) keep(picture string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.WriteString(picture)
	s.flush(0)
}

func (s *screen) flush(lines int) {
	if s.err == nil {
		s.err = s.out.Flush(lines)
	}
}
