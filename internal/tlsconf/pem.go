package tlsconf

import (
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"regexp"
	"strings"

	"github.com/youmark/pkcs8"
)

// block is one PEM entry (KIP-651). encoding/pem wants each marker on a line of its own, but a properties file that goes on
// with a backslash at the line's end makes one line of all, and Java takes that.
type block struct {
	label   string // the words after BEGIN
	der     []byte
	headers string // such as Proc-Type and DEK-Info
}

var pemPattern = regexp.MustCompile(`(?s)-+BEGIN\s+([^-\r\n]+?)\s*-+\s(.*?)-+END\s+[^-\r\n]+-+`)

var notBase64 = regexp.MustCompile(`[^a-zA-Z0-9+/=]`)

// pemBlocks finds the entries whose label ends in what; other text is passed over.
func pemBlocks(text, what string) ([]block, error) {
	var found []block
	for _, m := range pemPattern.FindAllStringSubmatch(text, -1) {
		b := block{label: m[1]}
		if !strings.HasSuffix(b.label, what) {
			continue
		}
		var body strings.Builder
		for line := range strings.Lines(m[2]) {
			if strings.Contains(line, ":") {
				b.headers += line
				continue
			}
			body.WriteString(strings.Join(strings.Fields(line), ""))
		}
		var err error
		if b.der, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(body.String(), "=")); err != nil {
			f := flawed("", "a %s entry is not base64", what)
			if notBase64.MatchString(body.String()) {
				f.java = "No matching " + what + " entries in PEM file"
			}
			return nil, f
		}
		found = append(found, b)
	}
	if len(found) == 0 {
		return nil, &flaw{why: "No matching " + what + " entries in PEM file", java: "No matching " + what + " entries in PEM file",
			remedy: "It must begin with -----BEGIN " + what + "-----."}
	}
	return found, nil
}

func pemCertificates(text string) ([]*x509.Certificate, error) {
	blocks, err := pemBlocks(text, "CERTIFICATE")
	if err != nil {
		return nil, err
	}
	var certs []*x509.Certificate
	for i, b := range blocks {
		// OpenSSL's TRUSTED CERTIFICATE has more behind the certificate.
		var first asn1.RawValue
		if _, err := asn1.Unmarshal(b.der, &first); err != nil {
			return nil, flawed("", "certificate %d of %d is not one", i+1, len(blocks))
		}
		cert, err := x509.ParseCertificate(first.FullBytes)
		if err != nil {
			return nil, flawed("", "certificate %d of %d can't be read: %v", i+1, len(blocks), err)
		}
		certs = append(certs, cert)
	}
	return certs, nil
}

const toPKCS8 = "Convert it: openssl pkcs8 -topk8 -v2 aes-256-cbc -in old.key -out new.key."

// pemKey reads the one private key of text. With a password it must be encrypted, as in Java.
func pemKey(text string, p password) (crypto.PrivateKey, error) {
	blocks, err := pemBlocks(text, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	if len(blocks) != 1 {
		return nil, flawed("Leave one.", "Expected one private key, but found %d", len(blocks))
	}
	b := blocks[0]
	encrypted := b.label == "ENCRYPTED PRIVATE KEY"
	switch {
	case strings.Contains(b.headers, "ENCRYPTED"):
		return nil, flawed(toPKCS8, "the private key is encrypted in OpenSSL's old form, which Java does not read either")
	case encrypted && !p.set:
		return nil, flawed("Set ssl.key.password.", "the private key is encrypted")
	case !encrypted && p.set:
		return nil, flawed("Leave ssl.key.password out.", "ssl.key.password is set, but the private key is not encrypted")
	case encrypted:
		return decryptKey(b.der, p.text)
	}
	return plainKey(b.der)
}

func decryptKey(der []byte, password string) (key crypto.PrivateKey, err error) {
	defer guard(&err)
	if isOld(der) {
		return decryptOld(der, password)
	}
	key, _, err = pkcs8.ParsePrivateKey(der, []byte(password))
	switch {
	case err == nil:
		return key, nil
	case strings.Contains(err.Error(), "incorrect password"):
		return nil, wrongKeyPassword()
	}
	return nil, flawed(toPKCS8, "the private key can't be decrypted: %v", err)
}

// plainKey takes PKCS #8, and what Java refuses: the older forms of RSA and EC keys.
func plainKey(der []byte) (crypto.PrivateKey, error) {
	if key, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		return key, nil
	}
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return key, nil
	}
	if key, err := x509.ParseECPrivateKey(der); err == nil {
		return key, nil
	}
	return nil, flawed("Use a PKCS #8 key of type RSA, EC or Ed25519.", "Private key could not be loaded")
}
