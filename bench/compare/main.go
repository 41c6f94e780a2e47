package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"linger/bench/nullbroker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := dispatch(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// What a process of this program is.
const (
	asBroker = "broker"
	asClient = "client"
)

func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	switch {
	case len(args) > 0 && args[0] == asBroker:
		return nullbroker.Command(ctx, args[1:], stdout, stderr)
	case len(args) == 3 && args[0] == asClient:
		return clientMain(args[1], args[2], stdout)
	}
	return compare(ctx, args, stdout, stderr)
}

// plan is what the flags ask for.
type plan struct {
	workloads []workload
	clients   []contestant
	rounds    int
	seconds   float64
	pinned    bool
	servers   string // of a running cluster; empty: null brokers
	json      string
	read      string
}

func parse(args []string, stderr io.Writer) (plan, error) {
	var p plan
	names, clients, mode := "all", "linger,franz,floor", "null"
	f := flag.NewFlagSet("compare", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&names, "workloads", names, "W1 to W9, separated by commas, or all; growth, or some of P1 G1 B1 S10 …: how the cost grows")
	f.StringVar(&clients, "clients", clients, "linger, franz, floor, separated by commas")
	f.IntVar(&p.rounds, "rounds", 3, "rounds")
	f.Float64Var(&p.seconds, "seconds", 3, "about how long a run takes")
	f.StringVar(&mode, "mode", mode, "null: broker and client have a core each; free: nothing is pinned")
	f.StringVar(&p.servers, "bootstrap-server", "", "a running cluster instead of null brokers, which makes the mode free: each run makes a topic and deletes it")
	f.StringVar(&p.json, "json", "", "file for every run's result, as JSON")
	f.StringVar(&p.read, "read", "", "print the table of a file that --json wrote, and run nothing")
	f.Func("add", "name=command: another program with the flags and output of linger perf, such as an older build", func(s string) error {
		name, command, ok := strings.Cut(s, "=")
		if !ok || len(strings.Fields(command)) == 0 {
			return errors.New("want name=command")
		}
		p.clients = append(p.clients, contestant{name: name, command: strings.Fields(command)})
		return nil
	})
	if err := f.Parse(args); err != nil {
		return p, err
	}
	if f.NArg() > 0 {
		return p, fmt.Errorf("argument %q: there are flags only", f.Arg(0))
	}
	if mode != "null" && mode != "free" {
		return p, fmt.Errorf("--mode=%s: want null or free", mode)
	}
	p.pinned = mode == "null" && p.servers == ""
	for _, name := range strings.Split(clients, ",") {
		if _, ok := builtIn(name); !ok {
			return p, fmt.Errorf("--clients: there is no %q", name)
		}
		p.clients = append(p.clients, contestant{name: name})
	}
	if p.rounds < 1 || p.seconds <= 0 {
		return p, errors.New("--rounds and --seconds must be positive")
	}
	var err error
	p.workloads, err = choose(names)
	return p, err
}

func choose(names string) ([]workload, error) {
	all := table()
	switch names {
	case "all":
		return all, nil
	case "growth":
		return growth(), nil
	}
	all = append(all, growth()...)
	var chosen []workload
	for _, name := range strings.Split(names, ",") {
		i := slices.IndexFunc(all, func(w workload) bool { return w.name == name })
		if i < 0 {
			return nil, fmt.Errorf("--workloads: there is no %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func compare(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	p, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if p.read != "" {
		return reprint(p.read, stdout)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r := runner{plan: p, self: self, log: stderr}
	runs, err := r.all(ctx)
	fmt.Fprint(stdout, markdown(summarize(runs)))
	if p.json != "" {
		b, jsonErr := json.MarshalIndent(runs, "", " ")
		err = errors.Join(err, jsonErr, os.WriteFile(p.json, b, 0o644))
	}
	return err
}

func reprint(file string, stdout io.Writer) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var runs []run
	if err := json.Unmarshal(b, &runs); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	fmt.Fprint(stdout, markdown(summarize(runs)))
	return nil
}
