package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/youmark/pkcs8"
)

// signer signs the text of an assertion.
type signer func(text []byte) (signature []byte, err error)

// readKey reads a PKCS #8 private key, encrypted or not, as PEM or, as Java allows, the bare base64 of one.
func readKey(text []byte, algorithm, passphrase string) (signer, error) {
	der, encrypted, err := pkcs8Of(text)
	if err != nil {
		return nil, err
	}
	var key any
	switch {
	case passphrase != "" && encrypted != no:
		key, err = pkcs8.ParsePKCS8PrivateKey(der, []byte(passphrase))
		if err != nil { // the cause could be either, and may show bytes
			return nil, fmt.Errorf("the key can't be decrypted; is %s right, and was it encrypted by PBES2?", keyPassphrase)
		}
	case passphrase != "":
		return nil, fmt.Errorf("the key is not encrypted; leave %s out", keyPassphrase)
	case encrypted == yes:
		return nil, fmt.Errorf("the key is encrypted; set %s", keyPassphrase)
	default:
		if key, err = x509.ParsePKCS8PrivateKey(der); err != nil {
			return nil, errors.New("no PKCS #8 private key of the kinds RSA and EC")
		}
	}
	switch key := key.(type) {
	case *rsa.PrivateKey:
		if strings.EqualFold(algorithm, "RS256") {
			return signRS256(key), nil
		}
		return nil, fmt.Errorf("an RSA key can't sign %s; set %s to RS256", algorithm, keyAlgorithm)
	case *ecdsa.PrivateKey:
		switch {
		case !strings.EqualFold(algorithm, "ES256"):
			return nil, fmt.Errorf("an EC key can't sign %s; set %s to ES256", algorithm, keyAlgorithm)
		case key.Curve != elliptic.P256():
			return nil, fmt.Errorf("ES256 needs a key on the curve P-256, and this one is on %s", key.Curve.Params().Name)
		}
		return signES256(key), nil
	}
	return nil, fmt.Errorf("a key of type %T can't sign %s", key, algorithm)
}

type answer uint8

const (
	unknown answer = iota
	no
	yes
)

// pkcs8Of takes the key out of its text, and says whether the text tells that it is encrypted.
func pkcs8Of(text []byte) (der []byte, encrypted answer, err error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		switch block.Type {
		case "PRIVATE KEY":
			return block.Bytes, no, nil
		case "ENCRYPTED PRIVATE KEY":
			return block.Bytes, yes, nil
		case "RSA PRIVATE KEY", "EC PRIVATE KEY":
			return nil, no, fmt.Errorf("a key as %q; make it PKCS #8 with: openssl pkcs8 -topk8", block.Type)
		}
	}
	der, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil || len(der) == 0 {
		return nil, no, errors.New("no private key as PEM (BEGIN PRIVATE KEY or BEGIN ENCRYPTED PRIVATE KEY)")
	}
	return der, unknown, nil
}

func signRS256(key *rsa.PrivateKey) signer {
	return func(text []byte) ([]byte, error) {
		sum := sha256.Sum256(text)
		return rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	}
}

// signES256 signs as JOSE wants it: both numbers in full length one after the other, no ASN.1 (RFC 7518, section 3.4).
func signES256(key *ecdsa.PrivateKey) signer {
	return func(text []byte) ([]byte, error) {
		sum := sha256.Sum256(text)
		r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
		if err != nil {
			return nil, err
		}
		signature := make([]byte, 64)
		r.FillBytes(signature[:32])
		s.FillBytes(signature[32:])
		return signature, nil
	}
}
