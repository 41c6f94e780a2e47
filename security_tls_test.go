package linger_test

import (
	"crypto/tls"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"linger"
)

// B24, a TLS listener: whoever speaks plain text to it is told at once, since waiting cannot help; a broker that appears in its
// place is found.
func TestAPeerThatSpeaksTLSIsNamedAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		c.change(func() { c.onDial = talker("\x15\x03\x03\x00\x02\x02\x0a") })
		p := c.producer(linger.MaxBlock(time.Minute))
		var err error
		d := took(func() { _, err = mustSend(t, p, plain("v"), nil).Wait(t.Context()) })
		if d >= 2*time.Second || !errors.Is(err, linger.ErrAuthentication) {
			t.Errorf("failed after %v with %v, want ErrAuthentication within 2s", d, err)
		}
		for _, part := range []string{"10.0.0.1:9092", "the peer speaks TLS", "security.protocol=SSL"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the error does not say %q: %v", part, err)
			}
		}
		c.change(func() { c.onDial = nil })
		time.Sleep(2 * time.Second) // of the bubble: the next attempt is then over
		synctest.Wait()
		mustWait(t, mustSend(t, p, plain("a broker, at last"), nil))
	})
}

// SEC-10 (the Go form of ssl.engine.factory.class)
func TestAConfigurationForTLSNeedsTLS(t *testing.T) {
	_, err := linger.New(linger.ByteArray, linger.ByteArray, linger.BootstrapServers("10.0.0.1:9092"), linger.WithLogger(nil), linger.WithTLSConfig(&tls.Config{}))
	if !errors.Is(err, linger.ErrConfig) || !strings.Contains(err.Error(), "security.protocol is PLAINTEXT") {
		t.Errorf("got %v", err)
	}
}
