package config

import (
	"strings"
	"testing"
)

// given are settings written "key=value", on top of what every configuration needs.
func given(pairs ...string) []Setting {
	all := []Setting{
		{Key: bootstrapServers, Value: "127.0.0.1:9092", Source: "the test"},
		{Key: keySerializer, Value: Instance("a string"), Source: "the test"},
		{Key: valueSerializer, Value: Instance("a string"), Source: "the test"},
	}
	for _, p := range pairs {
		key, value, _ := strings.Cut(p, "=")
		all = append(all, Setting{Key: key, Value: value, Source: "the test"})
	}
	return all
}

func accept(t *testing.T, pairs ...string) *Config {
	t.Helper()
	c, err := Parse(given(pairs...))
	if err != nil {
		t.Fatalf("%v refused: %v", pairs, err)
	}
	return c
}

// refuse wants exactly this error.
func refuse(t *testing.T, want string, pairs ...string) {
	t.Helper()
	wantError(t, want, given(pairs...))
}

func wantError(t *testing.T, want string, settings []Setting) {
	t.Helper()
	switch c, err := Parse(settings); {
	case err == nil:
		t.Errorf("accepted, want: %s", want)
	case err.Error() != want:
		t.Errorf("got  %s\nwant %s", err, want)
	case c != nil:
		t.Error("a configuration came with the error")
	}
}

func without(settings []Setting, key string) []Setting {
	var rest []Setting
	for _, s := range settings {
		if s.Key != key {
			rest = append(rest, s)
		}
	}
	return rest
}

// wantWarning wants one warning that contains part.
func wantWarning(t *testing.T, c *Config, part string) {
	t.Helper()
	for _, w := range c.Warnings() {
		if strings.Contains(w, part) {
			return
		}
	}
	t.Errorf("no warning %q among %q", part, c.Warnings())
}

func find(t *testing.T, c *Config, key string) Effective {
	t.Helper()
	for _, e := range c.Effective() {
		if e.Key == key {
			return e
		}
	}
	t.Fatalf("no effective value of %s", key)
	return Effective{}
}
