package config

import (
	"log/slog"
	"slices"
)

// Parse turns settings, applied in order, into a producer's configuration. It is what the Java producer's constructor
// does with its options before the first thread starts; the error is an [*Error].
//
// Plug-in names are kept as they are and environment variables and files are read as the process sees them; use
// [ParseWith] to change either. Parse is safe for concurrent use.
func Parse(settings []Setting) (*Config, error) { return ParseWith(settings, Outside{}) }

// ParseWith is [Parse] with another view of the outside.
func ParseWith(settings []Setting, out Outside) (*Config, error) {
	p := merge(settings, out)
	if err := p.run(); err != nil {
		err.Lines = p.lines
		return nil, err
	}
	return p.config(), nil
}

// parser is the work of one Parse.
type parser struct {
	out    Outside
	set    map[string]Setting // by key; the setting that won
	order  []string           // keys in the order in which they were first set
	values map[string]any     // by key of the table: nil, bool, int64, float64, string, []string, Secret or Instance
	why    map[string]string  // by key: why the value is not what was set or the default
	lines  []Line
	boot   []HostPort
}

// merge keeps of each key the last setting; an object given for a plug-in stays.
func merge(settings []Setting, out Outside) *parser {
	p := &parser{out: out.orReal(), set: map[string]Setting{}, values: map[string]any{}, why: map[string]string{}}
	for _, s := range settings {
		old, have := p.set[s.Key]
		if !have {
			p.order = append(p.order, s.Key)
		}
		if _, object := old.Value.(Instance); have && object {
			if _, again := s.Value.(Instance); !again {
				continue
			}
		}
		p.set[s.Key] = s
	}
	return p
}

// run is the order of the Java producer's constructor.
func (p *parser) run() *Error {
	for _, step := range []func() *Error{
		p.wantSerializers,
		p.resolveProviders,
		p.parseKeys,
		p.crossCheck,
		p.checkNulls,
		p.checkSupport,
		p.nameClient,
		p.build,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// wantSerializers comes before anything else, as in Java: a serializer is given as an object or by name.
func (p *parser) wantSerializers() *Error {
	for _, key := range []string{keySerializer, valueSerializer} {
		if p.set[key].Value == nil {
			return Invalid(key, nil, "must be non-null.")
		}
	}
	return nil
}

// parseKeys parses and checks each key in table order; the first error wins.
func (p *parser) parseKeys() *Error {
	for _, k := range table {
		v, err := p.parseKey(k)
		if err != nil {
			return err
		}
		p.values[k.Name] = v
	}
	return nil
}

func (p *parser) parseKey(k Key) (any, *Error) {
	s, set := p.set[k.Name]
	if !set && k.Required {
		return nil, &Error{
			Key:     k.Name,
			Message: `Missing required configuration "` + k.Name + `" which has no default value.`,
		}
	}
	v := k.Default
	if set {
		var err *Error
		if v, err = coerce(k, s); err != nil {
			return nil, err
		}
	}
	if list, ok := v.([]string); ok {
		v = p.distinct(k.Name, list)
	}
	if name, ok := v.(string); ok && k.Type == Class && set && k.Status == Works && !p.out.knows(k.Name, name) {
		return nil, s.veil(k, ClassNotFound(k.Name, s.Value.(string)))
	}
	if k.Valid != nil {
		if err := k.Valid.check(k.Name, v); err != nil {
			return nil, s.veil(k, err)
		}
	}
	return v, nil
}

// veil takes a value that must not be shown out of the error about it.
func (s Setting) veil(k Key, err *Error) *Error {
	switch {
	case !s.hidden || err.why == "":
		return err
	case k.Type == Class:
		return Invalid(k.Name, Secret{}, "The class could not be found.")
	}
	return Invalid(k.Name, Secret{}, err.why)
}

// distinct removes what stands in a list twice, with Java's warning.
func (p *parser) distinct(key string, list []string) []string {
	once := make([]string, 0, len(list))
	for _, e := range list {
		if !slices.Contains(once, e) {
			once = append(once, e)
		}
	}
	if len(once) < len(list) {
		from, to := show(list), show(once)
		if p.set[key].hidden {
			from, to = hidden, hidden
		}
		p.warn(`Configuration key "` + key + `" contains duplicate values. Duplicates will be removed. ` +
			"The original value is: " + from + ", the updated value is: " + to)
		p.why[key] = "duplicates were removed"
	}
	return once
}

func (p *parser) info(text string) { p.lines = append(p.lines, Line{slog.LevelInfo, text}) }
func (p *parser) warn(text string) { p.lines = append(p.lines, Line{slog.LevelWarn, text}) }

// was reports whether the user set the key, to whatever value.
func (p *parser) was(key string) bool { _, ok := p.set[key]; return ok }

func (p *parser) int(key string) int64     { n, _ := p.values[key].(int64); return n }
func (p *parser) str(key string) string    { s, _ := p.values[key].(string); return s }
func (p *parser) bool(key string) bool     { b, _ := p.values[key].(bool); return b }
func (p *parser) list(key string) []string { l, _ := p.values[key].([]string); return l }

// plugin is the name at a CLASS key, whether it was given by name or as an object; empty when there is none.
func (p *parser) plugin(key string) string {
	if i, ok := p.values[key].(Instance); ok {
		return string(i)
	}
	return p.str(key)
}
