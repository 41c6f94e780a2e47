package main

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// load tells how busy everything else on the machine was; Linux only.
type load struct {
	at         time.Time
	busy, ours time.Duration
	known      bool
}

func startLoad() load {
	l := load{at: time.Now()}
	l.busy, l.known = machineBusy()
	l.ours = children()
	return l
}

// others is the share of all processors that others used since l. All children must have been waited for.
func (l load) others() float64 {
	now := startLoad()
	if !l.known || !now.known {
		return -1
	}
	others := (now.busy - l.busy) - (now.ours - l.ours)
	return max(0, float64(others)/float64(now.at.Sub(l.at))/float64(runtime.NumCPU()))
}

// children is the processor time of processes that we have waited for.
func children() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

const (
	tick   = 10 * time.Millisecond // USER_HZ is 100 on every architecture that Go runs on
	fields = 8                     // user nice system idle iowait irq softirq steal
)

// machineBusy sums the first line of /proc/stat without idle and iowait.
func machineBusy() (busy time.Duration, ok bool) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	columns := bytes.Fields(line)
	if len(columns) < fields+1 {
		return 0, false
	}
	for i, c := range columns[1 : fields+1] {
		n, err := strconv.ParseInt(string(c), 10, 64)
		if err != nil {
			return 0, false
		}
		if i != 3 && i != 4 {
			busy += time.Duration(n) * tick
		}
	}
	return busy, true
}
