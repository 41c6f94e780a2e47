package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"linger"
)

func main() {
	if err := rootCommand().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "linger:", err)
		os.Exit(1)
	}
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use: "linger", Short: "A Kafka producer that behaves like Java's and explains itself", Version: linger.Version,
		SilenceUsage: true, SilenceErrors: true,
	}
	root.AddCommand(perfCommand())
	return root
}
