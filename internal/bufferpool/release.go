package bufferpool

import (
	"linger/internal/invariant"
)

// Release gives back a buffer that was lent with accounted bytes, and with it all right to touch it. The buffer is kept
// for reuse when both it and accounted are of exactly the poolable size, else accounted becomes
// allowance: accounted is what counts, even if the buffer was replaced since. A nil buffer is fine.
func (p *Pool) Release(b []byte, accounted int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b != nil && accounted == p.poolable && cap(b) == p.poolable {
		b = b[:cap(b)]
		p.checkNotFree(b)
		putPoison(b)
		p.free = append(p.free, b)
	} else {
		p.allowance += int64(accounted)
		p.odd.put(b, accounted)
		p.odd.trim(p.allowance)
	}
	p.serve()
	p.check()
}

// checkNotFree finds a double release.
func (p *Pool) checkNotFree(b []byte) {
	if invariant.Enabled && len(b) > 0 {
		for _, f := range p.free {
			invariant.Check(&f[0] != &b[0], "a buffer was released twice")
		}
	}
}
