package sasl

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"linger/internal/oauth"
)

// OAuthBearer is the mechanism OAUTHBEARER (RFC 7628) with tokens of source. Each exchange asks source for a token anew.
func OAuthBearer(source oauth.TokenSource) Mechanism { return oauthBearer{source} }

type oauthBearer struct{ source oauth.TokenSource }

func (oauthBearer) Name() string { return OAuthBearerName }

// Format keeps the tokens out of every format.
func (oauthBearer) Format(s fmt.State, _ rune) { only(s, OAuthBearerName) }

func (m oauthBearer) Session(string) (Session, error) { return &oauthSession{source: m.source}, nil }

// oauthSession says everything in its first message. A broker that refuses the token explains itself in JSON, gets a
// single byte 0x01 for it, and ends the exchange with the same text as its error.
type oauthSession struct {
	source  oauth.TokenSource
	turn    int
	content bool
	refusal string
}

const kvSeparator = "\x01"

func (s *oauthSession) Next(ctx context.Context, challenge []byte) ([]byte, error) {
	s.turn++
	switch {
	case s.turn == 1:
		token, err := s.source.Token(ctx)
		if err != nil {
			return nil, fmt.Errorf("mechanism %s: no token: %w", OAuthBearerName, err)
		}
		return message(token)
	case s.turn == 2 && len(challenge) == 0:
		s.content = true
		return nil, nil
	case s.turn == 2:
		s.refusal = printable(string(challenge))
		return []byte(kvSeparator), nil
	}
	return nil, fmt.Errorf("mechanism %s: the broker refuses the token: %s", OAuthBearerName, s.refusal)
}

func (s *oauthSession) Complete() bool { return s.content }

// Format keeps the tokens out of every format.
func (s *oauthSession) Format(f fmt.State, _ rune) { only(f, OAuthBearerName) }

// message is the client's first message with the token and its extensions (KIP-342), by name.
func message(t oauth.Token) ([]byte, error) {
	if t.Value == "" || strings.ContainsFunc(t.Value, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("mechanism %s: the token is empty or contains characters that no token has", OAuthBearerName)
	}
	var b strings.Builder
	b.WriteString("n,," + kvSeparator + "auth=Bearer " + t.Value)
	for _, name := range slices.Sorted(maps.Keys(t.Extensions)) {
		if why := oauth.BadExtension(name, t.Extensions[name]); why != "" {
			return nil, fmt.Errorf("mechanism %s: extension %q: %s", OAuthBearerName, name, why)
		}
		b.WriteString(kvSeparator + name + "=" + t.Extensions[name])
	}
	b.WriteString(kvSeparator + kvSeparator)
	return []byte(b.String()), nil
}
