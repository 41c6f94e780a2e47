package linger_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linger"
)

func TestNullableIsNullForNilAndTheValueOtherwise(t *testing.T) {
	s := linger.Nullable(linger.Integer)
	if b, err := s.Serialize("t", nil, nil); b != nil || err != nil {
		t.Errorf("nil: got %v, %v, want null", b, err)
	}
	if b, err := s.Serialize("t", nil, new(int32(258))); !bytes.Equal(b, []byte{0, 0, 1, 2}) || err != nil {
		t.Errorf("258: got %v, %v", b, err)
	}
}

func TestEmptyIsNotNull(t *testing.T) {
	if b, err := linger.String.Serialize("t", nil, ""); b == nil || len(b) != 0 || err != nil {
		t.Errorf("empty string: got %v (null %t), %v, want empty", b, b == nil, err)
	}
	if b, err := linger.ByteArray.Serialize("t", nil, []byte{}); b == nil || err != nil {
		t.Errorf("empty bytes: got null, %v", err)
	}
	if b, err := linger.List(linger.String).Serialize("t", nil, []string{}); !bytes.Equal(b, []byte{1, 0, 0, 0, 0}) || err != nil {
		t.Errorf("empty list: got %v, %v", b, err)
	}
	if b, err := linger.ByteBuffer.Serialize("t", nil, bytes.NewReader(nil)); b == nil || len(b) != 0 || err != nil {
		t.Errorf("empty reader: got %v (null %t), %v, want empty", b, b == nil, err)
	}
}

// Byte slices and strings go to the append as they lie in memory: no copy, no allocation.
func TestBytesAndStringsPassWithoutACopy(t *testing.T) {
	in := []byte("payload")
	if b, _ := linger.ByteArray.Serialize("t", nil, in); &b[0] != &in[0] {
		t.Error("ByteArray copies")
	}
	text := strings.Repeat("x", 100)
	for name, serialize := range map[string]func() ([]byte, error){
		"ByteArray": func() ([]byte, error) { return linger.ByteArray.Serialize("t", nil, in) },
		"String":    func() ([]byte, error) { return linger.String.Serialize("t", nil, text) },
	} {
		if n := testing.AllocsPerRun(100, func() {
			if _, err := serialize(); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%s allocates %v times, want 0", name, n)
		}
	}
	for _, s := range []string{"", "a", "é中🙂", "not \xff valid"} { // against the plain twin
		if b, err := linger.String.Serialize("t", nil, s); !bytes.Equal(b, []byte(s)) || err != nil {
			t.Errorf("%q: got %x, %v", s, b, err)
		}
	}
}

func TestJSONMakesNilKafkasNull(t *testing.T) {
	type order struct {
		ID int `json:"id"`
	}
	tests := []struct {
		name      string
		serialize func() ([]byte, error)
		want      string // "null": Kafka's null
	}{
		{"struct", func() ([]byte, error) { return linger.JSON[order]().Serialize("t", nil, order{7}) }, `{"id":7}`},
		{"pointer", func() ([]byte, error) { return linger.JSON[*order]().Serialize("t", nil, &order{7}) }, `{"id":7}`},
		{"nil pointer", func() ([]byte, error) { return linger.JSON[*order]().Serialize("t", nil, nil) }, "null"},
		{"nil slice", func() ([]byte, error) { return linger.JSON[[]int]().Serialize("t", nil, nil) }, "null"},
		{"empty slice", func() ([]byte, error) { return linger.JSON[[]int]().Serialize("t", nil, []int{}) }, "[]"},
		{"nil map", func() ([]byte, error) { return linger.JSON[map[string]int]().Serialize("t", nil, nil) }, "null"},
		{"nil interface", func() ([]byte, error) { return linger.JSON[any]().Serialize("t", nil, nil) }, "null"},
		{"nil pointer in an interface", func() ([]byte, error) { return linger.JSON[any]().Serialize("t", nil, (*order)(nil)) }, "null"},
		{"number in an interface", func() ([]byte, error) { return linger.JSON[any]().Serialize("t", nil, 3) }, "3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := tt.serialize()
			got := string(b)
			if b == nil {
				got = "null"
			}
			if got != tt.want || err != nil {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
		})
	}
	if _, err := linger.JSON[chan int]().Serialize("t", nil, nil); err == nil {
		t.Error("a channel was serialized")
	}
}

func TestListsNest(t *testing.T) {
	s := linger.List(linger.List(linger.Integer))
	got, err := s.Serialize("t", nil, [][]int32{{1}, nil})
	want := "\x01\x00\x00\x00\x02\x00\x00\x00\x0d\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\xff\xff\xff\xff" // as Java
	if string(got) != want || err != nil {
		t.Errorf("got %x, %v, want %x", got, err, want)
	}
}

func TestErrorOfAnElementNamesIt(t *testing.T) {
	refused := errors.New("refused")
	s := linger.List(linger.SerializerFunc[int](func(_ string, _ []linger.Header, v int) ([]byte, error) {
		if v < 0 {
			return nil, refused
		}
		return []byte{byte(v)}, nil
	}))
	if _, err := s.Serialize("t", nil, []int{1, 2, -3}); !errors.Is(err, refused) || !strings.Contains(err.Error(), "element 2") {
		t.Errorf("got %v, want one that names element 2", err)
	}
}

func TestUUIDTypesOfOtherPackages(t *testing.T) {
	type otherUUID [16]byte
	u := otherUUID{0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8}
	b, err := linger.UUIDOf[otherUUID]().Serialize("t", nil, u)
	if string(b) != "6ba7b810-9dad-11d1-80b4-00c04fd430c8" || err != nil {
		t.Errorf("got %s, %v", b, err)
	}
}

func TestClassNamesMakeSerializersForTheProducersType(t *testing.T) {
	elements := map[string]any{"default.list.value.serde.inner": "org.apache.kafka.common.serialization.Serdes$LongSerde"}
	tests := []struct {
		name string
		make func() error
		want string // in the error; empty for none
	}{
		{"string by class", made[string]("org.apache.kafka.common.serialization.StringSerializer", nil), ""},
		{"string by simple name", made[string]("StringSerializer", nil), ""},
		{"string that may be null", made[*string]("StringSerializer", nil), ""},
		{"nullable number", made[*int64]("LongSerializer", nil), ""},
		{"list of the configured elements", made[[]int64]("ListSerializer", elements), ""},
		{"list of nullable elements", made[[]*int64]("ListSerializer", elements), ""},
		{"list of bytes", made[[][]byte]("ListSerializer", map[string]any{"default.list.value.serde.inner": "org.apache.kafka.common.serialization.Serdes$BytesSerde"}), ""},
		{"wrong type names both", made[int]("LongSerializer", nil), "LongSerializer serializes int64 or *int64, not int"},
		{"wrong list names both", made[[]string]("ListSerializer", elements), "[]int64 or []*int64, not []string"},
		{"list without elements", made[[]int64]("ListSerializer", nil), "Not able to determine the serializer class"},
		{"list of an unknown class", made[[]int64]("ListSerializer", map[string]any{"default.list.value.serde.inner": "no.Such"}), "Serializer class no.Such could not be found."},
		{"list of no name", made[[]int64]("ListSerializer", map[string]any{"default.list.value.serde.inner": 5}), "Could not create a serializer class instance"},
		{"unknown encoding", made[string]("StringSerializer", map[string]any{"serializer.encoding": "nope"}), "Unsupported encoding nope"},
		{"unknown encoding of the other side", made[string]("StringSerializer", map[string]any{"key.serializer.encoding": "nope"}), ""},
		{"unknown encoding of a UUID", made[[16]byte]("UUIDSerializer", map[string]any{"value.serializer.encoding": "nope"}), "due to unsupported encoding nope"},
		{"unknown encoding of elements", made[[]string]("ListSerializer", map[string]any{
			"default.list.value.serde.inner": "org.apache.kafka.common.serialization.Serdes$StringSerde", "serializer.encoding": "nope",
		}), "Unsupported encoding nope"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.make()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error that says %q", err, tt.want)
			}
		})
	}
}

func made[T any](class string, values map[string]any) func() error {
	return func() error {
		s, err := linger.BuiltinSerializer[T](class, values, false)
		if err == nil && s == nil {
			return errors.New("no serializer and no error")
		}
		return err
	}
}

// Each of Java's serializer classes is there under both names.
func TestEveryJavaSerializerIsBuiltIn(t *testing.T) {
	want := strings.Fields("Boolean ByteArray ByteBuffer Bytes Double Float Integer List Long Short String UUID Void")
	if diff := cmp.Diff(want, linger.BuiltinSerializerNames()); diff != "" {
		t.Errorf("built-in serializers (-want +got):\n%s", diff)
	}
}

// probe is a serializer with everything that one may have.
type probe struct {
	values map[string]any
	isKey  bool
	fail   error
	closed int
}

func (p *probe) Serialize(string, []linger.Header, string) ([]byte, error) { return nil, nil }
func (p *probe) Configure(values map[string]any, isKey bool) error {
	p.values, p.isKey = values, isKey
	return p.fail
}

func (p *probe) Close() error {
	p.closed++
	return nil
}

// CFG-05: a serializer that an option named is configured, with its side.
func TestSerializerMadeByNameSeesTheOptions(t *testing.T) {
	values := map[string]any{"my.option": 5}
	p := new(probe)
	s, err := linger.ConfiguredSerializer[string](p, "key.serializer", values, true)
	if s != linger.Serializer[string](p) || err != nil {
		t.Fatalf("got %v, %v", s, err)
	}
	if diff := cmp.Diff(values, p.values); diff != "" || !p.isKey {
		t.Errorf("configured for a key: %t, with (-want +got):\n%s", p.isKey, diff)
	}
	p.fail = errors.New("no schema registry")
	if _, err := linger.ConfiguredSerializer[string](p, "key.serializer", values, true); !errors.Is(err, linger.ErrConfig) || !errors.Is(err, p.fail) {
		t.Errorf("got %v, want a configuration error with its cause", err)
	}
	if _, err := linger.ConfiguredSerializer[int](p, "key.serializer", values, true); !errors.Is(err, linger.ErrConfig) || !strings.Contains(err.Error(), "not int") {
		t.Errorf("got %v, want a configuration error that names the type", err)
	}
}

func TestWrappersCloseWhatTheyWrap(t *testing.T) {
	for name, wrap := range map[string]func(*probe) any{
		"Nullable": func(p *probe) any { return linger.Nullable[string](p) },
		"List":     func(p *probe) any { return linger.List[string](p) },
	} {
		p := new(probe)
		if err := wrap(p).(interface{ Close() error }).Close(); err != nil || p.closed != 1 {
			t.Errorf("%s: closed %d times, %v, want once", name, p.closed, err)
		}
	}
}

func ExampleNullable() {
	s := linger.Nullable(linger.Long)
	null, _ := s.Serialize("topic", nil, nil)
	seven, _ := s.Serialize("topic", nil, new(int64(7)))
	fmt.Println(null == nil, seven)
	// Output: true [0 0 0 0 0 0 0 7]
}

func ExampleSerializerFunc() {
	type celsius float64
	s := linger.SerializerFunc[celsius](func(_ string, _ []linger.Header, v celsius) ([]byte, error) {
		return fmt.Appendf(nil, "%.1f", float64(v)), nil
	})
	b, err := s.Serialize("weather", nil, 21.55)
	fmt.Printf("%s %v\n", b, err)
	// Output: 21.6 <nil>
}

func ExampleJSON() {
	type order struct {
		ID    string `json:"id"`
		Cents int    `json:"cents"`
	}
	b, err := linger.JSON[order]().Serialize("orders", nil, order{"A-7", 1250})
	fmt.Printf("%s %v\n", b, err)
	// Output: {"id":"A-7","cents":1250} <nil>
}

func ExampleList() {
	b, err := linger.List(linger.Short).Serialize("topic", nil, []int16{1, -1})
	fmt.Printf("% x %v\n", b, err)
	// Output: 00 00 00 00 00 00 00 00 02 00 01 ff ff <nil>
}
