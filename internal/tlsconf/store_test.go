package tlsconf

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linger/internal/kerr"
)

// The files of testdata are keytool's and openssl's (testdata/make.sh). Secrets of the tests; no error may show one.
const (
	storeSecret = "store-secret"
	keySecret   = "key-secret"
	wrongSecret = "wrong-secret"
)

// madeAt is a time at which the certificates of testdata are valid.
var madeAt = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func made(name string) string { return filepath.Join("testdata", name) }

func content(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(made(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func keystoreFile(kind, name string, secrets ...string) given {
	g := given{keystoreLocation: made(name)}
	if kind != "" {
		g[keystoreType] = kind
	}
	for i, s := range secrets {
		if s != "" {
			g[[]string{keystorePassword, keyPassword}[i]] = hiddenText(s)
		}
	}
	return g
}

func truststoreFile(kind, name string, secrets ...string) given {
	g := given{truststoreLocation: made(name)}
	if kind != "" {
		g[truststoreType] = kind
	}
	for _, s := range secrets {
		g[truststorePassword] = hiddenText(s)
	}
	return g
}

// inlineKey is a key store inside the options.
func inlineKey(key, chain string, secret ...string) given {
	g := given{keystoreType: "PEM", keystoreKey: hiddenText(key), keystoreChain: hiddenText(chain)}
	for _, s := range secret {
		g[keyPassword] = hiddenText(s)
	}
	return g
}

func inlineTrust(certs string) given {
	return given{truststoreType: "PEM", truststoreCerts: hiddenText(certs)}
}

// SEC-03, SEC-04 (unit): stores as Java users have them.
func TestStoresThatCanBeRead(t *testing.T) {
	oneLine := func(text string) string { return strings.ReplaceAll(text, "\n", " ") }
	chain, key := content(t, "client.pem"), content(t, "client.key")
	both := file(t, "both.pem", "the key comes first\n"+key+"\nthen what belongs to it\n"+chain)
	tests := map[string]struct {
		set   given
		chain []int // how many certificates each key of ours has
		trust int   // how many certificates are trusted
	}{
		"PKCS12":                                       {keystoreFile("PKCS12", "client.p12", storeSecret), []int{2}, 0},
		"PKCS12 by the default type, JKS":              {keystoreFile("", "client.p12", storeSecret), []int{2}, 0},
		"PKCS12, its password said twice":              {keystoreFile("", "client.p12", storeSecret, storeSecret), []int{2}, 0},
		"PKCS12 in small letters":                      {keystoreFile("pkcs12", "client.p12", storeSecret), []int{2}, 0},
		"PKCS12 of an old Java":                        {keystoreFile("PKCS12", "client-legacy.p12", storeSecret), []int{2}, 0},
		"PKCS12 of openssl":                            {keystoreFile("PKCS12", "openssl.p12", storeSecret), []int{2}, 0},
		"PKCS12 with two keys":                         {keystoreFile("PKCS12", "two-keys.p12", storeSecret), []int{2, 2}, 0},
		"PKCS12 with an authority besides":             {keystoreFile("PKCS12", "both.p12", storeSecret), []int{2}, 0},
		"JKS":                                          {keystoreFile("JKS", "client.jks", storeSecret), []int{2}, 0},
		"JKS by the type PKCS12":                       {keystoreFile("PKCS12", "client.jks", storeSecret), []int{2}, 0},
		"JKS by the type JCEKS":                        {keystoreFile("JCEKS", "client.jks", storeSecret), []int{2}, 0},
		"JKS whose key has a password of its own":      {keystoreFile("JKS", "client-keypass.jks", storeSecret, keySecret), []int{2}, 0},
		"JKS with two keys":                            {keystoreFile("JKS", "two-keys.jks", storeSecret), []int{2, 2}, 0},
		"JKS with an authority besides":                {keystoreFile("JKS", "both.jks", storeSecret), []int{2}, 0},
		"a PEM file":                                   {given{keystoreType: "PEM", keystoreLocation: both}, []int{2}, 0},
		"PEM in the options":                           {inlineKey(key, chain), []int{2}, 0},
		"PEM in the options, each on one line":         {inlineKey(oneLine(key), oneLine(chain)), []int{2}, 0},
		"PEM, encrypted with AES":                      {inlineKey(content(t, "encrypted.key"), chain, keySecret), []int{2}, 0},
		"PEM, encrypted with AES, on one line":         {inlineKey(oneLine(content(t, "encrypted.key")), chain, keySecret), []int{2}, 0},
		"PEM, encrypted with scrypt":                   {inlineKey(content(t, "encrypted-scrypt.key"), chain, keySecret), []int{2}, 0},
		"PEM, encrypted with 3DES":                     {inlineKey(content(t, "encrypted-3des.key"), chain, keySecret), []int{2}, 0},
		"PEM, encrypted as old Java wants it":          {inlineKey(content(t, "encrypted-pbes1.key"), chain, keySecret), []int{2}, 0},
		"PEM, encrypted as old Java wants it, DES":     {inlineKey(content(t, "encrypted-des.key"), chain, keySecret), []int{2}, 0},
		"PEM, an EC key in its own form":               {inlineKey(content(t, "sec1.key"), chain), []int{2}, 0},
		"trusted, PKCS12":                              {truststoreFile("PKCS12", "trust.p12", storeSecret), nil, 1},
		"trusted, PKCS12 by the default type, JKS":     {truststoreFile("", "trust.p12", storeSecret), nil, 1},
		"trusted, PKCS12 of an old Java":               {truststoreFile("", "trust-legacy.p12", storeSecret), nil, 1},
		"trusted, JKS":                                 {truststoreFile("JKS", "trust.jks", storeSecret), nil, 1},
		"trusted, JKS without its password":            {truststoreFile("JKS", "trust.jks"), nil, 1},
		"trusted, JKS with a key, which counts":        {truststoreFile("JKS", "both.jks", storeSecret), nil, 2},
		"trusted, a PEM file":                          {truststoreFile("PEM", "ca.pem"), nil, 1},
		"trusted, a PEM file with two":                 {truststoreFile("PEM", "client.pem"), nil, 2},
		"trusted, PEM in the options":                  {inlineTrust(content(t, "ca.pem")), nil, 1},
		"trusted, PEM in the options, two on one line": {inlineTrust(oneLine(chain)), nil, 2},
		"trusted, PEM without an end of line":          {inlineTrust(strings.TrimSpace(chain)), nil, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			j := new(journal)
			o := tt.set.options(j)
			o.Now = func() time.Time { return madeAt }
			s, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			var chain []int
			for _, c := range s.own {
				chain = append(chain, len(c.Certificate))
				if !belongs(c.PrivateKey, c.Leaf) {
					t.Errorf("the key of %s is another's", c.Leaf.Subject)
				}
			}
			if !slices.Equal(chain, tt.chain) {
				t.Errorf("chains of %v certificates, want %v", chain, tt.chain)
			}
			if s.trust != nil {
				if anchors, err := s.trust.anchors(); err != nil || len(anchors) != tt.trust {
					t.Errorf("%d certificates are trusted (%v), want %d", len(anchors), err, tt.trust)
				}
			}
			if log := j.take(); log != "" {
				t.Errorf("logged %s", log)
			}
		})
	}
}

// SEC-11: every error names the option, the file and a remedy, and shows no secret. The message begins as the Java
// producer's, which was asked with the same files.
func TestStoresThatCannotBeRead(t *testing.T) {
	chain, key := content(t, "client.pem"), content(t, "client.key")
	cut := file(t, "cut.jks", content(t, "client.jks")[:500])
	lying := []byte(content(t, "client.jks"))
	copy(lying[8:], "\xff\xff\xff\xff") // as many entries
	const inline, recover = "Invalid PEM keystore configs", "java.security.UnrecoverableKeyException: "
	failed := func(name, kind string) string {
		return "Failed to load SSL keystore " + made(name) + " of type " + kind
	}
	tests := map[string]struct {
		set    given
		option string
		java   string // the message
		cause  string // a part of what follows
		remedy string // a part of it
	}{
		"no such file":                         {keystoreFile("", "none.jks", wrongSecret), keystoreLocation, failed("none.jks", "JKS"), "no such file", "path right"},
		"no such PEM file":                     {truststoreFile("PEM", "none.pem"), truststoreLocation, "Failed to load PEM SSL keystore " + made("none.pem"), "no such file", "path right"},
		"a folder":                             {truststoreFile("", "", storeSecret), truststoreLocation, failed("", "JKS"), "is a directory", "path right"},
		"an empty file":                        {given{truststoreLocation: file(t, "empty", "")}, truststoreLocation, "Failed to load SSL keystore", "empty", "ssl.truststore.type"},
		"a type that is none":                  {truststoreFile("FOO", "trust.jks"), truststoreLocation, failed("trust.jks", "FOO"), "FOO not found", "PEM, PKCS12 or JKS"},
		"no type":                              {given{truststoreType: nil, truststoreLocation: made("trust.jks")}, truststoreType, "Invalid value null for configuration ssl.truststore.type", "", "JKS, PKCS12 or PEM"},
		"JKS, the wrong password":              {keystoreFile("", "client.jks", wrongSecret), keystoreLocation, failed("client.jks", "JKS"), "Keystore was tampered with, or password was incorrect", "password right"},
		"JKS, a password beyond Latin":         {keystoreFile("", "client.jks", "пароль-secret"), keystoreLocation, failed("client.jks", "JKS"), "such characters", "PKCS12 or PEM"},
		"JKS, the wrong password of the key":   {keystoreFile("", "client.jks", storeSecret, wrongSecret), keystoreLocation, recover + "Cannot recover key", "", "ssl.key.password"},
		"JKS, the key's password is missing":   {keystoreFile("", "client-keypass.jks", storeSecret), keystoreLocation, recover + "Cannot recover key", "", "ssl.key.password"},
		"JKS, cut short":                       {given{keystoreLocation: cut, keystorePassword: hiddenText(storeSecret)}, keystoreLocation, "Failed to load SSL keystore " + cut, "cut short", "Copy it again"},
		"JKS, four thousand million entries":   {given{keystoreLocation: file(t, "lying.jks", string(lying)), keystorePassword: hiddenText(storeSecret)}, keystoreLocation, "Failed to load SSL keystore", "damaged", ""},
		"JKS, no key":                          {keystoreFile("", "trust.jks", storeSecret), keystoreLocation, failed("trust.jks", "JKS"), "no private key", "the trust store?"},
		"JKS, trusted, the wrong password":     {truststoreFile("", "trust.jks", wrongSecret), truststoreLocation, failed("trust.jks", "JKS"), "password was incorrect", ""},
		"JCEKS":                                {keystoreFile("JCEKS", "client.jceks", storeSecret), keystoreLocation, failed("client.jceks", "JCEKS"), "JCEKS", "keytool -importkeystore"},
		"JCEKS by the type JKS":                {keystoreFile("JKS", "client.jceks", storeSecret), keystoreLocation, failed("client.jceks", "JKS"), "JCEKS", "keytool -importkeystore"},
		"PKCS12, the wrong password":           {keystoreFile("PKCS12", "client.p12", wrongSecret), keystoreLocation, failed("client.p12", "PKCS12"), "keystore password was incorrect", "password right"},
		"PKCS12, another password of the key":  {keystoreFile("PKCS12", "client.p12", storeSecret, wrongSecret), keystoreLocation, recover + "Get Key failed: Given final block not properly padded", "", "has one password"},
		"PKCS12, no key":                       {keystoreFile("PKCS12", "trust.p12", storeSecret), keystoreLocation, failed("trust.p12", "PKCS12"), "no private key", ""},
		"PKCS12, trusted, the wrong password":  {truststoreFile("PKCS12", "trust.p12", wrongSecret), truststoreLocation, failed("trust.p12", "PKCS12"), "keystore password was incorrect", ""},
		"PKCS12, trusted, no password":         {truststoreFile("PKCS12", "trust.p12"), truststoreLocation, failed("trust.p12", "PKCS12"), "encrypted", "Set the store's password"},
		"PKCS12, trusted by nobody":            {truststoreFile("PKCS12", "openssl-nokeys.p12", storeSecret), truststoreLocation, failed("openssl-nokeys.p12", "PKCS12"), "not marked as trusted", "jdktrust"},
		"PKCS12, trusted, with a key":          {truststoreFile("PKCS12", "both.p12", storeSecret), truststoreLocation, failed("both.p12", "PKCS12"), "private key", "keytool -importcert"},
		"PKCS12 that is a script":              {keystoreFile("PKCS12", "make.sh", storeSecret), keystoreLocation, failed("make.sh", "PKCS12"), "", "PKCS12 or a JKS"},
		"PEM said to be JKS":                   {truststoreFile("", "ca.pem"), truststoreLocation, failed("ca.pem", "JKS"), "Invalid keystore format: the file is PEM", "type to PEM"},
		"JKS said to be PEM":                   {given{keystoreType: "PEM", keystoreLocation: made("client.jks")}, keystoreLocation, "Failed to load PEM SSL keystore " + made("client.jks"), "No matching PRIVATE KEY entries in PEM file", ""},
		"a PEM file without the certificate":   {given{keystoreType: "PEM", keystoreLocation: made("client.key")}, keystoreLocation, "Failed to load PEM SSL keystore", "No matching CERTIFICATE entries in PEM file", ""},
		"a PEM file of certificates only":      {given{keystoreType: "PEM", keystoreLocation: made("client.pem")}, keystoreLocation, "Failed to load PEM SSL keystore", "No matching PRIVATE KEY entries", ""},
		"a key that is none":                   {inlineKey("k-secret", chain), keystoreKey, inline, "No matching PRIVATE KEY entries in PEM file", "BEGIN PRIVATE KEY"},
		"a chain that is none":                 {inlineKey(key, "c"), keystoreKey, inline, "No matching CERTIFICATE entries in PEM file", ""},
		"two keys":                             {inlineKey(key+key, chain), keystoreKey, inline, "Expected one private key, but found 2", ""},
		"a key of another certificate":         {inlineKey(key, content(t, "ca.pem")), keystoreKey, inline, "does not belong to the certificate", ""},
		"a damaged key":                        {inlineKey(strings.Replace(key, "\nME", "\nAA", 1), chain), keystoreKey, inline, "Private key could not be loaded", ""},
		"an encrypted key without password":    {inlineKey(content(t, "encrypted.key"), chain), keystoreKey, inline, "encrypted", "Set ssl.key.password"},
		"an encrypted key, the wrong password": {inlineKey(content(t, "encrypted.key"), chain, wrongSecret), keystoreKey, inline, "can't be decrypted with ssl.key.password", ""},
		"the same, scrypt":                     {inlineKey(content(t, "encrypted-scrypt.key"), chain, wrongSecret), keystoreKey, inline, "can't be decrypted with ssl.key.password", ""},
		"the same, as old Java wants it":       {inlineKey(content(t, "encrypted-pbes1.key"), chain, wrongSecret), keystoreKey, inline, "can't be decrypted with ssl.key.password", ""},
		"the same, as old Java wants it, DES":  {inlineKey(content(t, "encrypted-des.key"), chain, wrongSecret), keystoreKey, inline, "can't be decrypted with ssl.key.password", ""},
		"a password for a key that is open":    {inlineKey(key, chain, keySecret), keystoreKey, inline, "not encrypted", "Leave ssl.key.password out"},
		"OpenSSL's old encryption":             {inlineKey(content(t, "encrypted-old.key"), chain, keySecret), keystoreKey, inline, "old form", "openssl pkcs8 -topk8"},
		"a certificate that is none":           {inlineTrust("x-secret"), truststoreCerts, "No matching CERTIFICATE entries in PEM file", "", "BEGIN CERTIFICATE"},
		"a certificate with strange letters":   {inlineTrust(strings.Replace(content(t, "ca.pem"), "MII", "@@@", 1)), truststoreCerts, "No matching CERTIFICATE entries in PEM file", "not base64", ""},
		"a damaged certificate":                {inlineTrust(strings.Replace(content(t, "ca.pem"), "MII", "AAA", 1)), truststoreCerts, "Invalid PEM truststore configs", "certificate 1 of 1", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { wantRefused(t, tt.set, tt.option, tt.java, tt.cause, tt.remedy) })
	}
}

// Options of stores that contradict each other, in Java's words (DefaultSslEngineFactory).
func TestStoreOptionsThatContradictEachOther(t *testing.T) {
	const x = hiddenText("x-secret")
	tests := map[string]struct {
		set    given
		option string
		java   string
	}{
		"a key inside, not PEM":       {given{keystoreKey: x, keystoreChain: x}, keystoreKey, "SSL private key can be specified only for PEM, but key store type is JKS."},
		"a key inside, no type":       {given{keystoreType: nil, keystoreKey: x}, keystoreKey, "SSL private key can be specified only for PEM, but key store type is null."},
		"a key without a chain":       {given{keystoreType: "PEM", keystoreKey: x}, keystoreKey, "SSL private key is specified, but certificate chain is not specified."},
		"a key inside and a file":     {given{keystoreType: "PEM", keystoreKey: x, keystoreChain: x, keystoreLocation: "f"}, keystoreKey, "Both SSL key store location and separate private key are specified."},
		"a key inside and a password": {given{keystoreType: "PEM", keystoreKey: x, keystoreChain: x, keystorePassword: x}, keystorePassword, "SSL key store password cannot be specified with PEM format, only key password may be specified."},
		"a chain without a key":       {given{keystoreType: "PEM", keystoreChain: x}, keystoreChain, "SSL certificate chain is specified, but private key is not specified"},
		"a PEM file and a password":   {given{keystoreType: "PEM", keystoreLocation: "f", keystorePassword: x}, keystorePassword, "SSL key store password cannot be specified with PEM format, only key password may be specified."},
		"a password alone":            {given{keystorePassword: x}, keystorePassword, "SSL key store is not specified, but key store password is specified."},
		"a file without a password":   {given{keystoreLocation: "f"}, keystoreLocation, "SSL key store is specified, but key store password is not specified."},

		"trusted inside, not PEM":                  {given{truststoreCerts: x}, truststoreCerts, "SSL trust store certs can be specified only for PEM, but trust store type is JKS."},
		"trusted inside and a file":                {given{truststoreType: "PEM", truststoreCerts: x, truststoreLocation: "f"}, truststoreCerts, "Both SSL trust store location and separate trust certificates are specified."},
		"trusted inside and a password":            {given{truststoreType: "PEM", truststoreCerts: x, truststorePassword: x}, truststorePassword, "SSL trust store password cannot be specified for PEM format."},
		"a PEM file of trust and a password":       {given{truststoreType: "PEM", truststoreLocation: "f", truststorePassword: x}, truststorePassword, "SSL trust store password cannot be specified for PEM format."},
		"a password of a trust store that is none": {given{truststorePassword: x}, truststorePassword, "SSL trust store is not specified, but trust store password is specified."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { wantRefused(t, tt.set, tt.option, tt.java, "", "") })
	}
}

// wantRefused holds an error against Java's message and against the rules for all errors.
func wantRefused(t *testing.T, set given, option, java, cause, remedy string) {
	t.Helper()
	_, err := New(set.options(new(journal)))
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("got %v, want an *Error", err)
	}
	if !errors.Is(err, kerr.ErrConfig) {
		t.Error("it is no ErrConfig")
	}
	if e.Option != option || !strings.HasPrefix(e.Message, java) {
		t.Errorf("about %s: %s\nwant %s: %s", e.Option, e.Message, option, java)
	}
	text := err.Error()
	for _, part := range []string{option, cause, remedy, e.Remedy} {
		if !strings.Contains(text, part) {
			t.Errorf("it does not say %q: %s", part, text)
		}
	}
	if e.Remedy == "" {
		t.Errorf("no remedy: %s", text)
	}
	if path, inFile := set[option].(string); inFile && strings.HasSuffix(option, ".location") && !strings.Contains(text, path) && !strings.HasPrefix(java, "java.security") && !strings.HasPrefix(java, "SSL ") {
		t.Errorf("it does not name the file: %s", text)
	}
	if errors.Is(err, fs.ErrNotExist) != strings.Contains(cause, "no such file") {
		t.Errorf("errors.Is(ErrNotExist) is wrong for %v", err)
	}
	for key, v := range set {
		if s, isSecret := v.(hiddenText); isSecret && len(s) > 1 && strings.Contains(text, string(s)) {
			t.Errorf("it shows %s: %s", key, text)
		}
	}
	if strings.Contains(text, strings.Fields(content(t, "client.key"))[3][:8]) || strings.Contains(text, "-secret") {
		t.Errorf("it shows a secret: %s", text)
	}
}
