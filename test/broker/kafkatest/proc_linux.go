package kafkatest

import "syscall"

// procAttr puts a child into its own process group, so that a Ctrl-C meant for the test doesn't race with our own
// shutdown, and has the kernel kill it when the thread that started it dies. That thread is launch's, which stays until
// the child has been waited for: so the signal means "the test binary is gone", by panic, time-out or kill alike.
func procAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
