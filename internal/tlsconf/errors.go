package tlsconf

import (
	"fmt"

	"linger/internal/kerr"
)

// Error is an ssl.* option that cannot be used. It never holds a secret.
type Error struct {
	Option  string // the key it is about, such as "ssl.truststore.location"
	Message string // the Java producer's words where it has any
	Cause   error  // may be nil
	Remedy  string // a whole sentence
}

// Error gives message, cause, option and remedy.
func (e *Error) Error() string {
	text := e.Message
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return fmt.Sprintf("%s (%s) %s", text, e.Option, e.Remedy)
}

// Unwrap makes errors.Is find kerr.ErrConfig and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{kerr.ErrConfig}
	}
	return []error{kerr.ErrConfig, e.Cause}
}

// flaw is what a reader found in a store's bytes: it knows neither the option nor the file.
type flaw struct {
	why    string
	remedy string // empty: none that the reader knows
	java   string // Java's message, where it differs from that of a store that can't be loaded
}

func (f *flaw) Error() string { return f.why }

func flawed(remedy, format string, args ...any) *flaw {
	return &flaw{why: fmt.Sprintf(format, args...), remedy: remedy}
}

// guard turns a panic of a decoder into a flaw: the bytes of a store come from outside.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = flawed("", "the contents are not what the format promises")
	}
}
