package seal

import (
	"runtime"
	"sync"

	"linger/internal/compress"
	"linger/internal/invariant"
)

// maxDefaultWorkers bounds DefaultWorkers: a zstd or gzip encoder holds a few MB.
const maxDefaultWorkers = 4

// DefaultWorkers is one worker for each processor that Go may use, at most 4.
func DefaultWorkers() int { return min(runtime.GOMAXPROCS(0), maxDefaultWorkers) }

// Pool runs jobs of type J on workers. Submit and Stop are for one goroutine, the engine's.
type Pool[J any] struct {
	limit int // workers at most; 0 when jobs run inside Submit
	codec compress.Codec
	do    func(J, *compress.Compressor)
	own   *compress.Compressor // without workers

	workers sync.WaitGroup

	mu      sync.Mutex
	more    sync.Cond // a job came, or the end
	jobs    []J       // jobs[next:] wait
	next    int
	started int
	idle    int
	stopped bool
}

// New returns a pool of at most workers workers; 0 means DefaultWorkers. do does one job and tells whom it concerns; it is
// called from several workers at once, but with each compressor from one at a time. The codec must be valid
// (compress.Codec.Validate): configuration has seen to that, so New panics when it is not.
func New[J any](workers int, codec compress.Codec, do func(J, *compress.Compressor)) *Pool[J] {
	if workers <= 0 {
		workers = DefaultWorkers()
	}
	p := Inline(codec, do)
	p.limit = workers
	return p
}

// Inline returns a pool without workers: each job is done inside Submit, on the caller's goroutine. Tests and the simulation
// use it, since it ends when Submit does. Otherwise it is as New.
func Inline[J any](codec compress.Codec, do func(J, *compress.Compressor)) *Pool[J] {
	if err := codec.Validate(); err != nil {
		panic(err)
	}
	p := &Pool[J]{codec: codec, do: do}
	p.more.L = &p.mu
	return p
}

// Submit hands a job over. It never waits for a worker, and what waits is bounded without a limit here: a job is a batch's,
// a batch is out once, and batches are bounded by buffer.memory. Submit must not follow Stop.
func (p *Pool[J]) Submit(job J) {
	if p.limit == 0 {
		if p.own == nil {
			p.own = p.compressor()
		}
		p.do(job, p.own)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	invariant.Check(!p.stopped, "a batch was submitted for sealing after Stop")
	p.push(job)
	if waiting := len(p.jobs) - p.next; waiting > p.idle && p.started < p.limit {
		p.started++
		p.workers.Add(1)
		go p.work()
		return
	}
	p.more.Signal()
}

// Stop lets the workers finish what was submitted and returns when they have ended.
func (p *Pool[J]) Stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.more.Broadcast()
	p.workers.Wait()
}

// work is one worker. Stop stops it and waits for it.
func (p *Pool[J]) work() {
	defer p.workers.Done()
	c := p.compressor()
	for {
		job, ok := p.take()
		if !ok {
			return
		}
		p.do(job, c)
	}
}

// take waits for a job; ok is false when there will be none.
func (p *Pool[J]) take() (job J, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.next == len(p.jobs) {
		if p.stopped {
			return job, false
		}
		p.idle++
		p.more.Wait()
		p.idle--
	}
	var none J
	job, p.jobs[p.next] = p.jobs[p.next], none
	p.next++
	return job, true
}

// push adds a job, in the room of jobs that are gone when there is some. The caller holds mu.
func (p *Pool[J]) push(job J) {
	if p.next > 0 && len(p.jobs) == cap(p.jobs) {
		n := copy(p.jobs, p.jobs[p.next:])
		clear(p.jobs[n:])
		p.jobs, p.next = p.jobs[:n], 0
	}
	p.jobs = append(p.jobs, job)
}

func (p *Pool[J]) compressor() *compress.Compressor {
	c, err := compress.NewCompressor(p.codec)
	if err != nil {
		panic(err) // New has validated the codec
	}
	return c
}
