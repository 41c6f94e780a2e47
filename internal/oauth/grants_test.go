package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/youmark/pkcs8"
)

// asked is what the endpoint was asked.
type asked struct {
	auth   string
	fields url.Values
	header http.Header
}

// ask makes a source with these options, lets it ask an endpoint, and returns what that saw.
func ask(t *testing.T, jaas map[string]string, options ...string) (asked, *notes) {
	t.Helper()
	var got asked
	want := goodJWT()
	s := endpointWith(t, func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		got = asked{r.Header.Get("Authorization"), r.PostForm, r.Header}
		says(200, `{"access_token":"`+want+`"}`)(w, r)
	})
	o, log := optionsOf(t, jaas, append(options, keyEndpoint+"="+s.URL)...)
	if token, err := sourceOf(t, o).Token(background()); err != nil || token.Value != want {
		t.Fatalf("%v %v", token, err)
	}
	return got, log
}

func basic(id, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
}

func TestClientCredentialsAreAskedForAsJavaDoes(t *testing.T) {
	grant := url.Values{"grant_type": {"client_credentials"}}
	tests := map[string]struct {
		jaas    map[string]string
		options []string
		auth    string
		fields  url.Values
		warning string
	}{
		"by the options": {
			nil, []string{keyClientID + "= me ", keyClientSecret + "=s3+/", keyScope + "=a b"}, basic("me", "s3+/"),
			url.Values{"grant_type": {"client_credentials"}, "scope": {"a b"}}, "",
		},
		"by the retriever's name": {
			nil, []string{keyClientID + "=me", keyClientSecret + "=x", keyRetriever + "=ClientCredentialsJwtRetriever"}, basic("me", "x"), grant, "",
		},
		"by the login module, which is deprecated": {
			map[string]string{"clientId": "me", "clientSecret": "x", "scope": "s"}, nil, basic("me", "x"),
			url.Values{"grant_type": {"client_credentials"}, "scope": {"s"}}, "The option clientSecret of sasl.jaas.config is deprecated. Set " + keyClientSecret,
		},
		"by both: the option wins": {
			map[string]string{"clientId": "you"}, []string{keyClientID + "=me", keyClientSecret + "=x"}, basic("me", "x"), grant,
			"Both " + keyClientID + " and the option clientId",
		},
		"with an encoded header": {
			nil, []string{keyClientID + "=m:e", keyClientSecret + "=a b", keyURLEncode + "=true"}, basic("m%3Ae", "a+b"), grant, "",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, log := ask(t, tt.jaas, tt.options...)
			if got.auth != tt.auth {
				t.Errorf("authorization %q, want %q", got.auth, tt.auth)
			}
			if diff := cmp.Diff(tt.fields, got.fields); diff != "" {
				t.Error(diff)
			}
			for header, want := range map[string]string{
				"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded", "Cache-Control": "no-cache",
			} {
				if got := got.header.Get(header); got != want {
					t.Errorf("%s: %q", header, got)
				}
			}
			if (tt.warning == "") != (log.String() == "") {
				t.Errorf("logged %s", log)
			}
			wantText(t, log.String(), tt.warning)
		})
	}
}

// files

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func pemOf(t *testing.T, key any, passphrase string) string {
	t.Helper()
	der, err := pkcs8.MarshalPrivateKey(key, []byte(passphrase), nil)
	if err != nil {
		t.Fatal(err)
	}
	kind := "PRIVATE KEY"
	if passphrase != "" {
		kind = "ENCRYPTED PRIVATE KEY"
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func rsaKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func ecKey(t *testing.T, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// verified is the header and the payload of an assertion whose signature is right.
func verified(t *testing.T, assertion string, public crypto.PublicKey) (header, payload map[string]any) {
	t.Helper()
	parts := strings.Split(assertion, ".")
	if len(parts) != 3 {
		t.Fatalf("assertion %q", assertion)
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		t.Fatal(err)
	}
	switch public := public.(type) {
	case *rsa.PublicKey:
		if err := rsa.VerifyPKCS1v15(public, crypto.SHA256, sum[:], signature); err != nil {
			t.Error(err)
		}
	case *ecdsa.PublicKey:
		r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
		if len(signature) != 64 || !ecdsa.Verify(public, sum[:], r, s) {
			t.Error("the signature is wrong")
		}
	}
	for i, into := range []*map[string]any{&header, &payload} {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	return header, payload
}

func TestAssertionsAreMadeAndSignedHere(t *testing.T) {
	r, e := rsaKey(t), ecKey(t, elliptic.P256())
	der, err := x509.MarshalPKCS8PrivateKey(r)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		public  crypto.PublicKey
		alg     string
		options []string
	}{
		"with an RSA key":                  {r.Public(), "RS256", []string{keyPrivateKey + "=" + write(t, "k", pemOf(t, r, ""))}},
		"with an EC key":                   {e.Public(), "ES256", []string{keyAlgorithm + "=ES256", keyPrivateKey + "=" + write(t, "k", pemOf(t, e, ""))}},
		"with an encrypted RSA key":        {r.Public(), "RS256", []string{keyPrivateKey + "=" + write(t, "k", pemOf(t, r, "pw")), keyPassphrase + "=pw"}},
		"with an encrypted EC key":         {e.Public(), "ES256", []string{keyAlgorithm + "=ES256", keyPrivateKey + "=" + write(t, "k", pemOf(t, e, "pw")), keyPassphrase + "=pw"}},
		"with a key that is bare base64":   {r.Public(), "RS256", []string{keyPrivateKey + "=" + write(t, "k", base64.StdEncoding.EncodeToString(der)+"\n")}},
		"with an algorithm in small print": {r.Public(), "rs256", []string{keyAlgorithm + "=rs256", keyPrivateKey + "=" + write(t, "k", pemOf(t, r, ""))}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, _ := ask(t, nil, append(tt.options, keyRetriever+"=JwtBearerJwtRetriever", keyIss+"=me", keyAud+"=them", keySub+"=about", keyScope+"=s")...)
			header, payload := verified(t, got.fields.Get("assertion"), tt.public)
			got.fields.Del("assertion")
			if diff := cmp.Diff(url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "scope": {"s"}}, got.fields); diff != "" {
				t.Error(diff)
			}
			if got.auth != "" {
				t.Errorf("authorization %q", got.auth)
			}
			if diff := cmp.Diff(map[string]any{"alg": tt.alg, "typ": "JWT"}, header); diff != "" {
				t.Error(diff)
			}
			iat, _ := payload["iat"].(float64)
			if age := time.Since(time.Unix(int64(iat), 0)); age < 0 || age > time.Hour {
				t.Errorf("issued %v ago", age)
			}
			if diff := cmp.Diff(map[string]any{"iss": "me", "aud": "them", "sub": "about", "iat": iat, "exp": iat + 300, "nbf": iat - 60}, payload); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheLayersOfAnAssertion(t *testing.T) {
	key := rsaKey(t)
	file := write(t, "template", `{"header":{"kid":"k1","alg":"none"},"payload":{"iss":"file","groups":["a"],"n":12345678901234567890,"exp":1}}`)
	got, _ := ask(t, nil, keyRetriever+"=JwtBearerJwtRetriever", keyPrivateKey+"="+write(t, "k", pemOf(t, key, "")), keyTemplate+"="+file,
		keyIss+"=option", keySub+"=option", keyJTI+"=true", keyExp+"=10", keyNbf+"=5")
	header, payload := verified(t, got.fields.Get("assertion"), key.Public())
	if diff := cmp.Diff(map[string]any{"alg": "RS256", "typ": "JWT", "kid": "k1"}, header); diff != "" {
		t.Error(diff)
	}
	if jti, _ := payload["jti"].(string); !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(jti) {
		t.Errorf("jti %q", jti)
	}
	iat := payload["iat"].(float64)
	if payload["iss"] != "file" || payload["sub"] != "option" || payload["exp"] != iat+10 || payload["nbf"] != iat-5 || payload["groups"] == nil {
		t.Errorf("payload %v", payload)
	}
	raw, _ := base64.RawURLEncoding.DecodeString(strings.Split(got.fields.Get("assertion"), ".")[1])
	wantText(t, string(raw), `"n":12345678901234567890`)
	if one, other := uuid(), uuid(); one == other {
		t.Error("two assertions have the same number")
	}
}

// KIP-1258: an assertion in the place of the client's secret.
func TestAClientShowsItselfByAnAssertion(t *testing.T) {
	key := rsaKey(t)
	keyFile := keyPrivateKey + "=" + write(t, "k", pemOf(t, key, ""))
	ready := goodJWT()
	readyFile := keyAssertion + "=" + write(t, "a", ready+"\n")
	tests := map[string]struct {
		options []string
		ready   bool
		id      string
		warning string
	}{
		"made here":                       {[]string{keyIss + "=me", keyFile}, false, "", ""},
		"made here, with the client's id": {[]string{keyIss + "=me", keyFile, keyClientID + "=me"}, false, "me", ""},
		"ready made":                      {[]string{readyFile}, true, "", ""},
		"ready made wins over both others": {
			[]string{readyFile, keyIss + "=me", keyFile, keyClientSecret + "=s3cret"}, true, "", "the assertion comes from the file",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, log := ask(t, nil, append(tt.options, keyScope+"=s")...)
			want := url.Values{
				"grant_type": {"client_credentials"}, "scope": {"s"}, "client_assertion": {ready},
				"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
			}
			if tt.id != "" {
				want.Set("client_id", tt.id)
			}
			if !tt.ready {
				want["client_assertion"] = got.fields["client_assertion"]
				verified(t, got.fields.Get("client_assertion"), key.Public())
			}
			if diff := cmp.Diff(want, got.fields); diff != "" || got.auth != "" {
				t.Error(diff, got.auth)
			}
			wantText(t, log.String(), tt.warning)
		})
	}
}

func TestEachFetchMakesANewAssertion(t *testing.T) {
	o, _ := optionsOf(t, nil, keyEndpoint+"=http://x", keyJTI+"=true", keyPrivateKey+"="+write(t, "k", pemOf(t, rsaKey(t), "")))
	o.Environment = nothing
	form, err := settings{cfg: o.Config}.jwtBearer(o)
	if err != nil {
		t.Fatal(err)
	}
	first, err1 := form()
	second, err2 := form()
	if err1 != nil || err2 != nil || first.fields.Get("assertion") == second.fields.Get("assertion") {
		t.Error("the same assertion again", err1, err2)
	}
}

func TestFilesAreReadAgainWhenTheyHaveChanged(t *testing.T) {
	now, later := time.Now(), time.Now().Add(time.Hour)
	path := write(t, "f", "one")
	if err := os.Chtimes(path, now, now); err != nil {
		t.Fatal(err)
	}
	reads := 0
	w := &watched[string]{path: path, read: func(text []byte) (string, error) {
		reads++
		if string(text) == "bad" {
			return "", errors.New("it is bad")
		}
		return string(text), nil
	}}
	want := func(value string, n int) {
		t.Helper()
		if got, err := w.get(); got != value || err != nil || reads != n {
			t.Errorf("%q %v after %d reads, want %q after %d", got, err, reads, value, n)
		}
	}
	change := func(text string, at time.Time) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	want("one", 1)
	want("one", 1)
	change("two", later)
	want("two", 2)
	change("three", later) // in the same tick of the file system's clock
	want("three", 3)
	change("bad", now)
	if _, err := w.get(); err == nil || !strings.Contains(err.Error(), path+": it is bad") {
		t.Errorf("got %v", err)
	}
	change("four", later)
	want("four", 5)
	change(strings.Repeat("x", maxFile+1), now)
	if _, err := w.get(); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := w.get(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
