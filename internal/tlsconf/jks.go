package tlsconf

import (
	"bytes"
	"crypto/sha1"
	"crypto/x509"
	"encoding/binary"
	"slices"

	"github.com/pavlo-v-chernykh/keystore-go/v4"
)

const (
	jksMagic  = "\xfe\xed\xfe\xed"
	jksDigest = sha1.Size
)

// readJKS reads Java's old format. Without a password it is not checked for changes, as in Java.
func readJKS(data []byte, p password) (s *contents, err error) {
	defer guard(&err)
	if !jksIsWhole(data) {
		return nil, flawed("Copy it again.", "the file is cut short or damaged")
	}
	secret, err := javaChars(p.text)
	if err != nil {
		return nil, err
	}
	if !p.set {
		data = withOwnDigest(data)
	}
	ks := keystore.New(keystore.WithOrderedAliases(), keystore.WithCaseExactAliases())
	if err := ks.Load(bytes.NewReader(data), secret); err != nil {
		return nil, flawed("Is the password right?", "Keystore was tampered with, or password was incorrect")
	}
	s = &contents{}
	for _, alias := range ks.Aliases() {
		if err := s.addJKS(ks, alias); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// addJKS takes one entry. Keys stay encrypted until somebody has the password.
func (s *contents) addJKS(ks keystore.KeyStore, alias string) error {
	if ks.IsTrustedCertificateEntry(alias) {
		e, err := ks.GetTrustedCertificateEntry(alias)
		if err != nil {
			return err
		}
		certs, err := parseAll(alias, e.Certificate)
		s.trusted = append(s.trusted, certs...)
		return err
	}
	raw, err := ks.GetPrivateKeyEntryCertificateChain(alias)
	if err != nil {
		return err
	}
	chain, err := parseAll(alias, raw...)
	if err != nil {
		return err
	}
	s.keys = append(s.keys, keyEntry{chain: chain, open: func(password string) (any, error) {
		return openJKS(ks, alias, password)
	}})
	return nil
}

func openJKS(ks keystore.KeyStore, alias, password string) (key any, err error) {
	defer guard(&err)
	secret, err := javaChars(password)
	if err != nil {
		return nil, err
	}
	e, err := ks.GetPrivateKeyEntry(alias, secret)
	if err != nil {
		return nil, &flaw{why: "the key " + alias + " can't be decrypted", java: "java.security.UnrecoverableKeyException: Cannot recover key",
			remedy: "Set ssl.key.password if the key has another password than the store."}
	}
	return plainKey(e.PrivateKey)
}

func parseAll(alias string, raw ...keystore.Certificate) ([]*x509.Certificate, error) {
	var certs []*x509.Certificate
	for _, r := range raw {
		c, err := x509.ParseCertificate(r.Content)
		if err != nil {
			return nil, flawed("", "a certificate of %s can't be read: %v", alias, err)
		}
		certs = append(certs, c)
	}
	return certs, nil
}

// javaChars are the bytes that the library makes Java's 16-bit characters of, one each.
func javaChars(password string) ([]byte, error) {
	var b []byte
	for _, r := range password {
		if r > 0xff {
			return nil, flawed("Change the password, or use PKCS12 or PEM.", "a JKS password with such characters can't be used")
		}
		b = append(b, byte(r))
	}
	return b, nil
}

// withOwnDigest gives data the digest that belongs to no password.
func withOwnDigest(data []byte) []byte {
	body := data[:len(data)-jksDigest]
	sum := sha1.Sum(slices.Concat([]byte("Mighty Aphrodite"), body))
	return slices.Concat(body, sum[:])
}

// jksIsWhole walks over the entries: the library believes each length and would take that much memory.
func jksIsWhole(data []byte) bool {
	const keyTag, certTag, version2 = 1, 2, 2
	w := walker{rest: data}
	w.skip(len(jksMagic))
	version, entries := w.number(), w.number()
	for ; entries > 0 && !w.short; entries-- {
		tag := w.number()
		w.text()
		w.skip(8) // when it was made
		certs := uint32(1)
		if tag == keyTag {
			w.skip(int(w.number()))
			certs = w.number()
		}
		for ; certs > 0 && !w.short; certs-- {
			if version == version2 {
				w.text()
			}
			w.skip(int(w.number()))
		}
		w.short = w.short || tag != keyTag && tag != certTag
	}
	return !w.short && len(w.rest) == jksDigest
}

// walker reads Java's DataInput. short says that something was missing.
type walker struct {
	rest  []byte
	short bool
}

func (w *walker) skip(n int) []byte {
	if n < 0 || n > len(w.rest) {
		w.short, w.rest = true, nil
		return nil
	}
	skipped := w.rest[:n]
	w.rest = w.rest[n:]
	return skipped
}

func (w *walker) number() uint32 {
	if b := w.skip(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (w *walker) text() {
	if b := w.skip(2); b != nil {
		w.skip(int(binary.BigEndian.Uint16(b)))
	}
}
