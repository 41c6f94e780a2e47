//go:build unix

package kafkatest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The listeners of a cluster with Secure's Options, beside the plaintext one.
const (
	TLS       = "TLS"      // a good certificate for localhost and 127.0.0.1
	MutualTLS = "MUTUAL"   // it wants a certificate of the client's
	SASL      = "SASL"     // every mechanism, not encrypted
	SASLTLS   = "SASLTLS"  // every mechanism, encrypted
	Reauth    = "REAUTH"   // PLAIN and the SCRAMs, to be renewed every ReauthMs
	Stricter  = "STRICTER" // PLAIN alone, and nobody's password is the one of the other listeners
	Expired   = "EXPIRED"  // a certificate that is over
	Stranger  = "STRANGER" // a certificate for another host
	Foreign   = "FOREIGN"  // a certificate of another authority
	Rotating  = "ROTATING" // as MUTUAL, with a certificate that one test replaces
)

// ReauthMs is how long a login is good for on the listener Reauth. Clients renew it in the last twentieth to seventh of that time,
// and must not come late because the machine is busy: a broker ends the connection then.
const ReauthMs = 20_000

// Users are the names that can log in by password, with their passwords.
func Users() map[string]string {
	return map[string]string{"alice": "alice-secret", "bob": "bob-secret", "carol": "carol-secret"}
}

// Secure is what a cluster with listeners of every kind needs beside its brokers: authorities, stores, an identity
// provider and a Kerberos realm. It goes with as many clusters as one likes.
type Secure struct {
	Dir      string
	CA       *CA         // of every listener but Foreign, and of clients
	OtherCA  *CA         // of Foreign; no broker trusts it
	Client   Certificate // CN=alice
	Java     JavaStores  // CN=alice, from keytool
	Identity *IdentityProvider
	KDC      *KDC // principals kafka/localhost and alice
}

// NewSecure makes all that. The caller ends it with Close.
func NewSecure(ctx context.Context) (s *Secure, err error) {
	dir, err := os.MkdirTemp("", "linger-secure-")
	if err != nil {
		return nil, fmt.Errorf("kafkatest: %w", err)
	}
	s = &Secure{Dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if err := s.certify(); err != nil {
		return s, err
	}
	stores := make(chan error, 1)
	go func() { // ends with its commands, and is waited for below
		var err error
		s.Java, err = MakeJavaStores(ctx, dir, s.CA, "alice")
		stores <- err
	}()
	defer func() { err = errors.Join(err, <-stores) }()
	if s.Identity, err = StartIdentityProvider(); err != nil {
		return s, err
	}
	s.KDC, err = StartKDC(ctx, filepath.Join(dir, "kdc"), "kafka/localhost", "alice")
	return s, err
}

// Close ends what runs and removes all files.
func (s *Secure) Close() error {
	var errs []error
	if s.Identity != nil {
		errs = append(errs, s.Identity.Close())
	}
	if s.KDC != nil {
		errs = append(errs, s.KDC.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(s.Dir))...)
}

// certify makes the authorities and a store in PEM for each listener that has one.
func (s *Secure) certify() (err error) {
	if s.CA, err = NewCA("linger test authority"); err != nil {
		return err
	}
	if s.OtherCA, err = NewCA("somebody else's authority"); err != nil {
		return err
	}
	if s.Client, err = s.CA.Issue(CertificateOptions{Name: "alice"}); err != nil {
		return err
	}
	if err := s.WriteFile("ca.pem", s.CA.PEM()); err != nil {
		return err
	}
	here := []string{"localhost", "127.0.0.1"}
	for name, o := range map[string]CertificateOptions{
		TLS: {Hosts: here}, Rotating: RotatingCertificate(), Expired: {Hosts: here, Expired: true}, Stranger: {Hosts: []string{"elsewhere.linger.test"}}, Foreign: {Hosts: here},
	} {
		ca := s.CA
		if name == Foreign {
			ca = s.OtherCA
		}
		o.Name = cmp.Or(o.Name, strings.ToLower(name)+".linger.test")
		cert, err := ca.Issue(o)
		if err != nil {
			return err
		}
		if err := s.WriteFile(storeOf(name), append(cert.Key, cert.Chain...)); err != nil {
			return err
		}
	}
	return nil
}

// RotatingCertificate is what the certificate of the listener Rotating says. A broker takes another one while it runs if it
// says the same.
func RotatingCertificate() CertificateOptions {
	return CertificateOptions{Name: "rotating.linger.test", Hosts: []string{"localhost", "127.0.0.1"}}
}

func storeOf(listener string) string { return "server-" + strings.ToLower(listener) + ".pem" }

// Path is a file in the folder.
func (s *Secure) Path(base string) string { return filepath.Join(s.Dir, base) }

// WriteFile writes a file into the folder.
func (s *Secure) WriteFile(base string, content []byte) error {
	if err := os.WriteFile(s.Path(base), content, 0o600); err != nil {
		return fmt.Errorf("kafkatest: %w", err)
	}
	return nil
}

// Options is one node with all listeners, and with an authorizer that lets everybody do what no ACL is about.
func (s *Secure) Options() Options {
	mechanisms := s.everyMechanism()
	return Options{
		Scram: Users(),
		JVM: []string{
			"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=" + s.Identity.KeysURL(),
			"-Djava.security.krb5.conf=" + s.KDC.Config(),
		},
		Props: map[string]string{
			"authorizer.class.name":              "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
			"allow.everyone.if.no.acl.found":     "true",
			"super.users":                        "User:ANONYMOUS", // the brokers themselves, and tests that use the plaintext listener
			"sasl.oauthbearer.jwks.endpoint.url": s.Identity.KeysURL(),
			"sasl.oauthbearer.expected.audience": Audience,
			"sasl.oauthbearer.expected.issuer":   Issuer,
		},
		Listeners: []Listener{
			{Name: TLS, Protocol: "SSL", Props: s.store(TLS)},
			{Name: MutualTLS, Protocol: "SSL", Props: with(s.store(TLS), s.clientsToo())},
			{Name: Rotating, Protocol: "SSL", Props: with(s.store(Rotating), s.clientsToo())},
			{Name: SASL, Protocol: "SASL_PLAINTEXT", Host: "localhost", Props: mechanisms},
			{Name: SASLTLS, Protocol: "SASL_SSL", Host: "localhost", Props: with(mechanisms, s.store(TLS))},
			{Name: Reauth, Protocol: "SASL_PLAINTEXT", Props: map[string]string{
				"sasl.enabled.mechanisms":                 "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
				"plain.sasl.jaas.config":                  plainLogins(""),
				"scram-sha-256.sasl.jaas.config":          scramLogin,
				"scram-sha-512.sasl.jaas.config":          scramLogin,
				"plain.connections.max.reauth.ms":         fmt.Sprint(ReauthMs),
				"scram-sha-256.connections.max.reauth.ms": fmt.Sprint(ReauthMs),
				"scram-sha-512.connections.max.reauth.ms": fmt.Sprint(ReauthMs),
			}},
			{Name: Stricter, Protocol: "SASL_PLAINTEXT", Props: map[string]string{
				"sasl.enabled.mechanisms": "PLAIN", "plain.sasl.jaas.config": plainLogins("-of-another-life"),
			}},
			{Name: Expired, Protocol: "SSL", Props: s.store(Expired)},
			{Name: Stranger, Protocol: "SSL", Props: s.store(Stranger)},
			{Name: Foreign, Protocol: "SSL", Props: s.store(Foreign)},
		},
	}
}

const scramLogin = "org.apache.kafka.common.security.scram.ScramLoginModule required;"

// plainLogins is the JAAS configuration of a broker that knows the users by PLAIN.
func plainLogins(suffix string) string {
	text := "org.apache.kafka.common.security.plain.PlainLoginModule required"
	for _, name := range slices.Sorted(maps.Keys(Users())) { // the same options are the same cluster
		text += fmt.Sprintf(` user_%s="%s%s"`, name, Users()[name], suffix)
	}
	return text + ";"
}

// everyMechanism are the properties of a listener that knows them all.
func (s *Secure) everyMechanism() map[string]string {
	const oauth = "org.apache.kafka.common.security.oauthbearer."
	return map[string]string{
		"sasl.enabled.mechanisms":                        "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER,GSSAPI",
		"plain.sasl.jaas.config":                         plainLogins(""),
		"scram-sha-256.sasl.jaas.config":                 scramLogin,
		"scram-sha-512.sasl.jaas.config":                 scramLogin,
		"oauthbearer.sasl.jaas.config":                   oauth + "OAuthBearerLoginModule required;",
		"oauthbearer.sasl.server.callback.handler.class": oauth + "OAuthBearerValidatorCallbackHandler",
		"gssapi.sasl.jaas.config": fmt.Sprintf(`com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true keyTab="%s" principal="kafka/localhost@%s";`,
			s.KDC.Keytab("kafka/localhost"), Realm),
		"sasl.kerberos.service.name": "kafka",
	}
}

// store are the properties of a listener with the certificate that was made for the listener name.
func (s *Secure) store(name string) map[string]string {
	return map[string]string{"ssl.keystore.type": "PEM", "ssl.keystore.location": s.Path(storeOf(name))}
}

// clientsToo are the properties of a listener whose clients show a certificate.
func (s *Secure) clientsToo() map[string]string {
	return map[string]string{"ssl.client.auth": "required", "ssl.truststore.type": "PEM", "ssl.truststore.location": s.Path("ca.pem")}
}

func with(a, b map[string]string) map[string]string {
	a = maps.Clone(a)
	maps.Copy(a, b)
	return a
}
