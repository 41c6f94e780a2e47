package accumulator

import (
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"linger/internal/clock"
	"linger/internal/kerr"
)

// stands reports whether some goroutine is inside the function, such as "(*Queue).pass".
func stands(function string) bool {
	buf := make([]byte, 1<<20)
	return strings.Contains(string(buf[:runtime.Stack(buf, true)]), "accumulator."+function)
}

// CLOSE-09: an append that races with Close either succeeds, and then Close returns after it, with the record in a batch that
// the sender sees; or it is refused.
//
// The story: A has the queue's lock and has put its record into the batch, B closes the producer. If B did not pass the
// lock as well, the sender could find nothing left and end before A is through; A would then succeed, and its record be lost.
func TestCloseWaitsForAnAppendThatIsUnderWay(t *testing.T) {
	var inLock func()
	f := newFixture(t, setup{batchSize: 100, random: func() int32 {
		if do := inLock; do != nil {
			inLock = nil
			do()
		}
		return 0
	}})
	f.setCluster([]int32{1}, nil, nil)
	f.send(AnyPartition, 10)
	closed := make(chan struct{})
	// The choice of the next partition is the last thing that an append does under the lock, here the one that fills the batch.
	inLock = func() {
		go func() {
			f.acc.Close()
			close(closed)
		}()
		<-f.acc.Closed()
		for !stands("(*Queue).pass") {
			select {
			case <-closed:
				t.Error("Close has returned before the append that it raced with")
				return
			default:
				runtime.Gosched()
			}
		}
	}
	r := f.send(AnyPartition, 200)
	<-closed
	if inLock != nil {
		t.Fatal("the append chose no partition under the lock")
	}
	f.sched.Refresh(f.clk.Now())
	found := false
	for _, b := range f.sched.Unended(nil) {
		found = found || b.result == r.Result
	}
	if !found {
		t.Error("the record is in no batch that the sender sees")
	}
	e := Entry{Value: []byte("late")}
	if _, err := f.acc.Append(t.Context(), f.topic, 0, &e, 0); !errors.Is(err, kerr.ErrClosedDuringSend) {
		t.Errorf("after Close: got %v, want ErrClosedDuringSend", err)
	}
}

// heldClock is a clock that holds up its second reader: who opens a batch reads it between taking memory and using it.
type heldClock struct {
	clock.Clock
	reads atomic.Int32 // making a Coarse is the first
	held  chan struct{}
	open  chan struct{}
}

func (h *heldClock) Both() (clock.Instant, int64) {
	if h.reads.Add(1) == 2 {
		close(h.held)
		<-h.open
	}
	return h.Clock.Both()
}

// ACC-27: memory that an append has taken and that Close finds it with is home when Settle returns.
func TestSettleWaitsForMemoryThatAnAppendHolds(t *testing.T) {
	f := newFixture(t, setup{batchSize: 100, memory: 1000})
	f.setCluster([]int32{1}, nil, nil)
	clk := &heldClock{Clock: f.clk, held: make(chan struct{}), open: make(chan struct{})}
	f.acc.o.Coarse = clock.NewCoarse(clk)
	refused := make(chan error)
	go func() {
		_, err := f.acc.Append(t.Context(), f.topic, 0, &Entry{Value: []byte("v")}, 0)
		refused <- err
	}()
	<-clk.held
	f.acc.Close()
	settled := make(chan int64)
	go func() {
		f.acc.Settle()
		settled <- f.pool.Available()
	}()
	for !stands("(*Accumulator).Settle") {
		select {
		case n := <-settled:
			t.Fatalf("settled with %d of 1000 bytes there", n)
		default:
			runtime.Gosched()
		}
	}
	close(clk.open)
	if err := <-refused; !errors.Is(err, kerr.ErrClosedDuringSend) {
		t.Errorf("got %v, want ErrClosedDuringSend", err)
	}
	if n := <-settled; n != 1000 {
		t.Errorf("%d of 1000 bytes are home", n)
	}
}
