package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"linger"
	"linger/internal/config"
)

func configCommand() *cobra.Command {
	var s settings
	var changed, asJSON bool
	var explained []string
	c := &cobra.Command{
		Use: "config", Short: "Show the effective options, where they come from, and what they mean", Args: cobra.NoArgs,
		Long: `Show what each option amounts to and where that comes from: the default, a file, the command line, or a rule
between options. Nothing is connected to; options that "produce" would refuse are refused here in the same words.
Secrets are never shown.`,
		Example: "  " + invocation() + " config --changed --config client.properties -X linger.ms=20\n" +
			"  " + invocation() + " config --explain linger.ms",
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := s.list()
			if err != nil {
				return err
			}
			keys, err := lookUp(explained)
			if err != nil {
				return err
			}
			cfg, err := settle(list)
			if err != nil {
				return err
			}
			tellLines(cmd.ErrOrStderr(), cfg)
			view, err := rows(cfg, list, changed, keys)
			if err != nil {
				return err
			}
			switch {
			case asJSON:
				return writeJSON(cmd.OutOrStdout(), view)
			case len(keys) > 0:
				return writeExplained(cmd.OutOrStdout(), view)
			}
			return writeTable(cmd.OutOrStdout(), view)
		},
	}
	s.addFlags(c)
	f := c.Flags()
	f.BoolVar(&changed, "changed", false, "only options that differ from the defaults")
	f.StringArrayVar(&explained, "explain", nil, "what the option `key` means; may be repeated")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	var names []string
	for _, k := range config.Keys() {
		names = append(names, k.Name)
	}
	complete(c, "explain", names)
	return c
}

func lookUp(names []string) (keys []config.Key, err error) {
	for _, name := range names {
		k, ok := config.Lookup(name)
		if !ok {
			return nil, usagef("there is no option %s; %s", name, didYouMean(name))
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// placeholder stands in for bootstrap.servers where nothing is connected to, so that all else can be checked.
const placeholder = "localhost:9092"

// serializers are this program's own: bytes pass as they are.
func serializers() []config.Setting {
	asTheyAre := config.Instance("bytes as they are")
	return []config.Setting{
		{Key: "key.serializer", Value: asTheyAre, Source: "this program"}, {Key: "value.serializer", Value: asTheyAre, Source: "this program"},
	}
}

// settle is the configuration that "produce" would run with, or what it would say against it.
func settle(list []config.Setting) (*config.Config, error) {
	if !isSet(list, bootstrapServers) {
		list = append(list, config.Setting{Key: bootstrapServers, Value: placeholder})
	}
	cfg, err := config.Parse(append(list, serializers()...))
	if err != nil {
		return nil, err
	}
	// What is left to go wrong are the names of plug-ins, which the producer looks up. An address in digits keeps it from
	// asking the name service about brokers.
	p, err := linger.New(linger.ByteArray, linger.ByteArray, append(asOptions(list),
		linger.BootstrapServers("127.0.0.1:9092"), linger.WithLogger(nil), linger.WithDialer(nowhere))...)
	if err != nil {
		return nil, err
	}
	return cfg, p.Close()
}

func nowhere(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("nothing is connected to here")
}

// tellLines shows the warnings, and what nobody reads.
func tellLines(w io.Writer, cfg *config.Config) {
	for _, text := range cfg.Warnings() {
		fmt.Fprintln(w, "warning:", text)
	}
	if l, ok := cfg.Unused(); ok {
		fmt.Fprintln(w, "warning:", l.Text)
	}
}

// row is one option as it is shown.
type row struct {
	Key      string `json:"key"`
	Value    string `json:"value"`
	Default  string `json:"default"`
	Source   string `json:"source"` // "default" or who set it
	Adjusted string `json:"adjusted,omitempty"`
	Status   string `json:"status"` // whether linger does what the key says

	key    config.Key
	origin string
}

// rows picks what to show: the explained keys or, without any, all; with changed only those that were changed.
func rows(cfg *config.Config, list []config.Setting, changed bool, keys []config.Key) (view []row, err error) {
	wanted := map[string]bool{}
	for _, k := range keys {
		wanted[k.Name] = true
	}
	plain, err := defaults()
	if err != nil {
		return nil, err
	}
	for _, e := range cfg.Effective() {
		if !e.Known || len(keys) > 0 && !wanted[e.Key] { // unknown keys are named among those that nobody reads
			continue
		}
		if changed && e.Adjusted == "" && (e.Source == "" || e.Value == plain[e.Key]) {
			continue
		}
		r := newRow(e)
		if e.Key == bootstrapServers && !isSet(list, bootstrapServers) {
			if changed {
				continue
			}
			r.Value, r.Source, r.origin = "none", "default", "must be set to connect"
		}
		view = append(view, r)
	}
	return view, nil
}

// defaults are the values of a configuration in which nobody set anything.
func defaults() (values map[string]string, err error) {
	cfg, err := config.Parse(append(serializers(), config.Setting{Key: bootstrapServers, Value: placeholder}))
	if err != nil {
		return nil, err
	}
	values = map[string]string{}
	for _, e := range cfg.Effective() {
		values[e.Key] = e.Value
	}
	return values, nil
}

func newRow(e config.Effective) row {
	k, _ := config.Lookup(e.Key)
	r := row{Key: e.Key, Value: e.Value, Default: k.DefaultText(), Source: e.Source, Adjusted: e.Adjusted, Status: k.Status.String(), key: k, origin: e.Origin()}
	if r.Source == "" {
		r.Source = "default"
		if r.Value == "null" {
			r.Value = r.Default
		}
	}
	return r
}

// writeTable lists key and value, and the origin of what is no plain default.
func writeTable(w io.Writer, view []row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range view {
		fmt.Fprintf(t, "%s\t%s", r.Key, orEmpty(r.Value))
		if r.origin != "default" {
			fmt.Fprintf(t, "  (%s)", r.origin)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func orEmpty(s string) string {
	if s == "" {
		return "(empty)"
	}
	return s
}

func writeJSON(w io.Writer, view []row) error {
	if view == nil {
		view = []row{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(view)
}

// proseWidth is where explanations are wrapped.
const proseWidth = 78

func writeExplained(w io.Writer, view []row) error {
	for i, r := range view {
		if i > 0 {
			fmt.Fprintln(w)
		}
		k := r.key
		fmt.Fprintf(w, "%s\n", k.Name)
		for _, line := range [][2]string{
			{"value", orEmpty(r.Value) + "  (" + r.origin + ")"},
			{"default", defaultText(k)},
			{"takes", takes(k)},
			{"in Go", goOption(k)},
			{"about", k.Group.String() + ", importance " + strings.ToLower(k.Importance.String())},
			{"note", note(k)},
		} {
			if line[1] != "" {
				fmt.Fprintf(w, "  %-8s %s\n", line[0], line[1])
			}
		}
		fmt.Fprintf(w, "\n%s\n", wrap(k.Doc, proseWidth))
	}
	return nil
}

func defaultText(k config.Key) string {
	text := k.DefaultText()
	if k.Required {
		return text + "; must be set"
	}
	if d, ok := k.DefaultDuration(); ok && d != 0 {
		text += " (" + d.String() + ")"
	}
	return text
}

func takes(k config.Key) string {
	text := strings.ToLower(k.Type.String())
	if r := k.Range(); r != "" {
		text += ", " + r
	}
	if u := k.Unit.String(); u != "" {
		text += "; " + u
	}
	return text
}

func goOption(k config.Key) string {
	if k.Option == "" {
		return ""
	}
	return "linger." + k.Option
}

func note(k config.Key) string {
	if k.Status == config.Works {
		return k.Note
	}
	return k.Status.String() + ": " + k.Note
}

// wrap breaks a text into lines of at most width letters, as far as its words allow.
func wrap(text string, width int) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case column == 0:
		case column+1+n > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
