//go:build unix

package security_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"linger/test/broker/kafkatest"
)

const root = "../../.."

func securityPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(root + "/docs/SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// Every client.properties on the page lets a producer in once its hosts, files and secrets are real ones.
func TestThePagesPropertiesWork(t *testing.T) {
	var tried int
	for i, example := range propertiesOf(securityPage(t)) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s, c := secure(t)
			topic := c.NewTopic(t, 1, nil)
			listener, text := realise(t, s, example)
			t.Logf("on %s:\n%s", listener, text)
			p := connect(t, javaFile(t, c, listener, text), pluggedIn(s, text)...)
			if _, err := p.SendSync(within(t, soon), record{Topic: topic, Value: []byte("v")}); err != nil {
				t.Error(err)
			}
		})
		tried++
	}
	if tried < 2 {
		t.Errorf("%d examples on the page", tried)
	}
}

// propertiesOf are the examples: indented or fenced blocks that set security.protocol, without those in Go.
func propertiesOf(page string) []string {
	var found []string
	var block strings.Builder
	end := func() {
		if strings.Contains(block.String(), "security.protocol=") && !strings.Contains(block.String(), "linger.") {
			found = append(found, block.String())
		}
		block.Reset()
	}
	fenced := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			end()
			fenced = !fenced
			continue
		}
		text, indented := strings.CutPrefix(line, "    ")
		if !fenced && !indented {
			end()
			continue
		}
		block.WriteString(text)
	}
	end()
	return found
}

// realise puts the test's own hosts, files and secrets in the place of the page's.
func realise(t *testing.T, s *kafkatest.Secure, example string) (listener, text string) {
	t.Helper()
	set := map[string]string{}
	var keys []string
	for line := range strings.Lines(strings.ReplaceAll(example, "\\\n", "")) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(key, "#") {
			set[key], keys = strings.TrimSpace(value), append(keys, key)
		}
	}
	protocol := set["security.protocol"]
	if strings.HasSuffix(protocol, "SSL") && set["ssl.truststore.location"] == "" {
		keys = append(keys, "ssl.truststore.type", "ssl.truststore.location") // nobody's system trusts the test's authority
		set["ssl.truststore.type"] = "PEM"
		set["ssl.truststore.location"] = "-"
	}
	for _, key := range keys {
		value := realValue(t, s, set, key)
		text += key + "=" + value + "\n"
	}
	switch {
	case protocol == "SASL_PLAINTEXT":
		return kafkatest.SASL, text
	case protocol == "SASL_SSL":
		return kafkatest.SASLTLS, text
	case protocol == "SSL" && set["ssl.keystore.type"]+set["ssl.keystore.location"] != "":
		return kafkatest.MutualTLS, text
	case protocol == "SSL":
		return kafkatest.TLS, text
	}
	return "PLAINTEXT", text
}

var (
	userOf      = regexp.MustCompile(`username="[^"]*"`)
	passwordOf  = regexp.MustCompile(`password="[^"]*"`)
	keytabOf    = regexp.MustCompile(`keyTab="[^"]*"`)
	principalOf = regexp.MustCompile(`principal="[^"]*"`)
	cacheOf     = regexp.MustCompile(`ticketCache="[^"]*"`)
)

func realValue(t *testing.T, s *kafkatest.Secure, set map[string]string, key string) string {
	t.Helper()
	store := func(kind, jks, p12, pem string) string {
		return map[string]string{"": jks, "JKS": jks, "PKCS12": p12, "PEM": pem}[set[kind]]
	}
	switch key {
	case "ssl.truststore.location":
		return store("ssl.truststore.type", s.Java.TrustJKS, s.Java.TrustP12, s.Path("ca.pem"))
	case "ssl.keystore.location":
		write(t, s, "page-client.pem", string(s.Client.Key)+string(s.Client.Chain))
		return store("ssl.keystore.type", s.Java.KeyJKS, s.Java.KeyP12, s.Path("page-client.pem"))
	case "ssl.truststore.password", "ssl.keystore.password", "ssl.key.password":
		return kafkatest.StorePassword
	case "sasl.oauthbearer.token.endpoint.url":
		if strings.HasPrefix(set[key], "file:") {
			write(t, s, "page-token.jwt", s.Identity.Token("alice", time.Hour))
			return "file://" + s.Path("page-token.jwt")
		}
		return s.Identity.TokenURL()
	case "sasl.oauthbearer.client.credentials.client.id":
		return kafkatest.ClientID
	case "sasl.oauthbearer.client.credentials.client.secret":
		return kafkatest.ClientSecret
	case "sasl.oauthbearer.assertion.private.key.file":
		write(t, s, "page-key.pem", string(s.Identity.AssertionKey()))
		return s.Path("page-key.pem")
	case "sasl.jaas.config":
		value := userOf.ReplaceAllString(set[key], `username="alice"`)
		value = passwordOf.ReplaceAllString(value, `password="`+password+`"`)
		value = keytabOf.ReplaceAllString(value, `keyTab="`+s.KDC.Keytab("alice")+`"`)
		value = cacheOf.ReplaceAllString(value, `ticketCache="`+ticketCache(t, s)+`"`)
		return principalOf.ReplaceAllString(value, `principal="alice@`+kafkatest.Realm+`"`)
	}
	return set[key]
}

func write(t *testing.T, s *kafkatest.Secure, base, content string) {
	t.Helper()
	if err := s.WriteFile(base, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

func ticketCache(t *testing.T, s *kafkatest.Secure) string {
	t.Helper()
	cache, err := s.KDC.Cache(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	return cache
}

// Every name of ours on the page exists.
func TestThePagesNamesExist(t *testing.T) {
	known := map[string]bool{}
	files, err := filepath.Glob(root + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if file.Name.Name != "linger" {
			continue
		}
		for name := range file.Scope.Objects {
			known[name] = true
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncDecl); ok && f.Recv == nil {
				known[f.Name.Name] = true
			}
			return true
		})
	}
	for _, m := range regexp.MustCompile(`\blinger\.([A-Z]\w*)`).FindAllStringSubmatch(securityPage(t), -1) {
		if !known[m[1]] {
			t.Errorf("docs/SECURITY.md speaks of linger.%s, which there is not", m[1])
		}
	}
}

// What the page says of failures stands in the errors: the texts of TestB27WhoIsTurnedDownHearsSoAtOnce are the page's.
func TestThePagesFailuresAreThoseTested(t *testing.T) {
	page := securityPage(t)
	for name, r := range refusals() {
		if r.onPage && !strings.Contains(page, r.says) {
			t.Errorf("%s: docs/SECURITY.md does not say %q", name, r.says)
		}
	}
}
