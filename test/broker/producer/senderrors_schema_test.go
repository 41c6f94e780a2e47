//go:build unix

package producer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linger"
	"linger/internal/kerr"
)

// The shape of send-errors.json. Which fields a vector has depends on its kind.
type sendCase struct {
	ID      string
	Kind    string // record, send, script, stopped-broker
	Config  map[string]string
	Action  json.RawMessage // record: a constructor call as text; send: a sendAction
	Outcome json.RawMessage // record: a step's fields; send: a sendOutcome
	Steps   []scriptStep
}

type sendAction struct {
	Topic     string
	Partition *int32
	Timestamp any // null, a number, "now", "now + n ms"
	Key       any // null, text, a number, {"string", "repeated"}
	Value     any
	Note      string
}

type sendOutcome struct {
	Thrown           []javaLink
	FutureDoneAtOnce *bool
	Future           *struct {
		Metadata *javaMetadata
		Error    []javaLink
	}
	Callback *struct {
		BeforeSendReturned bool
		Thread             string // caller, sender
		Metadata           *javaMetadata
		Error              []javaLink
	}
	RecordErrorTotal, RecordSendTotal, BufferExhaustedTotal *float64

	FirstDone         *bool
	InterceptorEvents []string
	Warnings          []javaLog
}

// scriptStep is a call and what became of it; stopped-broker has that one level down, in outcome.
type scriptStep struct {
	Call string
	stepResult
	Outcome *stepResult
}

type stepResult struct {
	OK          bool
	Returned    any
	Error       []javaLink
	FutureError []javaLink
}

type javaLink struct {
	Class   string
	Message *string
}

type javaMetadata struct {
	Topic                                  string
	Partition, Offset, Timestamp           any // a number, or "sticky", "some"
	HasOffset, HasTimestamp                bool
	SerializedKeySize, SerializedValueSize int32
}

type javaLog struct {
	Level, Logger, Message string
	Error                  []javaLink
}

// decode reads a part of a vector that has a shape of its own.
func decode[T any](t *testing.T, part any) T {
	t.Helper()
	text, ok := part.(json.RawMessage)
	if !ok {
		var err error
		if text, err = json.Marshal(part); err != nil {
			t.Fatal(err)
		}
	}
	var v T
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// pattern is what a text with placeholders matches.
func (r *sendRun) pattern(text string) *regexp.Regexp {
	quoted := regexp.QuoteMeta(r.fill(text))
	return regexp.MustCompile("^" + regexp.MustCompile(`\\\{\\\{(N|PID)\\\}\\\}`).ReplaceAllString(quoted, `-?\d+`) + "$")
}

// fill puts the run's own names into a text.
func (r *sendRun) fill(text string) string {
	return strings.NewReplacer("{{TOPIC}}", r.topic, "{{BROKER}}", r.cluster.Bootstrap(), "{{UNREACHABLE}}", r.unreachable).Replace(text)
}

// wantError compares an error's exceptions and texts with Java's, causes included.
func (r *sendRun) wantError(what string, want []javaLink, got error) {
	r.Helper()
	if r.adapt != nil {
		want = r.adapt(want)
	}
	var names []string
	for _, l := range want {
		names = append(names, simpleName(l.Class))
	}
	if have := kerr.JavaNames(got); !slices.Equal(have, names) {
		r.Errorf("%s: %v (%v), want %v %s", what, have, got, names, texts(want))
		return
	}
	if r.also != nil {
		r.also(got)
	}
	for i, l := range want {
		if l.Message == nil || fromJDK(l) {
			continue
		}
		if !saysSomewhere(got, names[i], i == 0, r.pattern(*l.Message)) {
			r.Errorf("%s: %s says %q, want %q", what, names[i], kerr.JavaMessage(got), *l.Message)
		}
	}
}

// saysSomewhere looks for a link of that exception with that text; the outermost speaks for the whole.
func saysSomewhere(err error, name string, outermost bool, want *regexp.Regexp) bool {
	if outermost {
		return want.MatchString(kerr.JavaMessage(err))
	}
	for err := range links(err) {
		if kerr.JavaName(err) == name && want.MatchString(kerr.JavaMessage(err)) {
			return true
		}
	}
	return false
}

// links are all errors inside err, err first.
func links(err error) func(func(error) bool) {
	return func(yield func(error) bool) { visit(err, yield) }
}

func visit(err error, yield func(error) bool) bool {
	if err == nil {
		return true
	}
	if !yield(err) {
		return false
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			if !visit(e, yield) {
				return false
			}
		}
		return true
	}
	return visit(errors.Unwrap(err), yield)
}

// fromJDK reports whether the text is the JDK's and not Kafka's.
func fromJDK(l javaLink) bool {
	switch simpleName(l.Class) {
	case "ClassCastException", "NullPointerException", "IndexOutOfBoundsException", "ArrayIndexOutOfBoundsException", "InterruptedException", "InterruptException":
		return true
	}
	return strings.HasPrefix(l.Class, "javax.")
}

func simpleName(class string) string {
	return class[strings.LastIndexAny(class, ".$")+1:]
}

func texts(want []javaLink) string {
	var all []string
	for _, l := range want {
		if l.Message != nil {
			all = append(all, *l.Message)
		}
	}
	return strings.Join(all, " / ")
}

func (r *sendRun) wantMetadata(what string, want *javaMetadata, got linger.RecordMetadata) {
	r.Helper()
	if want == nil {
		r.Errorf("%s: metadata %+v, want none", what, got)
		return
	}
	stamp := int64(-1)
	if !got.Timestamp.IsZero() {
		stamp = got.Timestamp.UnixMilli()
	}
	if got.Topic != r.fill(want.Topic) || got.HasOffset() != want.HasOffset || (stamp >= 0) != want.HasTimestamp ||
		got.KeySize != want.SerializedKeySize || got.ValueSize != want.SerializedValueSize ||
		!isNumber(want.Partition, int64(got.Partition)) || !isNumber(want.Offset, got.Offset) || !isNumber(want.Timestamp, stamp) {
		r.Errorf("%s: metadata %+v, want %+v", what, got, *want)
	}
}

// isNumber compares with a number, or with "sticky" and "some", which stand for any that is valid.
func isNumber(want any, got int64) bool {
	if s := fmt.Sprint(want); s != "sticky" && s != "some" {
		return s == fmt.Sprint(got)
	}
	return got >= 0
}
