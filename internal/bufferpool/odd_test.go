package bufferpool

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"linger/internal/clock"
)

func TestABufferOfAnOddSizeIsUsedAgainWhileThereIsAllowanceForIt(t *testing.T) {
	p := New(1000, 100, Full, clock.Real())
	lend := func(size int) []byte {
		t.Helper()
		b, err := p.Allocate(context.Background(), size, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) != size || cap(b) != size {
			t.Fatalf("%d bytes with room for %d, want %d", len(b), cap(b), size)
		}
		return b
	}
	first := lend(400)
	p.Release(first, 400)
	again := lend(380) // somewhat smaller
	if &again[0] != &first[0] {
		t.Error("the buffer was not used again")
	}
	p.Release(again, 380)
	if b := lend(200); &b[0] == &first[0] {
		t.Error("a buffer of twice the size was given away")
	}
	if p.odd.bytes != 380 || p.Available() != 800 || p.Unallocated() != 800 {
		t.Errorf("%d bytes kept, %d available, %d of them without a buffer; want 380, 800, 800", p.odd.bytes, p.Available(), p.Unallocated())
	}
	lend(700) // leaves no allowance that the kept one could stand for
	if p.odd.bytes != 0 || len(p.odd.list) != 0 {
		t.Errorf("%d bytes are kept of a pool that is lent out", p.odd.bytes)
	}
}

func TestTheFirstInLineGetsTheOddBufferThatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(500, 100, Full, clock.Real())
		b, err := p.Allocate(context.Background(), 400, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan []byte)
		go func() {
			b, _ := p.Allocate(context.Background(), 400, time.Minute)
			got <- b
		}()
		synctest.Wait()
		p.Release(b, 400)
		if next := <-got; len(next) != 400 || &next[0] != &b[0] {
			t.Error("the waiter got other memory")
		}
	})
}
