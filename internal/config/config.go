package config

import (
	"log/slog"
	"maps"
	"slices"
	"strings"
)

// Config is a producer's configuration: checked, settled and unchanging. It is safe for concurrent use.
type Config struct {
	// Values are the options by their Go names.
	Values
	// Lines are the log lines due, in order: informations and warnings.
	Lines []Line

	set    map[string]Setting
	order  []string
	values map[string]any
	why    map[string]string
}

func (p *parser) config() *Config {
	return &Config{
		Values: p.built(), Lines: p.lines,
		set: p.set, order: p.order, values: p.values, why: p.why,
	}
}

// Warnings are the texts of the lines that are warnings.
func (c *Config) Warnings() []string {
	var texts []string
	for _, l := range c.Lines {
		if l.Level == slog.LevelWarn {
			texts = append(texts, l.Text)
		}
	}
	return texts
}

// Get is the value of a key of the table after all rules: nil, bool, int64, float64, string, []string, [Secret] or
// [Instance]. ok is false when there is no such key. A list is the caller's own.
func (c *Config) Get(key string) (v any, ok bool) {
	v, ok = c.values[key]
	if list, isList := v.([]string); isList {
		v = slices.Clone(list)
	}
	return v, ok
}

// Text is the value of a key of the table for a plug-in that reads text: secrets stay hidden, but what a config provider gave
// is there. Show [Config.Shown] instead.
func (c *Config) Text(key string) string {
	if i, object := c.values[key].(Instance); object {
		return string(i)
	}
	return show(c.values[key])
}

// Extras are the settings that no key of the table knows, as they were given: plug-ins take theirs from here, such as
// key.serializer.encoding. The values may be secrets.
func (c *Config) Extras() map[string]any {
	extras := make(map[string]any)
	for key, s := range c.set {
		if _, known := byName[key]; !known {
			extras[key] = s.Value
		}
	}
	return extras
}

// Unused is the line about settings that nothing will read, such as misspelt ones or the level of a codec that is not
// chosen; ok is false when there is none. readByPlugins are the extras that a serializer or another plug-in took.
func (c *Config) Unused(readByPlugins ...string) (l Line, ok bool) {
	var idle []string
	for _, key := range c.order {
		if !c.reads(key) && !slices.Contains(readByPlugins, key) {
			idle = append(idle, key)
		}
	}
	text := "These configurations '[" + strings.Join(idle, ", ") + "]' were supplied but are not used yet."
	return Line{slog.LevelInfo, text}, len(idle) > 0
}

// reads reports whether a part of the producer looks at the key, given the other options. It is what the Java classes
// touch while they are built.
func (c *Config) reads(key string) bool {
	i, known := byName[key]
	if !known {
		return false
	}
	tls := strings.HasSuffix(c.SecurityProtocol, "SSL")
	sasl := strings.HasPrefix(c.SecurityProtocol, "SASL_")
	switch k := table[i]; {
	case k.Group == Compression && key != compressionType:
		return key == "compression."+c.Compression+".level"
	case key == adaptivePartitioning:
		return c.PartitionerClass == ""
	case key == configProviders:
		return false // used up before the table is looked at
	case key == saslMechanism:
		return true
	case k.Group == TLS:
		return tls
	case k.Group == SASL, k.Group == Kerberos, k.Group == OAuthBearer:
		return sasl
	case key == "security.providers":
		return tls || sasl
	}
	return true
}

// String lists the effective values, one a line, without any secret. It is a method of the value too, so that a copied
// Config does not print its settings either.
func (c Config) String() string {
	var b strings.Builder
	for _, e := range c.Effective() {
		b.WriteString(e.Key + " = " + e.Value + "  (" + e.Origin() + ")\n")
	}
	return b.String()
}

// GoString is String: %#v must not print the settings.
func (c Config) GoString() string { return c.String() }

// extraKeys are the unknown keys in a steady order.
func (c *Config) extraKeys() []string {
	return slices.Sorted(maps.Keys(c.Extras()))
}
