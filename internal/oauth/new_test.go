package oauth

import (
	"context"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Whatever is wrong with the options is found while the producer is made, and said with the option, the cause and the remedy.
func TestBadOptionsAreFoundAtOnce(t *testing.T) {
	rsaFile := write(t, "rsa", pemOf(t, rsaKey(t), ""))
	ecFile := write(t, "ec", pemOf(t, ecKey(t, elliptic.P256()), ""))
	lockedFile := write(t, "locked", pemOf(t, ecKey(t, elliptic.P256()), "s3cret"))
	bigCurve := write(t, "p384", pemOf(t, ecKey(t, elliptic.P384()), ""))
	pkcs1 := write(t, "pkcs1", "-----BEGIN RSA PRIVATE KEY-----\nczNjcmV0\n-----END RSA PRIVATE KEY-----\n")
	junk := write(t, "junk", "s3cret!")
	bearer := []string{keyRetriever + "=JwtBearerJwtRetriever", keyEndpoint + "=http://x/"}
	signedBy := func(file string, more ...string) []string {
		return append(append(more, bearer...), keyPrivateKey+"="+file)
	}
	tests := map[string]struct {
		options []string
		jaas    map[string]string
		option  string
		parts   []string
	}{
		"no endpoint": {
			[]string{keyHandler + "=OAuthBearerLoginCallbackHandler"}, nil, keyEndpoint,
			[]string{"The OAuth configuration option " + keyEndpoint + " value is required", "set it to where"},
		},
		"a blank endpoint":           {[]string{keyEndpoint + "= "}, nil, keyEndpoint, []string{"value is required"}},
		"an endpoint with no scheme": {[]string{keyEndpoint + "=/token"}, nil, keyEndpoint, []string{"no protocol"}},
		"an endpoint of no known scheme": {
			[]string{keyEndpoint + "=ftp://joe:s3cret@x/"}, nil, keyEndpoint, []string{"invalid protocol (ftp)", `only "http", "https", and "file"`},
		},
		"an endpoint that is no URL":       {[]string{keyEndpoint + "=http://joe:s3cret@x:port/"}, nil, keyEndpoint, []string{"malformed"}},
		"an endpoint with no host":         {[]string{keyEndpoint + "=http:///token?s3cret"}, nil, keyEndpoint, []string{"without a host: http:///token"}},
		"an endpoint with a scheme alone":  {[]string{keyEndpoint + "=http:s3cret"}, nil, keyEndpoint, []string{"without a host"}},
		"a file that isn't there":          {[]string{keyEndpoint + "=file:///no/such"}, nil, keyEndpoint, []string{"contains a file (/no/such) that doesn't exist"}},
		"a folder":                         {[]string{keyEndpoint + "=file://" + t.TempDir()}, nil, keyEndpoint, []string{"references a directory"}},
		"a file with no token":             {[]string{keyEndpoint + "=file://" + junk}, nil, keyEndpoint, []string{junk, "malformed token"}},
		"a file for who asks an endpoint":  {[]string{keyEndpoint + "=file://" + junk, keyRetriever + "=ClientCredentialsJwtRetriever"}, nil, keyEndpoint, []string{"set " + keyRetriever}},
		"an endpoint for who reads a file": {[]string{keyEndpoint + "=http://x", keyRetriever + "=FileJwtRetriever"}, nil, keyEndpoint, []string{"file:///path/to/token"}},
		"no client id":                     {[]string{keyEndpoint + "=http://x"}, nil, keyClientID, []string{"value is required", "or an assertion"}},
		"no client secret":                 {[]string{keyEndpoint + "=http://x", keyClientID + "=me"}, nil, keyClientSecret, []string{"value is required"}},
		"a blank client secret":            {[]string{keyEndpoint + "=http://x"}, map[string]string{"clientId": "me", "clientSecret": " "}, keyClientSecret, []string{"value is required"}},
		"no name for the subject's claim":  {[]string{keyEndpoint + "=http://x", keySubClaim + "="}, nil, keySubClaim, []string{"value is required"}},
		"no name for the scope's claim":    {[]string{keyEndpoint + "=http://x", keyScopeClaim + "="}, nil, keyScopeClaim, []string{"value is required"}},
		"a broker's validator":             {[]string{keyEndpoint + "=http://x", keyValidator + "=BrokerJwtValidator"}, nil, keyValidator, []string{"for a broker", "leave"}},
		"a negative back-off":              {bySecret("http://x", keyBackoff+"=-1"), nil, keyBackoff, []string{"must be non-negative"}},
		"a negative longest back-off":      {bySecret("http://x", keyBackoffMax+"=-1"), nil, keyBackoffMax, []string{"must be non-negative"}},
		"back-offs the wrong way round":    {bySecret("http://x", keyBackoff+"=9", keyBackoffMax+"=8"), nil, keyBackoffMax, []string{"(8) is less than", "(9)"}},
		"a negative connect time-out":      {bySecret("http://x", keyConnect+"=-1"), nil, keyConnect, []string{"can't be negative"}},
		"a negative read time-out":         {bySecret("http://x", keyRead+"=-1"), nil, keyRead, []string{"can't be negative"}},

		"no key":                                {bearer, nil, keyPrivateKey, []string{"value is required", "set it, or " + keyAssertion}},
		"a key that isn't there":                {signedBy("/no/such"), nil, keyPrivateKey, []string{"(/no/such) that doesn't exist"}},
		"a key that is none":                    {signedBy(junk), nil, keyPrivateKey, []string{junk, "no private key as PEM"}},
		"a key in an older form":                {signedBy(pkcs1), nil, keyPrivateKey, []string{"openssl pkcs8 -topk8"}},
		"an encrypted key and no passphrase":    {signedBy(lockedFile, keyAlgorithm+"=ES256"), nil, keyPrivateKey, []string{"the key is encrypted; set " + keyPassphrase}},
		"a wrong passphrase":                    {signedBy(lockedFile, keyAlgorithm+"=ES256", keyPassphrase+"=pw-s3cret"), nil, keyPrivateKey, []string{"can't be decrypted; is " + keyPassphrase}},
		"a passphrase and no encrypted key":     {signedBy(rsaFile, keyPassphrase+"=s3cret"), nil, keyPrivateKey, []string{"not encrypted; leave " + keyPassphrase}},
		"a blank passphrase":                    {signedBy(rsaFile, keyPassphrase+"= "), nil, keyPassphrase, []string{"value is required"}},
		"an EC key for RS256":                   {signedBy(ecFile), nil, keyPrivateKey, []string{"set " + keyAlgorithm + " to ES256"}},
		"an RSA key for ES256":                  {signedBy(rsaFile, keyAlgorithm+"=ES256"), nil, keyPrivateKey, []string{"set " + keyAlgorithm + " to RS256"}},
		"a key on another curve":                {signedBy(bigCurve, keyAlgorithm+"=ES256"), nil, keyPrivateKey, []string{"P-256", "P-384"}},
		"a blank claim":                         {signedBy(rsaFile, keyAud+"="), nil, keyAud, []string{"value is required"}},
		"a template that is none":               {signedBy(rsaFile, keyTemplate+"="+junk), nil, keyTemplate, []string{`"header" and "payload"`}},
		"a ready-made assertion that is none":   {append(bearer, keyAssertion+"="+junk), nil, keyAssertion, []string{"malformed token"}},
		"a client's assertion without its key":  {[]string{keyEndpoint + "=http://x", keyIss + "=me"}, nil, keyPrivateKey, []string{"value is required"}},
		"an extension by a taken name":          {[]string{keyEndpoint + "=http://x"}, map[string]string{"extension_auth": "s3cret"}, keyJAAS, []string{"extension_auth", "taken by the token"}},
		"an extension by a bad name":            {[]string{keyEndpoint + "=http://x"}, map[string]string{"extension_a1": "s3cret"}, keyJAAS, []string{"letters A to Z"}},
		"an extension with a bad value":         {[]string{keyEndpoint + "=http://x"}, map[string]string{"extension_a": "s3cret\x01"}, keyJAAS, []string{"extension_a", "printable ASCII"}},
		"nothing about where tokens come from":  {nil, nil, keyJAAS, []string{"No principal name in JWT claim: sub", "unless " + keyEndpoint, "unsecuredLoginStringClaim_sub"}},
		"an unsecured token about nobody":       {nil, map[string]string{"unsecuredLoginStringClaim_sub": " "}, keyJAAS, []string{"No principal name"}},
		"an unsecured token's own expiry":       {nil, map[string]string{"unsecuredLoginStringClaim_sub": "me", "unsecuredLoginNumberClaim_exp": "1"}, keyJAAS, []string{"Cannot explicitly set the 'exp' claim"}},
		"an unsecured token's bad number":       {nil, map[string]string{"unsecuredLoginStringClaim_sub": "me", "unsecuredLoginNumberClaim_n": "x"}, keyJAAS, []string{"unsecuredLoginNumberClaim_n: not a number"}},
		"an unsecured token's bad life":         {nil, map[string]string{"unsecuredLoginStringClaim_sub": "me", "unsecuredLoginLifetimeSeconds": "-1"}, keyJAAS, []string{"unsecuredLoginLifetimeSeconds"}},
		"an unsecured token's bad extension":    {nil, map[string]string{"unsecuredLoginStringClaim_sub": "me", "unsecuredLoginExtension_x y": "1"}, keyJAAS, []string{"letters A to Z"}},
		"an unsecured handler with an endpoint": {[]string{keyEndpoint + "=http://x", keyHandler + "=OAuthBearerUnsecuredLoginCallbackHandler"}, nil, keyJAAS, []string{"No principal name"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o, log := optionsOf(t, tt.jaas, tt.options...)
			s, err := New(o)
			if s != nil {
				t.Error("there is a source")
			}
			wantConfigError(t, err, tt.option, tt.parts...)
			wantNoSecret(t, err.Error()+log.String(), "s3cret", "joe")
		})
	}
}

func TestAFileThatMayNotBeReadIsExplained(t *testing.T) {
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("nothing is forbidden to this user")
	}
	path := write(t, "token", goodJWT())
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	o, _ := optionsOf(t, nil, keyEndpoint+"=file://"+path)
	_, err := New(o)
	wantConfigError(t, err, keyEndpoint, path, "doesn't have read permission")
}

func TestWhoRunsTheProcessCanLimitWhatOptionsPointTo(t *testing.T) {
	key := write(t, "k", pemOf(t, rsaKey(t), ""))
	token := write(t, "token", goodJWT())
	byKey := []string{keyEndpoint + "=http://x/", keyRetriever + "=JwtBearerJwtRetriever", keyPrivateKey + "=" + key}
	tests := map[string]struct {
		options     []string
		environment map[string]string
		option      string // empty: allowed
		parts       []string
	}{
		"no limits":               {byKey, nil, "", nil},
		"what is on the lists":    {byKey, map[string]string{AllowedURLs: "http://y/, http://x/", AllowedFiles: key}, "", nil},
		"another URL":             {byKey, map[string]string{AllowedURLs: "http://x"}, keyEndpoint, []string{"The URL of " + keyEndpoint + " cannot be accessed due to restrictions", AllowedURLs}},
		"an empty list of URLs":   {byKey, map[string]string{AllowedURLs: ""}, keyEndpoint, []string{AllowedURLs}},
		"another file":            {byKey, map[string]string{AllowedFiles: "/etc/passwd"}, keyPrivateKey, []string{AllowedFiles}},
		"a token's file is a URL": {[]string{keyEndpoint + "=file://" + token}, map[string]string{AllowedURLs: "file://" + token, AllowedFiles: ""}, "", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o, _ := optionsOf(t, nil, tt.options...)
			o.Environment = func(name string) (string, bool) { v, ok := tt.environment[name]; return v, ok }
			_, err := New(o)
			if tt.option == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantConfigError(t, err, tt.option, tt.parts...)
		})
	}
}

func TestATokenFromAFile(t *testing.T) {
	first, second := jwt(`{"sub":"one","exp":1}`), jwt(`{"sub":"the other","exp":1}`) // both ended: none is kept
	path := filepath.Join(t.TempDir(), "to ken")
	if err := os.WriteFile(path, []byte(first+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, retriever := range map[string]string{
		"by the scheme": "DefaultJwtRetriever", "by name": "org.apache.kafka.common.security.oauthbearer.FileJwtRetriever",
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := optionsOf(t, map[string]string{"extension_team": "x"}, keyEndpoint+"=FILE://"+strings.ReplaceAll(path, " ", "%20"), keyRetriever+"="+retriever)
			s := sourceOf(t, o)
			got, err := s.Token(background())
			if err != nil || got.Principal != "one" || got.Extensions["team"] != "x" {
				t.Errorf("%v %v %v", got, got.Extensions, err)
			}
			if err := os.WriteFile(path, []byte(second), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Token(background()); err != nil || got.Principal != "the other" {
				t.Errorf("%v %v", got, err)
			}
			if err := os.WriteFile(path, []byte("s3cret"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = s.Token(background())
			if err == nil {
				t.Fatal("there is a token")
			}
			wantText(t, err.Error(), keyEndpoint, path, "malformed token")
			wantNoSecret(t, err.Error(), "s3cret")
			if err := os.WriteFile(path, []byte(first), 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestUnsecuredTokensAreMadeHere(t *testing.T) {
	for name, options := range map[string][]string{
		"as nothing else is said":          nil,
		"as the handler's name says":       {keyHandler + "=org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredLoginCallbackHandler", keyEndpoint + "=http://x"},
		"as the login module describes it": {keyEndpoint + "=http://x"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, _ := optionsOf(t, map[string]string{
					"unsecuredLoginStringClaim_user": " thePrincipal ", "unsecuredLoginPrincipalClaimName": "user",
					"unsecuredLoginListClaim_scope": "|a|b|a", "unsecuredLoginNumberClaim_n": "7", "unsecuredLoginLifetimeSeconds": "60",
					"unsecuredLoginExtension_traceId": "123",
				}, options...)
				s := sourceOf(t, o)
				got, err := s.Token(background())
				if err != nil {
					t.Fatal(err)
				}
				now := time.Now()
				want := Token{
					Value: got.Value, Principal: "thePrincipal", Scope: []string{"a", "b"}, Start: now, Expiry: now.Add(time.Minute),
					Extensions: map[string]string{"traceId": "123"},
				}
				if diff := cmp.Diff(want, got, cmp.Comparer(time.Time.Equal)); diff != "" {
					t.Error(diff)
				}
				parts := strings.Split(got.Value, ".")
				if len(parts) != 3 || parts[2] != "" || parts[0] != base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) {
					t.Fatalf("token %q", got.Value)
				}
				text, _ := base64.RawURLEncoding.DecodeString(parts[1])
				var payload map[string]any
				if err := json.Unmarshal(text, &payload); err != nil {
					t.Fatal(err)
				}
				wantPayload := map[string]any{
					"user": " thePrincipal ", "scope": []any{"a", "b", "a"}, "n": 7.0, "iat": float64(now.Unix()), "exp": float64(now.Unix() + 60),
				}
				if diff := cmp.Diff(wantPayload, payload); diff != "" {
					t.Error(diff)
				}
				_ = s.Close()
			})
		})
	}
}

func TestListsOfUnsecuredClaims(t *testing.T) {
	for value, want := range map[string][]string{
		"": {}, "|": {}, "|a": {"a"}, "|a|b": {"a", "b"}, ".a.b": {"a", "b"}, "|a||b": {"a", "", "b", ""}, "||a": {"", "a", ""}, "|a|": {"a", ""},
		"äxäy": {"x", "y"},
	} {
		if diff := cmp.Diff(want, listOf(value)); diff != "" {
			t.Errorf("%q: %s", value, diff)
		}
	}
}

func TestTheApplicationsOwnTokens(t *testing.T) {
	cause := errors.New("it rains")
	tests := map[string]struct {
		token Token
		err   error
		want  map[string]string // the extensions
		parts []string          // of the error
	}{
		"with an extension of its own":      {Token{Value: "x", Extensions: map[string]string{"own": "1", "both": "own"}}, nil, map[string]string{"own": "1", "both": "own", "module": "2"}, nil},
		"with those of the login module":    {Token{Value: "x"}, nil, map[string]string{"module": "2", "both": "module"}, nil},
		"that fail":                         {Token{}, cause, nil, []string{"linger.WithOAuthToken: it rains"}},
		"that are empty":                    {Token{Value: " "}, nil, nil, []string{"linger.WithOAuthToken: it gave a token without a value"}},
		"with an extension that may not be": {Token{Value: "x", Extensions: map[string]string{"auth": "s3cret"}}, nil, nil, []string{"extension auth", "taken by the token"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o, _ := optionsOf(t, map[string]string{"extension_module": "2", "extension_both": "module"}, keyEndpoint+"=http://nobody asks")
			o.Fetch = func(context.Context) (Token, error) { return tt.token, tt.err }
			got, err := sourceOf(t, o).Token(background())
			if tt.parts == nil {
				if diff := cmp.Diff(tt.want, got.Extensions); diff != "" || err != nil || got.Value != "x" {
					t.Error(diff, err)
				}
				return
			}
			if err == nil {
				t.Fatalf("got %v", got)
			}
			wantText(t, err.Error(), tt.parts...)
			wantNoSecret(t, err.Error(), "s3cret")
			if tt.err != nil && !errors.Is(err, tt.err) {
				t.Errorf("%v is not %v", err, tt.err)
			}
		})
	}
}
