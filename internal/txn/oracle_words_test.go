package txn

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linger/internal/kerr"
)

// The words of the vectors: Java's names of states, codes and exceptions, and what stands for them here.

func stateNamed(t *testing.T, name string) State {
	t.Helper()
	for s := range State(stateCount) {
		if s.String() == name {
			return s
		}
	}
	t.Fatalf("unknown state %q", name)
	return 0
}

func codeNamed(t *testing.T, name string) kerr.Code {
	t.Helper()
	for c := kerr.UnknownServerError; c.Known(); c++ {
		if c.Name() == name {
			return c
		}
	}
	t.Fatalf("unknown error code %q", name)
	return 0
}

// exceptionNamed is the error of ours that stands for the exception that the vector threw in.
func exceptionNamed(t *testing.T, name string) error {
	t.Helper()
	switch name {
	case "KafkaException":
		return kafkaError("plain")
	case "RuntimeException":
		return errors.New("rt")
	case "SerializationException":
		return &kerr.Error{Msg: "ser", Err: kerr.ErrSerialization}
	case "RecordTooLargeException":
		return &kerr.Error{Code: kerr.MessageTooLarge, Msg: "large"}
	case "TimeoutException":
		return &kerr.Error{Code: kerr.RequestTimedOut, Msg: "Expiring", Err: kerr.ErrTimeout}
	case "BufferExhaustedException":
		return &kerr.Error{Code: kerr.RequestTimedOut, Msg: "full", Err: kerr.ErrBufferExhausted}
	}
	return &kerr.Error{Op: "send", Code: codeNamed(t, name)}
}

// javaChain is err as the vectors list exceptions: the outermost first, then its causes.
func javaChain(err error) []exception {
	if err == nil {
		return nil
	}
	chain := []exception{{kerr.JavaName(err), kerr.JavaMessage(err)}}
	return append(chain, javaChain(javaCause(err))...)
}

// javaCause skips the sentinel that only names err's exception.
func javaCause(err error) error {
	if e, ok := err.(*kerr.Error); ok {
		if _, sentinel := e.Err.(*kerr.Situation); sentinel {
			return nil
		}
		if _, many := e.Err.(interface{ Unwrap() []error }); !many {
			return e.Err
		}
		err = e.Err
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()[1]
	}
	return errors.Unwrap(err)
}

func simpleName(class string) string { return class[strings.LastIndexByte(class, '.')+1:] }

func simpleChain(chain []exception) []exception {
	var out []exception
	for _, e := range chain {
		out = append(out, exception{simpleName(e.Class), e.Message})
	}
	return out
}

// sameError compares an error with the exceptions of a vector. What the JDK itself throws as a cause has its own
// words: of those only the presence counts.
func sameError(t *testing.T, err error, raw json.RawMessage) {
	t.Helper()
	var want []exception
	if raw != nil {
		if e := json.Unmarshal(raw, &want); e != nil {
			t.Fatal(e)
		}
	}
	want = simpleChain(want)
	got := javaChain(err)
	if last := len(want) - 1; last >= 0 && want[last].Class == "NumberFormatException" && len(got) > last {
		got = append(got[:last], want[last])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error (-Java +got)\n%s", diff)
	}
}

func sameJSON(t *testing.T, got any, raw json.RawMessage) {
	t.Helper()
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := errors.Join(json.Unmarshal(text, &a), json.Unmarshal(raw, &b)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fmt.Sprint(b), fmt.Sprint(a)); diff != "" {
		t.Errorf("returned (-Java +got)\n%s", diff)
	}
}
