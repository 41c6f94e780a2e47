package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"linger"
	"linger/internal/config"
)

// settings are the producer's options as the command line gives them.
type settings struct {
	files     []string
	bootstrap string
	pairs     []string
}

func (s *settings) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&s.files, "config", nil, "Java properties `file` with options; may be repeated")
	f.StringVar(&s.bootstrap, "bootstrap-server", "", "`host:port` of a broker or several, separated by commas")
	f.StringArrayVarP(&s.pairs, "option", "X", nil, "any option of Kafka's, as `key=value`; may be repeated")
	complete(c, "option", func() []string {
		var keys []string
		for _, k := range config.Keys() {
			keys = append(keys, k.Name+"=")
		}
		return keys
	}())
}

// complete lets the shell complete a flag's value from a list.
func complete(c *cobra.Command, flag string, list []string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	if err != nil {
		panic(err) // the flag was not added before
	}
}

// list is all settings in the order in which they count, later ones over earlier ones: files, --bootstrap-server, -X.
func (s *settings) list() ([]config.Setting, error) {
	var all []config.Setting
	for _, name := range s.files {
		text, err := readSmall(name)
		if err != nil {
			return nil, usagef("--config: %w", err)
		}
		list, err := config.ParseProperties(text)
		if err != nil {
			return nil, usagef("--config: %s: %w", name, err)
		}
		for _, set := range list {
			set.Source = name
			all = append(all, set)
		}
	}
	if s.bootstrap != "" {
		all = append(all, config.Setting{Key: bootstrapServers, Value: s.bootstrap, Source: "--bootstrap-server"})
	}
	for i, pair := range s.pairs {
		key, value, found := strings.Cut(pair, "=")
		if key = strings.TrimSpace(key); !found || key == "" {
			return nil, usagef("-X number %d is not key=value, such as -X linger.ms=20", i+1) // its text may be a secret
		}
		if err := checkKey(key); err != nil {
			return nil, err
		}
		all = append(all, config.Setting{Key: key, Value: value, Source: "-X"})
	}
	return all, nil
}

// maxFile bounds in bytes what is read of a file with options: someone who names a device, or a log, hears so.
const maxFile = 16 << 20

func readSmall(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s is larger than %d MiB: it can't be a properties file", name, maxFile>>20)
	}
	return text, err
}

const bootstrapServers = "bootstrap.servers"

// checkKey refuses what is no option. The library lets unknown keys pass, since a plug-in may want them; this program
// has none, so on its command line they are slips of the pen. Files may have them: people share one among programs.
func checkKey(key string) error {
	if _, known := config.Lookup(key); known || strings.HasPrefix(key, "config.providers.") {
		return nil
	}
	return usagef("there is no option %s; %s", key, didYouMean(key))
}

// didYouMean names the options that look like a wrong one.
func didYouMean(key string) string {
	var close []string
	best := max(2, len(key)/4)
	for _, k := range config.Keys() {
		switch d := distance(key, k.Name); {
		case d < best:
			close, best = []string{k.Name}, d
		case d == best:
			close = append(close, k.Name)
		}
	}
	if len(close) == 0 {
		return fmt.Sprintf("%s config lists them all", invocation())
	}
	return "did you mean " + strings.Join(close, " or ") + "?"
}

// distance is how many letters have to be put in, taken out or changed to make a of b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func isSet(list []config.Setting, key string) bool {
	return slices.ContainsFunc(list, func(s config.Setting) bool { return s.Key == key })
}

// asOptions hands settings to the library.
func asOptions(list []config.Setting) []linger.Option {
	var opts []linger.Option
	for _, s := range list {
		opts = append(opts, linger.Set(s.Key, s.Value))
	}
	return opts
}
