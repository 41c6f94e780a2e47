package gssapi

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/spnego"
	"github.com/jcmturner/gokrb5/v8/types"
	"go.uber.org/goleak"

	"linger"
	"linger/internal/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const module = "com.sun.security.auth.module.Krb5LoginModule required "

func write(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const krb5 = "[libdefaults]\n default_realm = EXAMPLE.COM\n dns_lookup_kdc = false\n[realms]\n EXAMPLE.COM = {\n  kdc = 127.0.0.1:1\n }\n"

// keysOf is a key table with a key of the principal.
func keysOf(t *testing.T, principal string) *keytab.Keytab {
	t.Helper()
	kt := keytab.New()
	if err := kt.AddEntry(principal, "EXAMPLE.COM", "a password", time.Unix(1000, 0), 1, etypeID.AES256_CTS_HMAC_SHA1_96); err != nil {
		t.Fatal(err)
	}
	return kt
}

func fileOf(t *testing.T, kt *keytab.Keytab) string {
	t.Helper()
	text, err := kt.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "keytab", text)
}

func TestTheOptionsOfAJavaClient(t *testing.T) {
	t.Setenv("KRB5CCNAME", "FILE:/from/environment")
	t.Setenv("KRB5_KTNAME", "")
	standard := func(change func(*options)) options {
		o := options{service: "kafka", factor: 0.8, jitter: 0.05, minMs: 60_000}
		change(&o)
		return o
	}
	service := map[string]string{keyService: "kafka"}
	tests := map[string]struct {
		jaas   string
		values map[string]string
		want   options
		err    string
	}{
		"a key table": {
			`useKeyTab=true keyTab="/k" principal="me/host@R" storeKey=true;`, service,
			standard(func(o *options) { o.keytab, o.principal = "/k", "me/host@R" }), "",
		},
		"the service's name in the module": {
			`useKeyTab=true keyTab="file:/k" principal="me" serviceName="kafka";`, map[string]string{keyService: "null", "sasl.kerberos.ticket.renew.jitter": "null"},
			standard(func(o *options) { o.keytab, o.principal = "/k", "me" }), "",
		},
		"a ticket of kinit":             {`useTicketCache=true;`, service, standard(func(o *options) { o.cache = "/from/environment" }), ""},
		"a ticket of kinit in a file":   {`useTicketCache=TRUE ticketCache="/c";`, service, standard(func(o *options) { o.cache = "/c" }), ""},
		"both":                          {`useTicketCache=true ticketCache="/c" useKeyTab=true principal=me;`, service, standard(func(o *options) { o.cache, o.keytab, o.principal = "/c", "/etc/krb5.keytab", "me" }), ""},
		"other times":                   {`useTicketCache=true;`, map[string]string{keyService: "k", "sasl.kerberos.ticket.renew.window.factor": "0.5", "sasl.kerberos.ticket.renew.jitter": "0.1", "sasl.kerberos.min.time.before.relogin": "7"}, options{service: "k", cache: "/from/environment", factor: 0.5, jitter: 0.1, minMs: 7}, ""},
		"no module":                     {"", service, options{}, keyJAAS + " is not set"},
		"no service":                    {`useTicketCache=true;`, nil, options{}, "No serviceName defined in either JAAS or Kafka config; set " + keyService},
		"two services":                  {`useTicketCache=true serviceName=x;`, service, options{}, "Conflicting serviceName values found in JAAS (x) and in " + keyService + " (kafka)"},
		"no way to log in":              {`principal=me;`, service, options{}, "neither option useKeyTab nor option useTicketCache is true"},
		"a key table of nobody":         {`useKeyTab=true;`, service, options{}, "option useKeyTab needs option principal"},
		"a cache in the kernel":         {`useTicketCache=true ticketCache="KEYRING:x";`, service, options{}, "ticket caches of type KEYRING can't be read"},
		"a time that is no number":      {`useTicketCache=true;`, map[string]string{keyService: "k", "sasl.kerberos.ticket.renew.jitter": "x"}, options{}, `sasl.kerberos.ticket.renew.jitter: "x" is no number`},
		"a module of another mechanism": {"PLAIN", service, options{}, "needs the login module com.sun.security.auth.module.Krb5LoginModule"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			values := map[string]string{}
			for k, v := range tt.values {
				values[k] = v
			}
			if tt.jaas != "" {
				values[keyJAAS] = module + tt.jaas
			}
			if tt.jaas == "PLAIN" {
				values[keyJAAS] = `org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="s3cret";`
			}
			got, err := optionsOf(values)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "s3cret") {
					t.Errorf("got %v", err)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(options{})); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
}

// What is wrong is found while the producer is made, and is a configuration error.
func TestBadFilesAreFoundAtOnce(t *testing.T) {
	good := write(t, "krb5.conf", []byte(krb5))
	keys := fileOf(t, keysOf(t, "alice"))
	damaged := write(t, "damaged", []byte{5, 2, 0, 0, 0, 9, 1})
	tests := map[string]struct{ krb5, jaas, err string }{
		"a good one":                        {good, `useKeyTab=true keyTab="` + keys + `" principal="alice";`, ""},
		"a good one with a realm":           {good, `useKeyTab=true keyTab="` + keys + `" principal="alice@EXAMPLE.COM";`, ""},
		"no krb5.conf":                      {"/no/such", `useTicketCache=true;`, "set gssapi.Mechanism.Krb5Conf or the environment variable KRB5_CONFIG"},
		"a damaged krb5.conf":               {write(t, "krb5.conf", []byte("[libdefaults]\n clockskew = x\n")), `useTicketCache=true;`, "krb5.conf"},
		"no key table":                      {good, `useKeyTab=true keyTab="/no/such" principal="alice";`, "option keyTab: /no/such"},
		"a damaged key table":               {good, `useKeyTab=true keyTab="` + damaged + `" principal="alice";`, damaged},
		"a key table of another":            {good, `useKeyTab=true keyTab="` + keys + `" principal="bob";`, "has no key of bob@EXAMPLE.COM"},
		"a principal and no realm anywhere": {write(t, "krb5.conf", nil), `useKeyTab=true keyTab="` + keys + `" principal="alice";`, "has no realm"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := linger.New(linger.ByteArray, linger.ByteArray, linger.BootstrapServers("127.0.0.1:1"), linger.WithLogger(nil),
				linger.SecurityProtocol("SASL_PLAINTEXT"), linger.SASLKerberosServiceName("kafka"), linger.SASLJaasConfig(module+tt.jaas),
				linger.WithSASLMechanism(&Mechanism{Krb5Conf: tt.krb5}))
			if tt.err == "" {
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if _, err := p.Shutdown(ctx); err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, linger.ErrConfig) || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTheFirstFileThatIsThereIsTheConfiguration(t *testing.T) {
	here := write(t, "krb5.conf", nil)
	for list, want := range map[string]string{"": "/etc/krb5.conf", here: here, "/no/such:" + here: here, ":/no/such:/nor/this": "/no/such"} {
		if got := krb5Conf(list); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}

// fixedTicket is what a KDC would give.
type fixedTicket struct {
	key types.EncryptionKey
	err error
}

func (f fixedTicket) token(context.Context, string) ([]byte, types.EncryptionKey, error) {
	return []byte("the ticket"), f.key, f.err
}

func aKey(fill byte) types.EncryptionKey {
	return types.EncryptionKey{KeyType: etypeID.AES256_CTS_HMAC_SHA1_96, KeyValue: bytes.Repeat([]byte{fill}, 32)}
}

// offer is what a broker says about layers, signed with a key.
func offer(t *testing.T, key types.EncryptionKey, payload ...byte) []byte {
	t.Helper()
	w := gssapi.WrapToken{Flags: 0x01, EC: 12, SndSeqNum: 7, Payload: payload}
	if err := w.SetCheckSum(key, keyusage.GSSAPI_ACCEPTOR_SEAL); err != nil {
		t.Fatal(err)
	}
	text, err := w.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// RFC 4752, section 3.1, with and without the empty messages in the middle.
func TestTheExchangeWithABroker(t *testing.T) {
	key := aKey(1)
	for name, between := range map[string]int{"as Java's brokers do": 0, "as others may": 1} {
		t.Run(name, func(t *testing.T) {
			s := &session{principal: "kafka/host", tickets: fixedTicket{key: key}}
			if got, err := s.Next(t.Context(), nil); string(got) != "the ticket" || err != nil {
				t.Fatal(got, err)
			}
			for range between {
				if got, err := s.Next(t.Context(), []byte{}); got == nil || len(got) != 0 || err != nil {
					t.Fatal(got, err)
				}
			}
			if s.Complete() {
				t.Error("complete before the broker has shown anything")
			}
			got, err := s.Next(t.Context(), offer(t, key, 0x07, 0, 0x40, 0))
			if err != nil || !s.Complete() {
				t.Fatal(err)
			}
			var answer gssapi.WrapToken
			if err := answer.Unmarshal(got, false); err != nil {
				t.Fatal(err)
			}
			if ok, err := answer.Verify(key, keyusage.GSSAPI_INITIATOR_SEAL); !ok || err != nil || !bytes.Equal(answer.Payload, []byte{1, 0, 0, 0}) {
				t.Errorf("answer % x, %v", answer.Payload, err)
			}
			if _, err := s.Next(t.Context(), []byte{}); err == nil {
				t.Error("there is more to say")
			}
		})
	}
}

func TestABrokerThatIsNotWhoItMustBeIsRefused(t *testing.T) {
	key := aKey(1)
	tests := map[string]struct {
		answer []byte
		err    string
	}{
		"another key": {offer(t, aKey(2), 1, 0, 0, 0), "the checksum of the broker's answer is wrong: it is not kafka/host"},
		"no offer":    {[]byte("hello"), "is no offer of layers"},
		"our own token back": {func() []byte {
			w, _ := gssapi.NewInitiatorWrapToken([]byte{1, 0, 0, 0}, key)
			b, _ := w.Marshal()
			return b
		}(), "is no offer of layers"},
		"too short an offer":   {offer(t, key, 1), "has 1 bytes, and not 4"},
		"layers are a must":    {offer(t, key, 0x06, 0, 1, 0), "insists on a security layer (offer 06)"},
		"an offer in a sealed": {append([]byte{5, 4, 3, 0xff, 0, 0, 0, 0}, make([]byte, 40)...), "checksum"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &session{principal: "kafka/host", tickets: fixedTicket{key: key}}
			_, _ = s.Next(t.Context(), nil)
			_, err := s.Next(t.Context(), tt.answer)
			if err == nil || !strings.Contains(err.Error(), tt.err) || s.Complete() {
				t.Errorf("got %v", err)
			}
		})
	}
	cause := errors.New("it rains")
	if _, err := (&session{tickets: fixedTicket{err: cause}}).Next(t.Context(), nil); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

// kdc is a login whose KDC is this test.
func kdc(t *testing.T, clk clock.Clock, o options) (l *login, logins, asked *int, fail *error) {
	t.Helper()
	conf, err := loadKrb5(write(t, "krb5.conf", []byte(krb5)))
	if err != nil {
		t.Fatal(err)
	}
	brokers := keysOf(t, "kafka/host")
	l = &login{o: o, krb5: conf, clk: clk, random: func() float64 { return 0 }, services: map[string]grant{}}
	logins, asked, fail = new(int), new(int), new(error)
	l.logIn = func() (*client.Client, grant, error) {
		*logins++
		now := time.UnixMilli(clk.WallMs())
		return client.NewWithKeytab("alice", "EXAMPLE.COM", keysOf(t, "alice"), conf), grant{start: now, end: now.Add(time.Hour)}, *fail
	}
	l.ask = func(principal string) (grant, error) {
		*asked++
		now := time.UnixMilli(clk.WallMs())
		alice, kafka := types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, "alice"), types.NewPrincipalName(nametype.KRB_NT_SRV_INST, principal)
		ticket, key, err := messages.NewTicket(alice, "EXAMPLE.COM", kafka, "EXAMPLE.COM", types.NewKrbFlags(), brokers, etypeID.AES256_CTS_HMAC_SHA1_96, 1, now, now, now.Add(30*time.Minute), now)
		return grant{ticket, key, now, now.Add(30 * time.Minute)}, err
	}
	return l, logins, asked, fail
}

func TestTheTicketIsOneABrokerCanRead(t *testing.T) {
	l, _, _, _ := kdc(t, clock.Real(), options{factor: 0.8})
	message, key, err := l.token("kafka/host")
	if err != nil {
		t.Fatal(err)
	}
	var token spnego.KRB5Token
	if err := token.Unmarshal(message); err != nil || !token.IsAPReq() {
		t.Fatal(err)
	}
	ok, err := token.APReq.Verify(keysOf(t, "kafka/host"), time.Minute, types.HostAddress{}, nil)
	if who := token.APReq.Ticket.DecryptedEncPart; !ok || err != nil || who.CName.PrincipalNameString() != "alice" || who.CRealm != "EXAMPLE.COM" {
		t.Errorf("%v of %v, %v", who.CName, who.CRealm, err)
	}
	if !bytes.Equal(token.APReq.Ticket.DecryptedEncPart.Key.KeyValue, key.KeyValue) {
		t.Error("the key of the exchange is not the ticket's")
	}
}

func TestTicketsAreKeptAndRenewed(t *testing.T) {
	clk := clock.NewManual(1_000_000_000_000)
	l, logins, asked, fail := kdc(t, clk, options{factor: 0.8, minMs: 60_000})
	at := func(later time.Duration, wantLogins, wantAsked int, wantErr error) {
		t.Helper()
		clk.Advance(later)
		_, _, err := l.token("kafka/host")
		if *logins != wantLogins || *asked != wantAsked || !errors.Is(err, wantErr) {
			t.Errorf("%d logins, %d tickets, %v; want %d, %d, %v", *logins, *asked, err, wantLogins, wantAsked, wantErr)
		}
	}
	cause := errors.New("it rains")
	at(0, 1, 1, nil)
	at(29*time.Minute, 1, 1, nil) // both are good
	at(2*time.Minute, 1, 2, nil)  // the broker's has ended
	at(17*time.Minute, 2, 3, nil) // 48 minutes: a new login, and nothing of the old one
	*fail = cause
	at(49*time.Minute, 3, 4, nil)        // a login that fails leaves the old one
	at(59*time.Second, 3, 4, nil)        // and is not tried again so soon
	at(time.Second, 4, 4, nil)           // but then
	at(12*time.Minute, 5, 4, cause)      // until the old one has ended
	*fail = nil                          //
	at(time.Second, 6, 5, nil)           // then no time is too soon
	l.o.keytab, l.o.cache = "", "/tmp/c" // a ticket of kinit, that nobody renews
	l.logIn = func() (*client.Client, grant, error) { return l.client, grant{}, nil }
	clk.Advance(2 * time.Hour)
	if _, _, err := l.token("kafka/host"); err == nil || !strings.Contains(err.Error(), "/tmp/c has ended; run kinit") {
		t.Errorf("got %v", err)
	}
}

func TestWaitingForAKDCEndsWithTheContextAndCloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, _, _ := kdc(t, clock.Real(), options{factor: 0.8})
		release, asked := make(chan struct{}), l.ask
		l.ask = func(p string) (grant, error) { <-release; return asked(p) }
		m := &Mechanism{service: "kafka", login: l}
		s, err := m.Session("host.")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Next(ctx, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		closed := make(chan struct{})
		go func() { _ = m.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("closed while a KDC is asked")
		default:
		}
		if _, err := m.Session("host"); err == nil {
			t.Error("a session after Close")
		}
		if _, err := s.Next(t.Context(), nil); err == nil {
			t.Error("a ticket after Close")
		}
		close(release)
		<-closed
	})
}

func TestACacheThatCannotBeUsedIsExplained(t *testing.T) {
	l, _, _, _ := kdc(t, clock.Real(), options{cache: "/no/such"})
	l.logIn = l.renew
	if _, _, err := l.token("kafka/host"); err == nil || !strings.Contains(err.Error(), "ticket cache /no/such") || !strings.Contains(err.Error(), "run kinit") {
		t.Errorf("got %v", err)
	}
	l.o.cache = write(t, "cc", []byte{5, 4, 0, 9, 1})
	if _, _, err := l.token("kafka/host"); err == nil || !strings.Contains(err.Error(), l.o.cache) {
		t.Errorf("got %v", err)
	}
}
