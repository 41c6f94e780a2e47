//go:build unix

package perf

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// usage is what a run is charged, at one moment.
type usage struct {
	wall      time.Time
	user, sys float64 // seconds
	rssMB     float64 // peak
}

func readUsage() usage {
	var ru unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &ru) // it can't fail for the own process
	unit := 1024.0                            // kilobytes
	if runtime.GOOS == "darwin" {
		unit = 1 << 20 // bytes
	}
	return usage{
		wall: time.Now(), rssMB: float64(ru.Maxrss) / unit,
		user: float64(ru.Utime.Nano()) / 1e9, sys: float64(ru.Stime.Nano()) / 1e9,
	}
}
