//go:build unix

package security_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
	"linger/test/broker/kafkatest"
)

// A request goes out in the newest version that both sides know (NET-16), before a login and after one.
func TestVersionsAreTheNewestThatBothKnow(t *testing.T) {
	_, c := secure(t)
	topic := c.NewTopic(t, 1, nil)
	asked, err := kmsg.NewPtrApiVersionsRequest().RequestWith(t.Context(), c.Client(t))
	if err != nil {
		t.Fatal(err)
	}
	broker := map[int16]int16{}
	for _, k := range asked.ApiKeys {
		broker[k.ApiKey] = k.MaxVersion
	}
	for listener, text := range map[string]string{"PLAINTEXT": "", kafkatest.SASL: passwordKinds()["PLAIN"].text(t, nil)} {
		t.Run(listener, func(t *testing.T) {
			way := newMover("")
			p := connect(t, javaFile(t, c, listener, text), linger.WithDialer(way.dial))
			if _, err := p.SendSync(within(t, soon), record{Topic: topic, Value: []byte("v")}); err != nil {
				t.Fatal(err)
			}
			for key, ours := range map[kmsg.Key]int16{kmsg.Produce: 13, kmsg.Metadata: 13, kmsg.InitProducerID: 6} {
				n, version := way.seen(uint16(key))
				if want := min(ours, broker[int16(key)]); n == 0 || version != want {
					t.Errorf("%d requests %s, the last in version %d, want %d", n, key.Name(), version, want)
				}
			}
		})
	}
}
