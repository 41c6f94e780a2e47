package kafkatest

import (
	"errors"
	"os"
	"syscall"
)

// procAttr puts a child into its own process group, so that a Ctrl-C meant for the test doesn't race with our own
// shutdown, and has the kernel kill it when the thread that started it dies. That thread is launch's, which stays until
// the child has been waited for: so the signal means "the test binary is gone", by panic, time-out or kill alike.
func procAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// waitid's arguments, which package syscall does not name.
const (
	waitPid     = 1          // P_PID
	waitStopped = 0x2        // WSTOPPED
	waitLeave   = 0x01000000 // WNOWAIT: who waits for the end still hears of it
)

// awaitStop waits until all threads of the child have stopped. kill only sends SIGSTOP: until one of the threads gets to run
// and takes it, which lasts as long as the machine is busy, the others go on.
func (p *process) awaitStop() error {
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, waitPid, uintptr(p.cmd.Process.Pid), 0, waitStopped|waitLeave, 0, 0)
		switch {
		case errno == 0:
			return nil
		case errors.Is(errno, syscall.ECHILD):
			return os.ErrProcessDone
		case !errors.Is(errno, syscall.EINTR):
			return os.NewSyscallError("waitid", errno)
		}
	}
}
