package faults

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFactsOfRecordedLines holds the way from lines to facts against what was recorded by the same rules from the Java
// producer: testdata/lines has both sides' lines of some of its runs, transactions among them.
func TestFactsOfRecordedLines(t *testing.T) {
	const folder = "testdata/lines"
	all, err := load("testdata")
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	for _, s := range all {
		said, err := os.ReadFile(filepath.Join(folder, s.Name+".driver.jsonl"))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		seen, err := os.ReadFile(filepath.Join(folder, s.Name+".broker.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		runs++
		got, err := factsOf(s.compare, parseLines[driverLine](said), parseLines[brokerLine](seen))
		if err != nil {
			t.Fatal(err)
		}
		if ds := differences(s.want, got); len(ds) > 0 {
			t.Errorf("%s:\n%s", s.Name, report(ds))
		}
	}
	if runs == 0 {
		t.Errorf("no lines in %s", folder)
	}
}

// Each fact that changes is seen and shown; a fact that is not recorded is not asked for.
func TestEveryFactIsCompared(t *testing.T) {
	all, err := load("testdata")
	if err != nil {
		t.Fatal(err)
	}
	s := all[0]
	if ds := differences(s.want, cloned(s.want)); len(ds) > 0 {
		t.Fatalf("facts differ from themselves:\n%s", report(ds))
	}
	for _, fact := range compared {
		if _, ok := s.want[fact]; !ok {
			t.Fatalf("%s has no fact %q", s.Name, fact)
		}
		got := cloned(s.want)
		got[fact] = []any{"something else"}
		ds := differences(s.want, got)
		if len(ds) != 1 || ds[0].fact != fact || !strings.Contains(report(ds), "something else") {
			t.Errorf("%s changed: %v", fact, ds)
		}
		want := cloned(s.want)
		delete(want, fact)
		if ds := differences(want, got); len(ds) > 0 {
			t.Errorf("%s is not recorded and differs: %v", fact, ds)
		}
	}
}

func TestOneOutcomeIsRightWhereJavaHasTwo(t *testing.T) {
	list := func(names ...any) map[string]any { return map[string]any{"twice": append([]any{}, names...)} }
	for name, c := range map[string]struct {
		want, got map[string]any
		differ    int
	}{
		"none where Java has one":     {list("a-2"), list(), 0},
		"the same":                    {list("a-2"), list("a-2"), 0},
		"one of two":                  {list("a-1", "a-2"), list("a-1"), 0},
		"another one":                 {list("a-2"), list("a-3"), 1},
		"one where Java has none":     {list(), list("a-1"), 1},
		"two of which Java has one":   {list("a-2"), list("a-1", "a-2"), 1},
		"nothing said about outcomes": {list("a-2"), map[string]any{}, 0},
	} {
		if ds := differences(c.want, c.got); len(ds) != c.differ {
			t.Errorf("%s: %v", name, ds)
		}
	}
}

// A race leaves open what it decides, and nothing else.
func TestRacesLeaveOpenOnlyWhatTheyDecide(t *testing.T) {
	all, err := load("testdata")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, s := range all {
		race, ok := races[s.Name]
		if !ok {
			continue
		}
		found++
		for _, fact := range []string{"records", "ops", "state", "produce", "log"} {
			got := cloned(s.want)
			switch v := got[fact].(type) {
			case []any:
				got[fact] = append(v, "more")
			case map[string]any:
				v["more"] = "more"
				if fact == "produce" {
					v["more"] = []any{"more"}
				}
			}
			if ds := differences(race.agree(s.want), race.agree(got)); len(ds) != 1 {
				t.Errorf("%s: %s changed, and that makes %d differences", s.Name, fact, len(ds))
			}
		}
	}
	if found != len(races) {
		t.Errorf("%d of %d races are scenarios", found, len(races))
	}
}
