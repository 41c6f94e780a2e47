package oauth

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAFetchedTokenIsLookedOver(t *testing.T) {
	const rest = `,"exp":2000000000`
	tests := map[string]struct {
		jwt  string
		want Token
		err  string // a part
	}{
		"all claims": {
			jwt(`{"sub":"me","scope":["a"," b "],"iat":1000,"exp":2000}`),
			Token{Principal: "me", Scope: []string{"a", "b"}, Start: time.Unix(1000, 0), Expiry: time.Unix(2000, 0)}, "",
		},
		"a scope that is one text": {jwt(`{"sub":"me","scope":"a b"` + rest + `}`), Token{Principal: "me", Scope: []string{"a b"}, Expiry: time.Unix(2e9, 0)}, ""},
		"no scope, no iat":         {jwt(`{"sub":"me"` + rest + `}`), Token{Principal: "me", Expiry: time.Unix(2e9, 0)}, ""},
		"a scope of no known kind": {jwt(`{"sub":"me","scope":7` + rest + `}`), Token{Principal: "me", Expiry: time.Unix(2e9, 0)}, ""},
		"times with fractions":     {jwt(`{"sub":"me","iat":1.9,"exp":2e3}`), Token{Principal: "me", Start: time.Unix(1, 0), Expiry: time.Unix(2000, 0)}, ""},
		"white space around":       {"\n " + jwt(`{"sub":"me"`+rest+`}`) + " \n", Token{Principal: "me", Expiry: time.Unix(2e9, 0)}, ""},
		"padding":                  {padded(jwt(`{"sub":"me"` + rest + `}`)), Token{Principal: "me", Expiry: time.Unix(2e9, 0)}, ""},

		"nothing":                {"", Token{}, "expected three sections"},
		"two sections":           {"a.b", Token{}, "expected three sections"},
		"four sections":          {"a.b.c.d", Token{}, "expected three sections"},
		"no signature":           {strings.TrimSuffix(jwt(`{}`), "c2lnbmF0dXJl"), Token{}, "expected three sections"},
		"an opaque token":        {"s3cret", Token{}, "expected three sections"},
		"no base64":              {"e30.!!.c2ln", Token{}, "payload: malformed Base64"},
		"a header of no base64":  {"!!.e30.c2ln", Token{}, "header: malformed Base64"},
		"no JSON":                {jwt(`s3cret`), Token{}, "malformed JSON"},
		"no object":              {jwt(`null`), Token{}, "malformed JSON"},
		"no sub":                 {jwt(`{"exp":1}`), Token{}, "claim sub is missing"},
		"a sub that is a number": {jwt(`{"sub":1,"exp":1}`), Token{}, "claim sub must be a text"},
		"a blank sub":            {jwt(`{"sub":" ","exp":1}`), Token{}, "claim sub must not be empty"},
		"no exp":                 {jwt(`{"sub":"me"}`), Token{}, "claim exp is missing"},
		"an exp that is a text":  {jwt(`{"sub":"me","exp":"1"}`), Token{}, "claim exp must be a number"},
		"a negative exp":         {jwt(`{"sub":"me","exp":-1}`), Token{}, "claim exp must not be negative"},
		"an exp out of range":    {jwt(`{"sub":"me","exp":1e300}`), Token{}, "claim exp is out of range"},
		"an exp that overflows":  {jwt(`{"sub":"me","exp":9223372036854775807}`), Token{}, "claim exp is out of range"},
		"a negative iat":         {jwt(`{"sub":"me","exp":1,"iat":-1}`), Token{}, "claim iat must not be negative"},
		"an empty scope":         {jwt(`{"sub":"me","exp":1,"scope":""}`), Token{}, "claim scope must not have an empty value"},
		"a scope twice":          {jwt(`{"sub":"me","exp":1,"scope":["a","a"]}`), Token{}, "a already present"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := validate(tt.jwt, "scope", "sub")
			if tt.err != "" {
				if err == nil {
					t.Fatalf("got %v", got)
				}
				wantText(t, err.Error(), tt.err)
				wantNoSecret(t, err.Error(), "s3cret")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Value = strings.TrimSpace(tt.jwt)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func padded(jwt string) string {
	parts := strings.Split(jwt, ".")
	for i, p := range parts {
		parts[i] = p + strings.Repeat("=", (4-len(p)%4)%4)
	}
	return strings.Join(parts, ".")
}

func TestClaimsMayHaveOtherNames(t *testing.T) {
	got, err := validate(jwt(`{"client":"me","rights":["a"],"exp":1}`), "rights", "client")
	if err != nil || got.Principal != "me" || len(got.Scope) != 1 {
		t.Errorf("%v %v", got, err)
	}
}

// FuzzValidate: whatever comes, there is an error or a token that is whole, and no error shows the payload.
func FuzzValidate(f *testing.F) {
	for _, payload := range []string{`{"sub":"me","scope":["a"],"iat":1000,"exp":2000}`, `{"exp":1e400}`, `[]`, `{"sub":"me","exp":1,"scope":[null,{}]}`} {
		f.Add("e30", base64.RawURLEncoding.EncodeToString([]byte(payload)), "c2ln")
	}
	f.Add("", ".", "..")
	f.Fuzz(func(t *testing.T, header, payload, signature string) {
		text := header + "." + payload + "." + signature
		got, err := validate(text, "scope", "sub")
		if err != nil {
			if got.Value != "" {
				t.Errorf("an error and the token %v", got)
			}
			return
		}
		if got.Value != strings.TrimSpace(text) || got.Principal == "" || got.Expiry.Unix() < 0 || got.Expiry.Year() > 9999 {
			t.Errorf("token %v of %q", got, text)
		}
		again, err := validate(got.Value, "scope", "sub")
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Error(err, diff)
		}
	})
}
