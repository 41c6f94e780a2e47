package oauth

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// endpointWith is an identity provider that answers as told.
func endpointWith(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// bySecret are the options of a client with a secret at a URL, and one try.
func bySecret(url string, more ...string) []string {
	return append([]string{
		keyEndpoint + "=" + url, keyClientID + "=me", keyClientSecret + "=s3cret", keyBackoff + "=1", keyBackoffMax + "=1000000",
	}, more...)
}

func TestTheEndpointGivesAToken(t *testing.T) {
	for name, field := range map[string]string{"an access token": "access_token", "an identity token": "id_token"} {
		t.Run(name, func(t *testing.T) {
			want := goodJWT()
			s := endpointWith(t, says(201, fmt.Sprintf(`{"token_type":"bearer",%q:" %s "}`, field, want)))
			o, _ := optionsOf(t, nil, bySecret(s.URL)...)
			got, err := sourceOf(t, o).Token(background())
			if err != nil || got.Value != want || got.Principal != "me" || len(got.Scope) != 2 {
				t.Errorf("%v %v", got, err)
			}
		})
	}
}

// Each failure is said with the option, the URL without its secrets, the cause and the remedy; nothing secret is shown.
func TestFailuresOfTheEndpointAreExplained(t *testing.T) {
	big := strings.Repeat("x", maxAnswer+1)
	tests := map[string]struct {
		answer http.HandlerFunc
		parts  []string
		tries  int32 // 0: as many as there is time for
	}{
		"a wrong secret": {
			says(401, `{"error":"invalid_client","error_description":"no such client, or not with s3cret"}`),
			[]string{"answer 401 Unauthorized: invalid_client - no such client, or not with [hidden]", keyClientSecret + " and " + keyScope + " right?"}, 1,
		},
		"a wrong scope":                 {says(400, `{"error":"invalid_scope"}`), []string{"answer 400 Bad Request: invalid_scope;"}, 1},
		"another provider's form":       {says(403, `{"errorCode":"E1","errorSummary":"go away"}`), []string{"E1 - go away"}, 1},
		"the authorization sent back":   {says(401, `Basic bWU6czNjcmV0`), []string{"Basic [hidden]"}, 1},
		"a page of HTML":                {says(404, "<html>\n<b>not  here</b>\x1b[2J"+big), []string{"<html> <b>not here</b>", "the URL of the token endpoint?"}, 1},
		"no reason":                     {says(405, " "), []string{"it gives no reason"}, 1},
		"somewhere else":                {redirect, []string{"answer 302 Found"}, 1},
		"not implemented":               {says(501, ""), []string{"answer 501"}, 1},
		"a provider that is ill":        {says(503, `{"error":"ill"}`), []string{"answer 503 Service Unavailable: ill", "is the endpoint reachable from here, and well?"}, 0},
		"too many requests":             {says(429, ``), []string{"answer 429"}, 0},
		"an empty answer":               {says(200, ``), []string{"answer 200 OK is empty"}, 0},
		"no JSON":                       {says(200, `s3cret-token`), []string{"the answer is not a JSON object (12 bytes)"}, 1},
		"no token":                      {says(200, `{"refresh_token":"s3cret-token","access_token":" "}`), []string{`neither access_token nor id_token, only ["access_token", "refresh_token"]`}, 1},
		"a token that is no text":       {says(200, `{"access_token":{"s3cret":1}}`), []string{"neither access_token nor id_token"}, 1},
		"too long an answer":            {says(200, `{"access_token":"`+big+`"}`), []string{"more than 1048576 bytes"}, 1},
		"an opaque token":               {says(200, `{"access_token":"s3cret-token"}`), []string{"invalid_token: malformed token"}, 1},
		"a token about nobody":          {says(200, `{"access_token":"`+jwt(`{"exp":1}`)+`"}`), []string{"invalid_token: claim sub is missing"}, 1},
		"a connection that breaks off":  {hangUp, []string{"no answer: EOF"}, 0},
		"an answer that breaks off":     {breakOff, []string{"the answer breaks off: unexpected EOF"}, 0},
		"a status line with its secret": {says(400, `{"error":"x`+strings.Repeat("y", 2*maxShown)+`"}`), []string{"yyy…"}, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int32
			s := endpointWith(t, func(w http.ResponseWriter, r *http.Request) { tries.Add(1); tt.answer(w, r) })
			url := strings.Replace(s.URL, "http://", "http://joe:s3cret-user@", 1) + "/token?key=s3cret-query"
			o, log := optionsOf(t, nil, bySecret(url, keyBackoffMax+"=1")...)
			_, err := sourceOf(t, o).Token(background())
			if err == nil {
				t.Fatal("there is a token")
			}
			wantText(t, err.Error(), append(tt.parts, keyEndpoint, "("+s.URL+"/token)")...)
			wantNoSecret(t, err.Error()+log.String(), "s3cret", "joe", "bWU6", "\x1b", "\n")
			if len(err.Error()) > 1000 {
				t.Errorf("%d characters", len(err.Error()))
			}
			if got := tries.Load(); tt.tries != 0 && got != tt.tries {
				t.Errorf("%d tries: %v", got, err)
			}
			if _, final := errors.AsType[permanent](err); final && tt.tries == 0 {
				t.Error("given up for good, and another try may go better")
			}
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Option != keyEndpoint {
				t.Errorf("not an Error, or not of the right kind: %#v", err)
			}
		})
	}
}

func redirect(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/elsewhere", http.StatusFound)
}

func hangUp(w http.ResponseWriter, _ *http.Request) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = c.Close()
	}
}

func breakOff(w http.ResponseWriter, _ *http.Request) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"))
		_ = c.Close()
	}
}

func TestAnEndpointThatRecoversIsAskedAgain(t *testing.T) {
	var tries atomic.Int32
	want := goodJWT()
	s := endpointWith(t, func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) < 3 {
			says(500, "")(w, r)
			return
		}
		says(200, `{"access_token":"`+want+`"}`)(w, r)
	})
	o, _ := optionsOf(t, nil, bySecret(s.URL)...)
	got, err := sourceOf(t, o).Token(background())
	if err != nil || got.Value != want || tries.Load() != 3 {
		t.Errorf("%v %v after %d tries", got, err, tries.Load())
	}
}

func TestAnEndpointThatCannotBeReachedIsExplained(t *testing.T) {
	// A port that a connection goes out from has no listener, and while it is in use nobody else gets one there.
	taken, err := net.Dial("tcp", endpointWith(t, says(200, "")).Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	url := "http://" + taken.LocalAddr().String()
	o, _ := optionsOf(t, nil, bySecret(url, keyBackoffMax+"=1")...)
	_, err = sourceOf(t, o).Token(background())
	if err == nil {
		t.Fatal("there is a token")
	}
	wantText(t, err.Error(), keyEndpoint+" ("+url+")", "connection refused", "is the endpoint reachable from here, and well?")
}

func TestAnEndpointThatDoesNotAnswerIsLeft(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request){
		"at all": func(_ http.ResponseWriter, r *http.Request) { untilItHangsUp(r) },
		"in full": func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("{"))
			w.(http.Flusher).Flush()
			untilItHangsUp(r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := endpointWith(t, answer)
			o, _ := optionsOf(t, nil, bySecret(s.URL, keyBackoff+"=0", keyBackoffMax+"=0", keyRead+"=20")...)
			_, err := sourceOf(t, o).Token(background())
			if err == nil {
				t.Fatal("there is a token")
			}
			wantText(t, err.Error(), keyEndpoint, "timeout")
		})
	}
}

// untilItHangsUp waits for the client to go; a server sees that only when it has read the request.
func untilItHangsUp(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func TestTheTimeoutsAreTheOptions(t *testing.T) {
	tests := map[string]struct {
		options       []string
		connect, read time.Duration
	}{
		"those set":            {[]string{keyConnect + "=7", keyRead + "=8"}, 7 * time.Millisecond, 8 * time.Millisecond},
		"none: never for ever": {nil, patienceMs * time.Millisecond, patienceMs * time.Millisecond},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o, _ := optionsOf(t, nil, bySecret("http://localhost", tt.options...)...)
			s := settings{cfg: o.Config}
			u, _ := s.endpoint(nothing)
			p, err := s.poster(u, o)
			if err != nil || p.dialer.Timeout != tt.connect || p.read != tt.read || p.client().Transport.(*http.Transport).TLSHandshakeTimeout != tt.read {
				t.Errorf("%+v %v", p, err)
			}
		})
	}
}

func nothing(string) (string, bool) { return "", false }

func TestAnEndpointOverTLS(t *testing.T) {
	want := goodJWT()
	s := httptest.NewUnstartedServer(says(200, `{"access_token":"`+want+`"}`))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of the client that hangs up
	s.StartTLS()
	t.Cleanup(s.Close)
	o, _ := optionsOf(t, nil, bySecret(s.URL, keyBackoffMax+"=1")...)
	_, err := sourceOf(t, o).Token(background())
	if err == nil {
		t.Fatal("a certificate nobody knows is trusted")
	}
	wantText(t, err.Error(), "certificate", "give the trust store in "+keyJAAS+": option ssl.truststore.location")

	var asked atomic.Value
	o.TLS = func(host string) *tls.Config {
		asked.Store(host)
		roots := x509.NewCertPool()
		roots.AddCert(s.Certificate())
		return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	got, err := sourceOf(t, o).Token(background())
	if err != nil || got.Value != want || asked.Load() != "127.0.0.1" {
		t.Errorf("%v %v, asked for %v", got, err, asked.Load())
	}
}
