//go:build unix

package kafkatest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// CA is a certificate authority that lives as long as a test.
type CA struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// Certificate is a key and the certificate that a CA gave for it, as PEM.
type Certificate struct {
	Chain []byte // the certificate itself, then the CA's
	Key   []byte // PKCS#8, not encrypted
}

// CertificateOptions say what a certificate is for. The zero value is one for nobody, good from an hour ago to a day from now.
type CertificateOptions struct {
	Name    string   // the common name
	Hosts   []string // names and addresses that a server has
	Expired bool     // it ended a minute ago
}

// NewCA makes an authority.
func NewCA(name string) (*CA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("kafkatest: %w", err)
	}
	tmpl := template(CertificateOptions{Name: name})
	tmpl.IsCA, tmpl.BasicConstraintsValid, tmpl.KeyUsage = true, true, x509.KeyUsageCertSign|x509.KeyUsageDigitalSignature
	tmpl.ExtKeyUsage = nil
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("kafkatest: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("kafkatest: %w", err)
	}
	return &CA{cert: cert, key: key, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

// PEM is the authority's certificate.
func (ca *CA) PEM() []byte { return ca.pem }

// Name is the authority's common name.
func (ca *CA) Name() string { return ca.cert.Subject.CommonName }

// Issue makes a key and certifies it.
func (ca *CA) Issue(o CertificateOptions) (Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Certificate{}, fmt.Errorf("kafkatest: %w", err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Certificate{}, fmt.Errorf("kafkatest: %w", err)
	}
	chain, err := ca.certify(template(o), key.Public())
	return Certificate{Chain: chain, Key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})}, err
}

// sign answers a certificate request, as keytool and openssl make it.
func (ca *CA) sign(requestPEM []byte) (chain []byte, err error) {
	block, _ := pem.Decode(requestPEM)
	if block == nil {
		return nil, errors.New("kafkatest: no certificate request in PEM")
	}
	req, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("kafkatest: %w", err)
	}
	return ca.certify(template(CertificateOptions{Name: req.Subject.CommonName}), req.PublicKey)
}

func (ca *CA) certify(tmpl *x509.Certificate, public any) (chain []byte, err error) {
	der, err := x509.CreateCertificate(rand.Reader, tmpl, ca.cert, public, ca.key)
	if err != nil {
		return nil, fmt.Errorf("kafkatest: %w", err)
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), ca.pem...), nil
}

// template is what a certificate says before it is signed.
func template(o CertificateOptions) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		panic(err) // crypto/rand never fails
	}
	now := time.Now()
	c := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: o.Name}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if o.Expired {
		c.NotAfter = now.Add(-time.Minute)
	}
	for _, h := range o.Hosts {
		if ip := net.ParseIP(h); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, h)
		}
	}
	return c
}
