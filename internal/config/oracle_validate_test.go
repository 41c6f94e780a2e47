package config

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linger/internal/tlsconf"
	"linger/test/oracle"
)

// CFG-22, CFG-24, CFG-29, CFG-66, CFG-72: outcome, message, values and log lines are what the Java producer was seen to
// do; the other rows of this room have tests of their own.
func TestOracleConfigValidate(t *testing.T) {
	oracle.Run(t, loadVectors(t), func(v vector) string { return v.ID }, oneEach(differences()),
		func(t *testing.T, v vector) {
			sameAsProducerConfig(t, v)
			sameAsProducer(t, v)
		})
}

// sameAsProducerConfig compares with new ProducerConfig(input): parsing and the rules between keys.
func sameAsProducerConfig(t *testing.T, v vector) {
	t.Helper()
	tmp := v.scratch(t)
	lastClient.Store(0)
	p := merge(v.settings(tmp), v.outside())
	var err *Error
	for _, step := range []func() *Error{p.resolveProviders, p.parseKeys, p.crossCheck, p.nameClient} {
		if err = step(); err != nil {
			break
		}
	}
	sameOutcome(t, v.Config, err, tmp)
	sameLines(t, v.Config, p.lines, tmp)
	if err != nil || !v.Config.OK {
		return
	}
	for key, want := range v.Config.Values {
		if s, ok := want.(string); ok {
			want = strings.ReplaceAll(s, "{{TMP}}", tmp)
		}
		if diff := cmp.Diff(want, jsonValue(p.values[key]), sameNumber); diff != "" {
			t.Errorf("value of %s: -want +got\n%s", key, diff)
		}
	}
	for _, k := range table {
		if _, listed := v.Config.Values[k.Name]; !listed && !p.was(k.Name) {
			if diff := cmp.Diff(jsonValue(k.Default), jsonValue(p.values[k.Name])); diff != "" {
				t.Errorf("value of %s, which Java left at its default: -want +got\n%s", k.Name, diff)
			}
		}
	}
}

// sameAsProducer compares with new KafkaProducer(input): everything, and what its parts are built with.
func sameAsProducer(t *testing.T, v vector, extra ...Line) {
	t.Helper()
	tmp := v.scratch(t)
	c, err := v.parse(tmp)
	sameOutcome(t, v.Producer, err, tmp)
	if err != nil {
		sameLines(t, v.Producer, err.Lines, tmp, extra...)
		return
	}
	lines := c.Lines
	if unused, ok := c.Unused("key.serializer.encoding", "value.serializer.encoding", "serializer.encoding"); ok {
		lines = append(slices.Clone(lines), unused)
	}
	sameLines(t, v.Producer, lines, tmp, extra...)
	sameBuild(t, v.Producer.Effective, c, tmp)
}

func (v vector) parse(tmp string) (*Config, *Error) {
	settings := v.settings(tmp)
	if v.SerializerInstances {
		settings = append(settings, Setting{Key: keySerializer, Value: Instance("k")},
			Setting{Key: valueSerializer, Value: Instance("v")})
	}
	lastClient.Store(0)
	c, err := ParseWith(settings, v.outside())
	if err == nil {
		err = buildSecurity(c)
	}
	e, _ := errors.AsType[*Error](err)
	return c, e
}

// buildSecurity makes what the Java producer makes before its connections, of which the vectors tell the errors too.
func buildSecurity(c *Config) error {
	if !strings.HasSuffix(c.SecurityProtocol, "SSL") {
		return nil
	}
	_, err := tlsconf.New(tlsconf.Options{
		Get:   func(key string) any { v, _ := c.Get(key); return v },
		Given: func(key string) bool { _, set := c.set[key]; return set },
		Now:   time.Now,
		Log:   func(slog.Level, string) {},
	})
	if e, ok := errors.AsType[*tlsconf.Error](err); ok {
		return &Error{Key: e.Option, Message: e.Message, Lines: c.Lines}
	}
	return err
}

func sameOutcome(t *testing.T, want outcome, err *Error, tmp string) {
	t.Helper()
	text := strings.ReplaceAll(want.message(), "{{TMP}}", tmp)
	switch {
	case want.OK && err != nil:
		t.Errorf("refused: %v", err)
	case !want.OK && err == nil:
		t.Errorf("accepted, want: %s", text)
	case !want.OK && err.Error() != text:
		t.Errorf("error\n%s, want\n%s", err, text)
	}
}

// ourParts are the Java classes whose lines are about the configuration; those of the closing are the producer's.
var ourParts = []string{"ProducerConfig", "CommonClientConfigs", "ConfigDef", "AbstractConfig", "KafkaProducer",
	"ClientUtils", "EnvVarConfigProvider", "FileConfigProvider", "DirectoryConfigProvider"}

func sameLines(t *testing.T, want outcome, lines []Line, tmp string, extra ...Line) {
	t.Helper()
	if want.Logs == nil {
		return // vectors without log lines
	}
	var wanted, got []string
	for _, l := range want.Logs {
		closing := strings.Contains(l.Message, "] Closing the Kafka producer") ||
			strings.Contains(l.Message, "] Proceeding to force close")
		if slices.Contains(ourParts, l.Logger) && !closing {
			wanted = append(wanted, l.Level+" "+steady(strings.ReplaceAll(l.Message, "{{TMP}}", tmp)))
		}
	}
	for _, l := range lines {
		if !slices.Contains(extra, l) {
			got = append(got, l.Level.String()+" "+steady(l.Text))
		}
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("log lines: -want +got\n%s", diff)
	}
	for _, l := range extra {
		if !slices.Contains(lines, l) {
			t.Errorf("no line %q", l.Text)
		}
	}
}

// sameNumber compares numbers by value: 1e-05 is 1.0E-5.
var sameNumber = cmp.FilterValues(func(a, b any) bool {
	_, isA := a.(json.Number)
	_, isB := b.(json.Number)
	return isA && isB
}, cmp.Comparer(func(a, b any) bool {
	f, _ := a.(json.Number).Float64()
	g, _ := b.(json.Number).Float64()
	return a == b || f == g && strings.ContainsAny(a.(json.Number).String()+b.(json.Number).String(), ".eE")
}))

// steady sorts the names in a line about unused settings: Java gives them in the order of a hash set.
func steady(line string) string {
	const before = "These configurations '["
	if !strings.HasPrefix(line, before) {
		return line
	}
	names, rest, _ := strings.Cut(strings.TrimPrefix(line, before), "]")
	list := strings.Split(names, ", ")
	slices.Sort(list)
	return before + strings.Join(list, ", ") + "]" + rest
}

func sameBuild(t *testing.T, want map[string]any, c *Config, tmp string) {
	t.Helper()
	if want == nil {
		return
	}
	number := func(n int64) any { return jsonValue(n) }
	orNull := func(s string, set bool) any {
		if !set {
			return nil
		}
		return s
	}
	addresses := []any{}
	for _, h := range c.Bootstrap {
		addresses = append(addresses, h.String())
	}
	slices.SortFunc(addresses, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	got := map[string]any{
		"clientId":                       c.ClientID,
		"accumulator.class":              map[bool]string{false: "RecordAccumulator", true: "ChunkedRecordAccumulator"}[c.IncrementalAllocation],
		"deliveryTimeoutMs":              number(c.DeliveryTimeoutMs),
		"lingerMs":                       number(c.LingerMs),
		"batchSize":                      number(int64(c.BatchSize)),
		"adaptivePartitioning":           c.Adaptive,
		"partitionAvailabilityTimeoutMs": number(c.AvailabilityTimeoutMs),
		"rackAware":                      c.RackAware,
		"rack":                           c.ClientRack,
		"totalMemorySize":                number(c.BufferMemory),
		"maxRequestSize":                 number(int64(c.MaxRequestSize)),
		"maxBlockTimeMs":                 number(c.MaxBlockMs),
		"acks":                           number(int64(c.Acks)),
		"retries":                        number(int64(c.Retries)),
		"requestTimeoutMs":               number(c.RequestTimeoutMs),
		"guaranteeMessageOrder":          c.MaxInFlight == 1,
		"retryBackoffMs":                 number(c.RetryBackoffMs),
		"compression":                    javaCodec[c.Compression],
		"idempotent":                     c.EnableIdempotence,
		"transactional":                  c.HasTransactionalID,
		"partitionerClass":               orNull(c.PartitionerClass, c.PartitionerClass != ""),
		"compressionLevel":               nil,
		"bootstrapAddresses":             addresses,
		"transactionTimeoutMs":           number(c.TransactionTimeoutMs),
		"twoPhaseCommit":                 c.TwoPhaseCommit,
	}
	if c.HasCompressionLevel {
		got["compressionLevel"] = number(int64(c.CompressionLevel))
	}
	for key, w := range want {
		switch {
		case key == "poolableSize": // the pool's own
			continue
		case key == "bootstrapAddresses" && w == nil: // resolved later
			continue
		case key == "bootstrapAddresses":
			w = sameAddresses(w.([]any))
		case key == "rack" && w == nil:
			w = ""
		}
		if s, ok := w.(string); ok {
			w = strings.ReplaceAll(s, "{{TMP}}", tmp)
		}
		if diff := cmp.Diff(w, got[key]); diff != "" {
			t.Errorf("built with %s: -want +got\n%s", key, diff)
		}
	}
}

// javaCodec are the names of Java's classes of codecs.
var javaCodec = map[string]string{"none": "NoCompression", "gzip": "GzipCompression", "snappy": "SnappyCompression",
	"lz4": "Lz4Compression", "zstd": "ZstdCompression"}

// sameAddresses writes IPv6 addresses as Go does.
func sameAddresses(java []any) []any {
	list := []any{}
	for _, a := range java {
		i := strings.LastIndex(a.(string), ":")
		host, port := a.(string)[:i], a.(string)[i+1:]
		if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() {
			host = "[" + ip.String() + "]"
		}
		list = append(list, host+":"+port)
	}
	return list
}
