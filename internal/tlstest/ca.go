package tlstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/netip"
	"testing"
	"time"
)

// CA is an authority that signs certificates.
type CA struct {
	Cert *x509.Certificate
	key  *ecdsa.PrivateKey
	t    testing.TB
}

// Birth is when all certificates begin unless they say otherwise; they end 100 years later. Virtual time begins in 2000.
var Birth = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)

// NewCA makes an authority of that common name.
func NewCA(t testing.TB, name string) *CA {
	t.Helper()
	key := newKey(t)
	cert := sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, key, key)
	return &CA{Cert: cert, key: key, t: t}
}

// Sub makes an authority that ca has signed.
func (ca *CA) Sub(name string) *CA {
	key := newKey(ca.t)
	cert := sign(ca.t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, ca.Cert, key, ca.key)
	return &CA{Cert: cert, key: key, t: ca.t}
}

// Issue signs a certificate for name with the hosts, names or IP addresses, as alternative names. edit, unless nil, changes
// it before.
func (ca *CA) Issue(name string, edit func(*x509.Certificate), hosts ...string) tls.Certificate {
	key := newKey(ca.t)
	draft := &x509.Certificate{Subject: pkix.Name{CommonName: name}}
	for _, h := range hosts {
		if ip, err := netip.ParseAddr(h); err == nil {
			draft.IPAddresses = append(draft.IPAddresses, ip.AsSlice())
		} else {
			draft.DNSNames = append(draft.DNSNames, h)
		}
	}
	if edit != nil {
		edit(draft)
	}
	cert := sign(ca.t, draft, ca.Cert, key, ca.key)
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}
}

// Pool is the authority as a pool of its own.
func (ca *CA) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(ca.Cert)
	return pool
}

// PEM is the authority's certificate.
func (ca *CA) PEM() string { return CertPEM(ca.Cert.Raw) }

// CertPEM is the PEM of certificates.
func CertPEM(ders ...[]byte) (text string) {
	for _, der := range ders {
		text += string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	return text
}

// KeyPEM is the PKCS #8 PEM of a certificate's key.
func KeyPEM(t testing.TB, c tls.Certificate) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t testing.TB, draft, parent *x509.Certificate, own, signer *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	if parent == nil {
		parent = draft
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	draft.SerialNumber = serial
	if draft.NotBefore.IsZero() {
		draft.NotBefore = Birth
	}
	if draft.NotAfter.IsZero() {
		draft.NotAfter = Birth.AddDate(100, 0, 0)
	}
	der, err := x509.CreateCertificate(rand.Reader, draft, parent, own.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}
