package linger_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"linger"
	"linger/internal/charset"
	"linger/internal/kerr"
	"linger/test/oracle"
)

type serializerCase struct {
	ID      string
	Type    string
	Config  map[string]any
	IsKey   bool
	Value   json.RawMessage
	UTF16   *string
	RawBits *string
	Bytes   *string
	Error   []struct{ Class, Message string }
	Inner   string

	SliceOffset, Position, Limit int
	PositionAfter, LimitAfter    int
}

// TestOracleSerializers: each built-in serializer makes the bytes of Java's, as a Go value and as the class of an option.
func TestOracleSerializers(t *testing.T) {
	var set struct{ Cases []serializerCase }
	oracle.Load(t, "serializers.json", &set)
	rules := []oracle.Rule[serializerCase]{
		{
			Name:    "a Go string is bytes",
			Reason:  "A Go string cannot hold half a surrogate pair, for which Java writes a question mark; whatever bytes it does hold go out as they are.",
			Matches: func(c serializerCase) bool { return c.UTF16 != nil && loneSurrogate(units(c)) && c.writesUTF8() },
			Instead: func(t *testing.T, c serializerCase) {
				b, err := c.serialize(t)
				if want := string(utf16.Decode(units(c))); err != nil || string(b) != want {
					t.Errorf("got %x, %v, want the bytes of %q", b, err, want)
				}
			},
		},
		{
			Name:   "a character set beyond ours",
			Reason: "Java has some 170 character sets, most of them IBM's; those without a table here are refused by name, never guessed.",
			Matches: func(c serializerCase) bool {
				return c.Type == "String" && c.Bytes != nil && isFarCharset(c.encoding())
			},
			Instead: func(t *testing.T, c serializerCase) {
				if _, err := c.serialize(t); !errors.Is(err, linger.ErrSerialization) || !strings.Contains(err.Error(), c.encoding()) {
					t.Errorf("got %v, want an error that names the encoding", err)
				}
			},
		},
	}
	oracle.Run(t, set.Cases, func(c serializerCase) string { return c.ID }, rules, sameAsJava)
}

func sameAsJava(t *testing.T, c serializerCase) {
	got, err := c.serialize(t)
	if len(c.Error) > 0 {
		sameErrorAsJava(t, c, err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if c.Bytes == nil {
		if got != nil {
			t.Errorf("got %x, want null", got)
		}
		return
	}
	if got == nil || hex.EncodeToString(got) != *c.Bytes {
		t.Errorf("got %x (null %t), want %s", got, got == nil, *c.Bytes)
	}
}

// sameErrorAsJava compares kind and text; of what the Java virtual machine itself refuses, only that it is refused.
func sameErrorAsJava(t *testing.T, c serializerCase, err error) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want one for %v", c.Error)
	}
	first := c.Error[0]
	if strings.HasPrefix(first.Class, "java.") {
		return
	}
	if got := kerr.JavaName(err); got != simpleName(first.Class) {
		t.Errorf("got an error in place of %s, want %s", got, first.Class)
	}
	if got := kerr.JavaMessage(err); got != first.Message {
		t.Errorf("got text %q, want %q", got, first.Message)
	}
	for _, cause := range c.Error[1:] {
		e, ok := errors.AsType[*charset.NameError](err)
		if !ok || e.JavaException() != simpleName(cause.Class) || e.Name != cause.Message {
			t.Errorf("got cause %v, want one in place of %s %q", e, cause.Class, cause.Message)
		}
	}
}

func simpleName(class string) string { return class[strings.LastIndex(class, ".")+1:] }

// serialize runs the case both ways and demands that they agree.
func (c serializerCase) serialize(t *testing.T) ([]byte, error) {
	t.Helper()
	switch c.Type {
	case "String":
		return runString(t, c)
	case "Short":
		return run(t, c, linger.Nullable(linger.Short), value(t, c.Value, parseShort))
	case "Integer":
		return run(t, c, linger.Nullable(linger.Integer), value(t, c.Value, parseInteger))
	case "Long":
		return run(t, c, linger.Nullable(linger.Long), value(t, c.Value, parseLong))
	case "Float":
		return run(t, c, linger.Nullable(linger.Float), bits(t, c, 32, func(b uint64) float32 { return math.Float32frombits(uint32(b)) }))
	case "Double":
		return run(t, c, linger.Nullable(linger.Double), bits(t, c, 64, math.Float64frombits))
	case "Boolean":
		return run(t, c, linger.Nullable(linger.Boolean), value(t, c.Value, strconv.ParseBool))
	case "UUID":
		return run(t, c, linger.Nullable(linger.UUID), value(t, c.Value, parseUUID))
	case "ByteArray":
		return run(t, c, linger.ByteArray, orNil(value(t, c.Value, hex.DecodeString)))
	case "Bytes":
		return run(t, c, linger.Bytes, orNil(value(t, c.Value, hex.DecodeString)))
	case "Void":
		return run(t, c, linger.Void, struct{}{})
	case "ByteBuffer":
		return runByteBuffer(t, c)
	case "List":
		return runList(t, c)
	}
	t.Fatalf("the test knows no type %s", c.Type)
	return nil, nil
}

// run serializes v with the Go value s and with what the class name makes.
func run[T any](t *testing.T, c serializerCase, s linger.Serializer[T], v T) ([]byte, error) {
	t.Helper()
	made, err := linger.BuiltinSerializer[T]("org.apache.kafka.common.serialization."+c.Type+"Serializer", c.Config, c.IsKey)
	if err != nil {
		return nil, err
	}
	got, err := made.Serialize("topic", nil, v)
	if s == nil || err != nil {
		return got, err
	}
	direct, err := s.Serialize("topic", nil, v)
	if err != nil || !bytes.Equal(direct, got) || (direct == nil) != (got == nil) {
		t.Errorf("the Go value makes %x, %v, the class makes %x", direct, err, got)
	}
	return got, nil
}

func runString(t *testing.T, c serializerCase) ([]byte, error) {
	var v *string
	if c.UTF16 != nil {
		s := string(utf16.Decode(units(c)))
		v = &s
	}
	if c.writesUTF8() {
		return run(t, c, linger.Nullable(linger.String), v)
	}
	return run[*string](t, c, nil, v)
}

func runByteBuffer(t *testing.T, c serializerCase) ([]byte, error) {
	array := value(t, c.Value, hex.DecodeString)
	if array == nil {
		return run(t, c, linger.ByteBuffer, nil)
	}
	r := bytes.NewReader((*array)[c.SliceOffset:][:c.Limit])
	if _, err := r.Seek(int64(c.Position), 0); err != nil {
		t.Fatal(err)
	}
	b, err := run(t, c, linger.ByteBuffer, r)
	if after := int(r.Size()) - r.Len(); after != c.PositionAfter || int(r.Size()) != c.LimitAfter {
		t.Errorf("the buffer ends at position %d, limit %d, want %d and %d", after, r.Size(), c.PositionAfter, c.LimitAfter)
	}
	return b, err
}

func runList(t *testing.T, c serializerCase) ([]byte, error) {
	inner := c.Inner
	if c.Config != nil {
		for _, option := range []string{"default.list.key.serde.inner", "default.list.value.serde.inner"} {
			if class, ok := c.Config[option].(string); ok {
				inner = strings.TrimSuffix(class[strings.LastIndexAny(class, ".$")+1:], "Serde")
			}
		}
	}
	switch inner {
	case "String":
		return runListOf(t, c, linger.Nullable(linger.String), func(s string) (string, error) { return s, nil })
	case "Short":
		return runListOf(t, c, linger.Nullable(linger.Short), parseShort)
	case "Long":
		return runListOf(t, c, linger.Nullable(linger.Long), parseLong)
	case "Float":
		return runListOf(t, c, linger.Nullable(linger.Float), func(s string) (float32, error) {
			f, err := strconv.ParseFloat(s, 32)
			return float32(f), err
		})
	case "Double":
		return runListOf(t, c, linger.Nullable(linger.Double), func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
	case "Boolean":
		return runListOf(t, c, linger.Nullable(linger.Boolean), strconv.ParseBool)
	case "UUID":
		return runListOf(t, c, linger.Nullable(linger.UUID), parseUUID)
	case "ByteArray", "Bytes":
		var list [][]byte
		for _, p := range elements(t, c, hex.DecodeString) {
			list = append(list, orNil(p))
		}
		return runListValues(t, c, linger.List(linger.ByteArray), list)
	}
	return runListOf(t, c, linger.Nullable(linger.Integer), parseInteger)
}

func runListOf[T any](t *testing.T, c serializerCase, inner linger.Serializer[*T], parse func(string) (T, error)) ([]byte, error) {
	return runListValues(t, c, linger.List(inner), elements(t, c, parse))
}

func runListValues[T any](t *testing.T, c serializerCase, s linger.Serializer[[]T], list []T) ([]byte, error) {
	if c.Config == nil { // the inner serializer was given to the constructor
		return s.Serialize("topic", nil, list)
	}
	return run(t, c, s, list)
}

func elements[T any](t *testing.T, c serializerCase, parse func(string) (T, error)) []*T {
	var raw []json.RawMessage
	if err := json.Unmarshal(c.Value, &raw); err != nil {
		t.Fatal(err)
	}
	if raw == nil {
		return nil
	}
	list := make([]*T, len(raw))
	for i, r := range raw {
		list[i] = value(t, r, parse)
	}
	return list
}

// value parses a JSON scalar, whether it stands in quotes or not; nil for null.
func value[T any](t *testing.T, raw json.RawMessage, parse func(string) (T, error)) *T {
	t.Helper()
	text := string(raw)
	if text == "null" {
		return nil
	}
	if strings.HasPrefix(text, `"`) {
		if err := json.Unmarshal(raw, &text); err != nil {
			t.Fatal(err)
		}
	}
	v, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return &v
}

func orNil(p *[]byte) []byte {
	if p == nil {
		return nil
	}
	return append([]byte{}, *p...)
}

func bits[T any](t *testing.T, c serializerCase, size int, from func(uint64) T) *T {
	t.Helper()
	if c.RawBits == nil {
		return nil
	}
	b, err := strconv.ParseUint(*c.RawBits, 16, size)
	if err != nil {
		t.Fatal(err)
	}
	v := from(b)
	return &v
}

func parseShort(s string) (int16, error) {
	n, err := strconv.ParseInt(s, 10, 16)
	return int16(n), err
}

func parseInteger(s string) (int32, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	return int32(n), err
}

func parseLong(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }

func parseUUID(s string) (u [16]byte, err error) {
	b, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if len(b) != 16 {
		return u, fmt.Errorf("%q is no UUID", s)
	}
	return [16]byte(b), err
}

// encoding is the character set that the case's options ask for; empty for none.
func (c serializerCase) encoding() string {
	side := "value.serializer.encoding"
	if c.IsKey {
		side = "key.serializer.encoding"
	}
	v := c.Config[side]
	if v == nil {
		v = c.Config["serializer.encoding"]
	}
	name, _ := v.(string)
	return name
}

func (c serializerCase) writesUTF8() bool {
	if len(c.Error) > 0 {
		return false
	}
	switch strings.ToLower(c.encoding()) {
	case "", "utf-8", "utf8":
		return true
	}
	return false
}

// isFarCharset: one of the families that Java has beyond its standard sets, and that is not among ours.
func isFarCharset(name string) bool {
	for _, family := range []string{
		"big5", "cesu", "cp", "euc", "gb18030", "gb2312", "ibm", "iso-2022", "iso2022", "jis", "koi8", "ks", "mac", "ms",
		"tis", "windows", "x-", "1", "2", "3", "4", "5", "7", "8", "9",
	} {
		if strings.HasPrefix(strings.ToLower(name), family) {
			_, err := charset.Lookup(name)
			return err != nil
		}
	}
	return false
}

func units(c serializerCase) []uint16 {
	b, err := hex.DecodeString(*c.UTF16)
	if err != nil {
		panic(err)
	}
	out := make([]uint16, len(b)/2)
	for i := range out {
		out[i] = uint16(b[2*i])<<8 | uint16(b[2*i+1])
	}
	return out
}

func loneSurrogate(u []uint16) bool {
	for i := 0; i < len(u); i++ {
		if !utf16.IsSurrogate(rune(u[i])) {
			continue
		}
		if i+1 < len(u) && utf16.DecodeRune(rune(u[i]), rune(u[i+1])) != 0xfffd {
			i++
			continue
		}
		return true
	}
	return false
}
