package kerr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

var sentinels = []*Situation{
	ErrClosed, ErrClosedDuringSend, ErrClosedAllocating, ErrForceClosed, ErrInErrorState, ErrTransactionAborted, ErrFenced,
	ErrTimeout, ErrBufferExhausted, ErrInterrupted, ErrWouldBlock, ErrCancelled, ErrRecordTooLarge,
	ErrInvalidTopic, ErrSerialization, ErrIllegalState, ErrIllegalArgument, ErrConfig, ErrKafka,
	ErrDisconnected, ErrAuthentication, ErrAuthorization,
}

func TestErrorsIsAnswers(t *testing.T) {
	tests := map[string]struct {
		err, target error
		want        bool
	}{
		"an error is the sentinel of its code":                   {&Error{Code: ProducerFenced}, ErrFenced, true},
		"an error is not the sentinel of another code":           {&Error{Code: InvalidProducerEpoch}, ErrFenced, false},
		"an error is an error of the same code":                  {&Error{Code: ProducerFenced, Msg: "m"}, &Error{Code: ProducerFenced}, true},
		"an error is no error of another code":                   {&Error{Code: ProducerFenced}, &Error{Code: InvalidTxnState}, false},
		"errors without a code are told apart":                   {&Error{Msg: "a"}, &Error{Msg: "b"}, false},
		"a wrapped error keeps its code":                         {fmt.Errorf("later: %w", &Error{Code: ProducerFenced}), ErrFenced, true},
		"a cause is found behind a code":                         {&Error{Code: RequestTimedOut, Err: ErrBufferExhausted}, ErrBufferExhausted, true},
		"a broker's time-out is a time-out":                      {&Error{Code: RequestTimedOut}, ErrTimeout, true},
		"a broker's time-out is no exhausted buffer":             {&Error{Code: RequestTimedOut}, ErrBufferExhausted, false},
		"an exhausted buffer is a time-out":                      {ErrBufferExhausted, ErrTimeout, true},
		"a time-out is no exhausted buffer":                      {ErrTimeout, ErrBufferExhausted, false},
		"closed while allocating is closed during send":          {ErrClosedAllocating, ErrClosedDuringSend, true},
		"closed while allocating is closed":                      {ErrClosedAllocating, ErrClosed, true},
		"closed is not closed during send":                       {ErrClosed, ErrClosedDuringSend, false},
		"a sentinel is an error of its code":                     {ErrFenced, &Error{Code: ProducerFenced}, true},
		"a sentinel without a code is no error without a code":   {ErrClosed, &Error{}, false},
		"a topic's authorization is authorization":               {&Error{Code: TopicAuthorizationFailed}, ErrAuthorization, true},
		"a group's authorization is authorization":               {&Error{Code: GroupAuthorizationFailed}, ErrAuthorization, true},
		"a fenced producer is not an authorization":              {&Error{Code: ProducerFenced}, ErrAuthorization, false},
		"a wrong password is authentication":                     {&Error{Code: SASLAuthenticationFailed}, ErrAuthentication, true},
		"a wrong password is not authorization":                  {&Error{Code: SASLAuthenticationFailed}, ErrAuthorization, false},
		"no code is no authorization":                            {&Error{}, ErrAuthorization, false},
		"an interrupted wait shows the context's error":          {Interrupted(ended(context.DeadlineExceeded), "it"), context.DeadlineExceeded, true},
		"an interrupted wait is interrupted":                     {Interrupted(ended(context.Canceled), "it"), ErrInterrupted, true},
		"the error that broke a transaction is seen through":     {fmt.Errorf("%w: %w", ErrInErrorState, &Error{Code: ProducerFenced}), ErrFenced, true},
		"a lost connection is the protocol's network exception":  {&Error{Code: NetworkException}, ErrDisconnected, true},
		"an unknown code is itself":                              {&Error{Code: 1234}, &Error{Code: 1234}, true},
		"an unknown code is not the unknown server error itself": {&Error{Code: 1234}, &Error{Code: UnknownServerError}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := errors.Is(tt.err, tt.target); got != tt.want {
				t.Errorf("errors.Is(%v, %v) = %t, want %t", tt.err, tt.target, got, tt.want)
			}
		})
	}
}

// Each kind of error in Send is told apart, with the exception that Java has for it.
func TestWhatIsToldOfAnError(t *testing.T) {
	cause := errors.New("disk full")
	tests := map[string]struct {
		err   error
		java  string
		api   bool
		code  Code
		class Class
	}{
		"no error":                           {nil, "", false, None, ClassNone},
		"an error of the application":        {cause, "RuntimeException", false, UnknownServerError, ClassFatal},
		"a broker's error":                   {&Error{Code: NotLeaderOrFollower}, "NotLeaderOrFollowerException", true, NotLeaderOrFollower, ClassRefreshRetriable},
		"a class of the operation wins":      {&Error{Code: NotLeaderOrFollower, Class: ClassAbortable}, "NotLeaderOrFollowerException", true, NotLeaderOrFollower, ClassAbortable},
		"a newer broker's error":             {&Error{Code: 1234}, "UnknownServerException", true, 1234, ClassFatal},
		"a time-out":                         {&Error{Code: RequestTimedOut, Msg: "Topic t not present in metadata after 300 ms."}, "TimeoutException", true, RequestTimedOut, ClassRetriable},
		"an exhausted buffer":                {&Error{Code: RequestTimedOut, Err: ErrBufferExhausted}, "BufferExhaustedException", true, RequestTimedOut, ClassRetriable},
		"an exhausted buffer without a code": {&Error{Err: ErrBufferExhausted}, "BufferExhaustedException", true, RequestTimedOut, ClassRetriable},
		"a record too large":                 {ErrRecordTooLarge, "RecordTooLargeException", true, MessageTooLarge, ClassFatal},
		"an invalid topic":                   {ErrInvalidTopic, "InvalidTopicException", true, InvalidTopicException, ClassInvalidConfiguration},
		"an interrupted wait":                {Interrupted(ended(context.Canceled), "it"), "InterruptException", false, UnknownServerError, ClassRetriable},
		"a context's own error":              {context.DeadlineExceeded, "InterruptException", false, UnknownServerError, ClassFatal},
		"a failed serializer":                {fmt.Errorf("%w: %w", ErrSerialization, cause), "SerializationException", false, UnknownServerError, ClassFatal},
		"closed before":                      {ErrClosed, "IllegalStateException", false, UnknownServerError, ClassFatal},
		"closed while send waits":            {ErrClosedDuringSend, "KafkaException", false, UnknownServerError, ClassFatal},
		"closed by force":                    {&Error{Op: "send", Err: ErrForceClosed}, "KafkaException", false, UnknownServerError, ClassFatal},
		"in an error state":                  {fmt.Errorf("%w: %w", ErrInErrorState, &Error{Code: ProducerFenced}), "KafkaException", false, ProducerFenced, ClassFatal},
		"an illegal argument":                {ErrIllegalArgument, "IllegalArgumentException", false, UnknownServerError, ClassFatal},
		"a refused configuration":            {ErrConfig, "ConfigException", false, UnknownServerError, ClassInvalidConfiguration},
		"an aborted transaction":             {ErrTransactionAborted, "TransactionAbortedException", true, UnknownServerError, ClassAbortable},
		"a lost connection":                  {ErrDisconnected, "NetworkException", true, NetworkException, ClassRefreshRetriable},
		"a cancelled record":                 {ErrCancelled, "CancellationException", false, UnknownServerError, ClassFatal},
		"a full producer that may not wait":  {ErrWouldBlock, "RuntimeException", false, UnknownServerError, ClassRetriable},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := JavaName(tt.err); got != tt.java {
				t.Errorf("JavaName = %q, want %q", got, tt.java)
			}
			if got := IsAPI(tt.err); got != tt.api {
				t.Errorf("IsAPI = %t, want %t", got, tt.api)
			}
			if got := CodeOf(tt.err); got != tt.code {
				t.Errorf("CodeOf = %v, want %v", got, tt.code)
			}
			if got := ClassOf(tt.err); got != tt.class {
				t.Errorf("ClassOf = %v, want %v", got, tt.class)
			}
		})
	}
}

func TestCausesAreNamedBehindWhatTheyCaused(t *testing.T) {
	tests := map[string]struct {
		err  error
		want []string
	}{
		"no error":                         {nil, nil},
		"an error of the application":      {errors.New("x"), []string{"RuntimeException"}},
		"one of a broker":                  {&Error{Code: InvalidTxnState}, []string{"InvalidTxnStateException"}},
		"a sentinel is told once":          {&Error{Err: ErrForceClosed}, []string{"KafkaException"}},
		"so is a narrower sentinel":        {&Error{Code: RequestTimedOut, Err: ErrBufferExhausted}, []string{"BufferExhaustedException"}},
		"an error state and what led here": {fmt.Errorf("%w: %w", ErrInErrorState, &Error{Code: ProducerFenced}), []string{"KafkaException", "ProducerFencedException"}},
		"a code with another as its cause": {&Error{Code: TransactionAbortable, Err: &Error{Code: RequestTimedOut}}, []string{"TransactionAbortableException", "TimeoutException"}},
		"an interruption is told once":     {Interrupted(ended(context.Canceled), "it"), []string{"InterruptException"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := JavaNames(tt.err); !slices.Equal(got, tt.want) {
				t.Errorf("JavaNames = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	cause := errors.New("connection reset")
	tests := map[string]struct {
		err  *Error
		want string
		java string
	}{
		"what, where, why": {
			&Error{Op: "send", Topic: "orders", Partition: 3, Code: NotLeaderOrFollower, Msg: "4 tries, 2m (delivery.timeout.ms)"},
			"send orders-3: NOT_LEADER_OR_FOLLOWER, 4 tries, 2m (delivery.timeout.ms)", "4 tries, 2m (delivery.timeout.ms)",
		},
		"a topic without a partition": {
			&Error{Op: "send", Topic: "orders", Partition: -1, Code: InvalidTopicException},
			"send orders: INVALID_TOPIC_EXCEPTION: The request attempted to perform an operation on an invalid topic.",
			"The request attempted to perform an operation on an invalid topic.",
		},
		"not about a topic": {
			&Error{Op: "commit transaction", Code: ProducerFenced, Msg: "epoch 3"},
			"commit transaction: PRODUCER_FENCED, epoch 3", "epoch 3",
		},
		"a cause is named last": {
			&Error{Op: "send", Topic: "t", Code: NetworkException, Msg: "1 try", Err: cause},
			"send t-0: NETWORK_EXCEPTION, 1 try: connection reset", "1 try",
		},
		"a sentinel is not repeated": {
			&Error{Op: "send", Topic: "t", Code: RequestTimedOut, Msg: "after 5 ms", Err: ErrBufferExhausted},
			"send t-0: REQUEST_TIMED_OUT, after 5 ms", "after 5 ms",
		},
		"a situation without a code": {
			&Error{Op: "send", Topic: "t", Err: ErrForceClosed},
			"send t-0: Producer is closed forcefully.", "Producer is closed forcefully.",
		},
		"an unknown code prints as itself": {
			&Error{Op: "send", Topic: "t", Code: 1234, Msg: "new"}, "send t-0: UNKNOWN_CODE_1234, new", "new",
		},
		"nothing is known": {&Error{}, "failed", "failed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.err.Error(); got != tt.want {
				t.Errorf("Error() = %q, want %q", got, tt.want)
			}
			if got := JavaMessage(tt.err); got != tt.java {
				t.Errorf("JavaMessage = %q, want %q", got, tt.java)
			}
		})
	}
}

func TestUnknownCodesBehaveLikeUnknownServerError(t *testing.T) {
	for _, code := range []Code{-32768, -2, 1000, 32767} {
		t.Run(code.Name(), func(t *testing.T) {
			if code.Known() {
				t.Fatalf("the table has %d", int16(code))
			}
			if got, want := code.Exception(), UnknownServerError.Exception(); got != want {
				t.Errorf("Exception() = %q, want %q", got, want)
			}
			if got, want := code.Message(), UnknownServerError.Message(); got != want {
				t.Errorf("Message() = %q, want %q", got, want)
			}
			if got := code.Class(); got != ClassFatal {
				t.Errorf("Class() = %v, want %v", got, ClassFatal)
			}
			if code.Retriable() {
				t.Error("Retriable() = true")
			}
		})
	}
}

func TestEverySentinelSaysSomethingOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range sentinels {
		if s.text == "" || s.class == ClassNone {
			t.Errorf("%+v lacks a text or a class", s)
		}
		if seen[s.text] {
			t.Errorf("two sentinels say %q", s.text)
		}
		seen[s.text] = true
		for _, other := range sentinels {
			if want := other == s || descends(s, other); !errors.Is(s, other) == want {
				t.Errorf("errors.Is(%q, %q) = %t", s.text, other.text, !want)
			}
		}
	}
}

func descends(s, from *Situation) bool {
	for p := s.parent; p != nil; p = p.parent {
		if p == from {
			return true
		}
	}
	return false
}

// ended is a context that ended with err, which is context.Canceled or context.DeadlineExceeded.
func ended(err error) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 0)
	if err == context.Canceled {
		ctx, cancel = context.WithCancel(context.Background())
	}
	cancel()
	return ctx
}

func TestAnInterruptedWaitTellsTheContextsCause(t *testing.T) {
	cause := errors.New("the machine goes down")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	err := Interrupted(ctx, "metadata")
	if want := "interrupted: waiting for metadata: context canceled: the machine goes down"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if !errors.Is(err, cause) || !errors.Is(err, context.Canceled) || !errors.Is(err, ErrInterrupted) {
		t.Errorf("%v does not show how the context ended, and why", err)
	}
	cancelled, end := context.WithCancel(t.Context())
	end()
	if got, want := Interrupted(cancelled, "metadata").Error(), "interrupted: waiting for metadata: context canceled"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
