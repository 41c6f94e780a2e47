package kerr

import (
	"testing"

	"linger/test/oracle"
)

type errorCase struct {
	ID        string
	Code      *Code
	Message   string
	Exception *string

	Retriable              bool `json:"RetriableException"`
	RefreshRetriable       bool `json:"RefreshRetriableException"`
	InvalidMetadata        bool `json:"InvalidMetadataException"`
	ApplicationRecoverable bool `json:"ApplicationRecoverableException"`
	InvalidConfiguration   bool `json:"InvalidConfigurationException"`
	TransactionAbortable   bool `json:"TransactionAbortableException"`
	Authorization          bool `json:"AuthorizationException"`
	Authentication         bool `json:"AuthenticationException"`
	API                    bool `json:"ApiException"`
}

// ERR-10: retriable, abortable, fatal and configuration errors are told apart as Java's classes tell them apart.
func TestOracleErrors(t *testing.T) {
	var set struct{ Cases []errorCase }
	oracle.Load(t, "errors.json", &set)
	oracle.Run(t, set.Cases, func(c errorCase) string { return c.ID }, nil, func(t *testing.T, c errorCase) {
		if c.Code == nil {
			checkClass(t, c)
			return
		}
		checkCode(t, c)
	})
}

func checkCode(t *testing.T, c errorCase) {
	code := *c.Code
	if got := code.Name(); got != c.ID {
		t.Errorf("Code(%d).Name() = %q, want %q", int16(code), got, c.ID)
	}
	if got := code.Message(); got != c.Message {
		t.Errorf("Message() = %q, want %q", got, c.Message)
	}
	if got, want := code.Exception(), simpleName(c.Exception); got != want {
		t.Errorf("Exception() = %q, want %q", got, want)
	}
	claims := []struct {
		name      string
		got, want bool
	}{
		{"Retriable", code.Retriable(), c.Retriable},
		{"RefreshRetriable", code.RefreshRetriable(), c.RefreshRetriable},
		{"InvalidMetadata", code.InvalidMetadata(), c.InvalidMetadata},
		{"Authorization", code.Authorization(), c.Authorization},
		{"Authentication", code.Authentication(), c.Authentication},
	}
	for _, claim := range claims {
		if claim.got != claim.want {
			t.Errorf("%s() = %t, want %t", claim.name, claim.got, claim.want)
		}
	}
	if code == None {
		if got := code.Class(); got != ClassNone {
			t.Errorf("Class() = %v, want %v", got, ClassNone)
		}
		return
	}
	err := error(&Error{Code: code})
	checkTold(t, err, c)
	if got := CodeOf(err); got != code {
		t.Errorf("CodeOf = %v, want %v", got, code)
	}
}

// checkClass looks at an exception without a code: a link that names it, as a room of ours or an application may.
func checkClass(t *testing.T, c errorCase) {
	err := error(named(simpleName(c.Exception)))
	if got, want := IsAPI(err), c.API; got != want {
		t.Errorf("IsAPI = %t, want %t", got, want)
	}
	if got, want := JavaName(err), simpleName(c.Exception); got != want {
		t.Errorf("JavaName = %q, want %q", got, want)
	}
	if e, ok := byException(simpleName(c.Exception)); ok {
		if got, want := e.traits.class(), wantClass(c); got != want {
			t.Errorf("class = %v, want %v", got, want)
		}
	}
	checkSentinels(t, c)
}

// checkSentinels holds the sentinels of that exception against Java's hierarchy.
func checkSentinels(t *testing.T, c errorCase) {
	for _, s := range sentinels {
		if s.exception != simpleName(c.Exception) {
			continue
		}
		if got := IsAPI(s); got != c.API {
			t.Errorf("IsAPI(%q) = %t, want %t", s.text, got, c.API)
		}
		// Ours may be narrower where Java says nothing, never different where it says something.
		if want := wantClass(c); want != ClassFatal && ClassOf(s) != want {
			t.Errorf("ClassOf(%q) = %v, want %v", s.text, ClassOf(s), want)
		}
	}
}

func checkTold(t *testing.T, err error, c errorCase) {
	if got, want := ClassOf(err), wantClass(c); got != want {
		t.Errorf("ClassOf = %v, want %v", got, want)
	}
	if got, want := JavaName(err), simpleName(c.Exception); got != want {
		t.Errorf("JavaName = %q, want %q", got, want)
	}
	if got := IsAPI(err); got != c.API {
		t.Errorf("IsAPI = %t, want %t", got, c.API)
	}
	if got := JavaMessage(err); got != c.Message {
		t.Errorf("JavaMessage = %q, want %q", got, c.Message)
	}
	checkSentinels(t, c)
}

func wantClass(c errorCase) Class {
	switch {
	case c.RefreshRetriable:
		return ClassRefreshRetriable
	case c.Retriable:
		return ClassRetriable
	case c.TransactionAbortable:
		return ClassAbortable
	case c.ApplicationRecoverable:
		return ClassApplicationRecoverable
	case c.InvalidConfiguration:
		return ClassInvalidConfiguration
	}
	return ClassFatal
}

func simpleName(class *string) string {
	if class == nil {
		return ""
	}
	name := *class
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return name[i+1:]
		}
	}
	return name
}

// named is an error of another package that knows its Java name.
type named string

func (n named) Error() string         { return string(n) }
func (n named) JavaException() string { return string(n) }
