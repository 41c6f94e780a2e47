package oauth

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// Token is what a broker is shown. It prints itself without its value.
type Token struct {
	// Value is the token as it goes to the broker, a secret: who has it is taken for the principal.
	Value string `json:"-"`
	// Principal is whom the token is about (its subject).
	Principal string
	// Scope is what the token is good for; it may be empty.
	Scope []string
	// Start is when the token was issued; zero means not known.
	Start time.Time
	// Expiry is when the token ends; zero means that it isn't known, and such a token is never kept.
	Expiry time.Time
	// Extensions are the SASL extensions to send beside the token (KIP-342).
	Extensions map[string]string
}

// String tells everything but the value.
func (t Token) String() string {
	return fmt.Sprintf("token of %q, scope [%s], until %s", t.Principal, strings.Join(t.Scope, " "), when(t.Expiry))
}

// GoString is String, so that %#v doesn't give the value away.
func (t Token) GoString() string { return t.String() }

// LogValue tells everything but the value.
func (t Token) LogValue() slog.Value {
	return slog.GroupValue(slog.String("principal", t.Principal), slog.String("scope", strings.Join(t.Scope, " ")),
		slog.String("expiry", when(t.Expiry)))
}

func when(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format(time.RFC3339)
}

// TokenSource gives out tokens. It is safe for concurrent use.
type TokenSource interface {
	// Token is a token that is good now. It may take as long as ctx lets it. Its slices and maps are shared: they are only read.
	// An error names the option and the cause, never a secret.
	Token(ctx context.Context) (Token, error)
}
