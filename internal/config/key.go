package config

import "slices"

// Key is one option: what may be set, and what linger makes of it.
type Key struct {
	Name string // Kafka's name, such as "linger.ms"
	Type Type
	// Default is nil (Java's null), bool, int64, float64, string or []string, by Type.
	Default    any
	Required   bool // Java has no default; see Default of bootstrap.servers and the serializers
	Valid      Validator
	Importance Importance
	Group      Group
	Internal   bool // Java hides it from its own documentation
	Unit       Unit
	Status     Status
	Note       string // for any Status but Works: why, or what to use instead
	Option     string // the Go option of the root package
	Doc        string // whole sentences, no unit or range: those are added from the table
}

// Secret reports whether the key's value must never be shown.
func (k Key) Secret() bool { return k.Type == Password }

// Type says which values a key takes; the names are Java's.
type Type uint8

// The types of values.
const (
	Boolean Type = iota
	String
	Int
	Short
	Long
	Double
	List
	Class
	Password
)

var typeNames = [...]string{"BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD"}

// String is Java's name of the type.
func (t Type) String() string { return typeNames[t] }

// Importance is Java's rating of a key.
type Importance uint8

// The three ratings.
const (
	High Importance = iota
	Medium
	Low
)

// String is Java's name of the rating.
func (i Importance) String() string { return [...]string{"HIGH", "MEDIUM", "LOW"}[i] }

// Unit is what a number counts.
type Unit uint8

// The units of numbers. Millis and Seconds are a time.Duration in the Go option.
const (
	NoUnit Unit = iota
	Millis
	Seconds
	Bytes
)

// String is the unit in prose.
func (u Unit) String() string { return [...]string{"", "milliseconds", "seconds", "bytes"}[u] }

// Status says whether linger does what the key says.
type Status uint8

const (
	// Works: the key does what it does in Java.
	Works Status = iota
	// NoEffect: the key is accepted and changes nothing; a value that is not the default is answered by a warning.
	NoEffect
	// Refused: a value that is not the default is a configuration error that says what to use instead.
	Refused
)

// String is the status in prose.
func (s Status) String() string {
	return [...]string{"works", "no effect in Go", "refused"}[s]
}

// Group is the chapter of the documentation a key stands in.
type Group uint8

// The groups, in the order of the documentation.
const (
	Connecting Group = iota
	Batching
	Reliability
	Partitioning
	Compression
	Transactions
	Metadata
	Network
	Metrics
	Plugins
	Security
	TLS
	SASL
	OAuthBearer
	Kerberos
)

// Groups lists all groups in the order of the documentation.
func Groups() []Group {
	all := make([]Group, 0, Kerberos+1)
	for g := Connecting; g <= Kerberos; g++ {
		all = append(all, g)
	}
	return all
}

// String is the group's heading.
func (g Group) String() string {
	return [...]string{
		"Connecting", "Batching and memory", "Reliability", "Partitioning", "Compression", "Transactions",
		"Metadata", "Network", "Metrics", "Plug-ins", "Security", "TLS", "SASL", "OAUTHBEARER", "Kerberos",
	}[g]
}

// table is in Java's order of definition: of several bad values the first in this order is reported.
var table = slices.Concat(keysOfRecords, keysOfTheClient, keysOfTLS, keysOfSASL, keysOfOAuth, keysAtTheEnd)

var byName = func() map[string]int {
	m := make(map[string]int, len(table))
	for i, k := range table {
		m[k.Name] = i
	}
	return m
}()

// Keys is the whole table in Java's order of definition. The slice is the caller's own.
func Keys() []Key { return slices.Clone(table) }

// Lookup finds one key by its Kafka name.
func Lookup(name string) (Key, bool) {
	i, ok := byName[name]
	if !ok {
		return Key{}, false
	}
	return table[i], true
}
