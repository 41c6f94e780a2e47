package sasl

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Login is one login module of a JAAS configuration. It prints itself without the options' values.
type Login struct {
	// Module is the Java class, which says what kind of login it is.
	Module string
	// Options are the module's, by name; their values may be secrets.
	Options map[string]string
}

// Format prints the module's kind alone, whatever the verb.
func (l Login) Format(s fmt.State, _ rune) { only(s, "login by "+shortName(l.Module)) }

// The login modules that go with the mechanisms.
const (
	PlainModule  = "org.apache.kafka.common.security.plain.PlainLoginModule"
	ScramModule  = "org.apache.kafka.common.security.scram.ScramLoginModule"
	OAuthModule  = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
	GSSAPIModule = "com.sun.security.auth.module.Krb5LoginModule"
)

// ParseJAAS reads the value of sasl.jaas.config:
//
//	org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="secret";
//
// It takes what Java's JaasConfig takes: quoted and bare values, escapes and comments as in java.io.StreamTokenizer, any of
// the four control flags, exactly one module. It is stricter in one thing: a quote must be closed. Errors never show a
// part of the text that could be a secret, and after a forgotten quote any part could.
func ParseJAAS(text string) (Login, error) {
	r := jaasReader{text: text}
	var all []Login
	for r.next() {
		l, err := r.login()
		if err != nil {
			return Login{}, err
		}
		all = append(all, l)
	}
	switch {
	case r.err != nil:
		return Login{}, r.err
	case len(all) == 0:
		return Login{}, errors.New("Login module not specified in JAAS config")
	case len(all) > 1:
		return Login{}, fmt.Errorf("JAAS config property contains %d login modules, should be 1 module", len(all))
	}
	return all[0], nil
}

// login reads one entry; its first token has been read.
func (r *jaasReader) login() (Login, error) {
	l := Login{Module: r.word, Options: map[string]string{}}
	if r.kind != jaasWord || !r.next() || r.kind == ';' {
		return l, r.failed("Login module control flag not specified in JAAS config")
	}
	if r.kind != jaasWord || !isControlFlag(r.word) {
		return l, r.failed("Invalid login module control flag in JAAS config, it must be required, requisite, sufficient or optional")
	}
	for n := 1; r.next() && r.kind != ';'; n++ {
		key, named := r.word, r.kind == jaasWord
		if !named || !r.next() || r.kind != '=' || !r.next() || r.kind != jaasWord {
			return l, r.failed(fmt.Sprintf("Value not specified for option %d%s in JAAS config; a value that does not begin with a letter must stand in quotes",
				n, knownOption(key)))
		}
		l.Options[key] = r.word
	}
	if r.kind != ';' {
		return l, r.failed("JAAS config entry not terminated by semi-colon")
	}
	return l, nil
}

// failed is the reader's own fault when it has one, as that came first.
func (r *jaasReader) failed(text string) error {
	if r.err != nil {
		return r.err
	}
	return errors.New(text)
}

func isControlFlag(word string) bool {
	switch strings.ToUpper(word) {
	case "REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL":
		return true
	}
	return false
}

// knownOption names an option if it is one that cannot be a piece of a password.
func knownOption(key string) string {
	switch key {
	case "username", "password", "tokenauth", "clientId", "clientSecret", "scope", "serviceName", "principal", "keyTab", "useKeyTab":
		return " (" + key + ")"
	}
	return ""
}

// FromJAAS makes PLAIN or SCRAM from the value of sasl.jaas.config; random is Scram's.
func FromJAAS(mechanism, text string, random io.Reader) (Mechanism, error) {
	login, err := ParseJAAS(text)
	if err != nil {
		return nil, err
	}
	if mechanism == PlainName {
		return Plain(login)
	}
	return Scram(mechanism, login, random)
}

// shortName is a class name without its package, if it looks like a login module's; anything else is not repeated.
func shortName(module string) string {
	name := module[strings.LastIndex(module, ".")+1:]
	if strings.HasSuffix(name, "LoginModule") {
		return name
	}
	return "an unknown module"
}
