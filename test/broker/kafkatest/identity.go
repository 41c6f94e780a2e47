//go:build unix

package kafkatest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// What the identity provider knows, and what brokers expect in its tokens.
const (
	Issuer       = "https://identity.linger.test"
	Audience     = "kafka"
	ClientID     = "orders-service"
	ClientSecret = "client-secret"

	signingKeyID  = "first"
	jwtBearer     = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	defaultAnswer = time.Hour
)

// IdentityProvider is an OAuth 2 server on the loopback interface: it gives RS256 tokens for client credentials and for
// assertions, and the keys they are checked with. Its methods may be called from several goroutines.
type IdentityProvider struct {
	key       *rsa.PrivateKey
	assertion *rsa.PrivateKey
	url       string
	server    *http.Server
	served    chan struct{}
	life      atomic.Int64 // nanoseconds
	given     atomic.Int64
}

// StartIdentityProvider starts one. The caller ends it with Close.
func StartIdentityProvider() (*IdentityProvider, error) {
	p := &IdentityProvider{served: make(chan struct{})}
	p.SetLife(defaultAnswer)
	var err1, err2 error
	p.key, err1 = rsa.GenerateKey(rand.Reader, 2048)
	p.assertion, err2 = rsa.GenerateKey(rand.Reader, 2048)
	l, err3 := net.Listen("tcp", "127.0.0.1:0")
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, fmt.Errorf("kafkatest: identity provider: %w", err)
	}
	p.url = "http://" + l.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("POST /token", p.token)
	p.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { // ends with Close, which waits for it
		defer close(p.served)
		_ = p.server.Serve(l) // ErrServerClosed
	}()
	return p, nil
}

// Close ends the server.
func (p *IdentityProvider) Close() error {
	err := p.server.Close()
	<-p.served
	return err
}

// KeysURL is where the public keys are (sasl.oauthbearer.jwks.endpoint.url).
func (p *IdentityProvider) KeysURL() string { return p.url + "/keys" }

// TokenURL is where tokens are given (sasl.oauthbearer.token.endpoint.url).
func (p *IdentityProvider) TokenURL() string { return p.url + "/token" }

// SetLife says how long tokens last from now on; an hour at first.
func (p *IdentityProvider) SetLife(d time.Duration) { p.life.Store(int64(d)) }

// Given is how many tokens were given.
func (p *IdentityProvider) Given() int64 { return p.given.Load() }

// AssertionKey is the private key, as PKCS#8 in PEM, that assertions of the jwt-bearer grant must be signed with (RS256).
func (p *IdentityProvider) AssertionKey() []byte {
	der, err := x509.MarshalPKCS8PrivateKey(p.assertion)
	if err != nil {
		panic(err) // an RSA key
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// Token makes a token for a subject that lasts d from now; d below zero makes one that is over.
func (p *IdentityProvider) Token(subject string, d time.Duration) string {
	now := time.Now()
	claims := map[string]any{
		"iss": Issuer, "aud": Audience, "sub": subject, "scope": "produce",
		"iat": min(now.Unix(), now.Add(d).Unix()-1), "exp": now.Add(d).Unix(),
	}
	return signed(p.key, map[string]any{"alg": "RS256", "typ": "JWT", "kid": signingKeyID}, claims)
}

func signed(key *rsa.PrivateKey, header, claims map[string]any) string {
	encode := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err) // strings and numbers
		}
		return base64.RawURLEncoding.EncodeToString(b)
	}
	text := encode(header) + "." + encode(claims)
	sum := sha256.Sum256([]byte(text))
	sig, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err) // the key is ours
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(sig)
}

func (p *IdentityProvider) keys(w http.ResponseWriter, _ *http.Request) {
	public := p.key.PublicKey
	answer(w, http.StatusOK, map[string]any{"keys": []any{map[string]any{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": signingKeyID,
		"n": base64.RawURLEncoding.EncodeToString(public.N.Bytes()),
		"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(public.E)).Bytes()),
	}}})
}

func (p *IdentityProvider) token(w http.ResponseWriter, r *http.Request) {
	subject, err := p.subject(r)
	if err != nil {
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client", "error_description": err.Error()})
		return
	}
	life := time.Duration(p.life.Load())
	p.given.Add(1)
	answer(w, http.StatusOK, map[string]any{
		"access_token": p.Token(subject, life), "token_type": "Bearer", "expires_in": int(life.Seconds()), "scope": r.PostFormValue("scope"),
	})
}

// subject is whom a request for a token proves to be.
func (p *IdentityProvider) subject(r *http.Request) (string, error) {
	switch grant := r.PostFormValue("grant_type"); grant {
	case "client_credentials":
		id, secret, _ := r.BasicAuth()
		if id != ClientID || secret != ClientSecret {
			return "", errors.New("the client is not known by that secret")
		}
		return id, nil
	case jwtBearer:
		return p.checkAssertion(r.PostFormValue("assertion"))
	default:
		return "", fmt.Errorf("grant_type %q is not supported", grant)
	}
}

func (p *IdentityProvider) checkAssertion(token string) (string, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", errors.New("the assertion is no token")
	}
	sig, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(&p.assertion.PublicKey, crypto.SHA256, sum[:], sig); err != nil {
		return "", errors.New("the assertion's signature is not by the key that is known")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", err
	}
	var claims struct {
		Sub string  `json:"sub"`
		Exp float64 `json:"exp"`
	}
	if err := json.Unmarshal(payload, &claims); err != nil {
		return "", err
	}
	if claims.Sub == "" || claims.Exp <= float64(time.Now().Unix()) {
		return "", errors.New("the assertion has no subject or is over")
	}
	return claims.Sub, nil
}

func answer(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that went away
}
