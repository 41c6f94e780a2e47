package config

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linger/test/oracle"
)

// CFG-01, CFG-40, CFG-41, CFG-42, CFG-59: names, types, defaults, ranges.
// SEC-01: those of SSL and SASL are among them.
func TestOracleConfigDefs(t *testing.T) {
	type def struct {
		ID         string
		Type       string
		Required   bool
		Default    any
		Validator  *string
		Importance string
		Internal   bool
	}
	var set struct{ Cases []def }
	oracle.Load(t, "config-defs.json", &set)
	names := map[string]bool{}
	oracle.Run(t, set.Cases, func(d def) string { return d.ID }, nil, func(t *testing.T, want def) {
		names[want.ID] = true
		k, ok := Lookup(want.ID)
		if !ok {
			t.Fatal("the table has no such key")
		}
		got := def{k.Name, k.Type.String(), k.Required, jsonValue(k.Default), nil, k.Importance.String(), k.Internal}
		if k.Valid != nil {
			got.Validator = new(k.Valid.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	})
	if _, others := os.LookupEnv("LINGER_ORACLE"); others {
		return // another file may hold some of the keys only
	}
	for _, k := range Keys() {
		if !names[k.Name] {
			t.Errorf("the table has %s, Java has not", k.Name)
		}
	}
}

// vector is one case of config-validate.json.
type vector struct {
	ID                  string
	Input               map[string]any
	InputTypes          map[string]string
	SerializerInstances bool
	SystemProperties    map[string]string
	Files               map[string]string
	Config, Producer    outcome

	environ []string
}

type outcome struct {
	OK        bool
	Error     []struct{ Class, Message string }
	Values    map[string]any
	Effective map[string]any
	Logs      []struct{ Level, Logger, Message string }
}

// message is what the configuration error says; a construction error of Java wraps it. Errors about security come out of
// the connections' part.
func (o outcome) message() string {
	for i, e := range o.Error {
		if e.Message == "Failed to create new NetworkClient" && i+1 < len(o.Error) {
			return o.Error[i+1].Message
		}
	}
	for _, e := range slices.Backward(o.Error) {
		if strings.HasSuffix(e.Class, ".ConfigException") {
			return e.Message
		}
	}
	if len(o.Error) > 0 {
		return o.Error[0].Message
	}
	return ""
}

func (o outcome) class() string {
	if len(o.Error) == 0 {
		return ""
	}
	return o.Error[len(o.Error)-1].Class
}

// jsonValue is a parsed value as the vectors write it.
func jsonValue(v any) any {
	switch v := v.(type) {
	case int64:
		return json.Number(show(v))
	case float64:
		if text := javaDouble(v); strings.Trim(text, "-0123456789.E") == "" {
			return json.Number(text)
		} else {
			return text
		}
	case []string:
		list := []any{}
		for _, e := range v {
			list = append(list, e)
		}
		return list
	case Secret:
		return v.Reveal()
	case Instance:
		return string(v)
	}
	return v
}

// settings are the case's input as Go values; tmp replaces its placeholder.
func (v vector) settings(tmp string) []Setting {
	var all []Setting
	for _, key := range slices.Sorted(maps.Keys(v.Input)) {
		all = append(all, Setting{
			Key:    strings.ReplaceAll(key, "{{TMP}}", tmp),
			Value:  goValue(v.Input[key], v.InputTypes[key], tmp),
			Source: "the test",
		})
	}
	return all
}

func goValue(in any, javaType, tmp string) any {
	switch in := in.(type) {
	case string:
		return strings.ReplaceAll(in, "{{TMP}}", tmp)
	case json.Number:
		if f, err := in.Float64(); err == nil && (javaType == "java.lang.Double" || javaType == "java.lang.Float") {
			return f
		}
		n, _ := in.Int64()
		if javaType == "java.lang.Integer" {
			return int(n)
		}
		return n
	case []any:
		list := []string{}
		for _, e := range in {
			s, _ := e.(string)
			list = append(list, s)
		}
		return list
	}
	return in
}

// outside is the world of a case: its environment and the classes the vectors know to exist.
func (v vector) outside() Outside {
	return Outside{
		Environ: func() []string { return v.environ },
		ClassKnown: func(_, name string) bool {
			return name == "java.lang.String" || name == "org.apache.kafka.clients.producer.RoundRobinPartitioner" ||
				strings.HasPrefix(name, "org.apache.kafka.common.serialization.")
		},
	}
}

// scratch makes the files of a case in a folder of their own.
func (v vector) scratch(t *testing.T) string {
	t.Helper()
	if len(v.Files) == 0 {
		return "/tmp/none"
	}
	tmp := t.TempDir()
	for name, text := range v.Files {
		path := strings.ReplaceAll(name, "{{TMP}}", tmp)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return tmp
}

func loadVectors(t *testing.T) []vector {
	t.Helper()
	var set struct {
		Environment map[string]string
		Cases       []vector
	}
	oracle.Load(t, "config-validate.json", &set)
	var environ []string
	for _, name := range slices.Sorted(maps.Keys(set.Environment)) {
		environ = append(environ, name+"="+set.Environment[name])
	}
	for i := range set.Cases {
		set.Cases[i].environ = environ
	}
	return set.Cases
}
