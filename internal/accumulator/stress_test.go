package accumulator

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"linger/internal/compress"
	"linger/internal/invariant"
	"linger/internal/kerr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine is a goroutine that turns, answers and delivers as fast as it is nudged.
type engine struct {
	*fixture
	codec     compress.Type
	toSeal    chan *Batch // to the workers; closed when the engine ends
	sealed    chan *Batch // back from them
	nudges    chan struct{}
	stop      chan struct{}
	stopped   sync.WaitGroup
	delivered atomic.Int64
	out       []*Batch
	yields    int // to appenders, before each turn
}

func startEngine(t *testing.T, s setup) *engine {
	e := &engine{codec: s.codec, yields: s.yields, nudges: make(chan struct{}, 1), stop: make(chan struct{})}
	e.toSeal, e.sealed = make(chan *Batch, 1000), make(chan *Batch, 1000)
	s.nudge = e.nudge
	s.random = func() int32 { return int32(rand.Uint32()) }
	e.fixture = newFixture(t, s)
	e.setCluster(leaders4, nil, nil)
	e.sched.splitSize = 300
	e.stopped.Go(e.run)
	for range 2 {
		e.stopped.Go(e.work)
	}
	return e
}

// work is a compression worker. It ends when the engine does.
func (e *engine) work() {
	c, err := compress.NewCompressor(e.codec.Default())
	if err != nil {
		e.tb.Errorf("%v", err)
		return
	}
	for b := range e.toSeal {
		b.Seal(c)
		e.sealed <- b
		e.nudge()
	}
}

func (e *engine) nudge() {
	select {
	case e.nudges <- struct{}{}:
	default:
	}
}

// run ends once stop is closed and nothing is left.
func (e *engine) run() {
	defer close(e.toSeal)
	stop := e.stop
	for turn := 0; ; turn++ {
		select {
		case <-e.nudges:
		case <-stop:
			stop = nil
		}
		for more := true; more; {
			for range e.yields {
				runtime.Gosched()
			}
			more = e.turn(turn)
		}
		if stop == nil && e.sched.Incomplete() == 0 {
			return
		}
		if stop == nil {
			runtime.Gosched()
			e.nudge()
		}
	}
}

// turn reports whether it did something.
func (e *engine) turn(turn int) (busy bool) {
	now := e.clk.Now()
	for back := true; back; {
		select {
		case b := <-e.sealed:
			e.sched.Sealed(b)
		default:
			back = false
		}
	}
	e.sched.Refresh(now)
	for _, node := range e.sched.Ready(now, nil) {
		e.out = e.sched.Drain(now, node, 1<<20, nil, e.out)
	}
	for _, b := range e.sched.Seals(nil) {
		e.toSeal <- b
	}
	busy = len(e.out) > 0
	for i, b := range e.out {
		switch {
		case (turn+i)%7 == 3 && b.Attempts == 0 && !b.Piece():
			e.retry(b)
		case (turn+i)%5 == 2 && b.RecordCount() > 1 && !b.Piece():
			e.land(b)
			e.sched.Split(b, now, func(*Batch) {})
			e.acc.Free(e.mayFree(b))
		default:
			n := b.RecordCount()
			e.finish(b, 0)
			e.delivered.Add(int64(n))
		}
	}
	e.out = e.out[:0]
	return busy
}

// ACC-02, ACC-08, ACC-46, PART-15, PART-28 under the race detector: every record that was accepted is delivered once, and
// all memory comes home.
func TestManyAppendersLoseAndDoubleNothing(t *testing.T) {
	for name, s := range map[string]setup{
		"plenty of memory": {batchSize: 1000, memory: 1 << 20, backoffMs: 0, adaptive: true, idempotent: true},
		"short of memory":  {batchSize: 1000, memory: 3000, backoffMs: 0},
		"compressed":       {batchSize: 1000, memory: 10_000, codec: compress.LZ4},
		"lingering":        {batchSize: 1000, memory: 5000, linger: time.Hour},
		"paced":            {batchSize: 300, memory: 100 * 300, yields: 60},
	} {
		t.Run(name, func(t *testing.T) {
			const appenders, records = 8, 400
			s.backoffMs, s.backoffMaxMs = -1, -1
			e := startEngine(t, s)
			e.acc.pacer.press(e.clk.Now()) // as if memory had run out; the clock stands, so who waits in vain waits for ever
			var ended counter
			var accepted atomic.Int64
			var group sync.WaitGroup
			for a := range appenders {
				group.Go(func() {
					rng := rand.New(rand.NewPCG(uint64(a), 0))
					for range records {
						entry := &Entry{Value: make([]byte, rng.IntN(300)), Callback: &ended}
						r, err := e.acc.Append(context.Background(), e.topic, rng.Int32N(5)-1, entry, time.Hour)
						if err != nil {
							t.Error(err)
							return
						}
						accepted.Add(1)
						if r.Wake {
							e.nudge()
						}
					}
				})
			}
			group.Wait()
			e.acc.Close()
			close(e.stop)
			e.stopped.Wait()
			if got := accepted.Load(); got != appenders*records || e.delivered.Load() != got || ended.n.Load() != got {
				t.Errorf("%d accepted, %d delivered, %d called back", got, e.delivered.Load(), ended.n.Load())
			}
			if e.pool.Available() != e.pool.Total() || e.sched.Undrained() != 0 {
				t.Errorf("%d of %d bytes available, %d batches queued", e.pool.Available(), e.pool.Total(), e.sched.Undrained())
			}
		})
	}
}

type counter struct{ n atomic.Int64 }

func (c *counter) Done(*Outcome) { c.n.Add(1) }

// ACC-03 by other means, the barrier: when Flush returns, no append of an older generation is unfinished, and what its Done
// waits for is everything that had been accepted before.
func TestBarrierLeavesNoAppendOfAnOlderGenerationUnfinished(t *testing.T) {
	e := startEngine(t, setup{batchSize: 500, memory: 1 << 20, linger: time.Hour, backoffMs: -1, backoffMaxMs: -1})
	var group sync.WaitGroup
	var stop atomic.Bool
	var mu sync.Mutex
	var futures []Appended // in the order in which appends returned
	for a := range 4 {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(a), 1))
			for !stop.Load() {
				r, err := e.acc.Append(context.Background(), e.topic, rng.Int32N(5)-1, &Entry{Value: make([]byte, 20)}, time.Hour)
				if err != nil {
					if !errors.Is(err, kerr.ErrClosedDuringSend) {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				futures = append(futures, r)
				mu.Unlock()
				if r.Wake {
					e.nudge()
				}
			}
		})
	}
	for range 50 {
		mu.Lock()
		before := len(futures)
		mu.Unlock()
		stage := e.acc.Flush()
		for p := range int32(4) {
			q := e.topic.queue(p)
			q.mu.Lock()
			if q.open != nil && q.open.word <= stage.number {
				t.Errorf("partition %d has an open batch of generation %d after the barrier of %d", p, q.open.word/generationUnit, stage.number/generationUnit)
			}
			q.mu.Unlock()
		}
		<-stage.Done()
		mu.Lock()
		for _, r := range futures[:before] {
			if !r.Result.Ready(r.Index) {
				t.Error("the flush is over, but not a record that was accepted before it")
				break
			}
		}
		futures = futures[before:]
		mu.Unlock()
	}
	e.acc.Close()
	for p := range int32(4) { // nothing is added any more, whatever appends were under way
		q := e.topic.queue(p)
		q.mu.Lock()
		if q.open != nil {
			t.Errorf("partition %d has an open batch after the close", p)
		}
		q.mu.Unlock()
	}
	stop.Store(true)
	group.Wait()
	close(e.stop)
	e.stopped.Wait()
	for _, r := range futures {
		if !r.Result.Ready(r.Index) {
			t.Error("a record was accepted and not delivered")
		}
	}
}

// ACC-32: the path of nearly every record allocates nothing; per batch there is one Result.
func TestAppendAllocatesNothingWhileTheBatchHasRoom(t *testing.T) {
	f := newFixture(t, setup{batchSize: 1 << 20, memory: 4 << 20, linger: time.Hour})
	f.setCluster(leaders4, nil, nil)
	e := &Entry{TimestampMs: 1, Key: []byte("key"), Value: make([]byte, 100)}
	for _, partition := range []int32{AnyPartition, 2} {
		for range 2000 { // grows the slots once
			f.send(partition, 100)
		}
		got := testing.AllocsPerRun(500, func() {
			if _, err := f.acc.Append(context.Background(), f.topic, partition, e, 0); err != nil {
				t.Fatal(err)
			}
		})
		if got != 0 {
			t.Errorf("partition %d: %v allocations a record", partition, got)
		}
	}
}

func TestBatchAllocatesItsResultAndNoMore(t *testing.T) {
	if invariant.Enabled {
		t.Skip("batches are not reused while invariants are compiled in")
	}
	f := newFixture(t, setup{batchSize: 1000, linger: time.Hour})
	f.setCluster([]int32{1}, nil, nil)
	e := &Entry{TimestampMs: 1, Value: make([]byte, 900)}
	var out []*Batch
	var nodes []int32
	one := func() {
		if _, err := f.acc.Append(context.Background(), f.topic, 0, e, 0); err != nil {
			t.Fatal(err)
		}
		f.sched.Refresh(0)
		nodes = f.sched.Ready(0, nodes[:0])
		for _, b := range f.sched.Drain(0, 1, 1<<20, nil, out[:0]) {
			f.finish(b, 0)
		}
	}
	out = make([]*Batch, 0, 4)
	for range 10 {
		one()
	}
	if got := testing.AllocsPerRun(100, one); got > 1 {
		t.Errorf("%v allocations a batch", got)
	}
}
