package kerr

import (
	"context"
	"errors"
	"slices"
)

// Class says what an application can do about an error. The groups are those of KIP-1050.
type Class uint8

const (
	// ClassNone is the class of no error.
	ClassNone Class = iota
	// ClassRetriable: doing the same again may succeed.
	ClassRetriable
	// ClassRefreshRetriable: doing the same again may succeed once the metadata is refreshed.
	ClassRefreshRetriable
	// ClassAbortable: the transaction must be aborted; then the producer can go on.
	ClassAbortable
	// ClassApplicationRecoverable: this producer is finished; the application recovers with a new one.
	ClassApplicationRecoverable
	// ClassInvalidConfiguration: a setting, a permission or the cluster's set-up must change first.
	ClassInvalidConfiguration
	// ClassFatal: nothing of the above helps.
	ClassFatal
)

// String is the class's name in words.
func (c Class) String() string {
	switch c {
	case ClassNone:
		return "none"
	case ClassRetriable:
		return "retriable"
	case ClassRefreshRetriable:
		return "retriable after a metadata refresh"
	case ClassAbortable:
		return "abortable"
	case ClassApplicationRecoverable:
		return "application-recoverable"
	case ClassInvalidConfiguration:
		return "invalid configuration"
	default:
		return "fatal"
	}
}

// ClassOf says what an application can do about err. It is ClassNone for nil, and ClassFatal for an error that this
// package does not know.
func ClassOf(err error) Class {
	if err == nil {
		return ClassNone
	}
	class := ClassFatal
	walk(err, func(link error) (stop bool) {
		switch e := link.(type) {
		case *Error:
			class = e.class()
			return class != ClassNone
		case *Situation:
			class = e.class
			return true
		}
		return false
	})
	if class == ClassNone {
		return ClassFatal
	}
	return class
}

// CodeOf is the first code in err's chain: None for nil, UnknownServerError when no link has one, as in Java
// (Errors.forException).
func CodeOf(err error) Code {
	if err == nil {
		return None
	}
	code := UnknownServerError
	walk(err, func(link error) (stop bool) {
		switch e := link.(type) {
		case *Error:
			if e.Code != None {
				code = e.Code
				return true
			}
		case *Situation:
			if e.code != None {
				code = e.code
				return true
			}
		}
		return false
	})
	return code
}

// IsAPI reports whether err is what Java calls an ApiException: inside Send such an error goes to the callback and
// the future, while every other one comes out of Send itself (KafkaProducer.doSend).
func IsAPI(err error) bool {
	e, ok := javaClass(err)
	return ok && e.traits.has(api)
}

// JavaName is the simple name of the exception that the Java producer gives in err's place. It is empty for nil, and
// RuntimeException for an error that this package does not know, such as one of the application's own.
//
// An error of another package can name its exception with a method JavaException() string.
func JavaName(err error) string {
	if err == nil {
		return ""
	}
	if name := exceptionOf(err); name != "" {
		return name
	}
	return "RuntimeException"
}

// JavaNames are the simple names of the exception that the Java producer gives in err's place and of its causes, the
// outermost first. It is empty for nil.
func JavaNames(err error) []string {
	if err == nil {
		return nil
	}
	var names []string
	var told error // the sentinel that the Error before it has already spoken for
	walk(err, func(link error) (stop bool) {
		if link == told {
			return false
		}
		if e, ok := link.(*Error); ok {
			if s := e.situation(); s != nil {
				told = s
			}
		}
		// A context's error is the interruption, not its cause.
		if name := ownException(link); name != "" && !(name == interrupted && slices.Contains(names, name)) {
			names = append(names, name)
		}
		return false
	})
	if len(names) == 0 {
		return []string{JavaName(err)}
	}
	return names
}

// JavaMessage is the text that the Java producer's exception has in err's place, without what Error adds to it.
func JavaMessage(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	walk(err, func(link error) (stop bool) {
		switch e := link.(type) {
		case *Error:
			if m := e.message(); m != "" {
				text = m
				return true
			}
		case *Situation:
			text = e.text
			return true
		}
		return false
	})
	return text
}

func javaClass(err error) (*entry, bool) {
	if err == nil {
		return nil, false
	}
	return byException(exceptionOf(err))
}

// exceptionOf names the exception of the outermost link that knows one; empty when none does.
func exceptionOf(err error) (name string) {
	walk(err, func(link error) (stop bool) {
		name = ownException(link)
		return name != ""
	})
	return name
}

const interrupted = "InterruptException"

// ownException names the exception of one link; empty when it knows none.
func ownException(link error) string {
	switch e := link.(type) {
	case *Error:
		return e.exception()
	case interface{ JavaException() string }: // a Situation, or another package's
		return e.JavaException()
	}
	// Java has no context: the wait of a thread ends by interruption.
	if link == context.Canceled || link == context.DeadlineExceeded {
		return interrupted
	}
	return ""
}

// walk visits err's chain from the outside in, depth first, until visit says stop.
func walk(err error, visit func(error) (stop bool)) bool {
	for err != nil {
		if visit(err) {
			return true
		}
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range many.Unwrap() {
				if walk(e, visit) {
					return true
				}
			}
			return false
		}
		err = errors.Unwrap(err)
	}
	return false
}
