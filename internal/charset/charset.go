package charset

import (
	"strings"
)

// Charset is one character set. It is immutable and safe for concurrent use.
type Charset struct {
	name   string
	prefix string // before the first character of a text that is not empty
	append func(dst []byte, r rune) []byte
}

// Name is Java's canonical name of the set.
func (c *Charset) Name() string { return c.name }

// IsUTF8 reports whether valid UTF-8 passes as it is.
func (c *Charset) IsUTF8() bool { return c.name == "UTF-8" }

// Append appends s in the set to dst. What the set does not have becomes a question mark, or U+FFFD in a Unicode set.
func (c *Charset) Append(dst []byte, s string) []byte {
	if s == "" {
		return dst
	}
	dst = append(dst, c.prefix...)
	for _, r := range s {
		dst = c.append(dst, r)
	}
	return dst
}

// NameError says that no character set has a name.
type NameError struct {
	Name string
	// Illegal says that no set could have the name: it has characters that names don't have.
	Illegal bool
}

// Error names the name.
func (e *NameError) Error() string {
	if e.Illegal {
		return "illegal character set name \"" + e.Name + "\""
	}
	return "unknown character set \"" + e.Name + "\""
}

// JavaException is the simple name of the exception that Java has in its place.
func (e *NameError) JavaException() string {
	if e.Illegal {
		return "IllegalCharsetNameException"
	}
	return "UnsupportedCharsetException"
}

// Lookup finds a set by one of the names Java has for it, in any case; the error is a *NameError.
func Lookup(name string) (*Charset, error) {
	if !legal(name) {
		return nil, &NameError{Name: name, Illegal: true}
	}
	for i := range unicodeSets {
		if unicodeSets[i].isNamed(name) {
			return unicodeSets[i].charset(), nil
		}
	}
	for i := range tableSets {
		if tableSets[i].isNamed(name) {
			return tableSets[i].charset(), nil
		}
	}
	return nil, &NameError{Name: name}
}

// legal reports whether name is one that Java allows: letters, digits and, behind the first, "-+.:_".
func legal(name string) bool {
	for i, r := range []byte(name) {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		case i > 0 && strings.IndexByte("-+.:_", r) >= 0:
		default:
			return false
		}
	}
	return name != ""
}

// names are a set's names, separated by blanks, the canonical one first.
type names string

func (n names) isNamed(name string) bool {
	for n := range strings.FieldsSeq(string(n)) {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

func (n names) canonical() string {
	first, _, _ := strings.Cut(string(n), " ")
	return first
}
