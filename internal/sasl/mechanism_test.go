package sasl

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/xdg-go/scram"
	"go.uber.org/goleak"

	"linger/internal/oauth"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "s3cret=,ü\\"

func loginOf(module string, more ...string) Login {
	l := Login{Module: module, Options: map[string]string{"username": "ali=ce,1", "password": secret}}
	for i := 0; i < len(more); i += 2 {
		l.Options[more[i]] = more[i+1]
	}
	return l
}

func begin(t *testing.T, m Mechanism) Session {
	t.Helper()
	s, err := m.Session("broker")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func say(t *testing.T, s Session, challenge []byte) []byte {
	t.Helper()
	token, err := s.Next(t.Context(), challenge)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestPlainSaysEverythingAtOnce(t *testing.T) {
	m, err := Plain(loginOf(PlainModule))
	if err != nil {
		t.Fatal(err)
	}
	s := begin(t, m)
	if s.Complete() {
		t.Error("complete before it has said anything")
	}
	if got, want := string(say(t, s, nil)), "\x00ali=ce,1\x00"+secret; got != want || !s.Complete() {
		t.Errorf("got %q, want %q; complete: %v", got, want, s.Complete())
	}
	if _, err := s.Next(t.Context(), []byte("more")); err == nil {
		t.Error("there is more to say")
	}
}

// SEC-06: the server's half is another's work.
func TestScramConvincesAServerAndIsConvinced(t *testing.T) {
	for name, hash := range map[string]scram.HashGeneratorFcn{ScramSHA256Name: scram.SHA256, ScramSHA512Name: scram.SHA512} {
		t.Run(name, func(t *testing.T) {
			server := serverOf(t, hash, secret)
			m, err := Scram(name, loginOf(ScramModule), nil)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time without hashing
				s, conv := begin(t, m), server.NewConversation()
				var challenge []byte
				for turn := range 2 {
					answer, err := conv.Step(string(say(t, s, challenge)))
					if err != nil {
						t.Fatalf("turn %d: %v", turn, err)
					}
					challenge = []byte(answer)
				}
				if s.Complete() {
					t.Error("content before the server has proved itself")
				}
				if token := say(t, s, challenge); token != nil || !s.Complete() || !conv.Valid() {
					t.Errorf("token %q, complete %v, valid %v", token, s.Complete(), conv.Valid())
				}
			}
		})
	}
}

func serverOf(t *testing.T, hash scram.HashGeneratorFcn, password string) *scram.Server {
	t.Helper()
	server, err := hash.NewServer(func(user string) (scram.StoredCredentials, error) {
		if user != "ali=ce,1" {
			return scram.StoredCredentials{}, errors.New("unknown user")
		}
		c, err := hash.NewClientUnprepped(user, password, "")
		if err != nil {
			return scram.StoredCredentials{}, err
		}
		return c.GetStoredCredentialsWithError(scram.KeyFactors{Salt: "salt", Iters: 4096})
	})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// RFC 7677's example, byte for byte; the nonce of ours is the example's where ours would be random.
func TestScramIsThatOfTheStandard(t *testing.T) {
	m := &scramSession{
		m:     mustScram(t, ScramSHA256Name, Login{Module: ScramModule, Options: map[string]string{"username": "user", "password": "pencil"}}),
		nonce: "rOprNGfwEbeRWgbNEkqO", first: "n=user,r=rOprNGfwEbeRWgbNEkqO", turn: 1,
	}
	got := say(t, m, []byte("r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"))
	if want := "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="; string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	say(t, m, []byte("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="))
	if !m.Complete() {
		t.Error("not content with the right signature")
	}
}

func mustScram(t *testing.T, name string, l Login) *scramMechanism {
	t.Helper()
	m, err := Scram(name, l, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*scramMechanism)
}

// KIP-48: a delegation token says that it is one, and only then.
func TestScramTellsADelegationToken(t *testing.T) {
	random := bytes.NewReader(make([]byte, 1000))
	for value, want := range map[string]string{"true": ",tokenauth=true", "TRUE": ",tokenauth=true", "false": "", "": "", "yes": ""} {
		m, err := Scram(ScramSHA256Name, loginOf(ScramModule, "tokenauth", value), random)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(say(t, begin(t, m), nil)), "n,,n=ali=3Dce=2C1,r="+strings.Repeat("A", 32)+want; got != want {
			t.Errorf("tokenauth=%q: %s, want %s", value, got, want)
		}
	}
}

func TestScramTrustsNoServerThatProvesNothing(t *testing.T) {
	for name, it := range map[string]struct {
		first, last, want string
	}{
		"another nonce":              {"r=other,s=c2FsdA==,i=4096", "", "nonce does not continue"},
		"a nonce without its own":    {"r={nonce},s=c2FsdA==,i=4096", "", "nonce does not continue"},
		"too few iterations":         {"r={nonce}x,s=c2FsdA==,i=4095", "", "Iterations 4095 is less than the minimum 4096"},
		"an endless hash":            {"r={nonce}x,s=c2FsdA==,i=2000000000", "", "more than the maximum"},
		"iterations beyond a number": {"r={nonce}x,s=c2FsdA==,i=99999999999999999999", "", "iterations can't be read"},
		"no salt":                    {"r={nonce}x,s=,i=4096", "", "salt"},
		"a salt that is no base64":   {"r={nonce}x,s=*,i=4096", "", "salt"},
		"an extension it must know":  {"m=x,r={nonce}x,s=c2FsdA==,i=4096", "", "can't be read"},
		"nothing":                    {"", "", "can't be read"},
		"an error at once":           {"e=unknown-user\nx", "", "the broker refuses: unknown-user x"},
		"a wrong signature":          {"r={nonce}x,s=c2FsdA==,i=4096", "v=" + base64.StdEncoding.EncodeToString(make([]byte, 32)), "can't prove"},
		"an empty signature":         {"r={nonce}x,s=c2FsdA==,i=4096", "v=", "can't prove"},
		"an error at the end":        {"r={nonce}x,s=c2FsdA==,i=4096", "e=invalid-proof", "the broker refuses: invalid-proof"},
		"nonsense at the end":        {"r={nonce}x,s=c2FsdA==,i=4096", "?", "can't be read"},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, mustScram(t, ScramSHA256Name, loginOf(ScramModule)))
			_, after, _ := strings.Cut(string(say(t, s, nil)), ",r=")
			_, err := s.Next(t.Context(), []byte(strings.ReplaceAll(it.first, "{nonce}", after)))
			if it.last != "" {
				if err != nil {
					t.Fatal(err)
				}
				_, err = s.Next(t.Context(), []byte(it.last))
			}
			if err == nil || !strings.Contains(err.Error(), it.want) || s.Complete() {
				t.Errorf("got %v, complete %v, want an error with %q", err, s.Complete(), it.want)
			}
		})
	}
}

type tokens struct {
	token oauth.Token
	err   error
}

func (s tokens) Token(context.Context) (oauth.Token, error) { return s.token, s.err }

// KIP-342: extensions stand beside the token.
func TestOAuthBearerShowsItsToken(t *testing.T) {
	s := begin(t, OAuthBearer(tokens{token: oauth.Token{Value: "abc.def", Extensions: map[string]string{"traceId": "1 2", "b": "x"}}}))
	if got, want := string(say(t, s, nil)), "n,,\x01auth=Bearer abc.def\x01b=x\x01traceId=1 2\x01\x01"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if s.Complete() {
		t.Error("content before the broker is")
	}
	if token := say(t, s, []byte{}); token != nil || !s.Complete() {
		t.Errorf("token %q, complete %v", token, s.Complete())
	}
}

// RFC 7628: the client acknowledges the broker's refusal, and the reason is told.
func TestOAuthBearerAcknowledgesARefusal(t *testing.T) {
	s := begin(t, OAuthBearer(tokens{token: oauth.Token{Value: secret[:6]}}))
	say(t, s, nil)
	if got := say(t, s, []byte(`{"status":"invalid_token"}`)); string(got) != "\x01" || s.Complete() {
		t.Errorf("got %q, complete %v", got, s.Complete())
	}
	if _, err := s.Next(t.Context(), []byte("?")); err == nil || !strings.Contains(err.Error(), `{"status":"invalid_token"}`) {
		t.Errorf("got %v", err)
	}
}

func TestOAuthBearerRefusesWhatTheMessageCannotCarry(t *testing.T) {
	for name, token := range map[string]oauth.Token{
		"no token":                {},
		"a control character":     {Value: "a\x01b"},
		"a reserved extension":    {Value: "a", Extensions: map[string]string{"auth": "x"}},
		"a digit in a name":       {Value: "a", Extensions: map[string]string{"a1": "x"}},
		"an empty name":           {Value: "a", Extensions: map[string]string{"": "x"}},
		"an empty value":          {Value: "a", Extensions: map[string]string{"a": ""}},
		"a separator in a value":  {Value: "a", Extensions: map[string]string{"a": "x\x01y"}},
		"a letter beyond English": {Value: "a", Extensions: map[string]string{"ä": "x"}},
	} {
		if _, err := begin(t, OAuthBearer(tokens{token: token})).Next(t.Context(), nil); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	broken := errors.New("the provider is down")
	if _, err := begin(t, OAuthBearer(tokens{err: broken})).Next(t.Context(), nil); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// SEC-06: a login of the wrong kind, or one that lacks something, is a configuration error.
func TestALoginMustFitItsMechanism(t *testing.T) {
	for want, l := range map[string]Login{
		"needs the login module " + ScramModule + ", not PlainLoginModule":  loginOf(PlainModule),
		"needs the login module " + ScramModule + ", not an unknown module": loginOf("hunter2"),
		"has no username": loginOf(ScramModule, "username", ""),
		"has no password": loginOf(ScramModule, "password", ""),
	} {
		if _, err := Scram(ScramSHA512Name, l, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := Plain(loginOf(PlainModule, "password", "a\x00b")); err == nil {
		t.Error("PLAIN can't carry a zero byte")
	}
	if _, err := Plain(loginOf(ScramModule)); err == nil {
		t.Error("a SCRAM login for PLAIN")
	}
}

// SEC-11: neither mechanisms nor sessions nor logins print their secrets, whatever the format.
func TestNoFormatShowsASecret(t *testing.T) {
	plain, err := Plain(loginOf(PlainModule))
	if err != nil {
		t.Fatal(err)
	}
	hashed := mustScram(t, ScramSHA256Name, loginOf(ScramModule))
	bearer := OAuthBearer(tokens{token: oauth.Token{Value: secret}})
	for _, v := range []any{loginOf(PlainModule), plain, begin(t, plain), hashed, begin(t, hashed), bearer, begin(t, bearer)} {
		for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d"} {
			if text := fmt.Sprintf(format, v); strings.Contains(text, "s3cret") || strings.Contains(text, "115 51 99") {
				t.Errorf("%T with %s: %s", v, format, text)
			}
		}
	}
}
