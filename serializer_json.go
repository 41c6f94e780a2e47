package linger

import (
	"encoding/json"
	"reflect"
)

// JSON serializes values with encoding/json. A nil pointer, map, slice or interface is Kafka's null, not the text "null".
func JSON[T any]() Serializer[T] {
	s := jsonSerializer[T]{}
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		s.nilable = true
	}
	return s
}

type jsonSerializer[T any] struct{ nilable bool }

func (s jsonSerializer[T]) Serialize(_ string, _ []Header, v T) ([]byte, error) {
	if s.nilable {
		// An interface that holds a nil pointer is as empty as the pointer.
		if r := reflect.ValueOf(v); !r.IsValid() || isNil(r) {
			return nil, nil
		}
	}
	return json.Marshal(v)
}

func isNil(r reflect.Value) bool {
	switch r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		return r.IsNil()
	}
	return false
}
