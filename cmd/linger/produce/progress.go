package produce

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"linger/cmd/linger/human"
)

// refreshEvery is the pace of the bar.
const refreshEvery = 150 * time.Millisecond

// Bar shows a run on a terminal. What is written to it while it is drawn comes out above it, and otherwise just comes out;
// that is safe for concurrent use.
type Bar struct {
	out io.Writer
	// Forced draws although out is no terminal.
	Forced bool

	mu    sync.Mutex
	above io.Writer // nil while nothing is drawn
}

// NewBar draws on out.
func NewBar(out io.Writer) *Bar { return &Bar{out: out} }

// Write writes lines above the bar.
func (b *Bar) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.above != nil {
		return b.above.Write(p)
	}
	return b.out.Write(p)
}

// Watch draws until the returned function wipes the bar away. It is an Options.Watch.
func (b *Bar) Watch(r *Run) (stop func()) {
	opts := []mpb.ContainerOption{mpb.WithOutput(b.out), mpb.WithRefreshRate(refreshEvery)}
	if b.Forced {
		opts = append(opts, mpb.ForceTTY(), mpb.WithAutoRefresh())
	}
	container := mpb.New(opts...)
	// One byte more than there is to read: the bar is complete when everything is delivered, not when it is read.
	bar := container.New(r.totalBytes()+1, r.filler(),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string {
			return r.status() + " "
		})))
	b.setAbove(container)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() { // ended by stop, which waits for it
		defer close(ended)
		tick := time.NewTicker(refreshEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				bar.SetCurrent(min(r.read.Load(), max(0, r.totalBytes())))
			case <-done:
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
		b.setAbove(nil)
		bar.Abort(true)
		container.Wait()
	}
}

func (b *Bar) setAbove(w io.Writer) {
	b.mu.Lock()
	b.above = w
	b.mu.Unlock()
}

// filler is a bar when it is known how much there is to read, else a sign of life.
func (r *Run) filler() mpb.BarFillerBuilder {
	if r.totalBytes() > 0 {
		return mpb.BarStyle()
	}
	return mpb.SpinnerStyle().PositionLeft()
}

// totalBytes is the size of all inputs, -1 when one is a pipe.
func (r *Run) totalBytes() int64 {
	var n int64
	for _, in := range r.Inputs {
		if in.Size < 0 {
			return -1
		}
		n += in.Size
	}
	return n
}

func (r *Run) status() string {
	delivered := r.tally.delivered.Load()
	s := fmt.Sprintf("%s sent, %s delivered, %s/s", human.Count(r.sent.Load()), human.Count(delivered), human.Count(perSecond(delivered, time.Since(r.tally.start))))
	if n := r.p.Counters().RecordsRetried; n > 0 {
		s += ", " + human.PluralY(n, "retr")
	}
	if n := r.tally.failed.Load(); n > 0 {
		s += ", " + human.Count(n) + " failed"
	}
	return s
}
