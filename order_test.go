package linger_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
	"linger/internal/kerr"
)

// long makes a record that shares its batch with no other.
const long = ".................................................................................................."

// SEND-32: callbacks run in the order of the records even when a broker acknowledges a batch before an older one, because it
// wrote that but answered with an error; or without idempotence, because it did not write it. When the older one fails for
// good the younger one's outcome stays what it was.
func TestCallbacksKeepTheOrderOfTheRecords(t *testing.T) {
	for name, tt := range map[string]struct {
		idempotent, fails bool
	}{"with idempotence": {true, false}, "without idempotence": {false, false}, "and the older one fails": {false, true}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.topic("t", 1)
				if tt.idempotent {
					c.numbered()
				}
				p := c.producer(linger.BatchSize(1), linger.EnableIdempotence(tt.idempotent), linger.RetryBackoff(time.Second))
				warm(t, p)
				mustWait(t, mustSend(t, p, plain("first"), nil))
				c.on(kmsg.Produce, func(call *call) bool {
					if !strings.HasPrefix(call.batches()[0].values()[0], "older") {
						return false
					}
					if !tt.fails {
						c.on(kmsg.Produce, nil)
					}
					if tt.idempotent {
						c.change(func() { call.usual() })
					}
					code := kerr.NotEnoughReplicasAfterAppend
					if tt.fails {
						code = kerr.InvalidTopicException
					}
					go func() { // meanwhile the younger one comes
						elapse(100 * time.Millisecond)
						call.fail(code)
					}()
					return true
				})
				var order []string
				hear := func(name string) linger.Callback {
					return func(_ linger.RecordMetadata, err error) {
						if (err != nil) != (tt.fails && name == "older") {
							t.Errorf("%s: %v", name, err)
						}
						order = append(order, name)
					}
				}
				mustSend(t, p, plain("older"+long), hear("older"))
				younger := mustSend(t, p, plain("younger"+long), hear("younger"))
				rest(500 * time.Millisecond)
				if younger.Ready() != tt.fails {
					t.Errorf("the younger record's outcome is there: %t; it waits for the older one's", younger.Ready())
				}
				if left := p.Counters().RecordsDelivered; left != 2 {
					t.Errorf("%d records are acknowledged, want the first and the younger one", left)
				}
				mustFlush(t, p)
				if !slices.Equal(order, []string{"older", "younger"}) {
					t.Errorf("callbacks in order %q", order)
				}
			})
		})
	}
}

// A record that is acknowledged and waits for an older one is no reason for Close to lose it or to wait longer.
func TestAForcedCloseTellsHeldOutcomes(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.BatchSize(1), linger.EnableIdempotence(false), linger.RetryBackoff(time.Hour), linger.RetryBackoffMax(time.Hour), linger.DeliveryTimeout(9*time.Hour))
		warm(t, p)
		c.on(kmsg.Produce, func(call *call) bool {
			if !strings.HasPrefix(call.batches()[0].values()[0], "older") {
				return false
			}
			go func() { // meanwhile the younger one comes
				elapse(time.Second)
				call.fail(kerr.NotEnoughReplicas)
			}()
			return true
		})
		older, younger := mustSend(t, p, plain("older"+long), nil), mustSend(t, p, plain("younger"+long), nil)
		rest(time.Minute)
		if err := p.CloseTimeout(0); err != nil {
			t.Error(err)
		}
		if _, err := older.Wait(t.Context()); !errors.Is(err, linger.ErrForceClosed) {
			t.Errorf("the older record: %v", err)
		}
		if md := mustWait(t, younger); md.Offset != 0 {
			t.Errorf("the younger record: %+v", md)
		}
	})
}
