package perf

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pacer wakes a sender through the network poller by a timerfd: Go's sleeps are a millisecond coarse in an idle
// process, and spinning would take the core away from the client that is measured.
type pacer struct{ f *os.File }

func newPacer(every time.Duration) (*pacer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	step := unix.NsecToTimespec(int64(every))
	if err := unix.TimerfdSettime(fd, 0, &unix.ItimerSpec{Interval: step, Value: step}, nil); err != nil {
		return nil, err
	}
	return &pacer{os.NewFile(uintptr(fd), "timerfd")}, nil
}

func (p *pacer) wait() error {
	var ticks [8]byte
	_, err := p.f.Read(ticks[:])
	return err
}

func (p *pacer) stop() { p.f.Close() }
