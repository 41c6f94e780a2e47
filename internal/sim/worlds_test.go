package sim

import (
	"flag"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linger/internal/invariant"
)

var (
	worldsFlag = flag.Int("worlds", 0, "how many worlds to live through; 0: enough to reach everything, or some where invariants are checked")
	fromFlag   = flag.Uint64("from", 1, "the first seed")
	seedFlag   = flag.Uint64("seed", 0, "the one world to live through, with its trace when verbose")
	guarded    = flag.Bool("guarded", false, "brokers that keep the producer from known traps: see Options.Guarded")
)

// run is what many worlds came to.
type run struct {
	counts Counts
	failed []*Report // at most mostShown
	worlds int
	took   time.Duration
}

const mostShown = 20

func (r *run) perMinute() float64 { return float64(r.worlds) / r.took.Minutes() }

// live lives through n worlds from the seed first on, on all cores. visit sees each report, one at a time and in no
// order; false ends it.
func live(first uint64, n int, o Options, visit func(*Report) bool) {
	var next atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() { // ends by itself, waited for below
			tools := NewTools()
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				r := tools.Run(first+uint64(i), o)
				mu.Lock()
				if !visit(r) {
					next.Store(int64(n))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// ordinary is the one run of many worlds that the tests below look at.
var ordinary = sync.OnceValue(func() *run {
	r := new(run)
	start := time.Now()
	live(*fromFlag, worlds(), Options{Guarded: *guarded}, func(w *Report) bool {
		r.worlds++
		r.counts.Add(&w.Counts)
		if len(w.Failures) > 0 {
			r.failed = append(r.failed, w)
		}
		return len(r.failed) < mostShown
	})
	r.took = time.Since(start)
	return r
})

func worlds() int {
	switch {
	case *worldsFlag > 0:
		return *worldsFlag
	case invariant.Enabled:
		return 300 // each takes much longer
	}
	return 3000
}

// What judge.go and app.go check in each of them:
//
// RESP-01, RESP-02, RESP-03, RESP-07, RESP-08: results, offsets, retries, splits, leaders that only a hint names
// SND-27, SND-29, SND-32, ACC-27, ACC-45: order with one request in flight and with idempotence, memory home
// IDEM-01, IDEM-11, IDEM-13, IDEM-16, IDEM-17: one copy, the same batch again, its first offset
// RESP-11, IDEM-19, IDEM-20: each outcome once, life after a gap
// IDEM-24, IDEM-25, CLOSE-02, CLOSE-04, CLOSE-05: unknown fates and producers, every record of a closed producer has its outcome
// CASES B01, B02, B05, B08, B25
func TestWorlds(t *testing.T) {
	if *seedFlag != 0 {
		oneWorld(t)
		return
	}
	r := ordinary()
	for _, w := range r.failed {
		t.Errorf("%s\n%s: %s", w.Command(), w.Mode, w.Failures[0])
	}
	t.Logf("%d worlds in %v, %.0f a minute", r.worlds, r.took, r.perMinute())
}

func oneWorld(t *testing.T) {
	o := Options{Guarded: *guarded}
	if testing.Verbose() {
		o.Trace = os.Stdout
	}
	w := Run(*seedFlag, o)
	for _, f := range w.Failures {
		t.Error(f)
	}
	t.Logf("%s: %d records, %d faults, %d turns, %v, hash %016x", w.Mode, w.Records, w.Faults, w.Turns, w.Virtual, w.Hash)
}

// Every fault has happened, every state and every way of an answer was reached; among them those that only show that
// something may happen:
//
// SND-28, IDEM-02: without idempotence records come twice, and out of order with several requests in flight
// IDEM-18, IDEM-23, RESP-12: gaps, a new id after the last epoch, duplicates that count as success
func TestCoverageOfFaults(t *testing.T) {
	if *seedFlag != 0 || invariant.Enabled {
		t.Skip("few worlds do not reach everything")
	}
	r := ordinary()
	t.Logf("in %d worlds:\n%v", r.worlds, &r.counts)
	for _, name := range r.counts.Never() {
		t.Errorf("never reached: %s", name)
	}
}

func TestSameSeedSameWorld(t *testing.T) {
	tools := NewTools()
	for seed := uint64(1); seed <= 40; seed++ {
		a, b := tools.Run(seed, Options{Guarded: *guarded}), Run(seed, Options{Guarded: *guarded})
		if a.Hash != b.Hash || a.Counts != b.Counts || a.Virtual != b.Virtual {
			t.Errorf("seed %d: %016x and %016x, %v and %v", seed, a.Hash, b.Hash, a.Virtual, b.Virtual)
		}
	}
	if Run(1, Options{Guarded: *guarded}).Hash == Run(2, Options{Guarded: *guarded}).Hash {
		t.Error("two seeds make one world")
	}
}

func BenchmarkWorld(b *testing.B) {
	b.ReportAllocs()
	start := time.Now()
	live(1, b.N, Options{Guarded: *guarded}, func(*Report) bool { return true })
	b.ReportMetric(float64(b.N)/time.Since(start).Minutes(), "worlds/min")
}
