package input

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"linger"
)

// readAll reads an input to its end: the records, with copies of their slices, and what was wrong with the other lines.
func readAll(t *testing.T, r *Reader) (recs []Record, bad []string) {
	t.Helper()
	for {
		rec, err := r.Next()
		var badLine *BadLine
		switch {
		case errors.Is(err, io.EOF):
			return recs, bad
		case errors.As(err, &badLine):
			bad = append(bad, err.Error())
		case err != nil:
			t.Fatal(err)
		default:
			rec.Key, rec.Value = clone(rec.Key), clone(rec.Value)
			recs = append(recs, rec)
		}
	}
}

func clone(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append([]byte{}, b...)
}

func read(t *testing.T, f Format, text string) ([]Record, []string) {
	t.Helper()
	return readAll(t, NewReader("in", strings.NewReader(text), f, "\t"))
}

func rec(line int, key, value any) Record {
	side := func(v any) []byte {
		if s, ok := v.(string); ok {
			return []byte(s)
		}
		return nil
	}
	return Record{Key: side(key), Value: side(value), Partition: AnyPartition, Line: line}
}

func TestLinesAndKeysWithValues(t *testing.T) {
	for _, c := range []struct {
		name   string
		format Format
		text   string
		want   []Record
		bad    []string
	}{
		{"nothing is no record", Lines, "", nil, nil},
		{"the last line needs no end", Lines, "a\nb", []Record{rec(1, nil, "a"), rec(2, nil, "b")}, nil},
		{"an empty line is an empty value, not null", Lines, "\n\na\n", []Record{rec(1, nil, ""), rec(2, nil, ""), rec(3, nil, "a")}, nil},
		{"CR LF ends a line, one CR of two goes", Lines, "a\r\nb\r\r\nc\r", []Record{rec(1, nil, "a"), rec(2, nil, "b\r"), rec(3, nil, "c")}, nil},
		{"any bytes are a value", Lines, "\xff\x00\t\xfe\n", []Record{rec(1, nil, "\xff\x00\t\xfe")}, nil},
		{"the first separator counts", KeyValue, "k\tv\tw\n", []Record{rec(1, "k", "v\tw")}, nil},
		{"both sides may be empty, never null", KeyValue, "\tv\nk\t\n\t", []Record{rec(1, "", "v"), rec(2, "k", ""), rec(3, "", "")}, nil},
		{"a line without separator is bad, the next is read", KeyValue, "k v\nk\tv\n", []Record{rec(2, "k", "v")},
			[]string{`in:1: no separator "\t"; a line is key, separator, value (see --key-separator)`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, bad := read(t, c.format, c.text)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.bad, bad); diff != "" {
				t.Errorf("bad lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestASeparatorMayBeLongerThanOneByte(t *testing.T) {
	got, bad := readAll(t, NewReader("in", strings.NewReader("k:v::w"), KeyValue, "::"))
	if diff := cmp.Diff([]Record{rec(1, "k:v", "w")}, got); diff != "" || bad != nil {
		t.Errorf("bad lines %v, records (-want +got):\n%s", bad, diff)
	}
}

func TestJSONRecords(t *testing.T) {
	at := time.Date(2026, 1, 31, 12, 0, 0, 5e6, time.UTC)
	for _, c := range []struct {
		name string
		text string
		want Record
	}{
		{"texts are UTF-8", `{"key":"ä","value":"\u00e4\ud83d\ude00\ufffd"}`, rec(1, "ä", "ä😀\ufffd")},
		{"null is Kafka's null, empty is empty", `{"key":"","value":null}`, rec(1, "", nil)},
		{"a key left out is null", `{"value":""}`, rec(1, nil, "")},
		{"anything else is its JSON text as it stands", `{"key":42,"value":{"b": 1, "a":[true]}}`, rec(1, "42", `{"b": 1, "a":[true]}`)},
		{"Base64 is for bytes", `{"keyBase64":"/wA=","valueBase64":null}`, rec(1, "\xff\x00", nil)},
		{"an editor's mark before the text is no part of it", "\ufeff" + `{"value":"v"}`, rec(1, nil, "v")},
		{"blanks around are fine", "  {\"value\" : \"v\"}\t\r", rec(1, nil, "v")},
		{"a partition", `{"value":"v","partition":7}`, Record{Value: []byte("v"), Partition: 7, Line: 1}},
		{"no partition", `{"value":"v","partition":null,"timestamp":null,"headers":null}`, rec(1, nil, "v")},
		{"the time in milliseconds", `{"value":"v","timestamp":1769860800005}`,
			Record{Value: []byte("v"), Partition: AnyPartition, Timestamp: at, Line: 1}},
		{"the time in words", `{"value":"v","timestamp":"2026-01-31T13:00:00.005+01:00"}`,
			Record{Value: []byte("v"), Partition: AnyPartition, Timestamp: at, Line: 1}},
		{"headers as an object keep their order and may repeat", `{"value":"v","headers":{"b":"1","a":null,"b":""}}`,
			Record{Value: []byte("v"), Partition: AnyPartition, Line: 1, Headers: []linger.Header{{Key: "b", Value: []byte("1")}, {Key: "a"}, {Key: "b", Value: []byte{}}}}},
		{"headers as a list may be Base64", `{"value":"v","headers":[{"key":"a","valueBase64":"AA=="},{"value":7,"key":"a"},{"key":"b"}]}`,
			Record{Value: []byte("v"), Partition: AnyPartition, Line: 1, Headers: []linger.Header{{Key: "a", Value: []byte{0}}, {Key: "a", Value: []byte("7")}, {Key: "b"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, bad := read(t, JSON, c.text)
			if diff := cmp.Diff([]Record{c.want}, got); diff != "" || bad != nil {
				t.Errorf("bad lines %v, records (-want +got):\n%s", bad, diff)
			}
		})
	}
}

// Each of these would lose or change data if it passed.
func TestBadJSONSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ text, reason string }{
		{`{"value":"v"`, "not JSON: the line ends inside the object (one line is one record)"},
		{`{"value":x}`, "not JSON at column 10: invalid character 'x' looking for beginning of value"},
		{`{"value":"v"} {"value":"w"}`, "something follows the object at column 15; one line is one record"},
		{`["v"]`, `not a JSON object such as {"key":"…", "value":"…"}`},
		{`{"valeu":"v"}`, `unknown field "valeu"; a record has key, keyBase64, value, valueBase64, headers, partition and timestamp`},
		{`{"Value":"v"}`, `unknown field "Value"; a record has key, keyBase64, value, valueBase64, headers, partition and timestamp`},
		{`{"value":"v","value":"w"}`, `"value" comes twice`},
		{`{"value":"v","valueBase64":"AA=="}`, "a text and its Base64 form exclude each other"},
		{`{"key":"k"}`, `no "value"; write "value":null for a tombstone`},
		{"{\"value\":\"\xff\"}", "not UTF-8; JSON is UTF-8, and other bytes go into keyBase64 or valueBase64"},
		{`{"value":"a\ud800b"}`, `"value": half of a surrogate pair (\ud800 to \udfff) is no character`},
		{`{"value":"\\\udc00\ud83d\ude00"}`, `"value": half of a surrogate pair (\ud800 to \udfff) is no character`},
		{`{"value":"\ud83d\ud83d\ude00"}`, `"value": half of a surrogate pair (\ud800 to \udfff) is no character`},
		{`{"value":"v","headers":{"\udc00":"x"}}`, `"headers": half of a surrogate pair (\ud800 to \udfff) is no character`},
		{`{"valueBase64":"A"}`, `"valueBase64": illegal base64 data at input byte 0`},
		{`{"valueBase64":1}`, `"valueBase64": 1 is not a text`},
		{`{"value":"v","partition":-1}`, `"partition": -1 is no partition; want a whole number from 0 to 2147483647`},
		{`{"value":"v","partition":"1"}`, `"partition": "1" is no partition; want a whole number from 0 to 2147483647`},
		{`{"value":"v","timestamp":1.5}`, `"timestamp": 1.5 is no time; want milliseconds since 1970 or RFC 3339 such as "2026-01-31T12:00:00Z"`},
		{`{"value":"v","timestamp":"today"}`, `"timestamp": "today" is no time; want milliseconds since 1970 or RFC 3339 such as "2026-01-31T12:00:00Z"`},
		{`{"value":"v","timestamp":"1969-12-31T23:59:59Z"}`, `"timestamp": "1969-12-31T23:59:59Z" lies before 1970, which Kafka can't keep`},
		{`{"value":"v","headers":"h"}`, `"headers": want {"name":"value"} or [{"key":"name","value":"value"}]`},
		{`{"value":"v","headers":[{"key":"a"},{"value":"1"}]}`, `"headers": header 2: no "key"`},
		{`{"value":"v","headers":[{"name":"a"}]}`, `"headers": header 1: unknown field "name"; a header has key, value and valueBase64`},
	} {
		t.Run(c.text, func(t *testing.T) {
			got, bad := read(t, JSON, "\n"+c.text+"\n{\"value\":\"next\"}\n")
			if diff := cmp.Diff([]string{"in:2: " + c.reason}, bad); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]Record{rec(3, nil, "next")}, got); diff != "" {
				t.Errorf("the line behind it (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALineLongerThanTheBufferIsReadWhole(t *testing.T) {
	long := strings.Repeat("0123456789", 20_000)
	got, bad := read(t, Lines, "a\n"+long+"\n"+long+long+"\nb\n")
	if len(got) != 4 || bad != nil {
		t.Fatalf("%d records, bad lines %v", len(got), bad)
	}
	for i, want := range []string{"a", long, long + long, "b"} { // compared as texts: a diff of these would take seconds
		if string(got[i].Value) != want || got[i].Line != i+1 {
			t.Errorf("record %d has %d bytes, want %d, and line %d", i, len(got[i].Value), len(want), got[i].Line)
		}
	}
}

func TestALineBeyondTheLimitIsBadAndReadAway(t *testing.T) {
	long := strings.Repeat("x", 300_000)
	for _, end := range []string{"\nnext\n", ""} {
		r := NewReader("in", strings.NewReader("a\n"+long+end), Lines, "")
		r.limit = 200_000
		got, bad := readAll(t, r)
		if diff := cmp.Diff([]string{"in:2: the line is longer than 200000 bytes, which is the most that is read"}, bad); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if want := 1 + strings.Count(end, "next"); len(got) != want {
			t.Errorf("%d records, want %d", len(got), want)
		}
		if r.BytesRead() != int64(len("a\n"+long+end)) {
			t.Errorf("%d bytes counted", r.BytesRead())
		}
	}
}

func TestAFailingInputIsNoBadLine(t *testing.T) {
	broken := errors.New("disk on fire")
	r := NewReader("in", io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), Lines, "")
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); !errors.Is(err, broken) {
		t.Errorf("got %v, want what reading failed with, and not half a line", err)
	}
}

func TestFormatsHaveNames(t *testing.T) {
	for _, f := range []Format{Lines, KeyValue, JSON} {
		if got, err := ParseFormat(f.String()); got != f || err != nil {
			t.Errorf("%v: %v, %v", f, got, err)
		}
	}
	if _, err := ParseFormat("xml"); err == nil {
		t.Error("xml passes")
	}
}

func ExampleReader() {
	r := NewReader("orders.jsonl", strings.NewReader(`{"key":"o-1","value":{"item":"lens"}}`), JSON, "")
	rec, _ := r.Next()
	fmt.Printf("%d: %s → %s\n", rec.Line, rec.Key, rec.Value)
	// Output: 1: o-1 → {"item":"lens"}
}
