//go:build unix

package kafkatest

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is a child that has been started and will be waited for.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed once the child has been reaped
	err  error         // what Wait said; read after done
}

// launch starts cmd. Its goroutine ends when the child does, and holds the thread that forked it: on Linux the child's
// parent-death signal is tied to that thread, not to the process, and an ordinary goroutine's thread may go away.
func launch(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	cmd.SysProcAttr = procAttr()
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
		}
		close(p.done)
	}()
	return p, <-started
}

// running reports whether the child has not been reaped yet.
func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// signal sends sig; a child that is gone already is not an error.
func (p *process) signal(sig syscall.Signal) error {
	err := p.cmd.Process.Signal(sig)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// pause stops the child and returns once it stands still. A child that is gone already is not an error.
func (p *process) pause() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	if err := p.awaitStop(); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// kill ends the child at once and waits for it.
func (p *process) kill() error {
	err := p.signal(syscall.SIGKILL)
	if err == nil {
		<-p.done
	}
	return err
}

// stop asks the child to end and waits; after patience it is killed, which is reported.
func (p *process) stop(patience time.Duration) error {
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
		return errors.Join(errors.New("did not end within "+patience.String()+" of SIGTERM, killed"), p.kill())
	}
}
