package seal

import (
	"bytes"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"linger/internal/compress"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var snappy = compress.Codec{Type: compress.Snappy}

func TestEveryJobIsDoneOnceByTheTimeStopReturns(t *testing.T) {
	for _, workers := range []int{0, 1, 3} {
		const jobs = 500
		var mu sync.Mutex
		var done []int
		do := func(job int, _ *compress.Compressor) {
			mu.Lock()
			defer mu.Unlock()
			done = append(done, job)
		}
		p := Inline(snappy, do)
		if workers > 0 {
			p = New(workers, snappy, do)
		}
		var want []int
		for job := range jobs {
			p.Submit(job)
			want = append(want, job)
		}
		p.Stop()
		if workers <= 1 && !slices.IsSorted(done) {
			t.Errorf("%d workers: jobs began out of order", workers)
		}
		slices.Sort(done)
		if diff := cmp.Diff(want, done); diff != "" {
			t.Errorf("%d workers: jobs (-want +got):\n%s", workers, diff)
		}
	}
}

func TestSubmitDoesNotWaitForBusyWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, jobs = 2, 100
		var mu sync.Mutex
		busy := make(map[*compress.Compressor]bool)
		most := 0
		gate := make(chan struct{})
		p := New(workers, snappy, func(_ int, c *compress.Compressor) {
			mu.Lock()
			if busy[c] {
				t.Error("two jobs use one compressor")
			}
			busy[c] = true
			most = max(most, len(busy))
			mu.Unlock()
			<-gate
			mu.Lock()
			delete(busy, c)
			mu.Unlock()
		})
		for job := range jobs { // nothing lets a worker go on yet
			p.Submit(job)
		}
		synctest.Wait()
		if most != workers {
			t.Errorf("%d jobs ran at once, want %d", most, workers)
		}
		close(gate)
		p.Stop()
	})
}

func TestWorkersStartWithTheWorkAndAreUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(map[*compress.Compressor]bool)
		p := New(4, snappy, func(_ int, c *compress.Compressor) { seen[c] = true })
		if p.started != 0 {
			t.Errorf("%d workers started without a job", p.started)
		}
		for job := range 10 { // one at a time needs one worker
			p.Submit(job)
			synctest.Wait()
		}
		if len(seen) != 1 {
			t.Errorf("jobs that never overlap had %d compressors, want 1", len(seen))
		}
		p.Stop()
	})
}

func TestJobsWithoutWorkersRunInsideSubmit(t *testing.T) {
	var got bytes.Buffer
	p := Inline(compress.Codec{}, func(job string, c *compress.Compressor) {
		b, err := c.Compress(nil, [][]byte{[]byte(job)})
		if err != nil {
			t.Error(err)
		}
		got.Write(b)
	})
	p.Submit("a")
	if got.String() != "a" {
		t.Errorf("after Submit %q was done, want %q", got.String(), "a")
	}
	p.Stop()
}

// An idle worker that is yet to wake is one worker, however many jobs count on it.
func TestBurstGetsAsManyWorkersAsItHasJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running := 0
		gate := make(chan struct{})
		p := New(3, snappy, func(job int, _ *compress.Compressor) {
			if job == 0 {
				return
			}
			mu.Lock()
			running++
			mu.Unlock()
			<-gate
		})
		p.Submit(0)
		synctest.Wait() // one worker, idle
		p.Submit(1)
		p.Submit(2)
		p.Submit(3)
		synctest.Wait()
		if running != 3 {
			t.Errorf("%d of 3 jobs run", running)
		}
		close(gate)
		p.Stop()
	})
}

// The queue of a pool that is never quite empty must not grow with the jobs that are gone.
func TestQueueKeepsItsSizeWhileJobsFlow(t *testing.T) {
	p := New[int](1, snappy, nil)
	for job := range 1000 {
		p.push(job)
		if job >= 10 {
			if got, _ := p.take(); got != job-10 {
				t.Fatalf("took job %d, want %d", got, job-10)
			}
		}
	}
	if cap(p.jobs) > 64 {
		t.Errorf("room for %d jobs where 11 wait at most", cap(p.jobs))
	}
}

func TestInvalidCodecIsRefusedAtOnce(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a pool took a codec that does not exist")
		}
	}()
	Inline(compress.Codec{Type: 99}, func(int, *compress.Compressor) {})
}
