package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"linger"
	"linger/internal/config"
)

// The exit statuses. An interrupt has the one that shells give it.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second interrupt ends the process
	os.Exit(execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// execute runs one command line and returns the exit status.
func execute(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	a := &app{}
	root := a.root()
	stdout := &checkedOut{Writer: out}
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(stdout)
	root.SetErr(errOut)
	cmd, err := root.ExecuteContextC(ctx)
	if lost := stdout.lost(); lost != nil && (err == nil || errors.Is(err, lost)) {
		a.started, err = true, lost // not the command line's fault, also when only its help was asked for
	}
	if err == nil {
		return exitOK
	}
	status := a.status(ctx, err)
	if status == exitInterrupted && err.Error() == context.Canceled.Error() {
		err = errors.New("interrupted")
	}
	fmt.Fprintln(errOut, "linger:", strings.TrimPrefix(err.Error(), "failed to construct producer: "))
	if hint := hintFor(cmd, err); hint != "" && status == exitUsage {
		fmt.Fprintln(errOut, "  "+hint)
	}
	return status
}

// app is one run of the program.
type app struct {
	started bool // flags and arguments were fine; a command runs
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "linger", Short: "A Kafka producer that behaves like Java's and explains itself", Version: linger.Version,
		Long: "linger is a Kafka producer that behaves like Java's and explains itself.\n\n" +
			"Begin with:  " + invocation() + " demo\n\n" +
			"Exit status: 0 all is well, 1 records failed, no broker answered or the result could not be written, 2 wrong flags or options, 130 interrupted.",
		SilenceUsage: true, SilenceErrors: true,
		PersistentPreRun: func(*cobra.Command, []string) { a.started = true },
	}
	root.AddCommand(demoCommand(), produceCommand(), perfCommand(), configCommand())
	return root
}

func (a *app) status(ctx context.Context, err error) int {
	var usage *usageError
	switch {
	case !a.started, errors.As(err, &usage), errors.Is(err, linger.ErrConfig):
		return exitUsage
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitFailed
}

// usageError is a command line that can't be meant so.
type usageError struct{ err error }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// Error is the error inside.
func (e *usageError) Error() string { return e.err.Error() }

// Unwrap gives the error inside.
func (e *usageError) Unwrap() error { return e.err }

// hintFor is where to read on about a command line that is wrong.
func hintFor(cmd *cobra.Command, err error) string {
	if e, ok := errors.AsType[*config.Error](err); ok && e.Key != "" {
		return fmt.Sprintf("%s config --explain %s says what the option takes", invocation(), e.Key)
	}
	if !errors.Is(err, linger.ErrConfig) {
		return strings.Replace(cmd.CommandPath(), "linger", invocation(), 1) + " --help says what there is"
	}
	return ""
}

// invocation is how this program was called, for commands to copy: "go run" leaves a binary whose path is no use.
func invocation() string {
	path := os.Args[0]
	if strings.Contains(path, string(filepath.Separator)+"go-build") {
		return "go run ./cmd/linger"
	}
	if found, err := filepath.Rel(".", path); err == nil && !strings.HasPrefix(found, "..") && filepath.IsAbs(path) {
		return "." + string(filepath.Separator) + found
	}
	if filepath.IsAbs(path) {
		return filepath.Base(path)
	}
	return path
}
