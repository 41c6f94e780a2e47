package linger_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
	"linger/internal/kerr"
)

// B05, IDEM-16: the broker has appended and the answer is lost, or is an error: the same bytes go again under the same sequence,
// the future succeeds, and one copy is in the log.
func TestAnswerLostAfterTheAppendLeavesOneCopy(t *testing.T) {
	tests := []struct {
		name   string
		lose   func(call *call)
		offset int64 // of the third record
	}{
		{"the connection ends", func(call *call) { call.hangUp() }, 2},
		{"REQUEST_TIMED_OUT", func(call *call) { call.fail(kerr.RequestTimedOut) }, 2},
		{"NOT_ENOUGH_REPLICAS_AFTER_APPEND", func(call *call) { call.fail(kerr.NotEnoughReplicasAfterAppend) }, 2},
		{"no answer at all", func(call *call) {}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.topic("t", 1)
				c.numbered()
				p := c.producer(linger.Linger(0))
				for _, v := range []string{"0", "1"} {
					mustWait(t, mustSend(t, p, plain(v), nil))
				}
				var sent []string
				c.on(kmsg.Produce, func(call *call) bool {
					sent = append(sent, string(call.req.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records))
					if len(sent) > 1 {
						return false
					}
					c.mu.Lock()
					call.usual()
					c.mu.Unlock()
					tt.lose(call)
					return true
				})
				if md := mustWait(t, mustSend(t, p, plain("2"), nil)); md.Offset != tt.offset {
					t.Errorf("offset %d, want %d", md.Offset, tt.offset)
				}
				if len(sent) != 2 || sent[0] != sent[1] {
					t.Errorf("%d attempts, with the same bytes: %t", len(sent), sent[0] == sent[len(sent)-1])
				}
				if got := c.values("t", 0); !cmp.Equal(got, []string{"0", "1", "2"}) {
					t.Errorf("the log holds %q", got)
				}
				mustWait(t, mustSend(t, p, plain("3"), nil))
			})
		})
	}
}

// B05: a broker that says duplicate has the record: a success whose offset is unknown.
func TestDuplicateIsASuccessWithoutOffset(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer()
		c.on(kmsg.Produce, func(call *call) bool { call.fail(kerr.DuplicateSequenceNumber); return true })
		if md := mustWait(t, mustSend(t, p, plain("v"), nil)); md.HasOffset() || md.Offset != -1 || md.ValueSize != 1 {
			t.Errorf("got %+v", md)
		}
	})
}

// IDEM-02: without idempotence the lost answer leaves two copies: at least once.
func TestWithoutIdempotenceALostAnswerLeavesTwoCopies(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		c.numbered()
		p := c.producer(linger.EnableIdempotence(false))
		c.on(kmsg.Produce, func(call *call) bool {
			c.on(kmsg.Produce, nil)
			if b := call.batches()[0]; b.pid != -1 || b.epoch != -1 || b.seq != -1 {
				t.Errorf("producer %d, epoch %d, sequence %d", b.pid, b.epoch, b.seq)
			}
			c.mu.Lock()
			call.usual()
			c.mu.Unlock()
			call.hangUp()
			return true
		})
		if md := mustWait(t, mustSend(t, p, plain("v"), nil)); md.Offset != 1 {
			t.Errorf("offset %d, want the second copy's", md.Offset)
		}
		if got := c.values("t", 0); !cmp.Equal(got, []string{"v", "v"}) {
			t.Errorf("the log holds %q", got)
		}
		if n := c.count("InitProducerID"); n != 0 {
			t.Errorf("asked %d times for a producer id", n)
		}
		if id := p.Identity(); id.State != "none" || id.ProducerID != -1 {
			t.Errorf("identity %+v", id)
		}
	})
}

// B06: a topic that a broker does not know for a moment keeps its sequences: numbering goes on in the same epoch.
func TestSequencesOutliveABrieflyMissingTopic(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.setBrokers(2)
		ft := c.topic("t", 1)
		c.numbered()
		p := c.producer(linger.Linger(0), linger.MetadataMaxAge(time.Second))
		var want []string
		send := func() {
			for range 100 {
				v := fmt.Sprint(len(want))
				want = append(want, v)
				mustWait(t, mustSend(t, p, plain(v), nil))
			}
		}
		send()
		c.change(func() { ft.err = kerr.UnknownTopicOrPartition })
		asked := c.count("Metadata")
		rest(3 * time.Second)
		if c.count("Metadata") == asked {
			t.Fatal("no broker was asked while the topic was missing")
		}
		c.change(func() { ft.err = kerr.None })
		c.on(kmsg.Produce, func(call *call) bool {
			if b := call.batches()[0]; b.epoch != 0 || b.seq != int32(len(want)-1) {
				t.Errorf("epoch %d, sequence %d, want 0 and %d", b.epoch, b.seq, len(want)-1)
			}
			return false
		})
		send()
		if got := c.values("t", 0); !cmp.Equal(got, want) {
			t.Errorf("the log holds %d records, want %d", len(got), len(want))
		}
	})
}

// IDEM-15, CFG-30: idempotence asked for by name refuses what it can't live with; not asked for by name it gives way.
func TestWhatIdempotenceRequires(t *testing.T) {
	for name, opt := range map[string]linger.Option{"acks": linger.Acks("1"), "retries": linger.Retries(0), "max.in.flight.requests.per.connection": linger.MaxInFlightRequestsPerConnection(6)} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				if _, err := linger.New(linger.ByteArray, linger.ByteArray, c.options(linger.EnableIdempotence(true), opt)...); !errors.Is(err, linger.ErrConfig) {
					t.Errorf("got %v, want an ErrConfig", err)
				}
				if name == "max.in.flight.requests.per.connection" {
					return // an error in any case, as in Java
				}
				c.topic("t", 1)
				p := c.producer(opt)
				for _, e := range p.Config() {
					if e.Key == "enable.idempotence" && e.Value != "false" {
						t.Errorf("enable.idempotence reads back %s", e.Value)
					}
				}
				mustWait(t, mustSend(t, p, plain("v"), nil))
				if id := p.Identity(); id.State != "none" || c.count("InitProducerID") != 0 {
					t.Errorf("identity %+v, want none, and nobody to be asked for one", id)
				}
			})
		})
	}
}

// A lost record's sequence goes to nobody else: a batch that expired in flight is followed by a new epoch, and the records
// behind it arrive once.
func TestExpiredSequencesAreNotUsedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		c.numbered()
		p := c.producer(linger.DeliveryTimeout(5*time.Second), linger.RequestTimeout(4*time.Second), linger.Linger(0))
		mustWait(t, mustSend(t, p, plain("first"), nil))
		c.on(kmsg.Produce, func(call *call) bool { return true })
		lost := mustSend(t, p, plain("lost"), nil)
		if _, err := lost.Wait(t.Context()); !errors.Is(err, linger.ErrTimeout) {
			t.Fatalf("got %v", err)
		}
		var seen []string
		c.on(kmsg.Produce, func(call *call) bool {
			b := call.batches()[0]
			seen = append(seen, fmt.Sprintf("%s epoch %d sequence %d", b.values()[0], b.epoch, b.seq))
			return false
		})
		rest(5 * time.Second)
		mustWait(t, mustSend(t, p, plain("next"), nil))
		if want := []string{"next epoch 1 sequence 0"}; !cmp.Equal(seen, want) {
			t.Errorf("sent %q, want %q", seen, want)
		}
	})
}
