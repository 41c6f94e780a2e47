package tlsconf

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"strings"
)

// contents is what is in a store of any format.
type contents struct {
	trusted  []*x509.Certificate
	keys     []keyEntry
	unmarked bool // PKCS12: there are certificates, but none is marked as trusted
	mixed    bool // PKCS12: there are keys and other certificates, and nobody knows which of these are trusted
}

// keyEntry is a private key with its certificate chain, the key's own certificate first.
type keyEntry struct {
	chain []*x509.Certificate
	open  func(password string) (any, error)
}

// store is a key or trust store as it was configured. A PEM store without a file has its contents in certs and key.
type store struct {
	isKey    bool
	option   string // the key to name in errors
	kind     string // JKS, PKCS12, PEM
	path     string
	inFile   bool
	password password
	keyPass  password
	certs    string // inline PEM
	key      string // inline PEM
}

type password struct {
	text string
	set  bool
}

func (o *Options) password(key string) (p password) {
	p.text, p.set = o.text(key)
	return p
}

const pemType = "PEM"

// keystoreOf checks the options of the key store against each other, in Java's order; nil is no key store.
func keystoreOf(o *Options) (*store, error) {
	kind, hasKind := o.text(keystoreType)
	path, hasPath := o.text(keystoreLocation)
	key, hasKey := o.text(keystoreKey)
	chain, hasChain := o.text(keystoreChain)
	s := &store{isKey: true, kind: kind, path: path, inFile: hasPath, certs: chain, key: key, option: keystoreLocation,
		password: o.password(keystorePassword), keyPass: o.password(keyPassword)}
	refuse := func(option, message, remedy string) (*store, error) {
		return nil, &Error{Option: option, Message: message, Remedy: remedy}
	}
	const noPassword = "SSL key store password cannot be specified with PEM format, only key password may be specified."
	isPEM := kind == pemType
	switch {
	case hasKey && !isPEM:
		return refuse(keystoreKey, "SSL private key can be specified only for PEM, but key store type is "+orNull(kind, hasKind)+".", "Set ssl.keystore.type=PEM.")
	case hasKey && !hasChain:
		return refuse(keystoreKey, "SSL private key is specified, but certificate chain is not specified.", "Set ssl.keystore.certificate.chain.")
	case hasKey && hasPath:
		return refuse(keystoreKey, "Both SSL key store location and separate private key are specified.", "Leave one of ssl.keystore.location and ssl.keystore.key out.")
	case hasKey && s.password.set:
		return refuse(keystorePassword, noPassword, "Use ssl.key.password.")
	case hasKey:
		s.option = keystoreKey
		return s, nil
	case hasChain:
		return refuse(keystoreChain, "SSL certificate chain is specified, but private key is not specified", "Set ssl.keystore.key.")
	case isPEM && hasPath && s.password.set:
		return refuse(keystorePassword, noPassword, "Use ssl.key.password.")
	case isPEM && hasPath:
		return s, nil
	case !hasPath && s.password.set:
		return refuse(keystorePassword, "SSL key store is not specified, but key store password is specified.", "Set ssl.keystore.location.")
	case hasPath && !s.password.set:
		return refuse(keystoreLocation, "SSL key store is specified, but key store password is not specified.", "Set ssl.keystore.password, or ssl.keystore.type=PEM if the file is PEM.")
	case hasPath:
		_, err := o.needed(keystoreType, "JKS, PKCS12 or PEM")
		return s, err
	}
	return nil, nil
}

// truststoreOf is keystoreOf for the trust store.
func truststoreOf(o *Options) (*store, error) {
	kind, hasKind := o.text(truststoreType)
	path, hasPath := o.text(truststoreLocation)
	certs, hasCerts := o.text(truststoreCerts)
	s := &store{kind: kind, path: path, inFile: hasPath, certs: certs, option: truststoreLocation, password: o.password(truststorePassword)}
	refuse := func(option, message, remedy string) (*store, error) {
		return nil, &Error{Option: option, Message: message, Remedy: remedy}
	}
	const noPassword = "SSL trust store password cannot be specified for PEM format."
	switch {
	case hasCerts && kind != pemType:
		return refuse(truststoreCerts, "SSL trust store certs can be specified only for PEM, but trust store type is "+orNull(kind, hasKind)+".", "Set ssl.truststore.type=PEM.")
	case hasCerts && hasPath:
		return refuse(truststoreCerts, "Both SSL trust store location and separate trust certificates are specified.",
			"Leave one of ssl.truststore.location and ssl.truststore.certificates out.")
	case (hasCerts || hasPath && kind == pemType) && s.password.set:
		return refuse(truststorePassword, noPassword, "Leave it out.")
	case hasCerts:
		s.option = truststoreCerts
		return s, nil
	case !hasPath && s.password.set:
		return refuse(truststorePassword, "SSL trust store is not specified, but trust store password is specified.", "Set ssl.truststore.location.")
	case hasPath:
		_, err := o.needed(truststoreType, "JKS, PKCS12 or PEM")
		return s, err
	}
	return nil, nil
}

func orNull(s string, set bool) string {
	if !set {
		return "null"
	}
	return s
}

// identities reads the private keys of a key store with their certificates.
func (s *store) identities() ([]tls.Certificate, error) {
	read, err := s.read()
	if err != nil {
		return nil, s.failed(err)
	}
	secret := s.password.text
	if s.keyPass.set {
		secret = s.keyPass.text
	}
	var own []tls.Certificate
	for _, e := range read.keys {
		key, err := e.open(secret)
		if err != nil {
			return nil, s.failed(err)
		}
		if len(e.chain) == 0 || !belongs(key, e.chain[0]) {
			return nil, s.failed(flawed("Put the certificate of that key first.", "the private key does not belong to the certificate"))
		}
		c := tls.Certificate{PrivateKey: key, Leaf: e.chain[0]}
		for _, cert := range e.chain {
			c.Certificate = append(c.Certificate, cert.Raw)
		}
		own = append(own, c)
	}
	if len(own) == 0 {
		return nil, s.failed(flawed("Is it the trust store?", "there is no private key in it"))
	}
	return own, nil
}

// anchors reads the trusted certificates of a trust store. As in Java the certificate of a private key is trusted too.
func (s *store) anchors() ([]*x509.Certificate, error) {
	read, err := s.read()
	if err != nil {
		return nil, s.failed(err)
	}
	if read.mixed {
		return nil, s.failed(flawed("Make a store of the trusted certificates alone: keytool -importcert.",
			"it is a PKCS12 store with a private key, so that trusted certificates can't be told from those that belong to the key"))
	}
	trusted := read.trusted
	for _, e := range read.keys {
		if len(e.chain) > 0 {
			trusted = append(trusted, e.chain[0])
		}
	}
	switch {
	case len(trusted) > 0:
		return trusted, nil
	case read.unmarked:
		return nil, s.failed(flawed("Make the store with keytool -importcert, or with openssl pkcs12 -jdktrust anyExtendedKeyUsage.",
			"its certificates are not marked as trusted, so that Java trusts none of them"))
	}
	return nil, s.failed(flawed("Import the authority that signed the brokers' certificates.", "there is no trusted certificate in it"))
}

func (s *store) read() (*contents, error) {
	text := s.certs
	if s.inFile {
		data, err := os.ReadFile(s.path)
		if err != nil {
			return nil, err
		}
		if s.kind != pemType {
			return readBinary(data, s.kind, s.password)
		}
		text = string(data)
	}
	return s.readPEM(text)
}

func (s *store) readPEM(text string) (*contents, error) {
	if !s.isKey {
		certs, err := pemCertificates(text)
		return &contents{trusted: certs}, err
	}
	keyText := s.key
	if s.inFile {
		keyText = text
	}
	key, err := pemKey(keyText, s.keyPass)
	if err != nil {
		return nil, err
	}
	chain, err := pemCertificates(text)
	return &contents{keys: []keyEntry{{chain: chain, open: func(string) (any, error) { return key, nil }}}}, err
}

// readBinary reads a store that is not PEM: as in Java since version 9 its bytes say what it is, not its type.
func readBinary(data []byte, kind string, p password) (*contents, error) {
	const jceksMagic = "\xce\xce\xce\xce"
	dual := strings.EqualFold(kind, "JKS") || strings.EqualFold(kind, "PKCS12")
	switch {
	case strings.EqualFold(kind, "JCEKS") && bytes.HasPrefix(data, []byte(jksMagic)):
		return readJKS(data, p)
	case strings.EqualFold(kind, "JCEKS") || dual && bytes.HasPrefix(data, []byte(jceksMagic)):
		return nil, flawed("Convert it: keytool -importkeystore -srckeystore old -destkeystore new.p12 -deststoretype pkcs12.", "JCEKS can't be read")
	case !dual:
		return nil, flawed("Use PEM, PKCS12 or JKS.", "%s not found", kind)
	case len(data) == 0:
		return nil, flawed("", "the file is empty")
	case bytes.HasPrefix(data, []byte(jksMagic)):
		return readJKS(data, p)
	case bytes.Contains(data, []byte("-----BEGIN ")):
		return nil, flawed("Set the store's type to PEM.", "Invalid keystore format: the file is PEM, not %s", kind)
	}
	return readPKCS12(data, p)
}

// failed is the error of a store that was configured well and yet cannot be used.
func (s *store) failed(err error) error {
	e := &Error{Option: s.option, Cause: err, Message: "Failed to load SSL keystore " + s.path + " of type " + s.kind}
	switch {
	case s.inFile && s.kind == pemType:
		e.Message = "Failed to load PEM SSL keystore " + s.path
	case !s.inFile && s.isKey:
		e.Message = "Invalid PEM keystore configs"
	case !s.inFile:
		e.Message = "Invalid PEM truststore configs"
	}
	if f, ok := errors.AsType[*flaw](err); ok {
		e.Remedy = f.remedy
		if f.java != "" && (!s.isKey && !s.inFile || s.isKey && s.kind != pemType) {
			e.Message = f.java // Java adds nothing to it
		}
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		e.Cause = p.Err // the message names the file
		e.Remedy = "Is the path right, and may this process read the file?"
	}
	if e.Remedy == "" {
		e.Remedy = "Is it the right file, and is " + strings.TrimSuffix(strings.TrimSuffix(s.option, ".location"), ".certificates") + ".type right?"
	}
	return e
}
