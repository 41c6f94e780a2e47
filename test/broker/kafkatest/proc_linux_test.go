package kafkatest

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const panicEnv = "KAFKATEST_PANIC"

// TestAChildEndsWhenItsTestPanics runs this test binary once more, which starts a child and panics.
func TestAChildEndsWhenItsTestPanics(t *testing.T) {
	if os.Getenv(panicEnv) != "" {
		p, err := launch(exec.Command("sleep", "600"))
		if err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("pid " + strconv.Itoa(p.cmd.Process.Pid) + "\n") // the other side says so
		panic("as planned")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestAChildEndsWhenItsTestPanics$")
	cmd.Env = append(os.Environ(), panicEnv+"=1")
	out, err := cmd.Output()
	if err == nil {
		t.Fatal("the planned panic did not happen")
	}
	pid := 0
	for line := range strings.Lines(string(out)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "pid "); ok {
			pid, err = strconv.Atoi(rest)
		}
	}
	if err != nil && pid == 0 {
		t.Fatalf("no pid in:\n%s", out)
	}
	// The kernel kills it as its parent goes; init or whoever adopted it may need a moment to reap it.
	for deadline := time.Now().Add(time.Minute); alive(pid); {
		if time.Now().After(deadline) {
			t.Fatalf("process %d outlived the panic", pid)
		}
	}
}

// alive reports whether pid runs. A zombie, killed and not reaped, does not.
func alive(pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	state := stateOf(pid)
	return state != "" && state != "Z"
}

// stateOf is the letter of the process's first thread in /proc, "" when there is no such process.
func stateOf(pid int) string {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	defer f.Close() // read only
	line, _ := bufio.NewReader(f).ReadString('\n')
	_, rest, _ := strings.Cut(line, ") ")
	state, _, _ := strings.Cut(rest, " ")
	return state
}

// A signal is only sent when kill returns: a busy machine may let the child go on for long.
func TestAPausedChildStandsStillOnceThePauseReturns(t *testing.T) {
	p, err := launch(exec.Command("sh", "-c", "while :; do :; done"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // also when the test ends early
		if err := p.kill(); err != nil {
			t.Error(err)
		}
	})
	for range 50 {
		if err := p.pause(); err != nil {
			t.Fatal(err)
		}
		if state := stateOf(p.cmd.Process.Pid); state != "T" {
			t.Fatalf("the child is in state %s, want T", state)
		}
		if err := p.signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.kill(); err != nil {
		t.Fatal(err)
	}
	if err := p.pause(); err != nil {
		t.Errorf("a child that is gone: %v", err)
	}
}
