package main

import (
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// startOn starts cmd on one core, where it has GOMAXPROCS=1: a process inherits the cores of the thread that starts it,
// and Go counts them when it begins.
func startOn(core int, cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	one.Set(core)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return err
	}
	err := cmd.Start()
	if back := unix.SchedSetaffinity(0, &before); err == nil {
		err = back
	}
	return err
}
