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
	for deadline := time.Now().Add(10 * time.Second); alive(pid); {
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
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	defer f.Close() // read only
	line, _ := bufio.NewReader(f).ReadString('\n')
	_, state, _ := strings.Cut(line, ") ")
	return !strings.HasPrefix(state, "Z")
}
