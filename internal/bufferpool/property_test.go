package bufferpool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"linger/internal/clock"
	"linger/internal/kerr"
)

// A model is the pool as its documentation reads: numbers, and a list of names in line. It is the plain twin of Pool in
// full mode.
type model struct {
	total, poolable, allowance int
	free                       int
	line                       []*modelWaiter
}

type modelWaiter struct{ need, got int }

func (m *model) available() int { return m.allowance + m.free*m.poolable }

// take is a newcomer's request; false: it joined the line.
func (m *model) take(size int) bool {
	switch {
	case size == m.poolable && m.free > 0:
		m.free--
	case m.available() >= size:
		m.convert(size)
		m.allowance -= size
	default:
		m.line = append(m.line, &modelWaiter{need: size})
		return false
	}
	m.serve()
	return true
}

func (m *model) convert(size int) {
	for m.allowance < size && m.free > 0 {
		m.free--
		m.allowance += m.poolable
	}
}

func (m *model) put(size int) {
	if size == m.poolable {
		m.free++
	} else {
		m.allowance += size
	}
	m.serve()
}

func (m *model) serve() {
	for len(m.line) > 0 {
		w := m.line[0]
		if w.got == 0 && w.need == m.poolable && m.free > 0 {
			m.free--
			w.got = w.need
		} else {
			m.convert(w.need - w.got)
			got := min(w.need-w.got, m.allowance)
			m.allowance -= got
			w.got += got
		}
		if w.got < w.need {
			return
		}
		m.line = m.line[1:]
	}
}

func (m *model) leave(i int) {
	m.allowance += m.line[i].got
	m.line = append(m.line[:i:i], m.line[i+1:]...)
	m.serve()
}

// Any requests, releases and cancellations, one at a time: the accounts are the model's after each, the line is served in
// order, all memory comes home. The pool's own check (never above the total) runs too when compiled in.
//
// POOL-02: an allowance, a list of free buffers and a line of waiters, each woken for itself, explain all that is seen.
func TestPoolEqualsItsPlainTwin(t *testing.T) { // POOL-04, POOL-14, POOL-19, POOL-20, POOL-26
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(1, 200).Draw(t, "total")
		poolable := rapid.IntRange(1, 60).Draw(t, "poolable")
		p := New(int64(total), poolable, Full, clock.Real())
		m := &model{total: total, poolable: poolable, allowance: total}
		var held []int
		var line []*waiter // of the pool, as in m.line
		size := rapid.OneOf(rapid.IntRange(0, total), rapid.Just(min(poolable, total)))
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				n := size.Draw(t, "size")
				b, ok, err := p.TryAllocate(n)
				if err != nil {
					t.Fatal(err)
				}
				if taken := m.take(n); taken != ok {
					t.Fatalf("took %d: %t, plainly %t", n, ok, taken)
				}
				if ok {
					held = append(held, len(b))
				} else {
					p.mu.Lock()
					line = append(line, p.join(int64(n), 0))
					p.mu.Unlock()
				}
			case 2:
				if len(held) > 0 {
					i := rapid.IntRange(0, len(held)-1).Draw(t, "released")
					p.Release(make([]byte, held[i]), held[i])
					m.put(held[i])
					held = append(held[:i], held[i+1:]...)
				}
			case 3:
				if len(line) > 0 {
					i := rapid.IntRange(0, len(line)-1).Draw(t, "gives up")
					p.mu.Lock()
					p.giveBackCollected(line[i])
					p.leave(line[i], context.Canceled)
					p.serve()
					p.mu.Unlock()
					line = append(line[:i], line[i+1:]...)
					m.leave(i)
				}
			}
			for len(line) > 0 && line[0].left { // who was served holds its memory now
				held = append(held, int(line[0].need))
				line = line[1:]
			}
			for _, w := range line {
				if w.left {
					t.Fatal("somebody was served before the first in line")
				}
			}
			got := fmt.Sprint(p.Available(), p.Unallocated(), p.Free(), p.Waiters())
			if want := fmt.Sprint(m.available(), m.allowance, m.free, len(m.line)); got != want {
				t.Fatalf("available, unallocated, free, waiters are %s, plainly %s", got, want)
			}
		}
		for len(held) > 0 || len(line) > 0 {
			if len(held) > 0 {
				p.Release(make([]byte, held[0]), held[0])
				held = held[1:]
			}
			for len(line) > 0 && line[0].left {
				held = append(held, int(line[0].need))
				line = line[1:]
			}
		}
		if p.Available() != int64(total) {
			t.Fatalf("%d bytes of %d came home", p.Available(), total)
		}
	})
}

// Many goroutines take, write, check, release and give up. Each request ends, no buffer is lent twice, the limit holds,
// and all memory comes home.
func TestManyGoroutinesShareThePool(t *testing.T) { // POOL-21
	for _, mode := range []Mode{Full, Incremental} {
		t.Run(mode.String(), func(t *testing.T) {
			const total, poolable, workers, rounds = 4096, 256, 12, 300
			p := New(total, poolable, mode, clock.Real())
			var lentBytes atomic.Int64
			var ended [workers]int
			var wg sync.WaitGroup
			for w := range workers {
				wg.Go(func() {
					rng := rand.New(rand.NewPCG(uint64(w), 7))
					for range rounds {
						size := poolable
						if rng.IntN(3) == 0 {
							size = 1 + rng.IntN(total/2)
						}
						maxBlock := time.Hour
						if rng.IntN(8) == 0 {
							maxBlock = 0
						}
						useMemory(t, p, mode, size, maxBlock, byte(w), &lentBytes)
						ended[w]++
					}
				})
			}
			wg.Wait()
			for w, n := range ended {
				if n != rounds {
					t.Errorf("worker %d ended %d of %d requests", w, n, rounds)
				}
			}
			if p.Available() != total || p.Waiters() != 0 {
				t.Errorf("%d bytes of %d came home, %d wait", p.Available(), total, p.Waiters())
			}
		})
	}
}

func useMemory(t *testing.T, p *Pool, mode Mode, size int, maxBlock time.Duration, mark byte, lentBytes *atomic.Int64) {
	var chunks [][]byte
	var err error
	if mode == Incremental {
		chunks, err = p.AllocateChunks(t.Context(), nil, size, maxBlock)
	} else {
		var b []byte
		b, err = p.Allocate(t.Context(), size, maxBlock)
		chunks = [][]byte{b}
	}
	if err != nil {
		if maxBlock > 0 || !errors.Is(err, kerr.ErrBufferExhausted) {
			t.Errorf("a request of %d failed: %v", size, err)
		}
		return
	}
	taken := int64(0)
	for _, c := range chunks {
		taken += int64(len(c))
		for i := range c {
			c[i] = mark
		}
	}
	if now := lentBytes.Add(taken); now > p.Total() {
		t.Errorf("%d bytes are lent of %d", now, p.Total())
	}
	runtime.Gosched()
	lentBytes.Add(-taken)
	for _, c := range chunks {
		for _, got := range c {
			if got != mark {
				t.Errorf("a buffer is lent twice")
				return
			}
		}
		p.Release(c, len(c))
	}
}

func BenchmarkAllocateRelease(b *testing.B) {
	p := New(1<<20, 16384, Full, clock.Real())
	ctx := context.Background()
	for b.Loop() {
		buf, _ := p.Allocate(ctx, 16384, time.Second)
		p.Release(buf, 16384)
	}
}
