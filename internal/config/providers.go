package config

import (
	"log/slog"
	"regexp"
	"strings"
)

// A provider fetches values that stand elsewhere. get returns what it has of the keys wanted; what it lacks stays
// "${…}" in the setting, as in Java.
type provider interface {
	get(path string, keys []string) (map[string]string, *Error)
}

// variable is Java's grammar of a reference: ${provider:key} or ${provider:path:key}.
var variable = regexp.MustCompile(`\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}`)

// resolveProviders puts what the config providers give in the place of the references in all text settings (KIP-297).
// Once only: what a provider gives is not looked at again.
func (p *parser) resolveProviders() *Error {
	providers, err := p.providers()
	if err != nil || len(providers) == 0 {
		return err
	}
	for _, key := range p.order {
		s := p.set[key]
		text, isText := s.Value.(string)
		if !isText {
			continue
		}
		if s.Value, s.hidden, err = expand(text, providers); err != nil {
			return err
		}
		p.set[key] = s
	}
	return nil
}

// expand replaces the references of one text; fetched says that there were any.
func expand(text string, providers map[string]provider) (out string, fetched bool, err *Error) {
	var b strings.Builder
	end := 0
	for _, m := range variable.FindAllStringSubmatchIndex(text, -1) {
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		from, known := providers[part(1)]
		if !known {
			continue
		}
		got, err := from.get(part(3), []string{part(4)})
		if err != nil {
			return "", false, err
		}
		b.WriteString(text[end:m[0]])
		if value, have := got[part(4)]; have {
			b.WriteString(value)
			fetched = true
		} else {
			b.WriteString(part(0))
		}
		end = m[1]
	}
	b.WriteString(text[end:])
	return b.String(), fetched, nil
}

const (
	providerPrefix  = configProviders + "."
	classOfProvider = "org.apache.kafka.common.config.provider."
)

// providers makes those that config.providers names. A name without a class is left out, and names are not trimmed:
// both as in Java.
func (p *parser) providers() (map[string]provider, *Error) {
	names, _ := p.set[configProviders].Value.(string)
	if list, ok := p.set[configProviders].Value.([]string); ok { // the typed option; Java takes text alone
		names = strings.Join(list, ",")
	}
	made := make(map[string]provider)
	if names == "" {
		return made, nil
	}
	for name := range strings.SplitSeq(names, ",") {
		class, ok := p.set[providerPrefix+name+".class"].Value.(string)
		if !ok {
			continue
		}
		prov, err := p.provider(name, class)
		if err != nil {
			return nil, err
		}
		made[name] = prov
	}
	return made, nil
}

func (p *parser) provider(name, class string) (provider, *Error) {
	param := func(s string) (string, bool) {
		v, ok := p.set[providerPrefix+name+".param."+s].Value.(string)
		return v, ok
	}
	switch class {
	case classOfProvider + "EnvVarConfigProvider":
		pattern, given := param("allowlist.pattern")
		if !given {
			p.info("No pattern for environment variables provided. Using default pattern '(.*)'.")
			pattern = ".*"
		}
		allow, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
		if err != nil {
			return nil, Invalid(providerPrefix+name+".param.allowlist.pattern", pattern, "Not a regular expression")
		}
		return envProvider{p, allow}, nil
	case classOfProvider + "FileConfigProvider":
		allowed, err := p.allowedPaths(param("allowed.paths"))
		return fileProvider{p, allowed}, err
	case classOfProvider + "DirectoryConfigProvider":
		allowed, err := p.allowedPaths(param("allowed.paths"))
		return dirProvider{p, allowed}, err
	}
	if own := p.out.Provider(class); own != nil {
		return p.ownProvider(name, class, own)
	}
	p.lines = append(p.lines, Line{slog.LevelError, "Could not load config provider class " + class})
	return nil, Invalid(providerPrefix+name+".class", class,
		"Could not load config provider class or one of its dependencies")
}
