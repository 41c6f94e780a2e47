package oauth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"linger/internal/clock"
)

// The options of the login module that describe an unsecured token.
const (
	unsecured           = "unsecuredLogin"
	unsecuredString     = unsecured + "StringClaim_"
	unsecuredNumber     = unsecured + "NumberClaim_"
	unsecuredList       = unsecured + "ListClaim_"
	unsecuredExtension  = unsecured + "Extension_"
	unsecuredPrincipal  = unsecured + "PrincipalClaimName"
	unsecuredLifetime   = unsecured + "LifetimeSeconds"
	unsecuredScopeClaim = unsecured + "ScopeClaimName"
)

// unsecuredSource makes tokens nobody signed, as Java's OAuthBearerUnsecuredLoginCallbackHandler does: for development and
// tests, since anybody can make one.
func unsecuredSource(jaas map[string]string, clk clock.Clock) (func(context.Context) (Token, error), error) {
	or := func(option, otherwise string) string {
		if v := strings.TrimSpace(jaas[option]); v != "" {
			return v
		}
		return otherwise
	}
	lifetime, err := strconv.ParseInt(or(unsecuredLifetime, "3600"), 10, 64)
	if err != nil || lifetime < 0 || lifetime > math.MaxInt32 {
		return nil, refuse(keyJAAS, "option "+unsecuredLifetime+": not a number of seconds", "")
	}
	fixed, err := unsecuredClaims(jaas)
	if err != nil {
		return nil, err
	}
	subClaim, scopeClaim := or(unsecuredPrincipal, "sub"), or(unsecuredScopeClaim, "scope")
	principal, isText := fixed[subClaim].(string)
	if !isText || strings.TrimSpace(principal) == "" {
		return nil, refuse(keyJAAS, "No principal name in JWT claim: "+subClaim,
			"the tokens of OAUTHBEARER are unsecured ones unless "+keyEndpoint+" or "+keyHandler+" is set, and those need option "+
				unsecuredString+subClaim)
	}
	ext, err := extensions(jaas, unsecuredExtension)
	if err != nil {
		return nil, err
	}
	t := Token{Principal: strings.TrimSpace(principal), Scope: unsecuredScope(fixed[scopeClaim]), Extensions: ext}
	return func(context.Context) (Token, error) {
		now := clk.WallMs()
		payload := claims{"iat": float64(now) / 1000, "exp": float64(now)/1000 + float64(lifetime)}
		for name, v := range fixed {
			payload[name] = v
		}
		text, err := json.Marshal(payload)
		if err != nil {
			return Token{}, errors.New("unsecured token: " + err.Error())
		}
		t := t
		t.Value = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString(text) + "."
		t.Start, t.Expiry = time.UnixMilli(now), time.UnixMilli(now+lifetime*1000)
		return t, nil
	}, nil
}

// unsecuredClaims are the claims that the options give.
func unsecuredClaims(jaas map[string]string) (claims, error) {
	c := claims{}
	for option, value := range jaas {
		var name string
		var claim any
		if n, ok := strings.CutPrefix(option, unsecuredString); ok {
			name, claim = n, value
		} else if n, ok := strings.CutPrefix(option, unsecuredList); ok {
			name, claim = n, listOf(value)
		} else if n, ok := strings.CutPrefix(option, unsecuredNumber); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
				return nil, refuse(keyJAAS, "option "+option+": not a number", "")
			}
			name, claim = n, f
		}
		switch {
		case name == "":
		case name == "iat" || name == "exp":
			return nil, refuse(keyJAAS, fmt.Sprintf("Cannot explicitly set the '%s' claim", name), "leave option "+option+" out")
		default:
			c[name] = claim
		}
	}
	return c, nil
}

// listOf splits a value by its first character. Like Java's split it drops empty elements at the end and then, when there
// was an empty one anywhere, has one at the end.
func listOf(value string) []string {
	runes := []rune(value)
	if len(runes) <= 1 {
		return []string{}
	}
	by, text := string(runes[:1]), string(runes[1:])
	parts := strings.Split(text, by)
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	if strings.HasPrefix(text, by) || strings.HasSuffix(text, by) || strings.Contains(text, by+by) {
		parts = append(parts, "")
	}
	return parts
}

// unsecuredScope is the scope in a claim that the options gave: blank values are none.
func unsecuredScope(v any) (list []string) {
	raw, _ := v.([]string)
	if s, ok := v.(string); ok {
		raw = []string{s}
	}
	seen := map[string]bool{}
	for _, s := range raw {
		if s = strings.TrimSpace(s); s != "" && !seen[s] {
			seen[s] = true
			list = append(list, s)
		}
	}
	return list
}
