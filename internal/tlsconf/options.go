package tlsconf

import (
	"crypto/tls"
	"log/slog"
	"time"
)

// The keys of this room.
const (
	keystoreType           = "ssl.keystore.type"
	keystoreLocation       = "ssl.keystore.location"
	keystorePassword       = "ssl.keystore.password"
	keystoreKey            = "ssl.keystore.key"
	keystoreChain          = "ssl.keystore.certificate.chain"
	keyPassword            = "ssl.key.password"
	truststoreType         = "ssl.truststore.type"
	truststoreLocation     = "ssl.truststore.location"
	truststorePassword     = "ssl.truststore.password"
	truststoreCerts        = "ssl.truststore.certificates"
	sslProtocol            = "ssl.protocol"
	enabledProtocols       = "ssl.enabled.protocols"
	cipherSuites           = "ssl.cipher.suites"
	endpointIdentification = "ssl.endpoint.identification.algorithm"
)

// Options is what a Source is made of.
type Options struct {
	// Get is the value of an ssl.* option after parsing: nil, string, []string or, for a secret, a value with a method
	// Reveal() string. Only New calls it.
	Get func(key string) any
	// Given reports whether the user has set the option; what he has not leaves Base as it is. Only New calls it.
	Given func(key string) bool
	// Base is the application's own configuration (the Go form of ssl.engine.factory.class); nil for none. It is cloned.
	Base *tls.Config
	// Now is the wall clock.
	Now func() time.Time
	// Log takes a line; Source calls it from the goroutines of New and Config.
	Log func(level slog.Level, text string)
}

// secret is config.Secret.
type secret interface{ Reveal() string }

// text is a string or a secret that may be absent (Java's null).
func (o *Options) text(key string) (s string, set bool) {
	switch v := o.Get(key).(type) {
	case string:
		return v, true
	case secret:
		return v.Reveal(), true
	}
	return "", false
}

func (o *Options) list(key string) []string {
	l, _ := o.Get(key).([]string)
	return l
}

// needed is an option that Java cannot do without: its null ends there in a NullPointerException.
func (o *Options) needed(key, instead string) (string, error) {
	s, set := o.text(key)
	if !set {
		return "", &Error{Option: key, Message: "Invalid value null for configuration " + key, Remedy: "Set it to " + instead + " or leave it out."}
	}
	return s, nil
}
