package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestEffectiveSaysWhereEachValueCameFrom(t *testing.T) {
	c := accept(t, "linger.ms=100000", "acks=1", "foo.bar=1", "compression.type= gzip ")
	tests := map[string]struct{ value, origin string }{
		"batch.size":              {"16384", "default"},
		"linger.ms":               {"100000", "set by the test"},
		"compression.type":        {"gzip", "set by the test"},
		"delivery.timeout.ms":     {"130000", "default; raised to linger.ms + request.timeout.ms"},
		"enable.idempotence":      {"false", "default; switched off because acks is set to 1, not set to 'all'"},
		"ssl.enabled.protocols":   {"[TLSv1.2, TLSv1.3]", "default"},
		"ssl.truststore.password": {"null", "default"},
		"foo.bar":                 {"[hidden]", "set by the test"},
		"key.serializer":          {"a string", "set by the test"},
	}
	for key, want := range tests {
		if e := find(t, c, key); e.Value != want.value || e.Origin() != want.origin {
			t.Errorf("%s = %s (%s), want %s (%s)", key, e.Value, e.Origin(), want.value, want.origin)
		}
	}
	if got, want := len(c.Effective()), len(Keys())+1; got != want {
		t.Errorf("%d entries, want %d", got, want)
	}
}

// SEC: a secret's text is nowhere in what may be printed.
func TestSecretsAreNeverShown(t *testing.T) {
	const secret = "hunter2"
	p := merge(given("ssl.key.password="+secret, "passwrod="+secret), Outside{})
	if err := p.parseKeys(); err != nil {
		t.Fatal(err)
	}
	c := p.config()
	v, _ := c.Get("ssl.key.password")
	text, err := json.Marshal(map[string]any{"v": v})
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{c.String(), fmt.Sprintf("%v %+v %#v %v %#v", c, c, c, *c, *c), fmt.Sprintf("%v %+v %#v", v, v, v), string(text)} {
		if strings.Contains(shown, secret) {
			t.Errorf("shown: %s", shown)
		}
	}
	if got := v.(Secret).Reveal(); got != secret {
		t.Errorf("revealed %q", got)
	}
	if got := find(t, c, "ssl.key.password").Value; got != hidden {
		t.Errorf("effective value %q", got)
	}
	if _, err := Parse(append(given(), Setting{Key: "ssl.key.password", Value: []string{secret}})); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("error %v", err)
	}
}
