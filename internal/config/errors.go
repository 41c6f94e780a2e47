package config

import (
	"log/slog"

	"linger/internal/kerr"
)

// Error is a configuration that cannot be used. Its text is the Java producer's wherever Java has one.
type Error struct {
	// Key is the option the error is about; empty when it is about several.
	Key     string
	Message string
	// Lines are the log lines that were due before the error was found; they often explain it.
	Lines []Line

	why string // of an error about one value: the sentence without the value
}

// Error is the sentence alone.
func (e *Error) Error() string { return e.Message }

// Unwrap makes errors.Is find kerr.ErrConfig.
func (e *Error) Unwrap() error { return kerr.ErrConfig }

// Line is one thing to tell the user through the log.
type Line struct {
	Level slog.Level // slog.LevelInfo or slog.LevelWarn
	Text  string
}

// Invalid is the error of a value that its key does not take, in Java's words. Callers that check a plug-in's name or
// type after Parse use it too.
func Invalid(key string, value any, why string) *Error {
	text := "Invalid value " + show(value) + " for configuration " + key
	if why != "" {
		text += ": " + why
	}
	return &Error{Key: key, Message: text, why: why}
}

// ClassNotFound is the error of a plug-in name that nobody registered.
func ClassNotFound(key, name string) *Error {
	return Invalid(key, name, "Class "+name+" could not be found.")
}

// hidden stands where a secret would.
const hidden = "[hidden]"
