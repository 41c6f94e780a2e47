package sim

import (
	"flag"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linger/internal/sender"
)

var (
	worlds = flag.Int("worlds", 3000, "how many worlds TestWorlds lives through")
	seed   = flag.Uint64("seed", 0, "the one world to live through, with its trace when verbose")
	harsh  = flag.Bool("harsh", false, "brokers without guards")
	from   = flag.Uint64("from", 1, "the first seed")
)

// live runs the worlds of seeds from first on, n of them, on all cores. visit is called for each, one at a time; false
// ends it.
func live(first uint64, n int, o Options, visit func(*Report) bool) {
	var next atomic.Uint64
	var stop atomic.Bool
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			tools := NewTools()
			for !stop.Load() {
				i := next.Add(1) - 1
				if i >= uint64(n) {
					return
				}
				r := tools.Run(first+i, o)
				mu.Lock()
				if !visit(r) {
					stop.Store(true)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func TestWorlds(t *testing.T) {
	if *seed != 0 {
		o := Options{Unguarded: *harsh}
		if testing.Verbose() {
			o.Trace = os.Stdout
		}
		r := Run(*seed, o)
		for _, f := range r.Failures {
			t.Error(f)
		}
		t.Logf("%d records, %d faults, %d turns, %v, mode %s, hash %016x", r.Records, r.Faults, r.Turns, r.Virtual, r.Mode, r.Hash)
		return
	}
	var total Counts
	start := time.Now()
	failed := 0
	n := 0
	live(*from, *worlds, Options{Unguarded: *harsh}, func(r *Report) bool {
		total.Add(&r.Counts)
		n++
		if len(r.Failures) > 0 {
			t.Errorf("%s\n    %s: %v", r.Command(), r.Mode, r.Failures[0])
			failed++
		}
		return failed < 20
	})
	took := time.Since(start)
	t.Logf("%d worlds in %v, %.0f a minute\n%v", n, took, float64(n)/took.Minutes(), &total)
	for _, name := range total.Never() {
		t.Errorf("never reached: %s", name)
	}
}

var _ = sender.Faults{}
