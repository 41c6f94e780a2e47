package sasl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The names of the mechanisms that are built in.
const (
	PlainName       = "PLAIN"
	ScramSHA256Name = "SCRAM-SHA-256"
	ScramSHA512Name = "SCRAM-SHA-512"
	OAuthBearerName = "OAUTHBEARER"
	GSSAPIName      = "GSSAPI"
)

// Plain is the mechanism PLAIN (RFC 4616) with the user and the password of a PlainLoginModule.
func Plain(l Login) (Mechanism, error) {
	user, password, err := l.userAndPassword(PlainName, PlainModule)
	if err != nil {
		return nil, err
	}
	if strings.Contains(user+password, "\x00") {
		return nil, errors.New("mechanism PLAIN: neither username nor password may contain a zero byte")
	}
	return plain{message: "\x00" + user + "\x00" + password}, nil
}

// userAndPassword takes both out of a login that fits the mechanism.
func (l Login) userAndPassword(mechanism, module string) (user, password string, err error) {
	if err := l.Fits(mechanism, module); err != nil {
		return "", "", err
	}
	for _, name := range [...]string{"username", "password"} {
		if l.Options[name] == "" {
			return "", "", fmt.Errorf("mechanism %s: the login module has no %s", mechanism, name)
		}
	}
	return l.Options["username"], l.Options["password"], nil
}

// Fits is nil when the login is of the kind that the mechanism needs, and else says what both are.
func (l Login) Fits(mechanism, module string) error {
	if l.Module == module {
		return nil
	}
	return fmt.Errorf("mechanism %s needs the login module %s, not %s", mechanism, module, shortName(l.Module))
}

type plain struct{ message string }

func (plain) Name() string { return PlainName }

func (m plain) Session(string) (Session, error) { return &plainSession{message: m.message}, nil }

// Format keeps the password out of every format.
func (plain) Format(s fmt.State, _ rune) { only(s, PlainName) }

// only prints name whatever the verb, also in the place of numbers: what it stands for has secrets in it.
func only(s fmt.State, name string) { _, _ = io.WriteString(s, name) }

// plainSession says everything in its first message.
type plainSession struct {
	message string
	said    bool
}

func (s *plainSession) Next(context.Context, []byte) ([]byte, error) {
	if s.said {
		return nil, errors.New("mechanism PLAIN: the broker asks for more than the password")
	}
	s.said = true
	return []byte(s.message), nil
}

func (s *plainSession) Complete() bool { return s.said }

// Format keeps the password out of every format.
func (*plainSession) Format(s fmt.State, _ rune) { only(s, PlainName) }
