package tlsconf

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
	"strings"

	"software.sslmate.com/src/go-pkcs12"
)

// readPKCS12 reads what keytool makes by default since Java 9, and openssl pkcs12. Such a file has one password for all that
// is in it.
func readPKCS12(data []byte, p password) (s *contents, err error) {
	defer guard(&err)
	trusted, err := pkcs12.DecodeTrustStore(data, p.text)
	switch {
	case err == nil:
		return &contents{trusted: trusted}, nil
	case errors.Is(err, pkcs12.ErrIncorrectPassword) && !p.set:
		return nil, flawed("Set the store's password.", "the store is encrypted")
	case errors.Is(err, pkcs12.ErrIncorrectPassword):
		return nil, flawed("Is the password right?", "keystore password was incorrect")
	}
	key, first, others, err := pkcs12.DecodeChain(data, p.text)
	switch {
	case err == nil:
		return sortPKCS12([]any{key}, append(others, first), p.text)
	case strings.Contains(err.Error(), "private key missing"):
		return &contents{unmarked: true}, nil
	case strings.Contains(err.Error(), "exactly one key bag"):
		return readManyKeys(data, p.text)
	}
	return nil, flawed("Is it a PKCS12 or a JKS file?", "%v", err)
}

// readManyKeys reads a store with several keys, of which a broker's list of authorities chooses one.
func readManyKeys(data []byte, password string) (*contents, error) {
	blocks, err := pkcs12.ToPEM(data, password) //nolint:staticcheck // the only call that reads several keys; the mislabelled PEM stays in here
	if err != nil {
		return nil, flawed("Leave one key in it.", "a store of several keys can't be read: %v", err)
	}
	var keys []any
	var certs []*x509.Certificate
	for _, b := range blocks {
		if err := takeBlock(b, &keys, &certs); err != nil {
			return nil, err
		}
	}
	return sortPKCS12(keys, certs, password)
}

func takeBlock(b *pem.Block, keys *[]any, certs *[]*x509.Certificate) error {
	if b.Type == "CERTIFICATE" {
		c, err := x509.ParseCertificate(b.Bytes)
		*certs = append(*certs, c)
		return err
	}
	key, err := plainKey(b.Bytes)
	*keys = append(*keys, key)
	return err
}

// sortPKCS12 gives each key its chain: the file's order says nothing.
func sortPKCS12(keys []any, certs []*x509.Certificate, password string) (*contents, error) {
	s := &contents{mixed: len(certs) > len(keys)}
	for _, key := range keys {
		i := slices.IndexFunc(certs, func(c *x509.Certificate) bool { return belongs(key, c) })
		if i < 0 {
			return nil, flawed("", "a private key has no certificate")
		}
		s.keys = append(s.keys, keyEntry{chain: chainOf(certs[i], certs), open: func(p string) (any, error) {
			if p != password {
				return nil, &flaw{why: "ssl.key.password is not the store's password", remedy: "Leave ssl.key.password out: a PKCS12 file has one password.",
					java: "java.security.UnrecoverableKeyException: Get Key failed: Given final block not properly padded. " +
						"Such issues can arise if a bad key is used during decryption."}
			}
			return key, nil
		}})
	}
	return s, nil
}

// chainOf goes from leaf to issuer to issuer, as far as there are any.
func chainOf(leaf *x509.Certificate, certs []*x509.Certificate) []*x509.Certificate {
	chain := []*x509.Certificate{leaf}
	for last := leaf; !bytes.Equal(last.RawIssuer, last.RawSubject); {
		i := slices.IndexFunc(certs, func(c *x509.Certificate) bool {
			return bytes.Equal(c.RawSubject, last.RawIssuer) && last.CheckSignatureFrom(c) == nil
		})
		if i < 0 || slices.Contains(chain, certs[i]) {
			break
		}
		last = certs[i]
		chain = append(chain, last)
	}
	return chain
}

// belongs reports whether cert is about key.
func belongs(key any, cert *x509.Certificate) bool {
	s, ok := key.(crypto.Signer)
	if !ok {
		return false
	}
	public, ok := s.Public().(interface{ Equal(crypto.PublicKey) bool })
	return ok && public.Equal(cert.PublicKey)
}
