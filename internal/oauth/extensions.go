package oauth

import (
	"strings"
)

// extensions are the options of the login module that begin with prefix: SASL extensions to send beside the token (KIP-342).
func extensions(jaas map[string]string, prefix string) (map[string]string, error) {
	found := map[string]string{}
	for option, value := range jaas {
		name, ok := strings.CutPrefix(option, prefix)
		if !ok {
			continue
		}
		if why := BadExtension(name, value); why != "" {
			return nil, refuse(keyJAAS, "option "+option+": "+why, "")
		}
		found[name] = value
	}
	return found, nil
}

// BadExtension says what is wrong with an extension (RFC 7628, section 3.1); empty when nothing is. It doesn't show the
// value, which may be a secret.
func BadExtension(name, value string) string {
	switch {
	case name == "auth":
		return "the extension name auth is taken by the token itself"
	case name == "" || strings.ContainsFunc(name, notLetter):
		return "an extension's name is made of the letters A to Z and a to z"
	case value == "" || strings.ContainsFunc(value, notValue):
		return "an extension's value is printable ASCII, blanks and line ends, and not empty"
	}
	return ""
}

func notLetter(r rune) bool { return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') }

func notValue(r rune) bool {
	return (r < '!' || r > '~') && r != ' ' && r != '\t' && r != '\r' && r != '\n'
}
