package main

import (
	"github.com/spf13/cobra"

	"linger"
	"linger/cmd/linger/demo"
)

// leastRecords is what the tour needs for something to happen: batches of the partition with the fault, before and after.
const leastRecords = 10_000

func demoCommand() *cobra.Command {
	o := demo.DefaultOptions()
	c := &cobra.Command{
		Use: "demo", Short: "Watch the producer at work; needs nothing else", Args: cobra.NoArgs,
		Long: `Send a few hundred thousand lines of a real text into a broker inside this process, with a fault on the way, and
read everything back. It takes some seven seconds.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.Records < leastRecords:
				return usagef("--records %d: the demo needs at least %d", o.Records, leastRecords)
			case o.Rate < 0:
				return usagef("--rate %d: want records a second, or 0 for as fast as it goes", o.Rate)
			}
			o.Out, o.Terminal, o.Program = cmd.OutOrStdout(), isTerminal(cmd.OutOrStdout()), invocation()
			o.Log = linger.WithLogger(nil) // the warnings would be about the fault, which the tour explains
			return demo.Run(cmd.Context(), o)
		},
	}
	f := c.Flags()
	f.IntVar(&o.Records, "records", o.Records, "how many records to send")
	f.IntVar(&o.Rate, "rate", o.Rate, "records a second (0: as fast as it goes)")
	f.StringVar(&o.Codec, "codec", o.Codec, "compression: none, gzip, snappy, lz4 or zstd")
	complete(c, "codec", []string{"none", "gzip", "snappy", "lz4", "zstd"})
	return c
}
