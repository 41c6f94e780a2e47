package oauth

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"linger/internal/clock"
)

const (
	// maxAnswer is how much of an endpoint's answer is read.
	maxAnswer = 1 << 20
	// maxShown is how much of an answer that nobody expected is shown in an error.
	maxShown = 300
	// patienceMs bounds connecting and reading when the options don't: Java would wait for ever.
	patienceMs = 30_000
)

// hopeless are the answers after which another try is pointless (in Java: HttpJwtRetriever.UNRETRYABLE_HTTP_CODES).
var hopeless = []int{400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 501, 505}

// form is a request to the token endpoint. It is made anew for each fetch, since assertions are.
type form struct {
	fields  url.Values
	id      string   // with secret, for the authorization header; empty for none
	secret  string   // goes into the header only
	secrets []string // never shown, whatever the endpoint answers
	remedy  string   // when the endpoint doesn't know this client
}

// poster asks one endpoint (KIP-768).
type poster struct {
	url    *url.URL
	where  string // the URL as it may be shown
	retry  retry
	dialer *net.Dialer
	read   time.Duration                 // how long a read may take
	tls    func(host string) *tls.Config // nil: the system's
	clk    clock.Clock
}

func (s settings) poster(u *url.URL, o Options) (*poster, error) {
	connect, err := s.timeout(keyConnect)
	if err != nil {
		return nil, err
	}
	read, err := s.timeout(keyRead)
	if err != nil {
		return nil, err
	}
	first, _ := s.number(keyBackoff)
	longest, _ := s.number(keyBackoffMax)
	switch {
	case first < 0:
		return nil, refuse(keyBackoff, fmt.Sprintf("%s value (%d) must be non-negative", keyBackoff, first), "")
	case longest < 0:
		return nil, refuse(keyBackoffMax, fmt.Sprintf("%s value (%d) must be non-negative", keyBackoffMax, longest), "")
	case longest < first:
		return nil, refuse(keyBackoffMax, fmt.Sprintf("%s value (%d) is less than %s value (%d)", keyBackoffMax, longest, keyBackoff, first), "")
	}
	return &poster{
		url: u, where: shown(u), retry: retry{firstMs: first, maxMs: longest, clk: o.Clock},
		dialer: &net.Dialer{Timeout: connect}, read: read, tls: o.TLS, clk: o.Clock,
	}, nil
}

// client is made anew for each try: certificates may have changed, and no connection is kept.
func (p *poster) client() *http.Client {
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: p.read, DisableKeepAlives: true, MaxResponseHeaderBytes: maxAnswer,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := p.dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &patientConn{Conn: c, clk: p.clk, patience: p.read}, nil
		},
	}
	if p.tls != nil {
		t.TLSClientConfig = p.tls(p.url.Hostname())
	}
	// Nobody is sent elsewhere with a secret in hand.
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// timeout is one of the two time-outs; 0 means none to Java, and here the most patience there is.
func (s settings) timeout(key string) (time.Duration, error) {
	ms, _ := s.number(key)
	switch {
	case ms < 0:
		return 0, refuse(key, fmt.Sprintf("Invalid value %d for configuration %s: timeouts can't be negative", ms, key), "")
	case ms == 0:
		ms = patienceMs
	}
	return clock.Ms(min(ms, math.MaxInt32)), nil
}

// patientConn limits each read, as a Java socket's time-out does, not their sum.
type patientConn struct {
	net.Conn
	clk      clock.Clock
	patience time.Duration
}

func (c *patientConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.UnixMilli(c.clk.WallMs()).Add(c.patience)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// token asks the endpoint for a token, again and again while that makes sense.
func (p *poster) token(ctx context.Context, newForm func() (form, error)) (jwt string, err error) {
	f, err := newForm()
	if err != nil {
		return "", err
	}
	err = p.retry.do(ctx, func(ctx context.Context) (err error) {
		jwt, err = p.once(ctx, f)
		return err
	})
	if err != nil {
		_, final := errors.AsType[permanent](err)
		return "", &Error{Option: keyEndpoint, Where: p.where, Err: err, Remedy: remedy(f, err, final)}
	}
	return jwt, nil
}

func remedy(f form, err error, final bool) string {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "is its certificate one to trust? Then give the trust store in " + keyJAAS + ": option ssl.truststore.location and the like"
	}
	status, _ := errors.AsType[statusError](err)
	switch {
	case status.code == http.StatusBadRequest, status.code == http.StatusUnauthorized, status.code == http.StatusForbidden:
		return f.remedy
	case status.code == http.StatusNotFound, status.code == http.StatusMethodNotAllowed:
		return "is this the URL of the token endpoint?"
	case !final:
		return "is the endpoint reachable from here, and well?"
	}
	return ""
}

// statusError is an answer that is none.
type statusError struct {
	code int
	text string
}

// Error is what the endpoint said.
func (e statusError) Error() string { return e.text }

func (p *poster) once(ctx context.Context, f form) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url.String(), strings.NewReader(f.fields.Encode()))
	if err != nil {
		return "", permanent{errors.New("the URL can't be asked")}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Cache-Control", "no-cache")
	if f.id != "" {
		req.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(f.id+":"+f.secret)))
	}
	res, err := p.client().Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // its own text shows the whole URL
		}
		return "", fmt.Errorf("no answer: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // only read
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return "", fmt.Errorf("the answer breaks off: %w", err)
	}
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusCreated {
		err := statusError{res.StatusCode, fmt.Sprintf("answer %s: %s", short(res.Status), f.hide(errorIn(body)))}
		if slices.Contains(hopeless, res.StatusCode) || res.StatusCode/100 == 3 {
			return "", permanent{err}
		}
		return "", err
	}
	if len(body) > maxAnswer {
		return "", permanent{fmt.Errorf("the answer has more than %d bytes", maxAnswer)}
	}
	if len(body) == 0 {
		return "", fmt.Errorf("answer %s is empty", res.Status)
	}
	return tokenIn(body)
}

// tokenIn finds the token in an answer. What else is there is described by its names only: it may be a secret.
func tokenIn(body []byte) (string, error) {
	var answer map[string]any
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", permanent{fmt.Errorf("the answer is not a JSON object (%d bytes)", len(body))}
	}
	for _, name := range []string{"access_token", "id_token"} {
		if jwt, _ := answer[name].(string); strings.TrimSpace(jwt) != "" {
			return strings.TrimSpace(jwt), nil
		}
	}
	var names []string
	for name := range answer {
		names = append(names, fmt.Sprintf("%.40q", name))
	}
	slices.Sort(names)
	if len(names) > 10 {
		names = append(names[:10], "…")
	}
	return "", permanent{fmt.Errorf("the answer holds neither access_token nor id_token, only [%s]", strings.Join(names, ", "))}
}

// errorIn is what an endpoint says about an error: RFC 6749's form (section 5.2), that of Okta, or the text itself.
func errorIn(body []byte) string {
	var answer struct {
		Error       any    `json:"error"`
		Description string `json:"error_description"`
		Code        string `json:"errorCode"`
		Summary     string `json:"errorSummary"`
	}
	said := func(what, more string) string {
		if more != "" {
			what += " - " + more
		}
		return short(what)
	}
	if err := json.Unmarshal(body, &answer); err == nil {
		if s, ok := answer.Error.(string); ok && s != "" {
			return said(s, answer.Description)
		}
		if answer.Code != "" {
			return said(answer.Code, answer.Summary)
		}
	}
	if text := strings.TrimSpace(string(body)); text != "" {
		return short(text)
	}
	return "it gives no reason"
}

// short is a text that strangers wrote, made fit for one line of a log.
func short(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(text, "?"))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxShown {
		return string(runes[:maxShown]) + "…"
	}
	return text
}

// hide takes the request's secrets out of what an endpoint says: some repeat what they were asked.
func (f form) hide(text string) string {
	for _, secret := range f.secrets {
		for _, as := range []string{secret, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(f.id + ":" + secret))} {
			if secret != "" {
				text = strings.ReplaceAll(text, as, "[hidden]")
			}
		}
	}
	return text
}
