//go:build unix

package security_test

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"linger/test/broker/kafkatest"
)

var withJava = flag.Bool("java", false, "also have Java's console producer read every client.properties of the tests; two seconds each")

// The files that the other tests hand to linger are ones that Java takes. It is worth a look when a file changes:
//
//	go test ./test/broker/security -run TestJavaTakesTheSameFiles -java
//
// By default only the two kinds are tried whose files nobody writes down without a mistake.
func TestJavaTakesTheSameFiles(t *testing.T) {
	usual := []string{"mutual TLS, inline PEM", "OAUTHBEARER, an assertion"}
	for name, k := range kinds() {
		if !*withJava && !slices.Contains(usual, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := secure(t)
			topic := c.NewTopic(t, 1, nil)
			file := javaFile(t, c, k.listener, k.text(t, s))
			err := kafkatest.ConsoleProduce(t, c, k.listener, topic, file, "one\ntwo\n",
				"-Djava.security.krb5.conf="+s.KDC.Config(),
				"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls="+strings.Join([]string{s.Identity.TokenURL(), "file://" + s.Path("token.jwt")}, ","),
				"-Dorg.apache.kafka.sasl.oauthbearer.allowed.files="+s.Path("assertion-key.pem")+","+s.Path("token.jwt"))
			if err != nil {
				t.Fatal(err)
			}
			if got := values(t, c, topic); !slices.Equal(got, []string{"one", "two"}) {
				t.Errorf("the log holds %q", got)
			}
		})
	}
}
