package config

import (
	"fmt"
	"math"
	"regexp"
	"strings"
)

// Setting is one option as the user gave it.
type Setting struct {
	Key string
	// Value is a string as in a properties file, or a bool, int, int64, float64, []string or Instance. Nil is Java's null.
	Value any
	// Source says where it came from, in a few words for the user: "Set", a file's name, "flag".
	Source string
	// hidden is set when a config provider gave the text: it is then treated as a secret.
	hidden bool
}

// Instance stands for a plug-in handed over as an object instead of by name, where a CLASS key wants a name. It wins
// over a name whatever the order of settings. Its text is a name for reports.
type Instance string

// Secret is the value of a PASSWORD key. Printing it shows "[hidden]".
type Secret struct{ text string }

// Reveal is the secret itself, for the one place that needs it.
func (s Secret) Reveal() string { return s.text }

// String, GoString and MarshalText keep the secret out of logs and dumps.
func (Secret) String() string { return hidden }

// GoString hides the secret from %#v.
func (Secret) GoString() string { return hidden }

// MarshalText hides the secret from encoders.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// coerce makes the value of a setting the key's type, as ConfigDef.parseType does.
//
// Java is strict about number types (an Integer is no Long for batch.size, a Long no Integer); Go's int and int64 are
// one thing to users, so any of the two that fits is taken.
func coerce(k Key, s Setting) (any, *Error) {
	v, why := convert(k, s.Value)
	if why == "" {
		return v, nil
	}
	value := s.Value
	if k.Secret() || s.hidden {
		value = Secret{}
	}
	return nil, Invalid(k.Name, value, why)
}

// convert returns the typed value, or why there is none.
func convert(k Key, v any) (typed any, why string) {
	if v == nil {
		return nil, ""
	}
	text, isText := v.(string)
	text = trim(text)
	switch k.Type {
	case Boolean:
		switch b, isBool := v.(bool); {
		case isBool:
			return b, ""
		case isText && strings.EqualFold(text, "true"):
			return true, ""
		case isText && strings.EqualFold(text, "false"):
			return false, ""
		}
		return nil, "Expected value to be either true or false"
	case Int:
		return integer(v, isText, k.Type, math.MinInt32, math.MaxInt32, "a 32-bit integer")
	case Short:
		return integer(v, isText, k.Type, math.MinInt16, math.MaxInt16, "a 16-bit integer (short)")
	case Long:
		return integer(v, isText, k.Type, math.MinInt64, math.MaxInt64, "a 64-bit integer (long)")
	case Double:
		return double(v, text, isText)
	case List:
		return list(v, text, isText)
	case Class:
		if i, ok := v.(Instance); ok {
			return i, ""
		}
		if !isText {
			return nil, "Expected a Class instance or class name."
		}
		return text, ""
	case Password:
		if !isText {
			return nil, "Expected value to be a string, but it was a " + typeName(v)
		}
		return Secret{text}, ""
	}
	if !isText {
		return nil, "Expected value to be a string, but it was a " + typeName(v)
	}
	if k.Name == acks && strings.EqualFold(text, "all") {
		text = "all" // any letter case: Java's own parser allows it, its validator does not
	}
	return text, ""
}

func integer(v any, isText bool, t Type, min, max int64, what string) (any, string) {
	var n int64
	switch v := v.(type) {
	case int:
		n = int64(v)
	case int64:
		n = v
	case string:
		var ok bool
		if n, ok = parseJavaInt(trim(v)); !ok {
			return nil, "Not a number of type " + t.String()
		}
	default:
		return nil, "Expected value to be " + what + ", but it was a " + typeName(v)
	}
	if n < min || n > max {
		return nil, "Not a number of type " + t.String()
	}
	return n, ""
}

func double(v any, text string, isText bool) (any, string) {
	switch v := v.(type) {
	case int:
		return float64(v), ""
	case int64:
		return float64(v), ""
	case float64:
		return v, ""
	}
	if !isText {
		return nil, "Expected value to be a double, but it was a " + typeName(v)
	}
	f, ok := parseJavaDouble(text)
	if !ok {
		return nil, "Not a number of type DOUBLE"
	}
	return f, ""
}

// comma is Java's separator of a list: a comma and the blanks around it.
var comma = regexp.MustCompile(`[ \t\n\v\f\r]*,[ \t\n\v\f\r]*`)

func list(v any, text string, isText bool) (any, string) {
	entries, isList := v.([]string)
	switch {
	case isList:
		return append([]string{}, entries...), ""
	case !isText:
		return nil, "Expected a comma separated list."
	case text == "":
		return []string{}, ""
	}
	return comma.Split(text, -1), ""
}

// trim is Java's String.trim: everything up to the blank goes, other spaces of Unicode stay.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
}

// typeName is the Go type of a value in an error.
func typeName(v any) string { return fmt.Sprintf("%T", v) }
