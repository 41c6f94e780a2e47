package perf

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Client is a producer under measurement.
type Client interface {
	// NewSender makes what one sending goroutine uses.
	NewSender() Sender
	Close() error
}

// Sender sends for one goroutine.
type Sender interface {
	// Send hands over one record; it may block. The client calls Run.Done with the same at, once the outcome is known.
	Send(key, value []byte, at int64)
	// Flush follows the last Send of a phase, for senders that hold records back themselves.
	Flush()
}

const (
	sampleEvery = 64
	giveUp      = 3 * time.Minute
	finestPace  = 100 * time.Microsecond
)

// Run counts outcomes and latencies of one workload.
type Run struct {
	Workload
	base   time.Time
	left   atomic.Int64
	failed atomic.Int64
	idle   chan struct{}

	mu    sync.Mutex
	hist  *hdrhistogram.Histogram
	first error
}

// NewRun prepares a run of w.
func NewRun(w Workload) *Run {
	return &Run{Workload: w, base: time.Now(), idle: make(chan struct{}, 1), hist: hdrhistogram.New(1, int64(time.Minute), 3)}
}

func (r *Run) now() int64 { return int64(time.Since(r.base)) }

// Done settles one record; at is what Send got, 0 for a record whose latency does not count.
func (r *Run) Done(at int64, err error) {
	if at != 0 {
		r.sample(r.now() - at)
	}
	if err != nil {
		r.fail(err)
	}
	if r.left.Add(-1) == 0 {
		r.idle <- struct{}{}
	}
}

func (r *Run) sample(d int64) {
	r.mu.Lock()
	_ = r.hist.RecordValue(min(d, int64(time.Minute)))
	r.mu.Unlock()
}

func (r *Run) fail(err error) {
	r.failed.Add(1)
	r.mu.Lock()
	if r.first == nil {
		r.first = err
	}
	r.mu.Unlock()
}

// Measure runs the workload on what open makes: warm-up, then the measured part.
func (r *Run) Measure(open func(*Run) (Client, error)) (res Result, err error) {
	p := newPayloads(&r.Workload)
	client, err := open(r)
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	var senders []Sender
	var sources []*source
	for g := range r.Goroutines {
		senders, sources = append(senders, client.NewSender()), append(sources, p.source(g))
	}
	if _, err := r.phase(senders, sources, r.Warmup, false); err != nil {
		return res, fmt.Errorf("warm-up: %w", err)
	}
	stop, err := r.profile()
	if err != nil {
		return res, err
	}
	defer stop()
	return r.measured(senders, sources)
}

func (r *Run) measured(senders []Sender, sources []*source) (res Result, err error) {
	var m0, m1 runtime.MemStats
	pauses := readPauses()
	runtime.ReadMemStats(&m0)
	u0 := readUsage()
	res.Bytes, err = r.phase(senders, sources, r.Records, true)
	u1 := readUsage()
	runtime.ReadMemStats(&m1)
	n := float64(r.Records)
	per := func(a, b uint64) *float64 { v := float64(b-a) / n; return &v }
	pause := float64(m1.PauseTotalNs-m0.PauseTotalNs) / 1e6
	res.Records, res.Failed = int64(r.Records), r.failed.Load()
	res.WallS, res.UserS, res.SysS = u1.wall.Sub(u0.wall).Seconds(), u1.user-u0.user, u1.sys-u0.sys
	res.CPUNs = (res.UserS + res.SysS) * 1e9 / n
	res.RecordsPerS, res.MBPerS = n/res.WallS, float64(res.Bytes)/1e6/res.WallS
	res.AllocsPerRec, res.AllocBytes, res.GCPauseMs = per(m0.Mallocs, m1.Mallocs), per(m0.TotalAlloc, m1.TotalAlloc), &pause
	res.GCPauseMaxMs = longestPause(pauses, readPauses())
	res.MaxRSSMB = u1.rssMB
	r.mu.Lock()
	defer r.mu.Unlock()
	q := func(p float64) float64 { return float64(r.hist.ValueAtQuantile(p)) / 1e6 }
	res.LatencyMs = Latency{q(50), q(95), q(99), q(99.9), float64(r.hist.Max()) / 1e6}
	res.LatencySamples = r.hist.TotalCount()
	return res, errors.Join(err, r.first)
}

func (r *Run) profile() (stop func(), err error) {
	if r.CPUProfile == "" {
		return func() {}, nil
	}
	f, err := os.Create(r.CPUProfile)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); f.Close() }, nil
}

// phase sends n records and waits for their outcomes.
func (r *Run) phase(senders []Sender, sources []*source, n int, sample bool) (bytes int64, err error) {
	if n == 0 {
		return 0, nil
	}
	r.left.Store(int64(n))
	var wg sync.WaitGroup
	var total atomic.Int64
	start := r.now()
	for g, s := range senders {
		count := n / len(senders)
		if g < n%len(senders) {
			count++
		}
		wg.Go(func() {
			total.Add(r.send(s, sources[g], g, count, start, sample))
			s.Flush()
		})
	}
	wg.Wait()
	select {
	case <-r.idle:
		return total.Load(), nil
	case <-time.After(giveUp):
		return total.Load(), fmt.Errorf("%d records have no outcome", r.left.Load())
	}
}

func (r *Run) send(s Sender, src *source, g, n int, start int64, sample bool) (bytes int64) {
	if r.Paced() {
		return r.sendPaced(s, src, g, n, start, sample)
	}
	for i := range n {
		k, v := src.next()
		bytes += int64(len(k) + len(v))
		var at int64
		if sample && i%sampleEvery == 0 {
			at = r.now()
		}
		s.Send(k, v, at)
	}
	return bytes
}

func (r *Run) sendPaced(s Sender, src *source, g, n int, start int64, sample bool) (bytes int64) {
	gap := float64(time.Second) / r.Rate
	due := func(i int) int64 { return start + int64(gap*float64(i*r.Goroutines+g+1)) }
	p, err := newPacer(max(time.Duration(gap*float64(r.Goroutines)), finestPace))
	if err != nil {
		r.fail(err)
		return 0
	}
	defer p.stop()
	for i := 0; i < n; {
		if err := p.wait(); err != nil {
			r.fail(err)
			return bytes
		}
		for now := r.now(); i < n && due(i) <= now; i++ {
			k, v := src.next()
			bytes += int64(len(k) + len(v))
			var at int64
			if sample {
				at = due(i)
			}
			s.Send(k, v, at)
		}
	}
	return bytes
}

const pausesMetric = "/sched/pauses/total/gc:seconds"

func readPauses() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: pausesMetric}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	h := s[0].Value.Float64Histogram()
	return &metrics.Float64Histogram{Counts: append([]uint64(nil), h.Counts...), Buckets: h.Buckets}
}

// longestPause is the upper end in milliseconds of the highest bucket that grew.
func longestPause(before, after *metrics.Float64Histogram) float64 {
	if before == nil || after == nil {
		return 0
	}
	for i := len(after.Counts) - 1; i >= 0; i-- {
		if after.Counts[i] > before.Counts[i] {
			if top := after.Buckets[i+1]; !math.IsInf(top, 1) {
				return top * 1e3
			}
			return after.Buckets[i] * 1e3
		}
	}
	return 0
}
