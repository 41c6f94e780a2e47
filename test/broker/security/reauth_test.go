//go:build unix

package security_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"linger"
	"linger/test/broker/kafkatest"
)

// apiSaslHandshake begins each login, the first and those that renew it.
const apiSaslHandshake = 17

// A login that ends is renewed on the connection that is busy: five requests in flight, some of their answers come while the
// exchange is on. No record fails, is lost or doubled or out of order, and there is no new connection (KIP-368).
//
// What is sent is little and steady: with acks=0 nothing holds a producer back, and a broker that reads a request after the
// session's end, because so many wait before it, closes the connection.
func TestB28LoginsAreRenewedOnABusyConnection(t *testing.T) {
	t.Parallel()
	once := func(acks string) []linger.Option { // what gets lost would stay lost, and what comes twice would stay so
		return []linger.Option{linger.Acks(acks), linger.EnableIdempotence(false), linger.Retries(0)}
	}
	for _, tc := range []struct {
		name, text string
		opts       []linger.Option
	}{
		{"acks=all, PLAIN", fmt.Sprintf(plainOf, password), nil},
		{"acks=all, SCRAM", fmt.Sprintf(scramOf, "SCRAM-SHA-256", "alice", password), nil},
		{"acks=1", fmt.Sprintf(plainOf, password), once("1")},
		{"acks=0", fmt.Sprintf(plainOf, password), once("0")},
		{"acks=0, SCRAM", fmt.Sprintf(scramOf, "SCRAM-SHA-512", "alice", password), once("0")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, c := secure(t)
			topic := c.NewTopic(t, 1, nil)
			way := newMover("")
			p := connect(t, javaFile(t, c, kafkatest.Reauth, tc.text), append(tc.opts, linger.WithDialer(way.dial), linger.BatchSize(200))...)
			ctx := within(t, 2*soon)
			warmUp(ctx, t, p, c, topic)
			connections := way.dialled()
			logins, _ := way.seen(apiSaslHandshake)
			var want []string
			var futures []linger.Future
			tick := time.NewTicker(25 * time.Millisecond)
			defer tick.Stop()
			for done := logins; done < logins+2; done, _ = way.seen(apiSaslHandshake) {
				for range 20 { // some small batches at once, then a breath
					f, err := p.Send(ctx, record{Topic: topic, Value: fmt.Append(nil, len(want))}, nil)
					if err != nil {
						t.Fatal(err)
					}
					want, futures = append(want, fmt.Sprint(len(want))), append(futures, f)
				}
				<-tick.C
			}
			flush(ctx, t, p)
			for i, f := range futures {
				if _, err := f.Wait(ctx); err != nil {
					t.Fatalf("record %d: %v", i, err)
				}
			}
			if got := way.dialled(); got != connections {
				t.Errorf("%d connections, %d before the first renewal", got, connections)
			}
			if got := settled(ctx, t, c, topic, len(want)); !slices.Equal(got, want) {
				t.Errorf("%d records in the log, %d sent; the first difference is at %d", len(got), len(want), differs(got, want))
			}
		})
	}
}

// warmUp makes the connections, and has the broker lead the topic, which it says it does a moment before it does.
func warmUp(ctx context.Context, t *testing.T, p *producer, c *kafkatest.Cluster, topic string) {
	t.Helper()
	for {
		_, err := p.SendSync(ctx, record{Topic: topic, Value: []byte(warm)})
		if err == nil && len(values(t, c, topic)) > 0 { // with acks=0 nobody says whether it is there
			return
		}
		if err != nil && linger.ClassOf(err) != linger.ClassRefreshRetriable {
			t.Fatal(err)
		}
	}
}

const warm = "warm"

// settled reads the log until it holds n records beside those of warmUp: with acks=0 nobody says when the broker has them.
func settled(ctx context.Context, t *testing.T, c *kafkatest.Cluster, topic string, n int) []string {
	t.Helper()
	for {
		got := slices.DeleteFunc(values(t, c, topic), func(v string) bool { return v == warm })
		if len(got) >= n || ctx.Err() != nil {
			return got
		}
	}
}

func differs(a, b []string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// A renewal that fails ends in an authentication error, for the records in the buffer too; with the password good again the
// same producer goes on (B28).
func TestB28AFailedRenewalIsAnAuthenticationError(t *testing.T) {
	t.Parallel()
	_, c := secure(t)
	topic := c.NewTopic(t, 1, nil)
	ctx := within(t, 2*soon)
	admin := kadm.NewClient(c.Client(t))
	setUser := func(password string) {
		t.Helper()
		got, err := admin.AlterUserSCRAMs(ctx, nil, []kadm.UpsertSCRAM{{User: "dave", Mechanism: kadm.ScramSha256, Iterations: 4096, Password: password}})
		if err != nil || got.Error() != nil {
			t.Fatal(err, got.Error())
		}
	}
	setUser("dave-secret")
	p := connect(t, javaFile(t, c, kafkatest.Reauth, fmt.Sprintf(scramOf, "SCRAM-SHA-256", "dave", "dave-secret")), linger.DeliveryTimeout(maxBlock))
	send := func() error {
		_, err := p.SendSync(within(t, soon), record{Topic: topic, Value: []byte("v")})
		return err
	}
	untilSent(ctx, t, linger.ErrAuthentication, send) // the broker may learn of the new user a moment later
	setUser("dave-has-changed-it")
	var err error
	for err == nil && ctx.Err() == nil {
		err = send()
	}
	if !errors.Is(err, linger.ErrAuthentication) || errors.Is(err, linger.ErrTimeout) {
		t.Errorf("%v, want an authentication error", err)
	}
	setUser("dave-secret")
	untilSent(ctx, t, linger.ErrAuthentication, send)
}

// untilSent tries again as long as what is sent fails with that error.
func untilSent(ctx context.Context, t *testing.T, bearable error, send func() error) {
	t.Helper()
	for {
		err := send()
		if err == nil {
			return
		}
		if ctx.Err() != nil || !errors.Is(err, bearable) {
			t.Fatal(err)
		}
	}
}
