package linger_test

import (
	"encoding/json"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/xdg-go/scram"

	"linger/internal/kerr"
)

// fakeLogin makes a cluster's listeners ask for SASL. Its fields change under the cluster's lock.
type fakeLogin struct {
	mechanisms []string
	plainNames []string          // further names of PLAIN
	users      map[string]string // passwords by user; tokens by "token"
	lifetimeMs int64             // connections.max.reauth.ms
	logins     int               // that went well
	failures   int               // that did not
	again      int               // logins on a connection that had one
	states     map[net.Conn]*loginState
	extensions string                            // of the last OAUTHBEARER message
	odd        func(*call, []byte) kmsg.Response // answers a token in its own way unless nil
}

// loginState is how far a connection has got.
type loginState struct {
	mechanism string
	scram     *scram.ServerConversation
	refusing  string // the JSON text that an OAUTHBEARER client has been told
	in        bool
	expires   time.Time
}

// secured makes the cluster ask for a login by one of the mechanisms. alice's password is "alice-secret".
func (c *cluster) secured(mechanisms ...string) *fakeLogin {
	l := &fakeLogin{mechanisms: mechanisms, users: map[string]string{"alice": "alice-secret"}, states: map[net.Conn]*loginState{}}
	c.change(func() {
		c.login = l
		c.maxAPI[kmsg.SASLHandshake], c.maxAPI[kmsg.SASLAuthenticate] = 1, 2
	})
	return l
}

// admits reports whether the broker looks at the request at all: it closes the connection of who sends anything else before
// its login, or after its session has expired.
func (c *cluster) admits(call *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.login == nil {
		return true
	}
	switch call.key {
	case kmsg.SASLHandshake, kmsg.SASLAuthenticate:
		return true
	}
	s := c.login.states[call.conn]
	if s == nil || !s.in {
		return call.key == kmsg.ApiVersions
	}
	return s.expires.IsZero() || time.Now().Before(s.expires)
}

// handshake is the usual answer; the caller holds c.mu.
func (call *call) handshake(req *kmsg.SASLHandshakeRequest) kmsg.Response {
	resp := kmsg.NewPtrSASLHandshakeResponse()
	l := call.c.login
	if l == nil {
		resp.ErrorCode = int16(kerr.IllegalSASLState)
		return resp
	}
	resp.SupportedMechanisms = l.mechanisms
	if !slices.Contains(l.mechanisms, req.Mechanism) {
		resp.ErrorCode = int16(kerr.UnsupportedSASLMechanism)
		l.failures++
		return resp
	}
	s := l.states[call.conn]
	if s == nil {
		s = &loginState{}
		l.states[call.conn] = s
	}
	s.mechanism, s.scram, s.refusing = req.Mechanism, nil, ""
	return resp
}

// authenticate is the usual answer to a token; the caller holds c.mu.
func (call *call) authenticate(req *kmsg.SASLAuthenticateRequest) kmsg.Response {
	l := call.c.login
	if l.odd != nil {
		if resp := l.odd(call, req.SASLAuthBytes); resp != nil {
			return resp
		}
	}
	resp := kmsg.NewPtrSASLAuthenticateResponse()
	s := l.states[call.conn]
	var done bool
	var refusal string
	resp.SASLAuthBytes, done, refusal = l.step(s, string(req.SASLAuthBytes))
	switch {
	case refusal != "":
		l.failures++
		resp.ErrorCode, resp.ErrorMessage = int16(kerr.SASLAuthenticationFailed), &refusal
	case done:
		l.logins++
		if s.in {
			l.again++
		}
		s.in = true
		if resp.Version = req.Version; l.lifetimeMs > 0 {
			resp.SessionLifetimeMillis = l.lifetimeMs
			s.expires = time.Now().Add(time.Duration(l.lifetimeMs) * time.Millisecond)
		}
	}
	return resp
}

func (l *fakeLogin) step(s *loginState, token string) (answer []byte, done bool, refusal string) {
	switch {
	case s.mechanism == "PLAIN" || slices.Contains(l.plainNames, s.mechanism):
		fields := strings.Split(token, "\x00")
		if len(fields) != 3 || l.users[fields[1]] != fields[2] || fields[2] == "" {
			return nil, false, "Authentication failed: Invalid username or password"
		}
		return nil, true, ""
	case s.mechanism == "OAUTHBEARER":
		return l.bearer(s, token)
	case s.scram == nil:
		s.scram = l.scramServer(s.mechanism)
	}
	text, err := s.scram.Step(token)
	if err != nil {
		return nil, false, "Authentication failed during authentication due to invalid credentials with SASL mechanism " + s.mechanism
	}
	return []byte(text), s.scram.Done(), ""
}

func (l *fakeLogin) scramServer(mechanism string) *scram.ServerConversation {
	hash := scram.SHA256
	if mechanism == "SCRAM-SHA-512" {
		hash = scram.SHA512
	}
	server, err := hash.NewServer(func(user string) (scram.StoredCredentials, error) {
		client, err := hash.NewClientUnprepped(user, l.users[user], "")
		if err != nil {
			return scram.StoredCredentials{}, err
		}
		return client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: "salt of " + user, Iters: 4096})
	})
	if err != nil {
		panic(err)
	}
	return server.NewConversation()
}

func (l *fakeLogin) bearer(s *loginState, message string) (answer []byte, done bool, refusal string) {
	if s.refusing != "" {
		if message != "\x01" {
			return nil, false, "the client does not know RFC 7628"
		}
		return nil, false, s.refusing
	}
	_, rest, _ := strings.Cut(message, "\x01auth=Bearer ")
	value, rest, _ := strings.Cut(rest, "\x01")
	l.extensions = rest
	if value != l.users["token"] || value == "" {
		text, _ := json.Marshal(map[string]string{"status": "invalid_token"})
		s.refusing = string(text)
		return text, false, ""
	}
	return nil, true, ""
}
