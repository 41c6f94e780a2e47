//go:build unix

package producer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"linger"
	"linger/internal/kerr"
	"linger/test/broker/kafkatest"
)

type anyProducer = linger.Producer[any, any]
type anyRecord = linger.Record[any, any]

// sendRun is one vector on its way through our producer.
type sendRun struct {
	*testing.T
	vector      sendCase
	cluster     *kafkatest.Cluster
	topic       string // {{TOPIC}}
	unreachable string
	retopic     string // where an interceptor that changes the topic sends to

	p      *anyProducer
	events eventList
	logs   logLines

	// A rule's changes to what Java's side says.
	adapt func(want []javaLink) []javaLink
	also  func(err error)
	skip  func(call string) bool
}

// start makes the producer that the vector's config describes.
func (r *sendRun) start(config map[string]string) {
	r.Helper()
	opts := []linger.Option{
		linger.WithRegistry(r.registry()), linger.WithLogger(newLogger(&r.logs)),
		linger.Set("key.serializer", stringClass), linger.Set("value.serializer", stringClass),
	}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		value := r.fill(config[key])
		if key == "max.block.ms" && !r.isTold(value) {
			value = strconv.FormatInt(patience.Milliseconds(), 10)
		}
		opts = append(opts, linger.Set(key, value))
	}
	p, err := linger.New[any, any](nil, nil, opts...)
	if err != nil {
		r.Fatal(err)
	}
	r.p = p
	r.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if report, err := p.Shutdown(ctx); err != nil || report.BytesLeft != 0 {
			r.Errorf("shutdown: %v, %d bytes of buffer.memory did not come home", err, report.BytesLeft)
		}
	})
}

// isTold reports whether what became of the vector names a max.block.ms. One that nobody ran into was only to keep the recording
// short, and a busy broker may take longer.
func (r *sendRun) isTold(ms string) bool {
	text, err := json.Marshal(r.vector)
	if err != nil {
		r.Fatal(err)
	}
	return ms == "0" || bytes.Contains(text, []byte(" "+ms+" ms"))
}

// knowTopic has the producer know the topic beforehand where the outcome says so and time is short.
func (r *sendRun) knowTopic() {
	r.Helper()
	if !bytes.Contains(r.vector.Outcome, []byte("with partition count")) {
		return
	}
	deadline := time.Now().Add(patience)
	for err := r.p.Warm(context.Background(), r.topic); err != nil; err = r.p.Warm(context.Background(), r.topic) {
		if time.Now().After(deadline) {
			r.Fatal(err)
		}
	}
}

// record makes the record of an action.
func (r *sendRun) record(a sendAction) anyRecord {
	r.Helper()
	rec := anyRecord{Topic: r.fill(a.Topic), Key: r.side(a.Key), Value: r.side(a.Value), Timestamp: r.stamp(a.Timestamp)}
	if a.Partition != nil {
		rec.Partition = linger.On(*a.Partition)
	}
	if m := regexp.MustCompile(`^one header (\S+) of (\d+) bytes$`).FindStringSubmatch(a.Note); m != nil {
		n, _ := strconv.Atoi(m[2]) // digits
		rec.Headers = []linger.Header{{Key: m[1], Value: make([]byte, n)}}
	}
	return rec
}

var thrownValue = regexp.MustCompile(`^((?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error)): (?:.*?: )?(.*)$`)

// side makes a key or value of what stands in a vector. An exception stands there as "class: class: text".
func (r *sendRun) side(v any) any {
	r.Helper()
	switch v := v.(type) {
	case nil:
		return nil
	case json.Number:
		n, err := v.Int64()
		if err != nil {
			r.Fatal(err)
		}
		return n
	case string:
		if m := thrownValue.FindStringSubmatch(v); m != nil {
			return &javaError{class: m[1], text: m[2]}
		}
		return r.fill(v)
	case map[string]any:
		n, err := strconv.Atoi(fmt.Sprint(v["repeated"]))
		if err != nil {
			r.Fatal(err)
		}
		return strings.Repeat(v["string"].(string), n)
	}
	r.Fatalf("no key or value is made of %v", v)
	return nil
}

func (r *sendRun) stamp(v any) time.Time {
	r.Helper()
	text := fmt.Sprint(v)
	switch m := regexp.MustCompile(`^now(?: ([+-]) (\d+) ms)?$`).FindStringSubmatch(text); {
	case v == nil:
		return time.Time{}
	case m != nil:
		ms, _ := strconv.ParseInt(m[1]+m[2], 10, 64) // "" is 0
		return time.Now().Add(time.Duration(ms) * time.Millisecond)
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		r.Fatal(err)
	}
	return time.UnixMilli(ms)
}

// sent is what our producer did with one record.
type sent struct {
	thrown     error
	doneAtOnce bool
	md         linger.RecordMetadata
	err        error
	called     int
	thread     string
	before     bool // the callback ran before Send returned
	cbMD       linger.RecordMetadata
	cbErr      error
	future     linger.Future
}

// begin sends and looks at what is known when Send returns. A callback on another goroutine is held until then: what has
// to be finished by then is finished by the caller.
func (r *sendRun) begin(ctx context.Context, rec anyRecord) *sent {
	s, returned, caller := new(sent), make(chan struct{}), goroutine()
	s.future, s.thrown = r.p.Send(ctx, rec, func(md linger.RecordMetadata, err error) {
		s.called++
		s.thread = "elsewhere"
		if goroutine() == caller {
			s.thread, s.before = "caller", true
		} else if stackHas("linger/internal/deliver.") {
			s.thread = "sender"
			select {
			case <-returned:
			case <-time.After(patience):
				s.before = true
			}
		}
		s.cbMD, s.cbErr = md, err
	})
	s.doneAtOnce = s.thrown == nil && s.future.Ready()
	close(returned)
	return s
}

func (r *sendRun) finish(s *sent) *sent {
	if s.thrown != nil {
		return s
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s.md, s.err = s.future.Wait(ctx)
	return s
}

// goroutine is the number of the goroutine that calls.
func goroutine() string {
	buf := make([]byte, 64)
	return string(bytes.Fields(buf[:runtime.Stack(buf, false)])[1])
}

func stackHas(function string) bool {
	buf := make([]byte, 16<<10)
	return bytes.Contains(buf[:runtime.Stack(buf, false)], []byte(function))
}

// await waits until some goroutine is in function.
func (r *sendRun) await(function string) {
	r.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	buf := make([]byte, 1<<20)
	for !bytes.Contains(buf[:runtime.Stack(buf, true)], []byte(function)) {
		select {
		case <-tick.C:
		case <-deadline:
			r.Fatalf("nobody waits in %s", function)
		}
	}
}

// wantSent compares a send with Java's.
func (r *sendRun) wantSent(want sendOutcome, got *sent) {
	r.Helper()
	if want.Thrown != nil {
		r.wantError("thrown", want.Thrown, got.thrown)
		if got.called != 0 {
			r.Errorf("the callback ran %d times although Send has failed", got.called)
		}
	} else if got.thrown != nil {
		r.Errorf("Send: %v", got.thrown)
		return
	} else {
		r.wantOutcome(want, got)
	}
	counters := r.p.Counters()
	r.wantTotal("record-error-total", want.RecordErrorTotal, counters.RecordErrors)
	r.wantTotal("record-send-total", want.RecordSendTotal, counters.RecordsSent)
	r.wantTotal("buffer-exhausted-total", want.BufferExhaustedTotal, counters.BufferExhausted)
}

func (r *sendRun) wantOutcome(want sendOutcome, got *sent) {
	r.Helper()
	if want.FutureDoneAtOnce == nil || want.Future == nil || want.Callback == nil {
		r.Fatalf("the vector lacks a part: %+v", want)
	}
	if *want.FutureDoneAtOnce != got.doneAtOnce {
		r.Errorf("future done at once: %v, want %v", got.doneAtOnce, *want.FutureDoneAtOnce)
	}
	if want.Future.Error != nil {
		r.wantError("future", want.Future.Error, got.err)
	} else if got.err != nil {
		r.Errorf("future: %v", got.err)
	} else {
		r.wantMetadata("future", want.Future.Metadata, got.md)
	}
	cb := want.Callback
	if got.called != 1 || got.thread != cb.Thread || got.before != cb.BeforeSendReturned {
		r.Errorf("callback: %d times, on %s, before Send returned %v; want once, on %s, %v", got.called, got.thread, got.before, cb.Thread, cb.BeforeSendReturned)
	}
	r.wantMetadata("callback", cb.Metadata, got.cbMD)
	if cb.Error != nil {
		r.wantError("callback", cb.Error, got.cbErr)
	} else if got.cbErr != nil {
		r.Errorf("callback: %v", got.cbErr)
	}
}

// text is the explanation alone.
func (r *sendRun) text(err error) string {
	if err == nil {
		return ""
	}
	return kerr.JavaMessage(err)
}

func (r *sendRun) wantTotal(name string, want *float64, got int64) {
	r.Helper()
	if want != nil && *want != float64(got) {
		r.Errorf("%s is %d, want %v", name, got, *want)
	}
}

// wantInterceptors compares what the interceptors heard and what was logged about them. The producer is closed by then.
func (r *sendRun) wantInterceptors(want sendOutcome) {
	r.Helper()
	var events []string
	for _, e := range want.InterceptorEvents {
		events = append(events, r.fill(e))
	}
	if !slices.Equal(events, r.events.list) {
		r.Errorf("interceptors heard\n%q, want\n%q", r.events.list, events)
	}
	r.wantLogs(want.Warnings, r.logs.about("interceptor failed"))
}

// wantLogs compares levels and what the plug-ins threw. The words around are each producer's own, and so is the name that a
// plug-in gives its second method.
func (r *sendRun) wantLogs(want []javaLog, got []logLine) {
	r.Helper()
	if len(want) != len(got) {
		r.Errorf("%d log lines %v, want %d", len(got), got, len(want))
		return
	}
	for i, w := range want {
		text := ""
		if len(w.Error) > 0 && w.Error[0].Message != nil {
			text = regexp.MustCompile(`^([A-Z] on(?:Send|Ack))\w*`).ReplaceAllString(*w.Error[0].Message, "$1")
			if m := regexp.MustCompile(`^[A-Z] on(?:Send|Ack)`).FindString(text); m != "" {
				text = m
			}
		}
		if got[i].level.String() != w.Level || !strings.Contains(got[i].text, text) {
			r.Errorf("log line %d is %s %q, want %s about %q", i, got[i].level, got[i].text, w.Level, text)
		}
	}
}
