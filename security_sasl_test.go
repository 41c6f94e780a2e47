package linger_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
	"linger/internal/kerr"
)

const (
	plainLogin = `org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="alice-secret";`
	scramLogin = `org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="alice-secret";`
	wrongLogin = `org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="not-the-secret";`
)

func login(mechanism, jaas string) []linger.Option {
	return []linger.Option{linger.SecurityProtocol("sasl_plaintext"), linger.SASLMechanism(mechanism), linger.SASLJaasConfig(jaas)}
}

// SEC-05, SEC-06: the protocol in any letter case, and each mechanism that is built in with user and password.
func TestRecordsArriveBehindALogin(t *testing.T) {
	for mechanism, jaas := range map[string]string{"PLAIN": plainLogin, "SCRAM-SHA-256": scramLogin, "SCRAM-SHA-512": scramLogin} {
		t.Run(mechanism, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				l := c.secured(mechanism)
				ft := c.topic("t", 1)
				p := c.producer(login(mechanism, jaas)...)
				md, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t", Value: []byte("v")})
				if err != nil || md.Offset != 0 {
					t.Fatal(md, err)
				}
				c.change(func() {
					if len(ft.log[0]) != 1 || l.logins != len(c.dialled) || l.failures != 0 {
						t.Errorf("%d records, %d logins on %d connections, %d failures", len(ft.log[0]), l.logins, len(c.dialled), l.failures)
					}
				})
			})
		})
	}
}

// SEC-07, META-08, B27: who waits for metadata hears at once why nobody lets us in, in the broker's own words.
func TestAFailedLoginEndsTheWaitForMetadata(t *testing.T) {
	for name, it := range map[string]struct {
		mechanism, jaas, want string
		plain                 bool
	}{
		"a wrong password":               {"PLAIN", wrongLogin, "SASL_AUTHENTICATION_FAILED, Authentication failed: Invalid username or password", false},
		"a mechanism the broker lacks":   {"SCRAM-SHA-512", scramLogin, "Client SASL mechanism 'SCRAM-SHA-512' not enabled in the server, enabled mechanisms are [PLAIN]", false},
		"a login at a port without SASL": {"PLAIN", plainLogin, "ILLEGAL_SASL_STATE", true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				if it.plain {
					c.change(func() { c.maxAPI[17], c.maxAPI[36] = 1, 2 })
				} else {
					c.secured("PLAIN")
				}
				c.topic("t", 1)
				p := c.producer(login(it.mechanism, it.jaas)...)
				for what, do := range map[string]func() error{
					"Send": func() error {
						_, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"})
						return err
					},
					"PartitionsFor": func() error { _, err := p.PartitionsFor(t.Context(), "t"); return err },
					"Warm":          func() error { return p.Warm(t.Context(), "t") },
				} {
					var err error
					if d := took(func() { err = do() }); d > time.Second {
						t.Errorf("%s waited for %v", what, d)
					}
					if !errors.Is(err, linger.ErrAuthentication) || !strings.Contains(err.Error(), it.want) {
						t.Errorf("%s: %v, want an authentication error with %q", what, err, it.want)
					}
					if linger.ClassOf(err) != linger.ClassInvalidConfiguration {
						t.Errorf("%s: class %v", what, linger.ClassOf(err))
					}
				}
			})
		})
	}
}

// B27: records that are buffered already fail too, soon and with the reason, in place of a time-out after two minutes.
func TestAFailedLoginReachesBufferedRecords(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		l := c.secured("PLAIN")
		c.topic("t", 1)
		p := c.producer(login("PLAIN", plainLogin)...)
		warm(t, p)
		c.change(func() { l.users["alice"] = "changed" })
		c.close()
		var futures []linger.Future
		for range 3 {
			f, err := p.Send(t.Context(), linger.Record[[]byte, []byte]{Topic: "t", Value: []byte("v")}, nil)
			if err != nil {
				t.Fatal(err)
			}
			futures = append(futures, f)
		}
		start := time.Now()
		for _, f := range futures {
			_, err := f.Wait(t.Context())
			if !errors.Is(err, linger.ErrAuthentication) || !strings.Contains(err.Error(), "Invalid username or password") {
				t.Errorf("got %v", err)
			}
			if pe, ok := errors.AsType[*linger.ProducerError](err); !ok || pe.Op != "send" || pe.Topic != "t" {
				t.Errorf("got %#v", pe)
			}
		}
		if d := time.Since(start); d > time.Second {
			t.Errorf("the records waited %v", d)
		}
		// Once the password is right again, all goes on without help.
		c.change(func() { l.users["alice"] = "alice-secret" })
		rest(3 * time.Second)
		if _, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"}); err != nil {
			t.Errorf("after the password is right again: %v", err)
		}
	})
}

// One refusal may be a change of passwords that is not complete: buffered records wait for the next attempt.
func TestOneRefusedLoginCostsNoRecord(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		l := c.secured("PLAIN")
		c.topic("t", 1)
		p := c.producer(login("PLAIN", plainLogin)...)
		warm(t, p)
		c.change(func() {
			l.odd = func(*call, []byte) kmsg.Response {
				l.odd = nil
				resp := kmsg.NewPtrSASLAuthenticateResponse()
				resp.ErrorCode = int16(kerr.SASLAuthenticationFailed)
				return resp
			}
		})
		c.close()
		if _, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"}); err != nil {
			t.Error(err)
		}
		c.change(func() {
			if l.odd != nil {
				t.Error("no login was refused")
			}
		})
	})
}

// A broker that refuses takes down what waits for it, and nothing else.
func TestARefusalReachesOnlyRecordsOfItsBroker(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		l := c.secured("PLAIN")
		c.setBrokers(2)
		c.topic("t", 2)
		p := c.producer(append(login("PLAIN", plainLogin), linger.BootstrapServers("10.0.0.1:9092", "10.0.0.2:9092"))...)
		warm(t, p)
		c.change(func() {
			l.odd = func(call *call, _ []byte) kmsg.Response {
				if call.broker != 2 {
					return nil
				}
				resp := kmsg.NewPtrSASLAuthenticateResponse()
				resp.ErrorCode = int16(kerr.SASLAuthenticationFailed)
				return resp
			}
		})
		c.close()
		for partition, refused := range []bool{false, true} {
			_, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t", Partition: linger.On(int32(partition))})
			if errors.Is(err, linger.ErrAuthentication) != refused || (err == nil) == refused {
				t.Errorf("partition %d: %v", partition, err)
			}
		}
	})
}

// Attempts back off: a wrong password must not become a storm of logins.
func TestRefusedLoginsBackOff(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		l := c.secured("PLAIN")
		c.producer(login("PLAIN", wrongLogin)...)
		rest(time.Minute)
		c.change(func() {
			if n := l.failures; n < 10 || n > 90 {
				t.Errorf("%d logins in a minute, want about one a second (reconnect.backoff.max.ms)", n)
			}
		})
	})
}

// KIP-368, B28: a connection that is never idle logs in anew, in time, again and again, with requests in flight; no record
// fails or is there twice, and no connection is made for it.
func TestABusyConnectionLogsInAnew(t *testing.T) {
	for _, acks := range []string{"all", "0"} {
		t.Run("acks="+acks, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				l := c.secured("SCRAM-SHA-256")
				c.change(func() { l.lifetimeMs = 2000 })
				ft := c.topic("t", 1)
				var open, busy atomic.Int64
				c.on(kmsg.Produce, func(call *call) bool { // an answer takes a while: requests are always in flight
					open.Add(1)
					go func() {
						elapse(150 * time.Millisecond)
						open.Add(-1)
						call.asUsual()
					}()
					return true
				})
				c.on(kmsg.SASLHandshake, func(*call) bool {
					if open.Load() > 0 {
						busy.Add(1)
					}
					return false
				})
				more := []linger.Option{linger.Acks(acks), linger.Linger(0)}
				if acks == "0" {
					more = append(more, linger.EnableIdempotence(false))
				}
				p := c.producer(append(login("SCRAM-SHA-256", scramLogin), more...)...)
				warm(t, p)
				var failed atomic.Int64
				const n = 600
				for i := range n {
					if _, err := p.Send(t.Context(), linger.Record[[]byte, []byte]{Topic: "t", Value: fmt.Append(nil, i)}, func(_ linger.RecordMetadata, err error) {
						if err != nil {
							failed.Add(1)
							t.Errorf("record %d: %v", i, err)
						}
					}); err != nil {
						t.Fatal(err)
					}
					elapse(20 * time.Millisecond) // twelve seconds in all
				}
				if err := p.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				rest(time.Second)
				c.change(func() {
					if l.again < 5 || l.failures > 0 || busy.Load() == 0 {
						t.Errorf("%d logins anew, %d of them with requests in flight, %d failures", l.again, busy.Load(), l.failures)
					}
					if got := len(c.dialled); got > 2 {
						t.Errorf("%d connections", got)
					}
					got := map[string]int{}
					for _, r := range ft.log[0] {
						got[string(r.value)]++
					}
					if len(ft.log[0]) != n || len(got) != n || failed.Load() != 0 {
						t.Errorf("%d records, %d different ones, %d failures, want %d", len(ft.log[0]), len(got), failed.Load(), n)
					}
				})
			})
		})
	}
}

// KIP-368: an idle connection does nothing; a login anew comes with the next record, even when the session has expired.
func TestAnIdleConnectionLogsInAnewWithTheNextRecord(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		l := c.secured("PLAIN")
		c.change(func() { l.lifetimeMs = 2000 })
		c.topic("t", 1)
		p := c.producer(login("PLAIN", plainLogin)...)
		send := func() {
			t.Helper()
			if _, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"}); err != nil {
				t.Error(err)
			}
		}
		send()
		before := c.dials()
		rest(time.Minute)
		c.change(func() {
			if l.again != 0 {
				t.Errorf("%d logins anew without anything to send", l.again)
			}
		})
		send()
		c.change(func() {
			if l.again != 1 || len(c.dialled) != before {
				t.Errorf("%d logins anew, %d connections more", l.again, len(c.dialled)-before)
			}
		})
	})
}

// KIP-368, B28: when the login anew fails, the connection ends with an authentication error for whoever waits.
func TestAFailedLoginAnewIsAnAuthenticationError(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		l := c.secured("PLAIN")
		c.change(func() { l.lifetimeMs = 2000 })
		c.topic("t", 1)
		p := c.producer(login("PLAIN", plainLogin)...)
		if _, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"}); err != nil {
			t.Fatal(err)
		}
		c.change(func() { l.users["alice"] = "changed" })
		rest(2 * time.Second)
		var err error
		d := took(func() { _, err = p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"}) })
		if !errors.Is(err, linger.ErrAuthentication) || d > time.Second {
			t.Errorf("after %v: %v", d, err)
		}
		synctest.Wait()
		c.change(func() {
			if l.failures < 2 {
				t.Errorf("%d refused logins", l.failures)
			}
		})
	})
}

// SEC-07: without a login at a port that wants one, Java knows nothing for a minute.
func TestAListenerThatWantsALoginIsNamed(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.secured("PLAIN")
		c.topic("t", 1)
		p := c.producer()
		var err error
		d := took(func() { _, err = p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"}) })
		if d > 2*time.Second || !errors.Is(err, linger.ErrAuthentication) || !strings.Contains(err.Error(), "set it to SASL_PLAINTEXT") {
			t.Errorf("after %v: %v", d, err)
		}
	})
}

// The broker that goes down while it is asked for the first time is no listener that wants a login.
func TestABrokerThatComesBackWantsNoLogin(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		hangUp := func(call *call) bool {
			if c.dials() > 2 {
				return false
			}
			call.hangUp()
			return true
		}
		c.on(kmsg.Metadata, hangUp)
		c.on(kmsg.InitProducerID, hangUp)
		p := c.producer()
		if _, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"}); err != nil {
			t.Error(err)
		}
	})
}

// A record that runs out of time says why its leader was not reached; Java's says only how much time has passed.
func TestAnExpiredRecordSaysWhyItsLeaderWasNotReached(t *testing.T) {
	for name, it := range map[string]struct {
		trouble func(c *cluster)
		want    string
	}{
		"nobody listens": {func(c *cluster) {
			c.change(func() {
				c.onDial = func(context.Context, string) (net.Conn, error) { return nil, errors.New("connection refused") }
			})
		}, "connection refused"},
		"a login is wanted": {func(c *cluster) { c.secured("PLAIN") }, "as listeners do that want a login"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.topic("t", 1)
				p := c.producer(linger.DeliveryTimeout(2*time.Second), linger.RequestTimeout(time.Second))
				warm(t, p)
				it.trouble(c)
				c.close()
				_, err := p.SendSync(t.Context(), linger.Record[[]byte, []byte]{Topic: "t"})
				if !errors.Is(err, linger.ErrTimeout) || errors.Is(err, linger.ErrAuthentication) || !strings.Contains(err.Error(), it.want) {
					t.Errorf("got %v, want a time-out that says %q", err, it.want)
				}
				if got := kerr.JavaNames(err); len(got) != 1 || got[0] != "TimeoutException" {
					t.Errorf("in Java: %v", got)
				}
			})
		})
	}
}
