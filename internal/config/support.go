package config

import (
	"fmt"
	"slices"
	"strings"
)

// checkSupport makes sure that no key is silently ignored: a value that linger cannot honour is an error or a warning.
func (p *parser) checkSupport() *Error {
	for _, k := range table {
		if k.Status == Works || !p.was(k.Name) || k.isDefault(p.values[k.Name]) {
			continue
		}
		switch {
		case k.Status == Refused && isJavaClass(k.Name, p.values[k.Name]):
			continue
		case k.Status == Refused:
			return &Error{Key: k.Name, Message: fmt.Sprintf("Configuration %s is not supported: %s.", k.Name, k.Note)}
		case k.Name == metricReporters && slices.ContainsFunc(p.list(k.Name), isForeign):
			return &Error{Key: k.Name, Message: fmt.Sprintf("Configuration %s is not supported for Java classes other "+
				"than %s: %s.", k.Name, jmxReporter, k.Note)}
		}
		p.warn("Configuration " + k.Name + " has no effect: " + k.Note + ".")
	}
	return nil
}

func isJavaClass(key string, value any) bool {
	_, ok := JavaClass(key, value)
	return ok
}

func isForeign(reporter string) bool { return reporter != jmxReporter }

// isDefault reports whether v, a parsed value, says the same as the default.
func (k Key) isDefault(v any) bool {
	switch d := k.Default.(type) {
	case []string:
		list, ok := v.([]string)
		return ok && slices.Equal(list, d)
	case string:
		s, ok := v.(string)
		o, _ := k.Valid.(oneOf)
		return ok && (s == d || o.fold && strings.EqualFold(s, d))
	}
	return v == k.Default
}
