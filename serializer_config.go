package linger

import (
	"fmt"
	"reflect"
	"strings"

	"linger/internal/charset"
	"linger/internal/kerr"
)

// builtinSerializer is one of Kafka's serializers as key.serializer and value.serializer name it.
type builtinSerializer struct {
	class string // with its package
	name  string // without
	make  func() any
}

const serialization = "org.apache.kafka.common.serialization."

// builtinSerializers lists them. What make returns is no Serializer yet: configuredSerializer makes it one, for the Go type
// that the producer has.
func builtinSerializers() []builtinSerializer {
	var all []builtinSerializer
	for _, kind := range builtinKinds() {
		name := kind.name + "Serializer"
		all = append(all, builtinSerializer{class: serialization + name, name: name, make: func() any { return kind }})
	}
	list := serializerKind{name: "List", configure: configureList}
	return append(all, builtinSerializer{
		class: serialization + "ListSerializer", name: "ListSerializer", make: func() any { return list },
	})
}

// serializerKind is a serializer that Java has and what Go types it can be for.
type serializerKind struct {
	name string // as in Java, without "Serializer"
	// configure returns the serializers, most usual Go type first.
	configure func(values map[string]any, isKey bool) ([]choice, error)
}

// choice is a serializer for the Go type that goType names, and the list of that type.
type choice struct {
	goType    string
	one, list any
}

func choose[T any](s Serializer[T]) choice {
	return choice{goType: reflect.TypeFor[T]().String(), one: s, list: List(s)}
}

// orNull offers a type and the pointer to it.
func orNull[T any](s Serializer[T]) []choice { return []choice{choose(s), choose(Nullable(s))} }

func plain(choices ...choice) func(map[string]any, bool) ([]choice, error) {
	return func(map[string]any, bool) ([]choice, error) { return choices, nil }
}

// builtinKinds are all but the list, which is made of them.
func builtinKinds() []serializerKind {
	return []serializerKind{
		{"String", configureString},
		{"Short", plain(orNull(Short)...)},
		{"Integer", plain(orNull(Integer)...)},
		{"Long", plain(orNull(Long)...)},
		{"Float", plain(orNull(Float)...)},
		{"Double", plain(orNull(Double)...)},
		{"Boolean", plain(orNull(Boolean)...)},
		{"UUID", configureUUID},
		{"ByteArray", plain(choose(ByteArray))},
		{"Bytes", plain(choose(Bytes))},
		{"Void", plain(orNull(Void)...)},
		{"ByteBuffer", plain(choose(ByteBuffer))},
	}
}

// configuredSerializer makes a Serializer[T] of what a registry entry made, and configures it. values are the options by
// their Kafka names, as they were set. It serves the option called key.
func configuredSerializer[T any](made any, key string, values map[string]any, isKey bool) (Serializer[T], error) {
	if kind, ok := made.(serializerKind); ok {
		choices, err := kind.configure(values, isKey)
		if err != nil {
			return nil, err
		}
		var types []string
		for _, c := range choices {
			if s, ok := c.one.(Serializer[T]); ok {
				return s, nil
			}
			types = append(types, c.goType)
		}
		return nil, wrongType[T](key, kind.name+"Serializer", strings.Join(types, " or "))
	}
	s, ok := made.(Serializer[T])
	if !ok {
		return nil, wrongType[T](key, fmt.Sprintf("%T", made), "another type")
	}
	if c, ok := made.(SerializerConfigurer); ok {
		if err := c.Configure(values, isKey); err != nil {
			return nil, fmt.Errorf("%w: %s: %T refuses the configuration: %w", kerr.ErrConfig, key, made, err)
		}
	}
	return s, nil
}

func wrongType[T any](key, name, serves string) error {
	return fmt.Errorf("%w: %s: %s serializes %s, not %s; change the producer's type or hand New a serializer", kerr.ErrConfig, key, name, serves, reflect.TypeFor[T]())
}

func configureString(values map[string]any, isKey bool) ([]choice, error) {
	set, err := encodingOption(values, isKey, "Unsupported encoding ")
	if err != nil {
		return nil, err
	}
	if set.IsUTF8() {
		return orNull(String), nil
	}
	return orNull(Serializer[string](charsetSerializer{set})), nil
}

// configureUUID refuses a wrong encoding before the first record; Java's serializer does at the first record.
func configureUUID(values map[string]any, isKey bool) ([]choice, error) {
	set, err := encodingOption(values, isKey, "Error when serializing UUID to byte[] due to unsupported encoding ")
	if err != nil {
		return nil, err
	}
	if set.IsUTF8() {
		return orNull(UUID), nil
	}
	return orNull(Serializer[[16]byte](charsetUUIDSerializer{set})), nil
}

// encodingOption reads the character set as Java does: of the side first, then of both; UTF-8 when there is none or it is
// no text. refusal begins the error's text.
func encodingOption(values map[string]any, isKey bool, refusal string) (*charset.Charset, error) {
	v := values[sideOption(isKey, "key.serializer.encoding", "value.serializer.encoding")]
	if v == nil {
		v = values["serializer.encoding"]
	}
	name, ok := v.(string)
	if !ok {
		name = "UTF-8"
	}
	set, err := charset.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", &kerr.Error{Msg: refusal + name, Err: kerr.ErrSerialization}, err)
	}
	return set, nil
}

// configureList finds the serializer of the elements by its serde's class (in Java: ListSerializer.configure).
func configureList(values map[string]any, isKey bool) ([]choice, error) {
	option := sideOption(isKey, "default.list.key.serde.inner", "default.list.value.serde.inner")
	v := values[option]
	if v == nil {
		return nil, &kerr.Error{Err: kerr.ErrConfig, Msg: "Not able to determine the serializer class because it was neither passed via the constructor nor set in the config."}
	}
	class, ok := v.(string)
	if !ok {
		return nil, &kerr.Error{Err: kerr.ErrKafka, Msg: fmt.Sprintf("Could not create a serializer class instance using %q property.", option)}
	}
	for _, kind := range builtinKinds() {
		if class != serialization+"Serdes$"+kind.name+"Serde" {
			continue
		}
		elements, err := kind.configure(values, isKey)
		if err != nil {
			return nil, err
		}
		var lists []choice
		for _, e := range elements {
			lists = append(lists, choice{goType: "[]" + e.goType, one: e.list})
		}
		return lists, nil
	}
	return nil, &kerr.Error{Err: kerr.ErrConfig, Msg: fmt.Sprintf("Invalid value %s for configuration %s: Serializer class %s could not be found.", class, option, class)}
}

func sideOption(isKey bool, key, value string) string {
	if isKey {
		return key
	}
	return value
}

type charsetSerializer struct{ set *charset.Charset }

func (s charsetSerializer) Serialize(_ string, _ []Header, v string) ([]byte, error) {
	return s.set.Append(make([]byte, 0, 2*len(v)+2), v), nil
}

type charsetUUIDSerializer struct{ set *charset.Charset }

func (s charsetUUIDSerializer) Serialize(_ string, _ []Header, v [16]byte) ([]byte, error) {
	return s.set.Append(nil, string(appendUUID(nil, v))), nil
}

func (charsetUUIDSerializer) fixedSize() bool { return true }
