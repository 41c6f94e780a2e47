package main

import (
	"bytes"
	"os"
	"testing"

	"linger/internal/config"
)

// CFG-01: the typed options and the page follow from the one table.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	options, err := optionsFile(config.Keys())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]byte{
		"../../options_gen.go": options,
		"../../docs/CONFIG.md": docFile(config.Keys()),
	} {
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s no longer follows from the table (%v): run tools/configgen at the repository's root", path, err)
		}
	}
}

func TestEachKeyHasAnOptionOfItsOwn(t *testing.T) {
	key := map[string]string{}
	for _, k := range config.Keys() {
		if other := key[k.Option]; k.Option == "" || other != "" {
			t.Errorf("%s and %s: option %q", k.Name, other, k.Option)
		}
		key[k.Option] = k.Name
	}
}

func TestTheOptionOfATimeTakesADuration(t *testing.T) {
	for name, want := range map[string]string{
		"linger.ms":                         "d.Milliseconds()",
		"sasl.login.refresh.buffer.seconds": "int64(d / time.Second)",
		"buffer.memory":                     "bytes",
		"interceptor.classes":               "list",
	} {
		k, ok := config.Lookup(name)
		if _, got := goForm(k); !ok || got != want {
			t.Errorf("%s sets %s, want %s", name, got, want)
		}
	}
}

func TestWrapBreaksBetweenWords(t *testing.T) {
	got := wrap("one two  three", 7)
	if len(got) != 2 || got[0] != "one two" || got[1] != "three" {
		t.Errorf("got %q", got)
	}
}
