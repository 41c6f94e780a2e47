//go:build unix

package security_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"linger"
	"linger/test/broker/kafkatest"
)

// allow gives a principal rights on a topic; from then on nobody else has any.
func allow(t *testing.T, c *kafkatest.Cluster, topic, principal string, ops ...kadm.ACLOperation) {
	t.Helper()
	ctx, admin := within(t, soon), kadm.NewClient(c.Client(t))
	acls := func() *kadm.ACLBuilder {
		return kadm.NewACLs().Topics(topic).ResourcePatternType(kadm.ACLPatternLiteral).Operations(ops...).Allow(principal).AllowHosts("*")
	}
	made, err := admin.CreateACLs(ctx, acls())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range made {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	for known := 0; known < len(ops); { // the controller has them; the broker learns of them a moment later
		found, err := admin.DescribeACLs(ctx, acls())
		if err != nil {
			t.Fatal(err)
		}
		known = 0
		for _, r := range found {
			known += len(r.Described)
		}
	}
}

// Who may not use a topic hears so, with the topic's name: from the metadata when he may not even see it, from the answer to the
// request when he may not write (SEC-08).
func TestMissingRightsAreAnAuthorizationError(t *testing.T) {
	_, c := secure(t)
	file := javaFile(t, c, kafkatest.SASL, passwordKinds()["SCRAM-SHA-256"].text(t, nil)) // alice
	for name, ops := range map[string][]kadm.ACLOperation{
		"she may not see it":   nil,
		"she may not write it": {kadm.OpDescribe},
	} {
		t.Run(name, func(t *testing.T) {
			topic := c.NewTopic(t, 1, nil)
			allow(t, c, topic, "User:bob", kadm.OpWrite)
			if ops != nil {
				allow(t, c, topic, "User:alice", ops...)
			}
			p := connect(t, file)
			_, err := p.SendSync(within(t, soon), record{Topic: topic, Value: []byte("v")})
			if !errors.Is(err, linger.ErrAuthorization) || errors.Is(err, linger.ErrTimeout) || !strings.Contains(err.Error(), topic) {
				t.Errorf("%v, want an authorization error that names the topic", err)
			}
			allow(t, c, topic, "User:alice", kadm.OpWrite)
			if _, err := p.SendSync(within(t, soon), record{Topic: topic, Value: []byte("v")}); err != nil {
				t.Errorf("with the right to write: %v", err)
			}
		})
	}
}
