//go:build unix && !linux

package kafkatest

import "syscall"

// procAttr leaves the child in our process group: these systems have no parent-death signal, and a signal to the group
// (Ctrl-C) then ends the brokers too. A test that panics leaves them behind here; on Linux it doesn't.
func procAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// awaitStop takes it that a stopped child stops at once: these systems have no call for it that leaves the child's end to
// who waits for that.
func (p *process) awaitStop() error { return nil }
