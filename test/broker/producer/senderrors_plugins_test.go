//go:build unix

package producer_test

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"

	"linger"
	"linger/internal/kerr"
)

// stringClass is what Java's side of the vectors had when they name no serializer.
const stringClass = "org.apache.kafka.common.serialization.StringSerializer"

// registry knows the vectors' classes. Keys and values are of type any, as in Java's raw producer, so that a value of the
// wrong type reaches a serializer at all.
func (r *sendRun) registry() linger.Registry {
	reg := linger.NewRegistry().
		With(stringClass, func() any { return anyString{} }).
		With("oracle.SendErrors$Throwing", func() any { return throwing{} }).
		With("oracle.SendErrors$FixedPartitioner", func() any { return new(fixedPartitioner) })
	for _, letter := range []string{"A", "B", "C"} {
		reg = reg.With("oracle.SendErrors$Interceptor"+letter, func() any { return &eventInterceptor{run: r, letter: letter} })
	}
	return reg
}

// javaError is an exception that a plug-in throws.
type javaError struct{ class, text string }

func (e *javaError) Error() string         { return e.text }
func (e *javaError) JavaException() string { return simpleName(e.class) }

// anyString is linger.String behind a type that admits the wrong thing.
type anyString struct{}

func (anyString) Serialize(topic string, headers []linger.Header, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		return linger.String.Serialize(topic, headers, v)
	}
	return nil, &javaError{class: "java.lang.ClassCastException", text: fmt.Sprintf("%T is no string", v)}
}

// throwing throws a value that is an exception.
type throwing struct{}

func (throwing) Serialize(topic string, headers []linger.Header, v any) ([]byte, error) {
	if err, ok := v.(*javaError); ok {
		return nil, err
	}
	return anyString{}.Serialize(topic, headers, v)
}

// fixedPartitioner returns oracle.partition, or throws.
type fixedPartitioner struct{ partition string }

func (f *fixedPartitioner) Configure(values map[string]string) error {
	f.partition = values["oracle.partition"]
	return nil
}

func (f *fixedPartitioner) Partition(string, []byte, []byte, linger.Cluster) (int32, error) {
	if f.partition == "throw" {
		return 0, &javaError{class: "java.lang.IllegalStateException", text: "partitioner failed"}
	}
	n, err := strconv.ParseInt(f.partition, 10, 32)
	return int32(n), err
}

// eventInterceptor notes what it hears and does what oracle.<letter>.onSend and .onAck say.
type eventInterceptor struct {
	run           *sendRun
	letter        string
	onSend, onAck string
}

func (i *eventInterceptor) Configure(values map[string]string) error {
	i.onSend, i.onAck = values["oracle."+i.letter+".onSend"], values["oracle."+i.letter+".onAck"]
	i.run.events.add(i.letter + ".configure")
	return nil
}

func (i *eventInterceptor) OnSend(rec linger.Record[any, any]) (linger.Record[any, any], error) {
	partition := "null"
	if n, chosen := rec.Partition.Get(); chosen {
		partition = strconv.Itoa(int(n))
	}
	value := fmt.Sprint(rec.Value)
	if rec.Value == nil {
		value = "null"
	}
	i.run.events.add(fmt.Sprintf("%s.onSend(%s,%s,%s)", i.letter, rec.Topic, partition, value))
	switch i.onSend {
	case "append":
		rec.Value = value + i.letter
	case "retopic":
		rec.Topic = i.run.retopic
	case "return-null":
		return linger.Record[any, any]{}, nil
	case "throw":
		return rec, &javaError{class: "java.lang.RuntimeException", text: i.letter + " onSend failed"}
	}
	return rec, nil
}

func (i *eventInterceptor) OnAck(md linger.RecordMetadata, _ []linger.Header, err error) {
	offset, stamp, fault := "no-offset", "no-timestamp", "null"
	if md.HasOffset() {
		offset = "offset"
	}
	if !md.Timestamp.IsZero() {
		stamp = "timestamp"
	}
	if err != nil {
		fault = kerr.JavaName(err)
	}
	i.run.events.add(fmt.Sprintf("%s.onAcknowledgement(%s,%d,%s,%s,%s)", i.letter, md.Topic, md.Partition, offset, stamp, fault))
	if i.onAck == "throw" {
		panic(&javaError{class: "java.lang.RuntimeException", text: i.letter + " onAcknowledgement failed"})
	}
}

func (i *eventInterceptor) Close() error {
	i.run.events.add(i.letter + ".close")
	return nil
}

// eventList keeps what interceptors hear, in order.
type eventList struct {
	mu   sync.Mutex
	list []string
}

func (l *eventList) add(e string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, e)
}

// logLines is a slog.Handler that keeps warnings and errors.
type logLines struct {
	mu    sync.Mutex
	lines []logLine
}

type logLine struct {
	level slog.Level
	text  string // message and attributes
}

func (l *logLines) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }
func (l *logLines) WithAttrs([]slog.Attr) slog.Handler               { return l }
func (l *logLines) WithGroup(string) slog.Handler                    { return l }

func (l *logLines) Handle(_ context.Context, rec slog.Record) error {
	var b strings.Builder
	b.WriteString(rec.Message)
	rec.Attrs(func(a slog.Attr) bool {
		fmt.Fprintf(&b, " %s=%v", a.Key, a.Value)
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, logLine{rec.Level, b.String()})
	return nil
}

// about are the lines that hold word.
func (l *logLines) about(word string) (found []logLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line.text, word) {
			found = append(found, line)
		}
	}
	return found
}
