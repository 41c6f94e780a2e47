//go:build unix

package security_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"linger"
	"linger/plugin/gssapi"
	"linger/test/broker/kafkatest"
)

const kerberosModule = "com.sun.security.auth.module.Krb5LoginModule required "

// A login by Kerberos at a real broker and a real KDC, as a Java client's options describe it.
func TestLoginsByKerberos(t *testing.T) {
	s, c := secure(t)
	cache, err := s.KDC.Cache(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	byKeytab := `useKeyTab=true storeKey=true keyTab="` + s.KDC.Keytab("alice") + `" principal="alice@` + kafkatest.Realm + `"`
	topic := c.NewTopic(t, 1, nil)
	tests := map[string]struct{ jaas, service, err string }{
		"with a key table":                 {byKeytab + ";", "kafka", ""},
		"with the service's name in JAAS":  {byKeytab + ` serviceName="kafka";`, "", ""},
		"with the ticket of kinit":         {`useTicketCache=true ticketCache="` + cache + `";`, "kafka", ""},
		"with a ticket of a KRB5CCNAME":    {`useTicketCache=true ticketCache="FILE:` + cache + `" principal="alice";`, "kafka", ""},
		"at a service nobody knows":        {byKeytab + ";", "nobody", "no ticket for nobody/localhost from a KDC of " + kafkatest.Realm},
		"with a ticket that is not there":  {`useTicketCache=true ticketCache="/no/such";`, "kafka", "ticket cache /no/such"},
		"with the keys of somebody else's": {`useKeyTab=true keyTab="` + s.KDC.Keytab("alice") + `" principal="bob";`, "kafka", "has no key of bob@" + kafkatest.Realm},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			opts := []linger.Option{
				linger.BootstrapServers(c.AddrsOf(kafkatest.SASL)...), linger.SecurityProtocol("SASL_PLAINTEXT"), linger.SASLMechanism("GSSAPI"),
				linger.SASLJaasConfig(kerberosModule + tt.jaas), linger.WithSASLMechanism(&gssapi.Mechanism{Krb5Conf: s.KDC.Config()}),
				linger.MaxBlock(maxBlock), linger.WithLogger(nil),
			}
			if tt.service != "" {
				opts = append(opts, linger.SASLKerberosServiceName(tt.service))
			}
			p, err := linger.New(linger.ByteArray, linger.ByteArray, opts...)
			if err == nil {
				_, err = p.SendSync(within(t, soon), linger.Record[[]byte, []byte]{Topic: topic, Value: []byte(name)})
				ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), soon)
				defer cancel()
				if _, closed := p.Shutdown(ctx); closed != nil {
					t.Error(closed)
				}
			}
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("got %v", err)
			}
			if errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("nobody said why: %v", err)
			}
		})
	}
}
