package oauth

import (
	"errors"
	"fmt"
	"strings"

	"linger/internal/config"
)

// Error is why there is no token. It never holds a secret: neither the client's, nor an assertion, nor a token.
type Error struct {
	// Option is the option the error is about.
	Option string
	// Where is the endpoint, without query and user, or the file; it may be empty.
	Where string
	// Remedy is what can be done, a clause; it may be empty.
	Remedy string
	// Err is the cause, never nil.
	Err error
}

// Error names the option, where it points to, the cause and the remedy.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Option)
	if e.Where != "" {
		b.WriteString(" (" + e.Where + ")")
	}
	b.WriteString(": " + e.Err.Error())
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// refuse is the error of an option that can't be used, found while the producer is made.
func refuse(option, why, remedy string) error {
	text := why
	if remedy != "" {
		text += "; " + remedy
	}
	return &config.Error{Key: option, Message: text}
}

// required is the error of an option that is missing, in Java's words.
func required(option, remedy string) error {
	return refuse(option, fmt.Sprintf("The OAuth configuration option %s value is required", option), remedy)
}

var errClosed = errors.New("the producer is closed")

// errorText is an error that is nothing but its text.
type errorText string

// Error is the text.
func (e errorText) Error() string { return string(e) }

const errNoValue = errorText("it gave a token without a value, and no error")
