package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"linger/bench/nullbroker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := nullbroker.Command(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "nullbroker:", err)
		os.Exit(1)
	}
}
