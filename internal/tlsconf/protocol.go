package tlsconf

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// protocol says which versions and suites may be spoken.
type protocol struct {
	low, high uint16
	suites    []uint16 // nil: crypto/tls's own choice
}

// Names of TLS versions. The JDK knows the old ones too and has them switched off (jdk.tls.disabledAlgorithms).
const (
	tls12, tls13 = "TLSv1.2", "TLSv1.3"
	useModern    = "Use TLSv1.2, TLSv1.3 or both."
)

func retired(name string) bool {
	return slices.Contains([]string{"TLSv1.1", "TLSv1", "SSLv3", "SSLv2Hello"}, name)
}

// readProtocol works out versions and suites as a Java SSLEngine has them: ssl.enabled.protocols says which versions;
// only where it is empty ssl.protocol does.
func readProtocol(o *Options) (p protocol, err error) {
	context, err := readContext(o)
	if err != nil {
		return p, err
	}
	names, key := o.list(enabledProtocols), enabledProtocols
	if len(names) == 0 {
		names, key = context, sslProtocol
	}
	var left []string
	for _, name := range names {
		switch {
		case name == tls12 || name == tls13:
			left = append(left, name)
		case retired(name):
			o.Log(slog.LevelWarn, fmt.Sprintf("Configuration %s: %s is no longer safe and is not spoken.", key, name))
		default:
			return p, &Error{Option: enabledProtocols, Message: "Unsupported protocol " + name, Remedy: useModern}
		}
	}
	if len(left) == 0 {
		return p, &Error{Option: key, Message: fmt.Sprintf("none of %v is spoken: No appropriate protocol", names), Remedy: useModern}
	}
	p.low, p.high = tls.VersionTLS12, tls.VersionTLS13
	if !slices.Contains(left, tls12) {
		p.low = tls.VersionTLS13
	}
	if !slices.Contains(left, tls13) {
		p.high = tls.VersionTLS12
	}
	return p, p.readSuites(o)
}

// readContext gives the versions that Java's SSLContext of that name offers by itself. Its names know no letter case.
func readContext(o *Options) ([]string, error) {
	name, err := o.needed(sslProtocol, tls13)
	if err != nil {
		return nil, err
	}
	switch strings.ToUpper(name) {
	case "TLS", "TLSV1.3", "SSL", "DEFAULT":
		return []string{tls12, tls13}, nil
	case "TLSV1.2":
		return []string{tls12}, nil
	case "TLSV1.1", "TLSV1", "SSLV3":
		return []string{name}, nil
	}
	return nil, &Error{Option: sslProtocol, Message: "java.security.NoSuchAlgorithmException: " + name + " SSLContext not available",
		Remedy: "Use TLSv1.3, TLSv1.2 or TLS."}
}

// readSuites narrows versions and suites to ssl.cipher.suites. Those of TLS 1.3 cannot be chosen in Go; what can be kept is
// the promise that nothing is spoken that the list leaves out entirely: without a suite of a version that version goes.
func (p *protocol) readSuites(o *Options) error {
	names := o.list(cipherSuites)
	if len(names) == 0 {
		return nil
	}
	var modern []string
	for _, name := range names {
		suite := findSuite(name)
		switch {
		case suite == nil:
			return &Error{Option: cipherSuites, Message: "Unsupported CipherSuite: " + name,
				Remedy: "Those that exist are " + strings.Join(suiteNames(), ", ") + "."}
		case slices.Contains(suite.SupportedVersions, tls.VersionTLS13):
			modern = append(modern, suite.Name)
		default:
			p.suites = append(p.suites, suite.ID)
		}
	}
	if len(modern) == 0 {
		p.high = tls.VersionTLS12
	}
	if len(p.suites) == 0 {
		p.low = tls.VersionTLS13
	}
	if p.low > p.high {
		return &Error{Option: cipherSuites, Message: "No appropriate protocol: no suite of ssl.cipher.suites belongs to a version of ssl.enabled.protocols",
			Remedy: "Name suites of those versions: TLS_AES_… and TLS_CHACHA20_… are TLSv1.3's, all others TLSv1.2's."}
	}
	if p.high == tls.VersionTLS13 && len(modern) < len(modernSuites()) {
		o.Log(slog.LevelWarn, fmt.Sprintf("Configuration %s: which suite of TLSv1.3 is spoken cannot be chosen in Go; it is one of %v.",
			cipherSuites, modernSuites()))
	}
	return nil
}

// findSuite knows IANA's names, which are Java's, and the few that begin with SSL_ in Java.
func findSuite(name string) *tls.CipherSuite {
	if rest, old := strings.CutPrefix(name, "SSL_"); old {
		name = "TLS_" + rest
	}
	for _, s := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		if s.Name == name {
			return s
		}
	}
	return nil
}

func suiteNames() []string {
	var names []string
	for _, s := range tls.CipherSuites() {
		names = append(names, s.Name)
	}
	return names
}

func modernSuites() []string {
	return slices.DeleteFunc(suiteNames(), func(n string) bool {
		return !slices.Contains(findSuite(n).SupportedVersions, tls.VersionTLS13)
	})
}

// leaveTo takes from base what the options leave open.
func (p *protocol) leaveTo(base *tls.Config, given func(string) bool) {
	if given(enabledProtocols) || given(sslProtocol) || given(cipherSuites) {
		return
	}
	if base.MinVersion != 0 {
		p.low = base.MinVersion
	}
	if base.MaxVersion != 0 {
		p.high = base.MaxVersion
	}
	p.suites = base.CipherSuites
}
