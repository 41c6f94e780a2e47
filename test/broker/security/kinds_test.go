//go:build unix

package security_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"linger"
	"linger/plugin/gssapi"
	"linger/test/broker/kafkatest"
)

// kind is one way to secure a client.
type kind struct {
	listener string
	text     func(t *testing.T, s *kafkatest.Secure) string // what client.properties says of it
}

const (
	plainModule = "org.apache.kafka.common.security.plain.PlainLoginModule"
	scramModule = "org.apache.kafka.common.security.scram.ScramLoginModule"
	oauthModule = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"

	// A Java client says these two in each way to get a token.
	oauthBase = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n" +
		"sasl.login.callback.handler.class=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler\n"
)

// kinds are the ways by which a Java client gets in, as Java's documentation writes them.
func kinds() map[string]kind {
	all := map[string]kind{
		"PLAINTEXT": {listener: "PLAINTEXT", text: lines("")},
	}
	for _, more := range []map[string]kind{tlsKinds(), passwordKinds(), tokenKinds(), kerberosKinds()} {
		for name, k := range more {
			all[name] = k
		}
	}
	return all
}

func lines(text string) func(*testing.T, *kafkatest.Secure) string {
	return func(*testing.T, *kafkatest.Secure) string { return text }
}

// using has text's verbs filled in with what of gives.
func using(text string, of func(*kafkatest.Secure) []any) func(*testing.T, *kafkatest.Secure) string {
	return func(_ *testing.T, s *kafkatest.Secure) string { return fmt.Sprintf(text, of(s)...) }
}

func tlsKinds() map[string]kind {
	const ssl = "security.protocol=SSL\n"
	java := func(s *kafkatest.Secure) []any { return []any{s.Java.TrustJKS, kafkatest.StorePassword, s.Java.KeyJKS} }
	p12 := func(s *kafkatest.Secure) []any { return []any{s.Java.TrustP12, kafkatest.StorePassword, s.Java.KeyP12} }
	return map[string]kind{
		"SSL, JKS":    {listener: kafkatest.TLS, text: using(ssl+"ssl.truststore.location=%[1]s\nssl.truststore.password=%[2]s\n", func(s *kafkatest.Secure) []any { return java(s)[:2] })},
		"SSL, PKCS12": {listener: kafkatest.TLS, text: using(ssl+"ssl.truststore.type=PKCS12\nssl.truststore.location=%[1]s\nssl.truststore.password=%[2]s\n", func(s *kafkatest.Secure) []any { return p12(s)[:2] })},
		"SSL, PEM":    {listener: kafkatest.TLS, text: using(ssl+"ssl.truststore.type=PEM\nssl.truststore.location=%s\n", caFile)},
		"SSL, inline PEM": {listener: kafkatest.TLS, text: func(_ *testing.T, s *kafkatest.Secure) string {
			return ssl + "ssl.truststore.type=PEM\nssl.truststore.certificates=" + inline(s.CA.PEM()) + "\n"
		}},
		"mutual TLS, JKS": {listener: kafkatest.MutualTLS, text: using(ssl+"ssl.truststore.location=%[1]s\nssl.truststore.password=%[2]s\n"+
			"ssl.keystore.location=%[3]s\nssl.keystore.password=%[2]s\nssl.key.password=%[2]s\n", java)},
		"mutual TLS, PKCS12": {listener: kafkatest.MutualTLS, text: using(ssl+"ssl.truststore.type=PKCS12\nssl.truststore.location=%[1]s\nssl.truststore.password=%[2]s\n"+
			"ssl.keystore.type=PKCS12\nssl.keystore.location=%[3]s\nssl.keystore.password=%[2]s\n", p12)},
		"mutual TLS, PEM": {listener: kafkatest.MutualTLS, text: func(t *testing.T, s *kafkatest.Secure) string {
			if err := s.WriteFile("client.pem", append(slices.Clone(s.Client.Key), s.Client.Chain...)); err != nil {
				t.Fatal(err)
			}
			return ssl + fmt.Sprintf("ssl.truststore.type=PEM\nssl.truststore.location=%s\nssl.keystore.type=PEM\nssl.keystore.location=%s\n", s.Path("ca.pem"), s.Path("client.pem"))
		}},
		"mutual TLS, inline PEM": {listener: kafkatest.MutualTLS, text: func(_ *testing.T, s *kafkatest.Secure) string {
			return ssl + "ssl.truststore.type=PEM\nssl.truststore.certificates=" + inline(s.CA.PEM()) +
				"\nssl.keystore.type=PEM\nssl.keystore.certificate.chain=" + inline(s.Client.Chain) + "\nssl.keystore.key=" + inline(s.Client.Key) + "\n"
		}},
	}
}

func caFile(s *kafkatest.Secure) []any { return []any{s.Path("ca.pem")} }

// inline writes PEM into a properties file as people do: an escaped newline and a continued line.
func inline(pem []byte) string {
	return strings.ReplaceAll(strings.TrimSpace(string(pem)), "\n", "\\n\\\n    ")
}

func passwordKinds() map[string]kind {
	login := func(protocol, mechanism, module string) string {
		return fmt.Sprintf("security.protocol=%s\nsasl.mechanism=%s\nsasl.jaas.config=%s required \\\n    username=\"alice\" \\\n    password=\"alice-secret\";\n", protocol, mechanism, module)
	}
	trust := "ssl.truststore.type=PEM\nssl.truststore.location=%s\n"
	return map[string]kind{
		"PLAIN":                    {listener: kafkatest.SASL, text: lines(login("SASL_PLAINTEXT", "PLAIN", plainModule))},
		"PLAIN over TLS":           {listener: kafkatest.SASLTLS, text: using(login("sasl_ssl", "PLAIN", plainModule)+trust, caFile)},
		"SCRAM-SHA-256":            {listener: kafkatest.SASL, text: lines(login("Sasl_Plaintext", "SCRAM-SHA-256", scramModule))},
		"SCRAM-SHA-512":            {listener: kafkatest.SASL, text: lines(login("SASL_PLAINTEXT", "SCRAM-SHA-512", scramModule))},
		"SCRAM-SHA-256 over TLS":   {listener: kafkatest.SASLTLS, text: using(login("SASL_SSL", "SCRAM-SHA-256", scramModule)+trust, caFile)},
		"SCRAM-SHA-512 over TLS":   {listener: kafkatest.SASLTLS, text: using(login("SASL_SSL", "SCRAM-SHA-512", scramModule)+trust, caFile)},
		"PLAIN, sessions that end": {listener: kafkatest.Reauth, text: lines(login("SASL_PLAINTEXT", "PLAIN", plainModule))},
	}
}

func tokenKinds() map[string]kind {
	return map[string]kind{
		"OAUTHBEARER, client credentials": {listener: kafkatest.SASL, text: using(oauthBase+"sasl.jaas.config="+oauthModule+" required ;\n"+
			"sasl.oauthbearer.token.endpoint.url=%s\nsasl.oauthbearer.client.credentials.client.id=%s\nsasl.oauthbearer.client.credentials.client.secret=%s\nsasl.oauthbearer.scope=produce\n", client)},
		"OAUTHBEARER, client credentials in the JAAS text": {listener: kafkatest.SASL, text: using(oauthBase+"sasl.oauthbearer.token.endpoint.url=%[1]s\n"+
			"sasl.jaas.config="+oauthModule+" required clientId=\"%[2]s\" clientSecret=\"%[3]s\" scope=\"produce\";\n", client)},
		"OAUTHBEARER over TLS": {listener: kafkatest.SASLTLS, text: using(strings.Replace(oauthBase, "SASL_PLAINTEXT", "SASL_SSL", 1)+"sasl.jaas.config="+oauthModule+" required ;\n"+
			"sasl.oauthbearer.token.endpoint.url=%s\nsasl.oauthbearer.client.credentials.client.id=%s\nsasl.oauthbearer.client.credentials.client.secret=%s\n"+
			"ssl.truststore.type=PEM\nssl.truststore.location=%s\n", func(s *kafkatest.Secure) []any { return append(client(s), caFile(s)...) })},
		"OAUTHBEARER, a token in a file": {listener: kafkatest.SASL, text: func(t *testing.T, s *kafkatest.Secure) string {
			if err := s.WriteFile("token.jwt", []byte(s.Identity.Token("alice", time.Hour)+"\n")); err != nil {
				t.Fatal(err)
			}
			return oauthBase + "sasl.jaas.config=" + oauthModule + " required ;\nsasl.oauthbearer.token.endpoint.url=file://" + s.Path("token.jwt") +
				"\nsasl.oauthbearer.jwt.retriever.class=org.apache.kafka.common.security.oauthbearer.FileJwtRetriever\n"
		}},
		"OAUTHBEARER, an assertion": {listener: kafkatest.SASL, text: func(t *testing.T, s *kafkatest.Secure) string {
			if err := s.WriteFile("assertion-key.pem", s.Identity.AssertionKey()); err != nil {
				t.Fatal(err)
			}
			return oauthBase + "sasl.jaas.config=" + oauthModule + " required ;\nsasl.oauthbearer.token.endpoint.url=" + s.Identity.TokenURL() +
				"\nsasl.oauthbearer.jwt.retriever.class=org.apache.kafka.common.security.oauthbearer.JwtBearerJwtRetriever" +
				"\nsasl.oauthbearer.assertion.private.key.file=" + s.Path("assertion-key.pem") +
				"\nsasl.oauthbearer.assertion.algorithm=RS256\nsasl.oauthbearer.assertion.claim.iss=orders\nsasl.oauthbearer.assertion.claim.sub=alice" +
				"\nsasl.oauthbearer.assertion.claim.aud=" + s.Identity.TokenURL() + "\nsasl.oauthbearer.scope=produce\n"
		}},
	}
}

func client(s *kafkatest.Secure) []any {
	return []any{s.Identity.TokenURL(), kafkatest.ClientID, kafkatest.ClientSecret}
}

// A Java client's properties file works as it is: encrypted, with certificates on both sides, with every login, over TCP and
// over TLS, and the protocol's name in any letter case (SEC-02, SEC-03, SEC-04, SEC-05, SEC-06).
func TestAJavaClientsFileWorksAsItIs(t *testing.T) {
	for name, k := range kinds() {
		t.Run(name, func(t *testing.T) {
			s, c := secure(t)
			topic := c.NewTopic(t, 1, nil)
			text := k.text(t, s)
			p := connect(t, javaFile(t, c, k.listener, text), pluggedIn(s, text)...)
			ctx := within(t, soon)
			want := []string{"first", "second", "third"}
			for _, v := range want {
				if _, err := p.SendSync(ctx, record{Topic: topic, Value: []byte(v)}); err != nil {
					t.Fatal(err)
				}
			}
			if got := values(t, c, topic); !slices.Equal(got, want) {
				t.Errorf("the log holds %q, want %q", got, want)
			}
		})
	}
}

func kerberosKinds() map[string]kind {
	const login = "security.protocol=%s\nsasl.mechanism=GSSAPI\nsasl.kerberos.service.name=kafka\nsasl.jaas.config=" + kerberosModule
	byKeytab := func(s *kafkatest.Secure, protocol string) string {
		return fmt.Sprintf(login+"\\\n    useKeyTab=true storeKey=true \\\n    keyTab=\"%s\" \\\n    principal=\"alice@%s\";\n", protocol, s.KDC.Keytab("alice"), kafkatest.Realm)
	}
	return map[string]kind{
		"GSSAPI, key table": {listener: kafkatest.SASL, text: func(_ *testing.T, s *kafkatest.Secure) string { return byKeytab(s, "SASL_PLAINTEXT") }},
		"GSSAPI over TLS": {listener: kafkatest.SASLTLS, text: func(_ *testing.T, s *kafkatest.Secure) string {
			return byKeytab(s, "SASL_SSL") + fmt.Sprintf(trustCA, s.Path("ca.pem"))
		}},
		"GSSAPI, kinit's ticket": {listener: kafkatest.SASL, text: func(t *testing.T, s *kafkatest.Secure) string {
			return fmt.Sprintf(login+"useTicketCache=true ticketCache=\"%s\";\n", "SASL_PLAINTEXT", ticketCache(t, s))
		}},
	}
}

// pluggedIn are the plug-ins that the text of a client.properties needs.
func pluggedIn(s *kafkatest.Secure, text string) []linger.Option {
	if !strings.Contains(text, "sasl.mechanism=GSSAPI") {
		return nil
	}
	return []linger.Option{linger.WithSASLMechanism(&gssapi.Mechanism{Krb5Conf: s.KDC.Config()})}
}
