package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// SEC-01: the options of TLS and SASL stand in the table like all others, as many as Java has, and a configuration takes their
// values by the same names; passwords are kept from sight.
func TestSecurityIsPartOfTheTable(t *testing.T) {
	n := map[string]int{}
	for _, k := range Keys() {
		prefix, _, _ := strings.Cut(k.Name, ".")
		if prefix != "ssl" && prefix != "sasl" && prefix != "security" {
			continue
		}
		n[prefix]++
		if k.Option == "" || k.Doc == "" {
			t.Errorf("%s has no typed option or no text", k.Name)
		}
		if k.Status != Works {
			continue // TestNoKeyIsSilentlyIgnored
		}
		if secret := k.Secret(); secret != (strings.Contains(k.Name, "password") || strings.HasSuffix(k.Name, "passphrase") ||
			strings.HasSuffix(k.Name, "secret") || k.Name == "sasl.jaas.config" || strings.HasPrefix(k.Name, "ssl.keystore.key") ||
			strings.Contains(k.Name, "certificate")) {
			t.Errorf("%s: secret %t", k.Name, secret)
		}
	}
	if want := map[string]int{"security": 2, "ssl": 19, "sasl": 47}; !cmp.Equal(n, want) {
		t.Errorf("keys %v, want %v", n, want)
	}
	c := accept(t, "security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", "sasl.jaas.config=it is a secret", "ssl.truststore.type=PEM", "ssl.cipher.suites=a,b")
	for key, want := range map[string]any{
		"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "ssl.truststore.type": "PEM", "ssl.cipher.suites": []string{"a", "b"},
		"ssl.enabled.protocols": []string{"TLSv1.2", "TLSv1.3"}, "ssl.endpoint.identification.algorithm": "https",
	} {
		if got, ok := c.Get(key); !ok || !cmp.Equal(got, want) {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	if got, _ := c.Get("sasl.jaas.config"); got.(Secret).Reveal() != "it is a secret" || strings.Contains(c.String(), "a secret") {
		t.Errorf("sasl.jaas.config is %v in\n%s", got, c)
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
