package config

import (
	"strings"
	"testing"
)

// CFG-69, CFG-70, CFG-73: what linger lacks is said, never ignored.
func TestNoKeyIsSilentlyIgnored(t *testing.T) {
	for _, k := range Keys() {
		if k.Status == Works {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			if k.Note == "" {
				t.Error("the table does not say why")
			}
			c, err := Parse(given(k.Name + "=" + otherThanDefault(k)))
			switch {
			case k.Status == NoEffect && k.Name != metricReporters:
				if err != nil {
					t.Fatal(err)
				}
				wantWarning(t, c, "Configuration "+k.Name+" has no effect: "+k.Note)
			case err == nil || !strings.Contains(err.Error(), k.Name+" is not supported"):
				t.Errorf("got %v", err)
			}
			if k.Default != nil && k.DefaultText() != "empty" {
				if c := accept(t, k.Name+"="+k.DefaultText()); len(c.Warnings()) > 0 {
					t.Errorf("the default is warned of: %q", c.Warnings())
				}
			}
		})
	}
}

// otherThanDefault is some valid text for a key that is not its default.
func otherThanDefault(k Key) string {
	switch k.Type {
	case Boolean:
		return map[any]string{true: "false", false: "true"}[k.Default]
	case Int, Short, Long:
		return "7"
	case Double:
		return map[bool]string{true: "0.1", false: "0.7"}[k.Default == 0.05]
	}
	switch v := k.Valid.(type) {
	case oneOf:
		return v.words[len(v.words)-1-map[bool]int{true: 1}[strings.EqualFold(v.words[len(v.words)-1], show(k.Default))]]
	}
	return "something"
}

func TestJavasOwnReporterIsNoReasonToRefuse(t *testing.T) {
	accept(t, "metric.reporters="+jmxReporter)
	wantWarning(t, accept(t, "metric.reporters="), "Configuration metric.reporters has no effect")
	if _, err := Parse(given("metric.reporters=" + jmxReporter + ",my.Reporter")); err == nil {
		t.Error("a Java class is accepted")
	}
}

func TestTheTableIsWhole(t *testing.T) {
	for _, k := range Keys() {
		if !strings.HasSuffix(k.Doc, ".") || strings.Contains(k.Doc, "  ") {
			t.Errorf("%s: text %q", k.Name, k.Doc)
		}
		if strings.HasSuffix(k.Name, ".ms") != (k.Unit == Millis) && k.Name != "sasl.kerberos.min.time.before.relogin" {
			t.Errorf("%s: unit %s", k.Name, k.Unit)
		}
		if k.Valid != nil && k.Default != nil {
			if err := k.Valid.check(k.Name, k.Default); err != nil {
				t.Errorf("the default is refused: %v", err)
			}
		}
	}
	if len(Keys()) != 120 {
		t.Errorf("%d keys", len(Keys()))
	}
	if _, ok := Lookup("no.such.key"); ok {
		t.Error("found a key that is not there")
	}
}
