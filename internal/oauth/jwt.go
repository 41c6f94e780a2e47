package oauth

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// claims are a token's payload, or its header.
type claims map[string]any

var errSections = errors.New("malformed token: expected three sections (header, payload, and signature)")

// sections are the three parts of a signed token, none of them empty; the text around them is white space.
func sections(jwt string) (header, payload string, err error) {
	parts := strings.Split(strings.TrimSpace(jwt), ".")
	if len(parts) != 3 {
		return "", "", errSections
	}
	for i, p := range parts {
		if parts[i] = strings.TrimSpace(p); parts[i] == "" {
			return "", "", errSections
		}
	}
	return parts[0], parts[1], nil
}

// decode reads one section: base64url, padded or not, of a JSON object. What it says about errors shows nothing of the token.
func decode(section string) (claims, error) {
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(section, "="))
	if err != nil {
		return nil, errors.New("malformed Base64 URL encoded value")
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber() // times must not lose digits
	var c claims
	if err := d.Decode(&c); err != nil || c == nil {
		return nil, errors.New("malformed JSON")
	}
	return c, nil
}

// maxSeconds is the end of the year 9999: later than any token, and far from where times overflow.
const maxSeconds = 253_402_300_799

// seconds is a claim that is a time, in whole seconds since 1970 as Java cuts it; ok is false when there is none.
func (c claims) seconds(name string) (n int64, ok bool, err error) {
	v := c[name]
	if v == nil {
		return 0, false, nil
	}
	number, isNumber := v.(json.Number)
	if !isNumber {
		return 0, false, fmt.Errorf("claim %s must be a number", name)
	}
	n, err = number.Int64()
	if err != nil {
		f, err := number.Float64()
		if err != nil || math.Abs(f) >= math.MaxInt64 {
			return 0, false, fmt.Errorf("claim %s is out of range", name)
		}
		n = int64(f)
	}
	if n > maxSeconds {
		return 0, false, fmt.Errorf("claim %s is out of range", name)
	}
	return n, true, nil
}

// validate looks a fetched token over, as far as a client can (ClientJwtValidator): it must be readable, end at some time
// and be about somebody. Signature, issuer and audience are the broker's to check.
func validate(jwt, scopeClaim, subClaim string) (Token, error) {
	header, payload, err := sections(jwt)
	if err != nil {
		return Token{}, err
	}
	if _, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(header, "=")); err != nil {
		return Token{}, errors.New("header: malformed Base64 URL encoded value")
	}
	c, err := decode(payload)
	if err != nil {
		return Token{}, fmt.Errorf("payload: %w", err)
	}
	t := Token{Value: strings.TrimSpace(jwt)}
	if t.Scope, err = scopes(scopeClaim, c[scopeClaim]); err != nil {
		return Token{}, err
	}
	if t.Principal, err = subject(subClaim, c[subClaim]); err != nil {
		return Token{}, err
	}
	exp, found, err := c.seconds("exp")
	switch {
	case err != nil:
		return Token{}, err
	case !found:
		return Token{}, errors.New("claim exp is missing")
	case exp < 0:
		return Token{}, fmt.Errorf("claim exp must not be negative, and is %d", exp)
	}
	t.Expiry = time.Unix(exp, 0)
	iat, found, err := c.seconds("iat")
	switch {
	case err != nil:
		return Token{}, err
	case iat < 0:
		return Token{}, fmt.Errorf("claim iat must not be negative, and is %d", iat)
	case found:
		t.Start = time.Unix(iat, 0)
	}
	return t, nil
}

// scopes are the values of the scope claim: of a text the one, of a list all. Anything else counts as none, as in Java.
func scopes(name string, v any) ([]string, error) {
	var raw []any
	switch v := v.(type) {
	case string:
		raw = []any{v}
	case []any:
		raw = v
	}
	var list []string
	seen := map[string]bool{}
	for _, r := range raw {
		s := strings.TrimSpace(asText(r))
		switch {
		case s == "":
			return nil, fmt.Errorf("claim %s must not have an empty value", name)
		case seen[s]:
			return nil, fmt.Errorf("claim %s must not contain duplicates - %s already present", name, s)
		}
		seen[s] = true
		list = append(list, s)
	}
	return list, nil
}

// asText is a scalar as text, as Jackson's asText.
func asText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	case nil:
		return "null"
	}
	return ""
}

func subject(name string, v any) (string, error) {
	s, isText := v.(string)
	switch {
	case v == nil:
		return "", fmt.Errorf("claim %s is missing", name)
	case !isText:
		return "", fmt.Errorf("claim %s must be a text", name)
	case strings.TrimSpace(s) == "":
		return "", fmt.Errorf("claim %s must not be empty", name)
	}
	return strings.TrimSpace(s), nil
}
