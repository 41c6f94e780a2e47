package oauth

import (
	"maps"
	"net/url"
)

// clientCredentials asks by the client_credentials grant. The client shows that it is itself by an assertion from a file, else by
// one made here, when the options tell of one (KIP-1258), else by its secret.
func (s settings) clientCredentials(o Options) (func() (form, error), error) {
	scope, _ := s.orJAAS(keyScope, "scope")
	fromFile := s.text(keyAssertion) != ""
	if fromFile && s.given(keyIss) {
		s.warn("Both " + keyAssertion + " and " + keyIss + " are set: the assertion comes from the file, and none is made here.")
	}
	if fromFile || s.given(keyIss) {
		id, _ := s.orJAAS(keyClientID, "clientId")
		f := form{fields: url.Values{
			"grant_type":            {"client_credentials"},
			"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
		}, remedy: "does it know this client and its assertion (" + keyClientID + ", sasl.oauthbearer.assertion.*, " + keyScope + ")?"}
		f.add("client_id", id)
		f.add("scope", scope)
		return s.asserting(o, "client_assertion", f)
	}
	id, err := s.neededOrJAAS(keyClientID, "clientId")
	if err != nil {
		return nil, err
	}
	secret, err := s.neededOrJAAS(keyClientSecret, "clientSecret")
	if err != nil {
		return nil, err
	}
	f := form{
		id: id, secret: secret, fields: url.Values{"grant_type": {"client_credentials"}}, secrets: []string{secret},
		remedy: "are " + keyClientID + ", " + keyClientSecret + " and " + keyScope + " right?",
	}
	if s.boolean(keyURLEncode) { // RFC 6749, section 2.3.1; many endpoints don't expect it
		f.id, f.secret = url.QueryEscape(id), url.QueryEscape(secret)
		f.secrets = append(f.secrets, f.secret)
	}
	f.add("scope", scope)
	return func() (form, error) { return f, nil }, nil
}

// jwtBearer asks by the jwt-bearer grant (RFC 7523).
func (s settings) jwtBearer(o Options) (func() (form, error), error) {
	f := form{
		fields: url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}},
		remedy: "does it accept this assertion (sasl.oauthbearer.assertion.*, " + keyScope + ")?",
	}
	f.add("scope", s.text(keyScope))
	return s.asserting(o, "assertion", f)
}

// asserting makes forms that differ in their assertion only, each with one of its own in the given field.
func (s settings) asserting(o Options, field string, f form) (func() (form, error), error) {
	assertion, err := s.assertion(o)
	if err != nil {
		return nil, err
	}
	return func() (form, error) {
		a, err := assertion()
		if err != nil {
			return form{}, err
		}
		next := f
		next.fields, next.secrets = maps.Clone(f.fields), []string{a}
		next.fields.Set(field, a)
		return next, nil
	}, nil
}

func (f form) add(name, value string) {
	if value != "" {
		f.fields.Set(name, value)
	}
}
