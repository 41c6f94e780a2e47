package bufferpool

import (
	"fmt"
	"time"

	"linger/internal/kerr"
)

func errClosed() error {
	return kerr.ErrClosedAllocating
}

// errExhausted is made under the lock, before the waiter's collected memory goes back.
func (p *Pool) errExhausted(size int, maxBlock time.Duration) error {
	return exhausted(fmt.Sprintf("Failed to allocate %d bytes within the configured max blocking time %d ms."+
		" Total memory: %d bytes. Available memory: %d bytes. Poolable size: %d bytes",
		size, milliseconds(maxBlock), p.total, p.available(), p.poolable))
}

func (p *Pool) errExhaustedChunks(count int, maxBlock time.Duration) error {
	return exhausted(fmt.Sprintf("Failed to allocate %d bytes (%d chunks of %d) within the configured max blocking time %d ms."+
		" Total memory: %d bytes. Available memory: %d bytes.",
		int64(count)*int64(p.poolable), count, p.poolable, milliseconds(maxBlock), p.total, p.available()))
}

func exhausted(text string) error {
	return &kerr.Error{Code: kerr.RequestTimedOut, Msg: text, Err: kerr.ErrBufferExhausted}
}

func illegalArgument(text string) error {
	return &kerr.Error{Msg: text, Err: kerr.ErrIllegalArgument}
}

func illegalState(text string) error {
	return &kerr.Error{Msg: text, Err: kerr.ErrIllegalState}
}
