package kerr

import (
	"slices"
	"strconv"
	"strings"
)

// Code is an error number of the Kafka protocol. The zero value is None: no error.
//
// A number that the table does not know, from a broker newer than this client, keeps its number and prints as itself;
// in all else it behaves like UnknownServerError, as in Java (Errors.forCode).
type Code int16

// entry is what Java knows about a code, or about an exception class without one.
type entry struct {
	name      string
	exception string
	message   string
	traits    traits
}

// traits are the exception's supertypes that change what happens.
type traits uint16

const (
	retriable traits = 1 << iota
	refreshRetriable
	invalidMetadata
	applicationRecoverable
	invalidConfiguration
	transactionAbortable
	authorization
	authentication
	api
)

// Known reports whether the table has the code.
func (c Code) Known() bool { return c >= UnknownServerError && int(c)+1 < len(table) }

func (c Code) entry() *entry {
	if !c.Known() {
		c = UnknownServerError
	}
	return &table[c+1]
}

// Name is the protocol's name, such as NOT_LEADER_OR_FOLLOWER; for an unknown code UNKNOWN_CODE_ and its number.
func (c Code) Name() string {
	if !c.Known() {
		return "UNKNOWN_CODE_" + strconv.Itoa(int(c))
	}
	return c.entry().name
}

// String is Name.
func (c Code) String() string { return c.Name() }

// Message is the text that Java gives the error.
func (c Code) Message() string { return c.entry().message }

// Exception is the simple name of Java's exception class, such as NotLeaderOrFollowerException; empty for None.
func (c Code) Exception() string { return c.entry().exception }

// Retriable reports whether trying the same request again may succeed.
func (c Code) Retriable() bool { return c.entry().traits.has(retriable) }

// RefreshRetriable reports whether trying again may succeed after the metadata was refreshed.
func (c Code) RefreshRetriable() bool { return c.entry().traits.has(refreshRetriable) }

// InvalidMetadata reports whether the error says that the client's metadata is out of date.
func (c Code) InvalidMetadata() bool { return c.entry().traits.has(invalidMetadata) }

// Authorization reports whether the error says that the principal may not do what it asked.
func (c Code) Authorization() bool { return c.entry().traits.has(authorization) }

// Authentication reports whether the error says that the client could not prove who it is.
func (c Code) Authentication() bool { return c.entry().traits.has(authentication) }

// Class is what an application can do about the error when nothing is known about the operation that met it.
// It is ClassNone for None.
func (c Code) Class() Class {
	if c == None {
		return ClassNone
	}
	return c.entry().traits.class()
}

func (t traits) has(want traits) bool { return t&want == want }

// class takes the narrowest group of KIP-1050 that the exception belongs to.
func (t traits) class() Class {
	switch {
	case t.has(refreshRetriable):
		return ClassRefreshRetriable
	case t.has(retriable):
		return ClassRetriable
	case t.has(transactionAbortable):
		return ClassAbortable
	case t.has(applicationRecoverable):
		return ClassApplicationRecoverable
	case t.has(invalidConfiguration):
		return ClassInvalidConfiguration
	default:
		return ClassFatal
	}
}

// byException finds the class of Java's exceptions with that simple name, with a code or without one.
func byException(name string) (*entry, bool) {
	if i, ok := slices.BinarySearchFunc(classes[:], name, func(e entry, n string) int { return strings.Compare(e.exception, n) }); ok {
		return &classes[i], true
	}
	for i := range table {
		if table[i].exception == name && name != "" {
			return &table[i], true
		}
	}
	return nil, false
}
