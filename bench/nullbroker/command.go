package nullbroker

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
)

// Command is the program: it prints the address as its first line, serves until ctx ends, and prints what it has seen as
// one line of JSON. The error is about flags, the listener, or clients that did something wrong.
func Command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := Options{}
	f := flag.NewFlagSet("nullbroker", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.Listen, "listen", "127.0.0.1:0", "host:port; port 0 picks one")
	f.IntVar(&o.Partitions, "partitions", 6, "partitions of every topic")
	f.IntVar(&o.Brokers, "brokers", 1, "nodes of the cluster, all at this address")
	f.BoolVar(&o.Verify, "verify", false, "decode and check every batch")
	if err := f.Parse(args); err != nil {
		return err
	}
	b, err := Start(o)
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, b.Addr())
	<-ctx.Done()
	b.Close()
	seen := b.Seen()
	if err := json.NewEncoder(stdout).Encode(seen); err != nil {
		return err
	}
	if seen.Failures > 0 {
		return fmt.Errorf("%d failures, first: %s", seen.Failures, seen.FirstFailure)
	}
	return nil
}
