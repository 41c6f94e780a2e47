package linger

import (
	"slices"
	"strings"
)

// BuiltinSerializer gives external tests what key.serializer or value.serializer makes of one of Kafka's class names.
func BuiltinSerializer[T any](class string, values map[string]any, isKey bool) (Serializer[T], error) {
	for _, b := range builtinSerializers() {
		if b.class == class || b.name == class {
			return configuredSerializer[T](b.make(), sideOption(isKey, "key.serializer", "value.serializer"), values, isKey)
		}
	}
	panic("no built-in serializer " + class)
}

// BuiltinSerializerNames are the built-in serializers by their Java names without "Serializer", sorted.
func BuiltinSerializerNames() (all []string) {
	for _, b := range builtinSerializers() {
		if b.class != "org.apache.kafka.common.serialization."+b.name {
			panic(b.class + " is not " + b.name)
		}
		all = append(all, strings.TrimSuffix(b.name, "Serializer"))
	}
	slices.Sort(all)
	return all
}

// ConfiguredSerializer is what New makes of a registry's value.
func ConfiguredSerializer[T any](made any, key string, values map[string]any, isKey bool) (Serializer[T], error) {
	return configuredSerializer[T](made, key, values, isKey)
}
