package engine

import (
	"sync/atomic"

	"linger/internal/metadata"
)

// board shows the newest metadata view to callers. A view that is replaced closes its changed channel: waiters wake
// without polling (META-07).
type board struct {
	now atomic.Pointer[posted]
}

type posted struct {
	view    *metadata.View
	changed chan struct{}
}

func newBoard(v *metadata.View) *board {
	b := new(board)
	b.now.Store(&posted{view: v, changed: make(chan struct{})})
	return b
}

// publish is called by the loop alone.
func (b *board) publish(v *metadata.View) {
	old := b.now.Swap(&posted{view: v, changed: make(chan struct{})})
	close(old.changed)
}

func (b *board) current() *posted { return b.now.Load() }
