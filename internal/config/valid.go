package config

import (
	"slices"
	"strconv"
	"strings"
)

// Validator decides whether a parsed value is allowed.
type Validator interface {
	// check returns nil or the error Java raises. The value is nil, int64, float64, string or []string.
	check(key string, v any) *Error
	// String is Java's text for the allowed values.
	String() string
}

// span allows min ≤ number ≤ max, or min ≤ number when it has no max.
type span[N int64 | float64] struct {
	min, max N
	bounded  bool
}

func atLeast(min int64) Validator                     { return span[int64]{min: min} }
func between[N int64 | float64](min, max N) Validator { return span[N]{min, max, true} }

func (s span[N]) check(key string, v any) *Error {
	switch n, ok := v.(N); {
	case !ok:
		return Invalid(key, v, "Value must be non-null")
	case n < s.min:
		return Invalid(key, v, "Value must be at least "+show(s.min))
	case s.bounded && n > s.max:
		return Invalid(key, v, "Value must be no more than "+show(s.max))
	}
	return nil
}

func (s span[N]) String() string {
	if !s.bounded {
		return "[" + show(s.min) + ",...]"
	}
	return "[" + show(s.min) + ",...," + show(s.max) + "]"
}

// spanOr allows min ≤ number ≤ max, and one number besides.
type spanOr struct{ min, max, also int64 }

func (s spanOr) check(key string, v any) *Error {
	n, ok := v.(int64)
	if !ok {
		return Invalid(key, v, "Value must be non-null")
	}
	if n == s.also || s.min <= n && n <= s.max {
		return nil
	}
	return Invalid(key, v, "Value must be between "+show(s.min)+" and "+show(s.max)+" or equal to "+show(s.also))
}

func (s spanOr) String() string {
	return "[" + show(s.min) + ",...," + show(s.max) + "] or " + show(s.also)
}

// oneOf allows the words listed; with fold their letter case does not matter.
type oneOf struct {
	words []string
	fold  bool
}

func words(w ...string) Validator     { return oneOf{words: w} }
func foldWords(w ...string) Validator { return oneOf{words: w, fold: true} }

func (o oneOf) check(key string, v any) *Error {
	s, ok := v.(string)
	if ok && slices.ContainsFunc(o.words, func(w string) bool {
		return w == s || o.fold && w == strings.ToUpper(s)
	}) {
		return nil
	}
	how := ": "
	if o.fold {
		how = " (case insensitive): "
	}
	return Invalid(key, v, "String must be one of"+how+strings.Join(o.words, ", "))
}

func (o oneOf) String() string {
	list := "[" + strings.Join(o.words, ", ") + "]"
	if o.fold {
		return "(case insensitive) " + list
	}
	return list
}

// nonEmpty allows null and any text but the empty one.
type nonEmpty struct{}

func (nonEmpty) check(key string, v any) *Error {
	if s, ok := v.(string); ok && s == "" {
		return Invalid(key, v, "String must be non-empty")
	}
	return nil
}

func (nonEmpty) String() string { return "non-empty string" }

// anyList allows a list without empty entries; orNone allows the list to be empty. Duplicates were removed before.
type anyList struct{ orNone bool }

func (l anyList) check(key string, v any) *Error {
	list, ok := v.([]string)
	switch {
	case !ok:
		return &Error{Key: key, Message: "Configuration '" + key + "' values must not be null."}
	case len(list) == 0 && !l.orNone:
		return &Error{Key: key, Message: "Configuration '" + key +
			"' must not be empty. Valid values include: any non-empty value"}
	case slices.Contains(list, ""):
		return &Error{Key: key, Message: "Configuration '" + key + "' values must not be empty."}
	}
	return nil
}

func (anyList) String() string { return "" }

// show is a value as Java prints it.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return javaDouble(v)
	case []string:
		return "[" + strings.Join(v, ", ") + "]"
	case Secret, Instance:
		return hidden
	}
	return "of type " + typeName(v)
}
