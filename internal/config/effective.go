package config

// Effective is what one key amounts to in the end, and where that came from.
type Effective struct {
	Key string
	// Value is the text of the value; "[hidden]" for a secret that is set, "null" for none.
	Value string
	// Source is who set it; empty for a default.
	Source string
	// Adjusted says why the value is neither what was set nor the default; empty when it is one of them.
	Adjusted string
	// Known is false for a key the table lacks; its value is never shown.
	Known bool
}

// Origin is the source in a few words: default, set by whom, adjusted and why.
func (e Effective) Origin() string {
	origin := "default"
	if e.Source != "" {
		origin = "set by " + e.Source
	}
	if e.Adjusted != "" {
		origin += "; " + e.Adjusted
	}
	return origin
}

// Effective lists all 120 keys in table order, then the unknown ones by name. The slice is the caller's own.
func (c *Config) Effective() []Effective {
	all := make([]Effective, 0, len(table))
	for _, k := range table {
		all = append(all, c.effective(k.Name, show(c.values[k.Name]), true))
	}
	for _, key := range c.extraKeys() {
		all = append(all, c.effective(key, hidden, false))
	}
	return all
}

// Shown is the value of a known key as it may be shown: a secret's, or one that a config provider gave, is hidden.
func (c *Config) Shown(key string) string { return c.effective(key, show(c.values[key]), true).Value }

// IsSet reports whether the application gave the key a value, be it the default.
func (c *Config) IsSet(key string) bool {
	_, set := c.set[key]
	return set
}

func (c *Config) effective(key, text string, known bool) Effective {
	s, set := c.set[key]
	e := Effective{Key: key, Value: text, Adjusted: c.why[key], Known: known}
	if i, object := c.values[key].(Instance); object {
		e.Value = string(i)
	}
	if set {
		e.Source = s.Source
		if e.Source == "" {
			e.Source = "the program"
		}
	}
	if s.hidden || key == clientID && !set && c.set[transactionalID].hidden { // the name may have been made from that
		e.Value = hidden
	}
	return e
}
