package input

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"linger"
)

// jsonParser reads one object a line. A field's value that is a text is sent as its UTF-8 bytes, null is Kafka's null, and
// anything else is sent as its JSON text, as it stands.
type jsonParser struct {
	seen map[string]bool
}

// The fields of a record, and of a header in the long form.
const (
	recordFields = "key, keyBase64, value, valueBase64, headers, partition and timestamp"
	headerFields = "key, value and valueBase64"
)

func (p *jsonParser) parse(line []byte, rec *Record) error {
	line = bytes.TrimPrefix(line, []byte("\ufeff"))
	if !utf8.Valid(line) {
		return errors.New("not UTF-8; JSON is UTF-8, and other bytes go into keyBase64 or valueBase64")
	}
	if p.seen == nil {
		p.seen = make(map[string]bool)
	}
	clear(p.seen)
	err := eachField(line, func(name string, raw json.RawMessage) error {
		if p.seen[name] {
			return fmt.Errorf("%q comes twice", name)
		}
		p.seen[name] = true
		return p.field(name, raw, rec)
	})
	switch {
	case err != nil:
		return err
	case p.seen["key"] && p.seen["keyBase64"], p.seen["value"] && p.seen["valueBase64"]:
		return errors.New("a text and its Base64 form exclude each other")
	case !p.seen["value"] && !p.seen["valueBase64"]:
		return errors.New(`no "value"; write "value":null for a tombstone`)
	}
	return nil
}

func (p *jsonParser) field(name string, raw json.RawMessage, rec *Record) (err error) {
	switch name {
	case "key":
		rec.Key, err = plain(raw)
	case "value":
		rec.Value, err = plain(raw)
	case "keyBase64":
		rec.Key, err = fromBase64(raw)
	case "valueBase64":
		rec.Value, err = fromBase64(raw)
	case "headers":
		rec.Headers, err = headers(raw)
	case "partition":
		rec.Partition, err = partition(raw)
	case "timestamp":
		rec.Timestamp, err = timestamp(raw)
	default:
		return fmt.Errorf("unknown field %q; a record has %s", name, recordFields)
	}
	if err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	return nil
}

// eachField visits the fields of an object in their order.
func eachField(text []byte, visit func(name string, raw json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if open, err := dec.Token(); err != nil {
		return syntax(text, err)
	} else if open != json.Delim('{') {
		return errors.New(`not a JSON object such as {"key":"…", "value":"…"}`)
	}
	for dec.More() {
		before := dec.InputOffset()
		name, err := dec.Token()
		if err != nil {
			return syntax(text, err)
		}
		if err := whole(name.(string), text[before:dec.InputOffset()]); err != nil { // names are the only tokens here
			return err
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return syntax(text, err)
		}
		if err := visit(name.(string), raw); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return syntax(text, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("something follows the object at column %d; one line is one record", dec.InputOffset())
	}
	return nil
}

// syntax words a decoder's error; the column comes from a second look at the whole text, since a decoder counts from the
// token it is at.
func syntax(text []byte, err error) error {
	var at *json.SyntaxError
	if errors.As(json.Unmarshal(text, new(json.RawMessage)), &at) && at.Offset < int64(len(text)) {
		return fmt.Errorf("not JSON at column %d: %w", at.Offset, at)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("not JSON: the line ends inside the object (one line is one record)")
	}
	return fmt.Errorf("not JSON: %w", err)
}

// plain is a field's value as bytes.
func plain(raw json.RawMessage) ([]byte, error) {
	switch raw[0] {
	case 'n':
		return nil, nil
	case '"':
		s, err := text(raw)
		return []byte(s), err
	}
	return raw, nil
}

// text is a JSON text.
func text(raw json.RawMessage) (s string, err error) {
	if raw[0] != '"' {
		return "", fmt.Errorf("%s is not a text", raw)
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", err
	}
	return s, whole(s, raw)
}

// whole refuses half a surrogate pair, which is no character and has no UTF-8: encoding/json would quietly put U+FFFD.
func whole(s string, raw []byte) error {
	if strings.ContainsRune(s, utf8.RuneError) && loneSurrogate(raw) {
		return errors.New(`half of a surrogate pair (\ud800 to \udfff) is no character`)
	}
	return nil
}

// loneSurrogate reports whether a valid JSON text has a \u escape of half a pair that the other half does not follow.
func loneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		unit := escape(raw[i:])
		switch {
		case unit >= 0xdc00 && unit <= 0xdfff:
			return true
		case unit >= 0xd800 && unit <= 0xdbff:
			if low := escape(raw[i+6:]); low < 0xdc00 || low > 0xdfff {
				return true
			}
			i += 11
		case unit >= 0:
			i += 5
		default:
			i++
		}
	}
	return false
}

// escape is the number of the \uXXXX that b begins with, or -1.
func escape(b []byte) int64 {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return int64(n)
}

func fromBase64(raw json.RawMessage) ([]byte, error) {
	if raw[0] == 'n' {
		return nil, nil
	}
	s, err := text(raw)
	if err != nil {
		return nil, err
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// headers takes {"name":"value"} and, for Base64, [{"key":"name","valueBase64":"…"}]. Names may repeat in both.
func headers(raw json.RawMessage) (list []linger.Header, err error) {
	switch raw[0] {
	case 'n':
		return nil, nil
	case '{':
		err = eachField(raw, func(name string, raw json.RawMessage) error {
			value, err := plain(raw)
			list = append(list, linger.Header{Key: name, Value: value})
			return err
		})
		return list, err
	case '[':
		var objects []json.RawMessage
		if err := json.Unmarshal(raw, &objects); err != nil {
			return nil, err
		}
		for i, o := range objects {
			h, err := header(o)
			if err != nil {
				return nil, fmt.Errorf("header %d: %w", i+1, err)
			}
			list = append(list, h)
		}
		return list, nil
	}
	return nil, errors.New(`want {"name":"value"} or [{"key":"name","value":"value"}]`)
}

func header(raw json.RawMessage) (h linger.Header, err error) {
	named := false
	err = eachField(raw, func(name string, raw json.RawMessage) (err error) {
		switch name {
		case "key":
			named = true
			h.Key, err = text(raw)
		case "value":
			h.Value, err = plain(raw)
		case "valueBase64":
			h.Value, err = fromBase64(raw)
		default:
			err = fmt.Errorf("unknown field %q; a header has %s", name, headerFields)
		}
		return err
	})
	if err == nil && !named {
		err = errors.New(`no "key"`)
	}
	return h, err
}

func partition(raw json.RawMessage) (int32, error) {
	if raw[0] == 'n' {
		return AnyPartition, nil
	}
	n, err := strconv.ParseInt(string(raw), 10, 32)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s is no partition; want a whole number from 0 to %d", raw, math.MaxInt32)
	}
	return int32(n), nil
}

// timestamp takes milliseconds since 1970 or RFC 3339; Kafka keeps milliseconds, and nothing before 1970.
func timestamp(raw json.RawMessage) (t time.Time, err error) {
	switch raw[0] {
	case 'n':
		return time.Time{}, nil
	case '"':
		var s string
		if s, err = text(raw); err == nil {
			t, err = time.Parse(time.RFC3339, s)
		}
	default:
		var ms int64
		ms, err = strconv.ParseInt(string(raw), 10, 64)
		t = time.UnixMilli(ms)
	}
	if err != nil {
		return t, fmt.Errorf("%s is no time; want milliseconds since 1970 or RFC 3339 such as \"2026-01-31T12:00:00Z\"", raw)
	}
	if t.UnixMilli() < 0 {
		return t, fmt.Errorf("%s lies before 1970, which Kafka can't keep", raw)
	}
	return t, nil
}
