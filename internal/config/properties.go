package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ParseProperties reads the text of a Java properties file as java.util.Properties does: comments, continued lines,
// escapes, the separators =, : and blank. Settings come in the order of the file; a key may come twice. "${…}" stays
// as it is: that is the config providers' part.
//
// The text may be Latin-1, as Java reads it, or UTF-8, as people write it; a text that is valid UTF-8 is taken for
// that. Sources are left empty. The error names the line and shows nothing of it, since it may be a secret.
//
// The libraries for this format misread continued lines that end in CR LF, continued keys, and escapes above U+FFFF,
// hence our own hundred lines.
func ParseProperties(text []byte) ([]Setting, error) {
	var settings []Setting
	for _, l := range logicalLines(decode(text)) {
		key, value := splitLine(l.text)
		var s Setting
		var err error
		if s.Key, err = unescape(key); err != nil {
			return nil, fmt.Errorf("line %d: %w", l.number, err)
		}
		if s.Value, err = unescape(value); err != nil {
			return nil, fmt.Errorf("line %d: %w", l.number, err)
		}
		settings = append(settings, s)
	}
	return settings, nil
}

// decode is the text as a string, without the mark that some editors put before UTF-8.
func decode(text []byte) string {
	if utf8.Valid(text) {
		return strings.TrimPrefix(string(text), "\ufeff")
	}
	runes := make([]rune, len(text))
	for i, b := range text {
		runes[i] = rune(b)
	}
	return string(runes)
}

// logicalLine is a line with its continuations appended, still escaped.
type logicalLine struct {
	number int // of its first natural line, from 1
	text   string
}

const blanks = " \t\f"

// logicalLines drops comments and empty lines. A line that ends in an odd number of backslashes goes on in the next,
// whose leading blanks do not count; only the first line of such a chain can be a comment.
func logicalLines(text string) []logicalLine {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	var lines []logicalLine
	open := false // the last of lines is to be continued
	for i, natural := range strings.Split(text, "\n") {
		natural = strings.TrimLeft(natural, blanks)
		if !open && (natural == "" || natural[0] == '#' || natural[0] == '!') {
			continue
		}
		if !open {
			lines = append(lines, logicalLine{number: i + 1})
		}
		backslashes := len(natural) - len(strings.TrimRight(natural, `\`))
		if open = backslashes%2 == 1; open {
			natural = natural[:len(natural)-1]
		}
		last := &lines[len(lines)-1]
		last.text += natural
		if last.text == "" { // a backslash alone begins nothing
			lines, open = lines[:len(lines)-1], false
		}
	}
	return lines
}

// splitLine cuts at the first separator that no backslash protects: blanks, one = or :, blanks.
func splitLine(line string) (key, value string) {
	end := len(line)
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
		} else if strings.IndexByte(blanks+"=:", line[i]) >= 0 {
			end = i
			break
		}
	}
	rest := strings.TrimLeft(line[end:], blanks)
	if rest != "" && (rest[0] == '=' || rest[0] == ':') {
		rest = strings.TrimLeft(rest[1:], blanks)
	}
	return line[:end], rest
}

// malformedEscape says what is wrong in Java's words, and what to do about it: mostly it is a path such as C:\users.
const malformedEscape = `malformed \uXXXX: behind \u stand four hexadecimal digits; where a backslash itself is meant, write \\`

// unescape undoes backslashes. \u gives one UTF-16 unit, so two of them may make one character.
func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	units := make([]uint16, 0, len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if r == '\\' {
			if i == len(s) {
				break
			}
			r, size = utf8.DecodeRuneInString(s[i:])
			i += size
			switch r {
			case 't':
				r = '\t'
			case 'n':
				r = '\n'
			case 'r':
				r = '\r'
			case 'f':
				r = '\f'
			case 'u':
				unit, err := strconv.ParseUint(s[i:min(i+4, len(s))], 16, 16)
				if err != nil || i+4 > len(s) {
					return "", errors.New(malformedEscape)
				}
				units = append(units, uint16(unit))
				i += 4
				continue
			}
		}
		units = utf16.AppendRune(units, r)
	}
	return string(utf16.Decode(units)), nil
}
