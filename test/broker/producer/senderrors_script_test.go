//go:build unix

package producer_test

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"time"

	"linger"
)

func newLogger(h slog.Handler) *slog.Logger { return slog.New(h) }

// observed is what a call gave: a value, or an error, which may be the future's.
type observed struct {
	value  any
	err    error
	future bool
}

// script runs the steps of a vector on one producer.
func (r *sendRun) script(c sendCase) {
	r.start(c.Config)
	for _, step := range c.Steps {
		if r.skip != nil && r.skip(step.Call) {
			continue
		}
		want := step.stepResult
		if step.Outcome != nil {
			want = *step.Outcome
		}
		r.wantResult(step.Call, want, r.call(step.Call))
	}
}

func (r *sendRun) wantResult(what string, want stepResult, got observed) {
	r.Helper()
	links := want.Error
	if want.FutureError != nil {
		links = want.FutureError
	}
	switch {
	case want.OK && got.err != nil:
		r.Errorf("%s: %v", what, got.err)
	case want.OK && want.Returned != nil:
		r.wantValue(what, want.Returned, got.value)
	case !want.OK && got.err == nil:
		r.Errorf("%s: no error, want %s", what, texts(links))
	case !want.OK:
		r.wantError(what, links, got.err)
		if got.future != (want.FutureError != nil) {
			r.Errorf("%s: the future's error: %v, want %v", what, got.future, !got.future)
		}
	}
}

// wantValue compares a value of any shape.
func (r *sendRun) wantValue(what string, want, got any) {
	r.Helper()
	switch got := got.(type) {
	case observed:
		r.wantResult(what, decode[stepResult](r.T, want), got)
	case *sent:
		o := decode[sendOutcome](r.T, want)
		r.wantSent(o, got)
	case firstAndSecond:
		o := decode[sendOutcome](r.T, want)
		r.wantSent(o, got.second)
		if o.FirstDone != nil && *o.FirstDone != got.firstDone {
			r.Errorf("%s: the first is done: %v", what, got.firstDone)
		}
	case error:
		r.wantError(what, decode[[]javaLink](r.T, want), got)
	case []logLine:
		r.wantLogs(decode[[]javaLog](r.T, want), got)
	case []any:
		list, _ := want.([]any)
		if len(list) != len(got) {
			r.Errorf("%s: %v, want %v", what, got, want)
			return
		}
		for i := range got {
			r.wantValue(fmt.Sprintf("%s, part %d", what, i), list[i], got[i])
		}
	default:
		if fmt.Sprint(got) != fmt.Sprint(want) {
			r.Errorf("%s: %v, want %v", what, got, want)
		}
	}
}

var numbered = regexp.MustCompile(`^(send to partition|close) ?\(?(-?\d+)(?: ms)?\)?$`)

// call does what a step's words say.
func (r *sendRun) call(what string) observed {
	r.Helper()
	if m := numbered.FindStringSubmatch(what); m != nil {
		n, _ := strconv.Atoi(m[2]) // digits
		if m[1] == "close" {
			return observed{err: r.p.CloseTimeout(time.Duration(n) * time.Millisecond)}
		}
		s := r.finish(r.begin(context.Background(), anyRecord{Topic: r.topic, Partition: linger.On(int32(n)), Value: "v"}))
		return r.observe(s, s.md.Partition)
	}
	do := r.calls()[what]
	if do == nil {
		r.Fatalf("no way is known to %q: add it to calls", what)
	}
	return do()
}

func (r *sendRun) plain() anyRecord { return anyRecord{Topic: r.topic, Value: "v"} }

// observe is a send as a script sees it.
func (r *sendRun) observe(s *sent, value any) observed {
	if s.thrown != nil {
		return observed{err: s.thrown}
	}
	return observed{value: value, err: s.err, future: s.err != nil}
}

func (r *sendRun) send(rec anyRecord) observed {
	s := r.finish(r.begin(context.Background(), rec))
	return r.observe(s, s.md.HasOffset())
}

func (r *sendRun) partitionsFor(topic string) observed {
	list, err := r.p.PartitionsFor(context.Background(), topic)
	return observed{value: len(list), err: err}
}

func (r *sendRun) flush() observed {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return observed{err: r.p.Flush(ctx)}
}

// calls are the words of all vectors.
func (r *sendRun) calls() map[string]func() observed {
	closeAll := func() observed { return observed{err: r.p.Close()} }
	return map[string]func() observed{
		"send":                        func() observed { return r.send(r.plain()) },
		"send with bad size":          func() observed { return r.send(anyRecord{Topic: r.topic, Value: strings.Repeat("x", 2<<20)}) },
		"partitionsFor":               func() observed { return r.partitionsFor(r.topic) },
		"partitionsFor(topic)":        func() observed { return r.partitionsFor(r.topic) },
		"partitionsFor(topic).size()": func() observed { return r.partitionsFor(r.topic) },
		"partitionsFor(null)":         func() observed { return r.partitionsFor("") },
		"partitionsFor(unknown)":      func() observed { return r.partitionsFor("oracle-nope2") },
		"partitionsFor(invalid)":      func() observed { return r.partitionsFor("bad topic") },
		"flush":                       r.flush,
		"flush with nothing sent":     r.flush,
		"close":                       closeAll,
		"close()":                     closeAll,
		"send then flush()":           func() observed { return r.sendThen(func() { r.flush() }, false) },
		"send then close()":           func() observed { return r.sendThen(func() { r.p.Close() }, true) },
		"flush inside a callback":     func() observed { return r.inCallback(r.flush) },
		"send inside a callback": func() observed {
			// Waiting for a record inside the callback of another would wait for itself: the outcome is looked at behind.
			var second *sent
			o := r.inCallback(func() observed { second = r.begin(context.Background(), r.plain()); return observed{} })
			if o.err != nil {
				return o
			}
			s := r.finish(second)
			return r.observe(s, s.md.HasOffset())
		},
		"a callback that throws, then a second send":            r.throwingCallback,
		"interrupt the sending thread":                          r.interruptMetadataWait,
		"send with the broker stopped":                          r.sendStopped,
		"send two, 200 ms apart, same partition":                r.sendTwo,
		"fill one batch buffer, then send to another partition": func() observed { return r.fillThenSend(1000, 1000) },
		"memory taken, then send with max.block.ms=0":           func() observed { return r.fillThenSend(1000, 1000) },
		"a 15000-byte record in flight, then one of 8000":       func() observed { return r.fillThenSend(15000, 8000) },
		"send, close(0)":                               r.sendThenForce,
		"a thread waits for memory, close(0)":          r.closeWhileWaiting,
		"a thread waits for memory and is interrupted": r.interruptMemoryWait,
	}
}

// sendThen sends, calls, and says whether the future is done then.
func (r *sendRun) sendThen(what func(), both bool) observed {
	s := r.begin(context.Background(), r.plain())
	if s.thrown != nil {
		return observed{err: s.thrown}
	}
	what()
	parts := []any{"done", s.future.Ready()}
	if r.finish(s); both {
		parts = append(parts, r.observe(s, s.md.HasOffset()))
	}
	return observed{value: parts}
}

// inCallback does something inside a record's callback and tells what came of it.
func (r *sendRun) inCallback(what func() observed) observed {
	inside := make(chan observed, 1)
	if _, err := r.p.Send(context.Background(), r.plain(), func(linger.RecordMetadata, error) { inside <- what() }); err != nil {
		return observed{err: err}
	}
	select {
	case o := <-inside:
		return observed{value: o}
	case <-time.After(patience):
		return observed{err: fmt.Errorf("the callback hangs")}
	}
}

func (r *sendRun) throwingCallback() observed {
	rec := anyRecord{Topic: r.topic, Partition: linger.On(0), Value: "v"}
	f, err := r.p.Send(context.Background(), rec, func(linger.RecordMetadata, error) {
		panic(&javaError{class: "java.lang.IllegalStateException", text: "callback failed"})
	})
	if err != nil {
		return observed{err: err}
	}
	first := r.finish(&sent{future: f})
	one, two := r.observe(first, first.md.HasOffset()), r.send(rec)
	if err := r.p.Close(); err != nil { // it writes what is left of the log
		return observed{err: err}
	}
	return observed{value: []any{one, two, r.logs.about("callback panicked")}}
}

// interrupt ends the context of a send that waits in function.
func (r *sendRun) interrupt(rec anyRecord, function string) observed {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := r.p.Send(ctx, rec, nil)
		ended <- err
	}()
	r.await(function)
	cancel()
	return observed{err: <-ended}
}

const (
	waitsForMetadata = "linger/internal/engine.(*Engine).WaitTopic"
	waitsForMemory   = "linger/internal/bufferpool.(*Pool).await"
)

func (r *sendRun) interruptMetadataWait() observed {
	return observed{value: []any{r.interrupt(r.plain(), waitsForMetadata), "interrupted flag kept", true}}
}
