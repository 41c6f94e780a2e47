package bufferpool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"linger/internal/clock"
	"linger/internal/invariant"
	"linger/internal/kerr"
)

const long = time.Hour

// full is a pool in full mode of total bytes with buffers of 16 bytes.
func full(total int64) *Pool { return New(total, 16, Full, clock.Real()) }

func must(t testing.TB, p *Pool, size int) []byte {
	t.Helper()
	b, err := p.Allocate(context.Background(), size, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) != size {
		t.Fatalf("%d bytes, want %d", len(b), size)
	}
	return b
}

func wantAccounts(t testing.TB, p *Pool, available, unallocated int64, free, waiters int) {
	t.Helper()
	got := fmt.Sprint(p.Available(), p.Unallocated(), p.Free(), p.Waiters())
	if want := fmt.Sprint(available, unallocated, free, waiters); got != want {
		t.Errorf("available, unallocated, free, waiters are %s, want %s", got, want)
	}
	if p.HasWaiters() != (waiters > 0) {
		t.Errorf("HasWaiters is %t with %d waiters", p.HasWaiters(), waiters)
	}
}

// A request is an Allocate on a goroutine of its own.
type request struct {
	buf   []byte
	err   error
	after time.Duration
	done  chan struct{}
}

func (r *request) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// ask starts a request and returns once it waits or has ended. To be called in a bubble.
func ask(ctx context.Context, p *Pool, size int, maxBlock time.Duration) *request {
	r := &request{done: make(chan struct{})}
	start := time.Now()
	go func() {
		r.buf, r.err = p.Allocate(ctx, size, maxBlock)
		r.after = time.Since(start)
		close(r.done)
	}()
	synctest.Wait()
	return r
}

func (r *request) wantGot(t *testing.T, size int) {
	t.Helper()
	synctest.Wait()
	if !r.ended() {
		t.Fatalf("it still waits, want it to have %d bytes", size)
	}
	if r.err != nil || len(r.buf) != size {
		t.Fatalf("ended with %d bytes, %v, want %d bytes", len(r.buf), r.err, size)
	}
}

func (r *request) wantFailed(t *testing.T, want error) {
	t.Helper()
	synctest.Wait()
	if !r.ended() {
		t.Fatalf("it still waits, want %v", want)
	}
	if !errors.Is(r.err, want) || r.buf != nil {
		t.Fatalf("ended with %d bytes, %v, want %v", len(r.buf), r.err, want)
	}
}

func (r *request) wantWaiting(t *testing.T) {
	t.Helper()
	synctest.Wait()
	if r.ended() {
		t.Fatalf("ended with %d bytes, %v, want it to wait", len(r.buf), r.err)
	}
}

func TestFreshPoolIsAllAllowance(t *testing.T) { // POOL-01, POOL-05
	p := New(33554432, 16384, Full, clock.Real())
	if p.Total() != 33554432 || p.Poolable() != 16384 {
		t.Errorf("total %d, poolable %d", p.Total(), p.Poolable())
	}
	wantAccounts(t, p, 33554432, 33554432, 0, 0)
}

func TestAvailableIsAllowanceAndFreeBuffers(t *testing.T) { // POOL-03, POOL-04, POOL-22, POOL-23
	p := full(64)
	a, b, odd := must(t, p, 16), must(t, p, 16), must(t, p, 10)
	wantAccounts(t, p, 22, 22, 0, 0)
	p.Release(a, 16)
	wantAccounts(t, p, 38, 22, 1, 0)
	p.Release(odd, 10)
	wantAccounts(t, p, 48, 32, 1, 0)
	p.Release(b, 16)
	wantAccounts(t, p, 64, 32, 2, 0)
}

func TestRequestAboveTheTotalIsRefusedAtOnce(t *testing.T) { // POOL-06
	p := full(64)
	_, err := p.Allocate(context.Background(), 65, long)
	if !errors.Is(err, kerr.ErrIllegalArgument) {
		t.Errorf("error %v", err)
	}
	if _, _, err := p.TryAllocate(65); !errors.Is(err, kerr.ErrIllegalArgument) {
		t.Errorf("error %v", err)
	}
}

func TestRequestAfterCloseFails(t *testing.T) { // POOL-07
	p := full(64)
	p.Close()
	if _, err := p.Allocate(context.Background(), 16, long); err != kerr.ErrClosedAllocating {
		t.Errorf("error %v", err)
	}
	if _, ok, err := p.TryAllocate(16); ok || err != kerr.ErrClosedAllocating {
		t.Errorf("ok %t, error %v", ok, err)
	}
	if _, ok := p.TryChunk(); ok {
		t.Error("a closed pool lends a chunk")
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) { // POOL-08, POOL-09
	if invariant.Enabled {
		t.Skip("checks are compiled in")
	}
	p := full(64)
	p.Release(must(t, p, 16), 16)
	ctx := context.Background()
	var last *byte
	got := testing.AllocsPerRun(100, func() {
		b, err := p.Allocate(ctx, 16, long)
		if err != nil || (last != nil && last != &b[0]) {
			t.Fatal("not the free buffer", err)
		}
		last = &b[0]
		p.Release(b, 16)
	})
	if got != 0 {
		t.Errorf("%v allocations, want 0", got)
	}
	wantAccounts(t, p, 64, 48, 1, 0)
}

func TestOddSizeTurnsTheColdestBuffersIntoAllowance(t *testing.T) { // POOL-10, POOL-11, POOL-12
	p := full(64)
	cold, mid, hot := must(t, p, 16), must(t, p, 16), must(t, p, 16)
	for _, b := range [][]byte{cold, mid, hot} {
		p.Release(b, 16)
	}
	wantAccounts(t, p, 64, 16, 3, 0)
	must(t, p, 20) // 16 of allowance don't suffice: one buffer, not more
	wantAccounts(t, p, 44, 12, 2, 0)
	if b := must(t, p, 16); &b[0] != &hot[0] {
		t.Error("not the buffer that was released last")
	}
	if b := must(t, p, 16); &b[0] != &mid[0] {
		t.Error("the coldest was not the one turned into allowance")
	}
}

func TestWaiterIsServedByTheReleaseOfAPoolableBuffer(t *testing.T) { // POOL-13, POOL-30
	synctest.Test(t, func(t *testing.T) {
		p := full(64)
		first := must(t, p, 16)
		must(t, p, 48)
		r := ask(t.Context(), p, 16, long)
		wantAccounts(t, p, 0, 0, 0, 1)
		p.Release(first, 16)
		r.wantGot(t, 16)
		if &r.buf[0] != &first[0] {
			t.Error("another buffer than the one released")
		}
		wantAccounts(t, p, 0, 0, 0, 0)
	})
}

func TestWaiterCollectsBitByBit(t *testing.T) { // POOL-14, POOL-15
	synctest.Test(t, func(t *testing.T) {
		p := full(64)
		ten, six, pooled, rest := must(t, p, 10), must(t, p, 6), must(t, p, 16), must(t, p, 32)
		r := ask(t.Context(), p, 40, long)
		for i, release := range []struct {
			buf  []byte
			size int
		}{{ten, 10}, {six, 6}, {pooled, 16}} {
			p.Release(release.buf, release.size)
			r.wantWaiting(t)
			if p.Available() != 0 {
				t.Errorf("after release %d: %d bytes are not collected", i, p.Available())
			}
		}
		p.Release(rest, 32)
		r.wantGot(t, 40)
		wantAccounts(t, p, 24, 24, 0, 0)
	})
}

func TestReleasesDoNotRestartTheTimeLimit(t *testing.T) { // POOL-16
	synctest.Test(t, func(t *testing.T) {
		p := full(64)
		var held [][]byte
		for range 4 {
			held = append(held, must(t, p, 16))
		}
		r := ask(t.Context(), p, 64, 100*time.Millisecond)
		for _, b := range held[:3] {
			time.Sleep(30 * time.Millisecond)
			p.Release(b, 16)
			r.wantWaiting(t)
		}
		time.Sleep(30 * time.Millisecond)
		r.wantFailed(t, kerr.ErrBufferExhausted)
		if r.after != 100*time.Millisecond {
			t.Errorf("failed after %v, want 100ms", r.after)
		}
		if got := p.Stats().WaitTime; got != 100*time.Millisecond {
			t.Errorf("wait time counted is %v", got)
		}
	})
}

func TestTimeOutIsABufferExhaustedError(t *testing.T) { // POOL-17
	synctest.Test(t, func(t *testing.T) {
		p := full(64)
		must(t, p, 60)
		_, err := p.Allocate(t.Context(), 16, 5*time.Millisecond)
		if !errors.Is(err, kerr.ErrBufferExhausted) || !errors.Is(err, kerr.ErrTimeout) {
			t.Errorf("error %v is no buffer-exhausted time-out", err)
		}
		if !kerr.IsAPI(err) || kerr.JavaName(err) != "BufferExhaustedException" {
			t.Errorf("API error: %t, Java's %s", kerr.IsAPI(err), kerr.JavaName(err))
		}
		want := "Failed to allocate 16 bytes within the configured max blocking time 5 ms." +
			" Total memory: 64 bytes. Available memory: 4 bytes. Poolable size: 16 bytes"
		if !strings.HasSuffix(err.Error(), want) || kerr.JavaMessage(err) != want {
			t.Errorf("text %q", err)
		}
		if got := p.Stats().Exhausted; got != 1 {
			t.Errorf("%d exhausted requests counted, want 1", got)
		}
	})
}

func TestWhoGivesUpReturnsWhatItCollected(t *testing.T) { // POOL-18, POOL-26
	ends := map[string]struct {
		end  func(p *Pool, cancel func())
		want error
	}{
		"by time-out":  {func(*Pool, func()) { time.Sleep(time.Minute) }, kerr.ErrBufferExhausted},
		"by its ctx":   {func(_ *Pool, cancel func()) { cancel() }, context.Canceled},
		"by the close": {func(p *Pool, _ func()) { p.Close() }, kerr.ErrClosedAllocating},
	}
	for name, tt := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := full(64)
				part, _ := must(t, p, 20), must(t, p, 44)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r := ask(ctx, p, 64, time.Minute)
				second := ask(t.Context(), p, 18, long)
				p.Release(part, 20)
				r.wantWaiting(t)
				second.wantWaiting(t)
				wantAccounts(t, p, 0, 0, 0, 2)
				tt.end(p, cancel)
				r.wantFailed(t, tt.want)
				if tt.want == kerr.ErrClosedAllocating {
					second.wantFailed(t, tt.want)
					wantAccounts(t, p, 20, 20, 0, 0)
					return
				}
				second.wantGot(t, 18) // what came back goes on to the next in line
				wantAccounts(t, p, 2, 2, 0, 0)
			})
		})
	}
}

func TestCancelledContextIsAnInterrupt(t *testing.T) { // ERR-02 (the pool's part)
	synctest.Test(t, func(t *testing.T) {
		p := full(16)
		must(t, p, 16)
		cause := errors.New("the caller's reason")
		ctx, cancel := context.WithCancelCause(t.Context())
		r := ask(ctx, p, 16, long)
		cancel(cause)
		r.wantFailed(t, kerr.ErrInterrupted)
		if !errors.Is(r.err, cause) || !errors.Is(r.err, context.Canceled) || p.Stats().Exhausted != 0 {
			t.Errorf("error %v, %d exhausted", r.err, p.Stats().Exhausted)
		}
	})
}

func TestReleaseServesTheLongestWaiterFirst(t *testing.T) { // POOL-19, POOL-20, POOL-25
	synctest.Test(t, func(t *testing.T) {
		p := full(64)
		var held [][]byte
		for range 4 {
			held = append(held, must(t, p, 16))
		}
		large := ask(t.Context(), p, 48, long)
		small := ask(t.Context(), p, 16, long)
		for _, b := range held[:2] {
			p.Release(b, 16)
			large.wantWaiting(t)
			small.wantWaiting(t) // although 16 bytes would do
		}
		p.Release(held[2], 16)
		large.wantGot(t, 48)
		small.wantWaiting(t)
		p.Release(held[3], 16)
		small.wantGot(t, 16)
	})
}

func TestNewcomerTakesOnlyWhatNobodyCollects(t *testing.T) { // POOL-20 (newcomers)
	synctest.Test(t, func(t *testing.T) {
		p := full(64)
		held := must(t, p, 10)
		must(t, p, 34)
		first := ask(t.Context(), p, 40, long) // 20 are there and stay there
		wantAccounts(t, p, 20, 20, 0, 1)
		if _, ok := p.TryChunk(); ok {
			t.Error("an extra chunk was taken from who waits")
		}
		must(t, p, 8)                  // a newcomer finds enough,
		wantAccounts(t, p, 0, 0, 0, 1) // and the rest of it goes to who waits
		p.Release(held, 10)
		newcomer := ask(t.Context(), p, 5, long)
		newcomer.wantWaiting(t)
		if b, ok, err := p.TryAllocate(5); ok || err != nil {
			t.Errorf("tried and got %d bytes, %v", len(b), err)
		}
		first.wantWaiting(t)
	})
}

func TestReleaseCountsWhatWasAccounted(t *testing.T) { // POOL-24
	tests := map[string]struct {
		buf                          []byte
		lent, accounted              int
		available, unallocated, free int64
	}{
		"even if the buffer was replaced by a larger one": {make([]byte, 90), 16, 16, 64, 64, 0},
		"even if the buffer is gone":                      {nil, 16, 16, 64, 64, 0},
		"and keeps no buffer of another capacity":         {make([]byte, 16, 17), 16, 16, 64, 64, 0},
		"and keeps a buffer that was cut":                 {make([]byte, 3, 16), 16, 16, 64, 48, 1},
		"and not more":                                    {make([]byte, 16), 16, 10, 58, 58, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := full(64)
			must(t, p, tt.lent)
			p.Release(tt.buf, tt.accounted)
			wantAccounts(t, p, tt.available, tt.unallocated, int(tt.free), 0)
			if tt.free > 0 && len(must(t, p, 16)) != 16 {
				t.Error("a cut buffer was lent")
			}
		})
	}
}

func TestLargeReleaseServesSeveral(t *testing.T) { // POOL-26, POOL-27
	synctest.Test(t, func(t *testing.T) {
		p := full(64)
		all := must(t, p, 64)
		var small []*request
		for range 5 {
			small = append(small, ask(t.Context(), p, 15, long))
		}
		p.Release(all, 64)
		for _, r := range small[:4] {
			r.wantGot(t, 15)
		}
		small[4].wantWaiting(t)
		wantAccounts(t, p, 0, 0, 0, 1)
		p.Release(small[2].buf, 15)
		small[4].wantGot(t, 15)
		wantAccounts(t, p, 4, 4, 0, 0)
	})
}

func TestFailedAllocationGivesItsReservationOn(t *testing.T) { // POOL-28, POOL-32
	for _, mode := range []Mode{Full, Incremental} {
		t.Run(mode.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := New(64, 16, mode, clock.Real())
				allocate := func(n int) error {
					if mode == Full {
						_, err := p.Allocate(t.Context(), n, long)
						return err
					}
					_, err := p.AllocateChunks(t.Context(), nil, n, long)
					return err
				}
				var served bool
				makes := p.make
				p.make = func(n int) []byte {
					p.make = makes
					// The lock is free while memory is made: others can work, and here one joins the line.
					go func() { served = allocate(32) == nil }()
					synctest.Wait()
					wantAccounts(t, p, 0, 0, 0, 1)
					panic("no memory")
				}
				func() {
					defer func() {
						if recover() != "no memory" {
							t.Error("the failure got lost")
						}
					}()
					_ = allocate(64)
				}()
				synctest.Wait()
				if !served {
					t.Error("the waiter was not served")
				}
				wantAccounts(t, p, 32, 32, 0, 0)
			})
		})
	}
}

func TestCloseFailsAllWaiters(t *testing.T) { // POOL-29
	synctest.Test(t, func(t *testing.T) {
		p := full(64)
		all := must(t, p, 64)
		var rs []*request
		for _, size := range []int{16, 48, 3} {
			rs = append(rs, ask(t.Context(), p, size, long))
		}
		p.Close()
		for _, r := range rs {
			r.wantFailed(t, kerr.ErrClosedAllocating)
		}
		p.Release(all, 64)
		wantAccounts(t, p, 64, 64, 0, 0)
	})
}

func TestChunksAreCollectedWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(70, 16, Incremental, clock.Real())
		held, err := p.AllocateChunks(t.Context(), nil, 50, 0)
		if err != nil || len(held) != 4 {
			t.Fatal(len(held), err)
		}
		var got [][]byte
		go func() { got, err = p.AllocateChunks(t.Context(), got, 40, long) }()
		synctest.Wait()
		p.Release(nil, 16) // its chunk became allowance: with the 6 that were left, one whole chunk
		synctest.Wait()
		wantAccounts(t, p, 6, 6, 0, 1)
		p.Release(held[1], 16)
		p.Release(held[2], 16)
		synctest.Wait()
		if err != nil || len(got) != 3 {
			t.Fatal(len(got), err)
		}
		wantAccounts(t, p, 6, 6, 0, 0)
		p.ReleaseChunks(got)
		p.Release(held[3], 16)
		wantAccounts(t, p, 70, 6, 4, 0)
	})
}

func TestChunksOfWhoGivesUpGoBackToTheFreeList(t *testing.T) { // POOL-18 (chunks)
	synctest.Test(t, func(t *testing.T) {
		p := New(64, 16, Incremental, clock.Real())
		held, _ := p.AllocateChunks(t.Context(), nil, 64, 0)
		dst := [][]byte{{1}}
		var err error
		go func() { dst, err = p.AllocateChunks(t.Context(), dst, 48, time.Second) }()
		synctest.Wait()
		p.Release(nil, 16)
		p.Release(held[1], 16)
		time.Sleep(time.Second)
		synctest.Wait()
		if !errors.Is(err, kerr.ErrBufferExhausted) || len(dst) != 1 {
			t.Fatalf("%d chunks, %v", len(dst), err)
		}
		wantAccounts(t, p, 32, 16, 1, 0)
		if got := p.Stats().Exhausted; got != 0 {
			t.Errorf("%d exhausted requests counted: its caller may have managed without", got)
		}
		p.CountExhausted()
		if got := p.Stats().Exhausted; got != 1 {
			t.Errorf("%d exhausted requests counted, want 1", got)
		}
	})
}

// TryAllocateChunks takes all or nothing at once, and nothing at all while others wait.
func TestTriedChunksNeverStandInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(64, 16, Incremental, clock.Real())
		held, ok, err := p.TryAllocateChunks([][]byte{{1}}, 40)
		if !ok || err != nil || len(held) != 4 || held[0][0] != 1 {
			t.Fatal(len(held), ok, err)
		}
		if more, ok, err := p.TryAllocateChunks(nil, 17); ok || err != nil || more != nil {
			t.Errorf("two chunks out of one: %d, %t, %v", len(more), ok, err)
		}
		wantAccounts(t, p, 16, 16, 0, 0)
		go func() {
			chunks, _ := p.AllocateChunks(t.Context(), nil, 32, long)
			p.ReleaseChunks(chunks)
		}()
		synctest.Wait() // it waits for a second chunk, and the first one is still there
		if _, ok, _ := p.TryAllocateChunks(nil, 16); ok {
			t.Error("it overtook who waits")
		}
		wantAccounts(t, p, 16, 16, 0, 1)
		p.ReleaseChunks(held[1:])
		synctest.Wait()
		for _, size := range []int{0, 65} {
			if _, _, err := p.TryAllocateChunks(nil, size); !errors.Is(err, kerr.ErrIllegalArgument) {
				t.Errorf("size %d: %v", size, err)
			}
		}
		if _, _, err := full(64).TryAllocateChunks(nil, 16); !errors.Is(err, kerr.ErrIllegalState) {
			t.Errorf("in full mode: %v", err)
		}
		p.Close()
		if _, ok, err := p.TryAllocateChunks(nil, 16); ok || !errors.Is(err, kerr.ErrClosedAllocating) {
			t.Errorf("of a closed pool: %t, %v", ok, err)
		}
	})
}

func TestChunksRefuseWhatIsNoSize(t *testing.T) {
	p := New(64, 16, Incremental, clock.Real())
	for _, size := range []int{0, -1, 65} {
		if _, err := p.AllocateChunks(context.Background(), nil, size, 0); !errors.Is(err, kerr.ErrIllegalArgument) {
			t.Errorf("size %d: %v", size, err)
		}
	}
	if _, err := New(64, 0, Incremental, clock.Real()).AllocateChunks(context.Background(), nil, 3, 0); err != nil {
		t.Errorf("chunks of size 0: %v", err)
	}
}

func TestExtraChunk(t *testing.T) {
	p := full(40)
	a, ok := p.TryChunk()
	b, ok2 := p.TryChunk()
	if !ok || !ok2 || len(a) != 16 || len(b) != 16 {
		t.Fatal(len(a), ok, len(b), ok2)
	}
	if _, ok := p.TryChunk(); ok {
		t.Error("a chunk out of 8 bytes")
	}
	p.Release(a, 16)
	wantAccounts(t, p, 24, 8, 1, 0)
}

func TestUseAfterReleaseShows(t *testing.T) {
	if !invariant.Enabled {
		t.Skip("needs -race or -tags invariant")
	}
	tests := map[string]func(p *Pool, b []byte){
		"as a write into a free buffer": func(p *Pool, b []byte) { b[3] = 1; must(t, p, 16) },
		"as a double release":           func(p *Pool, b []byte) { p.Release(b, 16) },
		"as more memory than there is":  func(p *Pool, b []byte) { p.Release(nil, 40) },
	}
	for name, misuse := range tests {
		t.Run(name, func(t *testing.T) {
			p := full(64)
			b := must(t, p, 16)
			must(t, p, 16)
			copy(b, "secret")
			p.Release(b, 16)
			if string(b[:6]) == "secret" {
				t.Error("released memory is still readable")
			}
			defer func() {
				if recover() == nil {
					t.Error("it does not show")
				}
			}()
			misuse(p, b)
		})
	}
}
