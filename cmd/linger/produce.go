package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/vbauerster/cupwriter"

	"linger"
	"linger/cmd/linger/human"
	"linger/cmd/linger/input"
	"linger/cmd/linger/produce"
	"linger/internal/config"
	"linger/lingertest/kafka"
)

// produceFlags are what the command line says.
type produceFlags struct {
	settings
	topic      string
	embedded   bool
	partitions int32
	format     string
	separator  string
	partition  int32
	skipBad    bool
	showFailed int
	limit      time.Duration
	progress   string
	verbose    bool
}

// patience is how long a topic may keep us waiting before we say so.
const patience = 2 * time.Second

// readBackLimit bounds the look into the embedded broker.
const readBackLimit = time.Minute

func produceCommand() *cobra.Command {
	p := &produceFlags{}
	c := &cobra.Command{
		Use: "produce --topic name [file…]", Short: "Send lines, keys with values or JSON from files or standard input",
		Long: `Send the records of files, or of standard input ("-", or no file at all).

Formats:
  lines     each line is a value (the default)
  keyvalue  key, separator, value; the separator is a TAB unless --key-separator says otherwise
  json      one object a line:
              {"key":"k", "value":"v", "headers":{"h":"x"}, "partition":0, "timestamp":1769860800000}
            Only "value" is needed. A text is sent as UTF-8, null is Kafka's null, anything else is sent as its JSON
            text. Bytes go into "keyBase64" and "valueBase64". Headers may also be a list of {"key", "value"} or
            {"key", "valueBase64"}; a timestamp is milliseconds since 1970 or RFC 3339.

Options count in this order, a later one over an earlier one: --config files, --bootstrap-server, -X.`,
		Example: "  " + invocation() + " produce --embedded --topic t README.md\n" +
			"  " + invocation() + " produce --bootstrap-server localhost:9092 --topic t --format json -X compression.type=zstd orders.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd, args) },
	}
	p.addFlags(c)
	f := c.Flags()
	f.StringVarP(&p.topic, "topic", "t", "", "topic to send to")
	f.BoolVar(&p.embedded, "embedded", false, "send to a broker inside this process, which is gone afterwards")
	f.Int32Var(&p.partitions, "partitions", 3, "partitions of the topic in the embedded broker")
	f.StringVarP(&p.format, "format", "f", input.Lines.String(), strings.Join(input.FormatNames(), ", "))
	f.StringVar(&p.separator, "key-separator", "\t", "what stands between key and value with --format keyvalue")
	f.Int32VarP(&p.partition, "partition", "p", input.AnyPartition, "partition of records that name none (-1: the producer chooses)")
	f.BoolVar(&p.skipBad, "skip-bad", false, "go on behind a line that makes no record")
	f.IntVar(&p.showFailed, "show-failed", 10, "how many failed records of a reason, and skipped lines, to name")
	f.DurationVar(&p.limit, "shutdown-timeout", 10*time.Second, "how long an interrupt leaves to records that are under way")
	f.StringVar(&p.progress, "progress", "auto", "auto (on a terminal), always or never")
	f.BoolVarP(&p.verbose, "verbose", "v", false, "show the producer's informations too, not only warnings")
	complete(c, "format", input.FormatNames())
	complete(c, "progress", []string{"auto", "always", "never"})
	return c
}

// check looks at the command line alone.
func (f *produceFlags) check(list []config.Setting) error {
	switch {
	case f.topic == "":
		return usagef("which topic? Add --topic name")
	case f.embedded && f.bootstrap != "":
		return usagef("--embedded and --bootstrap-server exclude each other")
	case f.embedded && slices.ContainsFunc(list, func(s config.Setting) bool { return s.Key == bootstrapServers && s.Source == "-X" }):
		return usagef("--embedded and -X %s exclude each other", bootstrapServers)
	case !f.embedded && !isSet(list, bootstrapServers):
		return usagef("which brokers? Add --bootstrap-server host:port, or --embedded to try without a cluster")
	case f.separator == "":
		return usagef("--key-separator must not be empty")
	case f.partitions < 1:
		return usagef("--partitions %d: a topic has at least one", f.partitions)
	case f.partition < input.AnyPartition:
		return usagef("--partition %d: partitions are numbered from 0", f.partition)
	case f.progress != "auto" && f.progress != "always" && f.progress != "never":
		return usagef("--progress %s: want auto, always or never", f.progress)
	}
	return nil
}

func (f *produceFlags) run(cmd *cobra.Command, args []string) error {
	list, err := f.list()
	if err != nil {
		return err
	}
	if err := f.check(list); err != nil {
		return err
	}
	o, err := f.options(cmd.InOrStdin(), args)
	if err != nil {
		return err
	}
	bar := produce.NewBar(cmd.ErrOrStderr())
	var broker *kafka.Broker
	if f.embedded {
		if broker, err = kafka.Start(kafka.Options{Topics: map[string]int32{f.topic: f.partitions}}); err != nil {
			return err
		}
		defer broker.Close()
		list = append(list, config.Setting{Key: bootstrapServers, Value: broker.Bootstrap()})
	}
	p, err := linger.New(linger.ByteArray, linger.ByteArray, append(asOptions(list), linger.WithLogger(newConsole(bar, f.verbose)))...)
	if err != nil {
		return err
	}
	slow := f.sayIfSlow(bar, p)
	defer slow.Stop()
	o.Watch = func(r *produce.Run) func() {
		slow.Stop()
		return f.watch(bar, r, cmd.ErrOrStderr())
	}
	sum, err := produce.Do(cmd.Context(), p, o)
	if !sum.Began {
		return explain(err, effective(p, bootstrapServers))
	}
	fmt.Fprintln(cmd.OutOrStdout(), sum.Line())
	sum.Explain(cmd.ErrOrStderr())
	if broker != nil {
		err = errors.Join(err, f.readBack(cmd.OutOrStdout(), broker, p, &sum))
	}
	if sum.Failed > 0 {
		err = errors.Join(fmt.Errorf("%s of %s failed", human.Count(sum.Failed), human.Plural(sum.Sent, "record")), err)
	}
	return err
}

func (f *produceFlags) options(stdin io.Reader, args []string) (o produce.Options, err error) {
	o = produce.Options{
		Topic: f.topic, Separator: f.separator, Partition: f.partition, SkipBad: f.skipBad, ShowFailed: f.showFailed, ShutdownLimit: f.limit,
	}
	if o.Format, err = input.ParseFormat(f.format); err != nil {
		return o, usagef("--format: %w", err)
	}
	o.Inputs, err = inputs(stdin, args)
	return o, err
}

// sayIfSlow speaks up when the topic keeps us waiting.
func (f *produceFlags) sayIfSlow(bar *produce.Bar, p *produce.Producer) *time.Timer {
	servers, limit := effective(p, bootstrapServers), effective(p, "max.block.ms")
	return time.AfterFunc(patience, func() {
		fmt.Fprintf(bar, "waiting for topic %s on %s, up to max.block.ms (%s ms)\n", f.topic, servers, limit)
	})
}

func (f *produceFlags) watch(bar *produce.Bar, r *produce.Run, errOut io.Writer) (stop func()) {
	bar.Forced = f.progress == "always"
	if bar.Forced || f.progress == "auto" && isTerminal(errOut) {
		return bar.Watch(r)
	}
	return func() {}
}

func isTerminal(w io.Writer) bool {
	if o, ok := w.(*checkedOut); ok {
		w = o.Writer
	}
	f, ok := w.(*os.File)
	return ok && cupwriter.New(f, false).IsTerminal()
}

func effective(p *produce.Producer, key string) string {
	for _, e := range p.Config() {
		if e.Key == key {
			return strings.Trim(e.Value, "[]") // of a list
		}
	}
	return ""
}

// explain says what to do about a topic that was not to be had.
func explain(err error, servers string) error {
	var noRoute net.Error // a refused connection, a name nobody knows
	switch {
	case errors.Is(err, &linger.ProducerError{Code: unknownTopicOrPartition}):
		return fmt.Errorf("%w\n  The brokers at %s do not have this topic, and did not make it. Create it, or look at the name.", err, servers)
	case errors.Is(err, linger.ErrTimeout) && errors.As(err, &noRoute):
		return fmt.Errorf("%w\n  No broker could be reached at %s. Is Kafka running there?", err, servers)
	case errors.Is(err, linger.ErrTimeout):
		return fmt.Errorf("%w\n  Nothing at %s answered as a Kafka broker in that time. Is it the right port?", err, servers)
	}
	return err
}

// unknownTopicOrPartition is Kafka's code of that name.
const unknownTopicOrPartition = 3

// readBack counts what the embedded broker has, by another client.
func (f *produceFlags) readBack(out io.Writer, b *kafka.Broker, p *produce.Producer, sum *produce.Summary) error {
	ctx, cancel := context.WithTimeout(context.Background(), readBackLimit)
	defer cancel()
	recs, err := b.ReadAll(ctx, f.topic)
	if err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	counts := make([]int64, f.partitions)
	for _, r := range recs {
		counts[r.Partition]++
	}
	var by []string
	for _, n := range counts {
		by = append(by, human.Count(n))
	}
	fmt.Fprintf(out, "read back from the embedded broker: %s, by partition: %s\n", human.Plural(int64(len(recs)), "record"), strings.Join(by, " | "))
	if int64(len(recs)) != sum.Delivered && effective(p, "acks") != "0" { // with acks=0 nobody knows
		return fmt.Errorf("the embedded broker has %s, but %s were acknowledged", human.Plural(int64(len(recs)), "record"), human.Count(sum.Delivered))
	}
	return nil
}
