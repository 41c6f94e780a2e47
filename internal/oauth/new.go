package oauth

import (
	"context"
	"crypto/tls"
	"log/slog"
	"strings"

	"linger/internal/clock"
	"linger/internal/config"
)

// Options are what a Source is made from. All but Fetch, TLS and Environment must be there.
type Options struct {
	Config *config.Config
	// JAAS are the options of the login module in sasl.jaas.config.
	JAAS map[string]string
	// Fetch, when it is not nil, is the application's own way to get a token; it stands for the retriever and the validator.
	Fetch func(context.Context) (Token, error)
	// TLS is how an https endpoint at host is talked to, asked anew for each request; nil trusts what the system trusts.
	TLS func(host string) *tls.Config
	// Environment looks up a variable of the process, as os.LookupEnv does; nil finds none.
	Environment func(name string) (value string, ok bool)
	// Clock says when a token has ended, and is what retries and refreshes wait by.
	Clock clock.Clock
	// Random gives the jitter of refreshes, numbers in [0, 1). Only the source's goroutine calls it.
	Random func() float64
	// Log hears of refreshes that fail and of options that are deprecated.
	Log *slog.Logger
}

// New makes the source that the options describe. It fetches nothing and starts nothing yet. An error is an ErrConfig
// that names the option.
func New(o Options) (*Source, error) {
	if o.Environment == nil {
		o.Environment = func(string) (string, bool) { return "", false }
	}
	s := settings{cfg: o.Config, jaas: o.JAAS, warn: func(text string) { o.Log.Warn(text) }}
	fetch, err := s.fetcher(o)
	if err != nil {
		return nil, err
	}
	return newSource(fetch, o), nil
}

func (s settings) fetcher(o Options) (func(context.Context) (Token, error), error) {
	if o.Fetch != nil {
		return s.applications(o.Fetch)
	}
	switch s.handler() {
	case "OAuthBearerLoginCallbackHandler":
		return s.retrieved(o)
	default:
		return unsecuredSource(o.JAAS, o.Clock)
	}
}

// handler is the Java class that stands for where tokens come from.
//
// In Java that is the unsecured one unless the option says otherwise, so a producer with an endpoint and without the option
// makes its tokens itself and ignores the endpoint. Here an endpoint means that tokens come from there, unless the login
// module describes an unsecured token.
func (s settings) handler() string {
	if v, _ := s.cfg.Get(keyHandler); v != nil {
		name, _ := config.JavaClass(keyHandler, v)
		return name
	}
	for option := range s.jaas {
		if strings.HasPrefix(option, unsecured) {
			return "OAuthBearerUnsecuredLoginCallbackHandler"
		}
	}
	if s.given(keyEndpoint) {
		return "OAuthBearerLoginCallbackHandler"
	}
	return "OAuthBearerUnsecuredLoginCallbackHandler"
}

// applications fetches by the application's function; extensions of the login module are added to those it gives.
func (s settings) applications(fetch func(context.Context) (Token, error)) (func(context.Context) (Token, error), error) {
	ext, err := extensions(s.jaas, extensionPrefix)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (Token, error) {
		t, err := fetch(ctx)
		if err != nil {
			return Token{}, &Error{Option: "linger.WithOAuthToken", Err: err}
		}
		if strings.TrimSpace(t.Value) == "" {
			return Token{}, &Error{Option: "linger.WithOAuthToken", Err: errNoValue}
		}
		all := make(map[string]string, len(ext)+len(t.Extensions))
		for name, value := range ext {
			all[name] = value
		}
		for name, value := range t.Extensions {
			if why := BadExtension(name, value); why != "" {
				return Token{}, &Error{Option: "linger.WithOAuthToken", Where: "extension " + name, Err: errorText(why)}
			}
			all[name] = value
		}
		t.Extensions = all
		return t, nil
	}, nil
}

// retrieved fetches by the retriever that the options name, and looks at what came.
func (s settings) retrieved(o Options) (func(context.Context) (Token, error), error) {
	v, _ := s.cfg.Get(keyValidator)
	if name, _ := config.JavaClass(keyValidator, v); name == "BrokerJwtValidator" {
		return nil, refuse(keyValidator, "BrokerJwtValidator checks tokens for a broker, and a producer has none of what it needs",
			"leave "+keyValidator+" out")
	}
	scopeClaim, err := s.needed(keyScopeClaim, "")
	if err != nil {
		return nil, err
	}
	subClaim, err := s.needed(keySubClaim, "")
	if err != nil {
		return nil, err
	}
	ext, err := extensions(s.jaas, extensionPrefix)
	if err != nil {
		return nil, err
	}
	retrieve, err := s.retriever(o)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (Token, error) {
		jwt, where, err := retrieve(ctx)
		if err != nil {
			return Token{}, err
		}
		t, err := validate(jwt, scopeClaim, subClaim)
		if err != nil {
			return Token{}, &Error{Option: keyEndpoint, Where: where, Err: errorText("invalid_token: " + err.Error())}
		}
		t.Extensions = ext
		return t, nil
	}, nil
}

const extensionPrefix = "extension_"

// retriever is one of Java's four. What it makes gives a token and where it is from.
func (s settings) retriever(o Options) (func(context.Context) (jwt, where string, err error), error) {
	u, err := s.endpoint(o.Environment)
	if err != nil {
		return nil, err
	}
	v, _ := s.cfg.Get(keyRetriever)
	name, _ := config.JavaClass(keyRetriever, v)
	isFile := u.Scheme == "file"
	if name == "DefaultJwtRetriever" {
		name = "ClientCredentialsJwtRetriever"
		if isFile {
			name = "FileJwtRetriever"
		}
	}
	switch {
	case name == "FileJwtRetriever":
		return s.fromFile(u)
	case isFile:
		return nil, refuse(keyEndpoint, "The OAuth configuration option "+keyEndpoint+" is a file, and "+name+" asks an endpoint",
			"give an http or https URL, or set "+keyRetriever+" to FileJwtRetriever")
	}
	grant := s.clientCredentials
	if name == "JwtBearerJwtRetriever" {
		grant = s.jwtBearer
	}
	newForm, err := grant(o)
	if err != nil {
		return nil, err
	}
	p, err := s.poster(u, o)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (string, string, error) {
		jwt, err := p.token(ctx, newForm)
		return jwt, p.where, err
	}, nil
}
