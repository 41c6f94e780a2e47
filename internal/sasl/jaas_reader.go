package sasl

import (
	"errors"
	"strings"
)

// jaasReader cuts a JAAS text into words and signs as java.io.StreamTokenizer does with JaasConfig's settings.
type jaasReader struct {
	text string
	at   int

	kind rune   // of the last token: jaasWord, jaasNumber, the sign itself, or jaasEnd
	word string // of a jaasWord
	err  error
}

const (
	jaasEnd    rune = -1
	jaasWord   rune = -2 // also a quoted one
	jaasNumber rune = -3 // Java keeps no text of a bare number
)

var errOpenQuote = errors.New("a quote is not closed in JAAS config; a quote inside a value is written \\\"")

// next reads a token and reports whether there was one.
func (r *jaasReader) next() bool {
	r.kind, r.word = jaasEnd, ""
	r.skip()
	if r.at >= len(r.text) || r.err != nil {
		return false
	}
	switch c := r.text[r.at]; {
	case c == '"' || c == '\'':
		r.quoted(c)
	case isDigit(c):
		r.kind = jaasNumber
		r.take(isDigit)
	case isWordStart(c):
		r.kind = jaasWord
		r.word = r.take(func(c byte) bool { return isWordStart(c) || isDigit(c) })
	default:
		r.kind = rune(c)
		r.at++
	}
	return r.err == nil
}

func (r *jaasReader) take(fits func(byte) bool) string {
	from := r.at
	for r.at < len(r.text) && fits(r.text[r.at]) {
		r.at++
	}
	return r.text[from:r.at]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' || c == '.' }

func isWordStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_' || c == '$' || c >= 0x80
}

// skip passes white space and comments: /* … */, and from any other slash to the end of the line.
func (r *jaasReader) skip() {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		switch {
		case rest[0] <= ' ':
			r.at++
		case strings.HasPrefix(rest, "/*"):
			r.at += 2
			r.to(strings.Index(r.text[r.at:], "*/"), 2)
		case rest[0] == '/':
			r.to(strings.IndexAny(rest, "\r\n"), 1)
		default:
			return
		}
	}
}

// to passes n bytes and what ends them, or everything when there is no such end.
func (r *jaasReader) to(n, end int) {
	if n < 0 {
		r.at = len(r.text)
		return
	}
	r.at += n + end
}

// quoted reads up to the closing quote, which must stand on the same line.
func (r *jaasReader) quoted(quote byte) {
	var b strings.Builder
	for r.at++; r.at < len(r.text); {
		switch c := r.text[r.at]; c {
		case quote:
			r.at++
			r.kind, r.word = jaasWord, b.String()
			return
		case '\r', '\n':
			r.err = errOpenQuote
			return
		case '\\':
			r.at++
			r.escape(&b)
		default:
			b.WriteByte(c)
			r.at++
		}
	}
	r.err = errOpenQuote
}

// escape reads what follows a backslash: up to three octal digits, a letter that stands for a control character, or a
// character that stands for itself.
func (r *jaasReader) escape(b *strings.Builder) {
	if r.at >= len(r.text) {
		return
	}
	c := r.text[r.at]
	if isOctal(c) {
		most := 2
		if c <= '3' {
			most = 3
		}
		n := rune(0)
		for i := 0; i < most && r.at < len(r.text) && isOctal(r.text[r.at]); i++ {
			n = n*8 + rune(r.text[r.at]-'0')
			r.at++
		}
		b.WriteRune(n)
		return
	}
	if i := strings.IndexByte("abfnrtv", c); i >= 0 {
		c = "\a\b\f\n\r\t\v"[i]
	}
	b.WriteByte(c)
	r.at++
}

func isOctal(c byte) bool { return c >= '0' && c <= '7' }
