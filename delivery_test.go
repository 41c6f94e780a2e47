package linger_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
	"linger/internal/invariant"
	"linger/internal/kerr"
)

// loops counts goroutines that run a sender's loop under the label of a client id.
func loops(t *testing.T, clientID string) int {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, stack := range strings.Split(profile.String(), "\n\n") {
		if strings.Contains(stack, `"kafka-producer-network-thread | `+clientID+`"`) && strings.Contains(stack, "engine.(*Engine).run+") {
			var each int
			_, _ = fmt.Sscan(strings.TrimPrefix(stack, "goroutine profile"), &each)
			n += max(each, 1)
		}
	}
	return n
}

// SND-01, SND-02: a producer has one sender from New to Close, found in profiles by Java's thread name.
func TestOneSenderAProducer(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		p := c.producer(linger.ClientID("only one"))
		synctest.Wait()
		if n := loops(t, "only one"); n != 1 {
			t.Errorf("%d senders run, want 1", n)
		}
		p.Close()
		synctest.Wait() // the last thing that the loop does is to say that it has ended
		if n := loops(t, "only one"); n != 0 {
			t.Errorf("%d senders run after Close", n)
		}
	})
}

// SND-04, SND-10, CFG-18: the loop goes on while the producer is open, and neither spins when there is nothing to do nor
// oversleeps.
func TestTheLoopNeitherSpinsNorOversleeps(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.Linger(50*time.Millisecond), linger.DeliveryTimeout(10*time.Minute), linger.RetryBackoff(700*time.Millisecond), linger.Set("retry.backoff.max.ms", 700))
		warm(t, p)
		before := p.Turns()
		rest(4 * time.Hour)
		if n := p.Turns() - before; n < 4*12 || n > 4*12*20 {
			t.Errorf("%d turns in 4 idle hours, want a few for each refresh of the metadata", n)
		}
		mustWait(t, mustSend(t, p, plain("connects again"), nil))
		if d := took(func() { mustWait(t, mustSend(t, p, plain("v"), nil)) }); !about(d, 50*time.Millisecond) {
			t.Errorf("delivered after %v, want linger.ms", d)
		}
		fail := true
		c.on(kmsg.Produce, func(call *call) bool {
			if !fail {
				return false
			}
			fail = false
			call.fail(kerr.NotEnoughReplicas)
			return true
		})
		if d := took(func() { mustWait(t, mustSend(t, p, plain("v"), nil)) }); d < (50+560)*time.Millisecond || d > (50+841)*time.Millisecond {
			t.Errorf("retried after %v, want linger.ms and the back-off of 700 ms ± 20 %%", d)
		}
	})
}

// SND-36: an append, a flush and a close wake the loop out of any sleep.
func TestAppendsFlushesAndClosesWakeTheLoop(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.Linger(0))
		warm(t, p)
		mustWait(t, mustSend(t, p, plain("v"), nil))
		rest(time.Minute)
		if d := took(func() { mustWait(t, mustSend(t, p, plain("v"), nil)) }); d != 0 {
			t.Errorf("append: %v", d)
		}
		slow := c.producer(linger.Linger(time.Hour), linger.DeliveryTimeout(3*time.Hour))
		warm(t, slow)
		f := mustSend(t, slow, plain("v"), nil)
		rest(time.Minute)
		if d := took(func() { mustFlush(t, slow) }); d != 0 || !f.Ready() {
			t.Errorf("flush: %v", d)
		}
		rest(time.Minute)
		if d := took(func() { slow.Close() }); d != 0 {
			t.Errorf("close: %v", d)
		}
	})
}

// SND-06, SND-25, SND-33: the producer id comes first. While the request for it is out nothing is produced; metadata goes on.
func TestNothingIsProducedBeforeTheProducerIDIsThere(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		c.topic("u", 1)
		release := c.holdAll(kmsg.InitProducerID)
		hello := c.holdAll(kmsg.ApiVersions) // the topic is wanted first: its metadata does not stand behind the request for the id
		p := c.producer()
		sent := make(chan linger.Future, 1)
		go func() { sent <- mustSend(t, p, plain("v"), nil) }()
		synctest.Wait()
		hello()
		f := <-sent
		rest(10 * time.Second)
		if n := c.count("Produce"); n != 0 || f.Ready() {
			t.Errorf("%d Produce requests without a producer id", n)
		}
		asked := c.count("Metadata")
		go func() { _, _ = p.PartitionsFor(t.Context(), "u") }()
		synctest.Wait()
		if c.count("Metadata") != asked+1 {
			t.Error("metadata is not asked for meanwhile")
		}
		if id := p.Identity(); id.State != "initializing" || id.ProducerID != -1 {
			t.Errorf("identity %+v", id)
		}
		var pid int64
		c.on(kmsg.Produce, func(call *call) bool { pid = call.batches()[0].pid; return false })
		release()
		mustWait(t, f)
		if id := p.Identity(); pid != 1000 || id.ProducerID != 1000 || id.State != "ready" {
			t.Errorf("batch with producer id %d, identity %+v", pid, id)
		}
	})
}

// SND-11, RESP-03, RESP-06, RESP-10: the three ways out of a response, and the fourth: single records are at fault.
func TestResponsesEndRetryOrFailBatches(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 4)
		p := c.producer(linger.Linger(10*time.Millisecond), linger.Acks("1"))
		warm(t, p)
		answered := 0
		c.on(kmsg.Produce, func(call *call) bool {
			if answered++; answered > 1 {
				return false
			}
			c.mu.Lock()
			resp := call.produced(func(ft *fakeTopic, b batch) (kerr.Code, int64) {
				return []kerr.Code{kerr.None, kerr.NotEnoughReplicas, kerr.InvalidTopicException, kerr.InvalidRecord}[b.partition], 70
			})
			c.mu.Unlock()
			for i := range resp.Topics[0].Partitions {
				if rp := &resp.Topics[0].Partitions[i]; rp.Partition == 3 {
					rp.ErrorMessage = kmsg.StringPtr("some are wrong")
					bad := kmsg.NewProduceResponseTopicPartitionErrorRecord()
					bad.RelativeOffset, bad.ErrorMessage = 1, kmsg.StringPtr("no key")
					worse := kmsg.NewProduceResponseTopicPartitionErrorRecord()
					worse.RelativeOffset = 2
					rp.ErrorRecords = append(rp.ErrorRecords, bad, worse)
				}
			}
			call.answer(resp)
			return true
		})
		var fs []linger.Future
		for _, part := range []int32{0, 1, 2, 3, 3, 3} {
			fs = append(fs, mustSend(t, p, plainOn(part, "v"), nil))
		}
		var got []string
		for _, f := range fs {
			md, err := f.Wait(t.Context())
			got = append(got, fmt.Sprintf("%d@%d %v", md.Partition, md.Offset, err))
		}
		want := []string{
			"0@70 <nil>", "1@0 <nil>",
			"2@-1 send t-2: INVALID_TOPIC_EXCEPTION, " + kerr.InvalidTopicException.Message(),
			"3@-1 send t-3: Failed to append record because it was part of a batch which had one more more invalid records",
			"3@-1 send t-3: INVALID_RECORD, no key",
			"3@-1 send t-3: INVALID_RECORD, some are wrong",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("outcomes (-want +got):\n%s", diff)
		}
		if answered != 2 {
			t.Errorf("%d requests, want one more for the partition that is tried again", answered)
		}
	})
}

// RESP-10: when a single record is at fault the batch's own error names what is wrong with it; the rest hears of a bad batch.
func TestTheOneRecordAtFaultGetsTheBatchsCode(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.Linger(10 * time.Millisecond))
		warm(t, p)
		c.on(kmsg.Produce, func(call *call) bool {
			c.mu.Lock()
			resp := call.produced(func(*fakeTopic, batch) (kerr.Code, int64) { return kerr.InvalidTimestamp, -1 })
			c.mu.Unlock()
			bad := kmsg.NewProduceResponseTopicPartitionErrorRecord()
			bad.RelativeOffset, bad.ErrorMessage = 1, kmsg.StringPtr("too old")
			resp.Topics[0].Partitions[0].ErrorRecords = append(resp.Topics[0].Partitions[0].ErrorRecords, bad)
			call.answer(resp)
			return true
		})
		var fs []linger.Future
		for range 3 {
			fs = append(fs, mustSend(t, p, plain("v"), nil))
		}
		for i, f := range fs {
			_, err := f.Wait(t.Context())
			if one := errors.Is(err, &kerr.Error{Code: kerr.InvalidTimestamp}); one != (i == 1) {
				t.Errorf("record %d: %v", i, err)
			}
			if i == 1 && !strings.Contains(err.Error(), "too old") {
				t.Errorf("the error does not give the broker's words: %v", err)
			}
		}
	})
}

// An answer is matched by topic and partition, in whatever order the broker puts them.
func TestAnswersInAnotherOrderAreMatched(t *testing.T) {
	for _, produce := range []int16{7, 13} { // topics by name and by id
		bubble(t, func(t *testing.T, c *cluster) {
			c.topic("t", 3)
			c.topic("u", 3)
			c.maxAPI[kmsg.Produce] = produce
			p := c.producer(linger.Linger(10 * time.Millisecond))
			warm(t, p)
			if err := p.Warm(t.Context(), "u"); err != nil {
				t.Fatal(err)
			}
			c.on(kmsg.Produce, func(call *call) bool {
				c.mu.Lock()
				resp := call.produced(func(_ *fakeTopic, b batch) (kerr.Code, int64) {
					return kerr.None, 100*int64(b.topic[0]) + int64(b.partition)
				})
				c.mu.Unlock()
				slices.Reverse(resp.Topics)
				for i := range resp.Topics {
					slices.Reverse(resp.Topics[i].Partitions)
				}
				call.answer(resp)
				return true
			})
			fs := map[int64]linger.Future{}
			for part := range int32(3) {
				fs[100*'t'+int64(part)] = mustSend(t, p, plainOn(part, "v"), nil)
				fs[100*'u'+int64(part)] = mustSend(t, p, rec{Topic: "u", Partition: linger.On(part)}, nil)
			}
			for want, f := range fs {
				if md := mustWait(t, f); md.Offset != want {
					t.Errorf("version %d, %s-%d: offset %d, want %d", produce, md.Topic, md.Partition, md.Offset, want)
				}
			}
		})
	}
}

// TUNE-07, SND-27, ACC-37: with one request in flight a partition's next batch waits for the one that is out, also when
// another broker leads the partition by now.
func TestOneInFlightIsAPartitionsLimitToo(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.setBrokers(2)
		ft := c.topic("t", 2)
		p := c.producer(linger.EnableIdempotence(false), linger.MaxInFlightRequestsPerConnection(1), linger.Linger(0), linger.MetadataMaxAge(time.Second))
		warm(t, p)
		for part := range int32(2) {
			mustWait(t, mustSend(t, p, plainOn(part, "connects"), nil))
		}
		c.on(kmsg.Produce, func(call *call) bool {
			if call.batches()[0].values()[0] != "a" {
				return false
			}
			time.AfterFunc(10*time.Second, call.asUsual)
			return true
		})
		a := mustSend(t, p, plainOn(0, "a"), nil)
		rest(time.Second)
		c.change(func() { ft.leaders[0], ft.epochs[0] = 2, 2 })
		rest(3 * time.Second) // the new leader is known
		b := mustSend(t, p, plainOn(0, "b"), nil)
		rest(3 * time.Second)
		if a.Ready() || b.Ready() {
			t.Error("b overtook a")
		}
		mustWait(t, b)
		if got := c.values("t", 0); !cmp.Equal(got, []string{"connects", "a", "b"}) {
			t.Errorf("the log holds %q", got)
		}
	})
}

// RESP-13, RESP-04, CFG-15: when the retries are used up the application hears of too few replicas; nothing is dropped in
// silence.
func TestNotEnoughReplicasReachesTheApplication(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.Retries(3), linger.Acks("all"))
		tries := 0
		c.on(kmsg.Produce, func(call *call) bool { tries++; call.fail(kerr.NotEnoughReplicas); return true })
		_, err := mustSend(t, p, plain("v"), nil).Wait(t.Context())
		if e, ok := errors.AsType[*linger.ProducerError](err); !ok || e.Code != kerr.NotEnoughReplicas || e.Topic != "t" || e.Partition != 0 || linger.ClassOf(err) != linger.ClassRetriable {
			t.Errorf("got %v (%v), want NOT_ENOUGH_REPLICAS of t-0", err, linger.ClassOf(err))
		}
		if tries != 4 {
			t.Errorf("%d tries, want the first and 3 retries", tries)
		}
	})
}

// SND-15, CFG-21: a broker gets nothing while it is not connected or has max.in.flight requests to answer; records join
// their open batches meanwhile.
func TestBusyBrokersGetNothing(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.MaxInFlightRequestsPerConnection(2), linger.Acks("1"), linger.Linger(0))
		warm(t, p)
		mustWait(t, mustSend(t, p, plain("connects"), nil))
		gate := make(chan struct{})
		var sizes []int // by request
		c.on(kmsg.Produce, func(call *call) bool {
			sizes = append(sizes, len(call.batches()[0].records))
			go func() { <-gate; call.asUsual() }()
			return true
		})
		for i := range 5 {
			mustSend(t, p, plain(fmt.Sprint(i)), nil)
			synctest.Wait()
		}
		if want := []int{1, 1}; !cmp.Equal(sizes, want) {
			t.Errorf("batches of %v records are out, want max.in.flight of one each", sizes)
		}
		close(gate)
		mustFlush(t, p)
		if want := []int{1, 1, 3}; !cmp.Equal(sizes, want) {
			t.Errorf("batches of %v records when all are through, want %v", sizes, want)
		}
	})
}

// SND-28: without idempotence and with several requests in flight a later batch may land before an earlier one's retry.
// TUNE-07, SND-27: with one in flight it may not, and idempotence is not needed for that.
func TestWithoutIdempotenceOrderNeedsOneInFlight(t *testing.T) {
	for inFlight, want := range map[int][]string{5: {"b", "a"}, 1: {"a", "b"}} {
		bubble(t, func(t *testing.T, c *cluster) {
			c.topic("t", 1)
			p := c.producer(linger.EnableIdempotence(false), linger.MaxInFlightRequestsPerConnection(inFlight), linger.Linger(0))
			warm(t, p)
			mustWait(t, mustSend(t, p, plain("connects"), nil))
			c.on(kmsg.Produce, func(call *call) bool {
				if v := call.batches()[0].values(); v[0] != "a" {
					return false
				}
				c.on(kmsg.Produce, nil)
				time.AfterFunc(time.Second, func() { call.fail(kerr.NotLeaderOrFollower) })
				return true
			})
			mustSend(t, p, plain("a"), nil)
			synctest.Wait()
			mustSend(t, p, plain("b"), nil) // on its way when the answer to a comes, if it may
			mustFlush(t, p)
			if got := c.values("t", 0)[1:]; !cmp.Equal(got, want) {
				t.Errorf("%d in flight: the log holds %q, want %q", inFlight, got, want)
			}
		})
	}
}

// SND-29, IDEM-11, IDEM-17: with idempotence order is kept with 1 to 5 requests in flight, whatever fails.
func TestIdempotenceKeepsOrder(t *testing.T) {
	for inFlight := 1; inFlight <= 5; inFlight++ {
		t.Run(fmt.Sprint(inFlight, " in flight"), func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.topic("t", 1)
				c.numbered()
				p := c.producer(linger.MaxInFlightRequestsPerConnection(inFlight), linger.Linger(0), linger.BatchSize(200))
				warm(t, p)
				requests := 0
				c.on(kmsg.Produce, func(call *call) bool {
					requests++
					switch {
					case requests%7 == 3:
						call.fail(kerr.NotLeaderOrFollower)
					case requests%7 == 5: // appended, and the answer is lost
						c.mu.Lock()
						call.usual()
						c.mu.Unlock()
						call.hangUp()
					default:
						return false
					}
					return true
				})
				var want []string
				for i := range 60 {
					v := fmt.Sprintf("%02d%s", i, strings.Repeat("x", 80))
					want = append(want, v)
					mustSend(t, p, plain(v), func(md linger.RecordMetadata, err error) {
						if err != nil || md.Offset != int64(i) {
							t.Errorf("record %d: offset %d, %v", i, md.Offset, err)
						}
					})
					rest(time.Duration(i%4) * time.Millisecond)
				}
				mustFlush(t, p)
				if diff := cmp.Diff(want, c.values("t", 0)); diff != "" {
					t.Errorf("log (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// SND-30, TMO-03, TMO-04, CFG-16: batches that reach delivery.timeout.ms fail then, whether they wait or are in flight.
func TestQueuedAndInFlightBatchesExpireOnTime(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.setBrokers(2)
		c.topic("t", 2)
		p := c.producer(linger.DeliveryTimeout(20*time.Second), linger.RequestTimeout(15*time.Second), linger.Linger(0))
		warm(t, p)
		c.onDial = nil
		c.on(kmsg.Produce, func(*call) bool { return true })
		c.change(func() { c.topics["t"].leaders[1] = -1 }) // nobody to send to
		p2 := c.producer(linger.DeliveryTimeout(20*time.Second), linger.RequestTimeout(15*time.Second), linger.Linger(0))
		warm(t, p2)
		for name, send := range map[string]func(cb linger.Callback){
			"in flight": func(cb linger.Callback) { mustSend(t, p, plainOn(0, "v"), cb) },
			"queued":    func(cb linger.Callback) { mustSend(t, p2, plainOn(1, "v"), cb) },
		} {
			start := time.Now()
			done := make(chan struct{})
			send(func(md linger.RecordMetadata, err error) {
				defer close(done)
				if d := time.Since(start); !about(d, 20*time.Second) || !errors.Is(err, linger.ErrTimeout) {
					t.Errorf("%s: ended after %v with %v, want a time-out after 20s", name, d, err)
				}
				if !strings.Contains(err.Error(), "Expiring 1 record(s) for t-") || !strings.Contains(err.Error(), "20000 ms has passed") {
					t.Errorf("%s: the error does not tell how many, where and how long: %v", name, err)
				}
			})
			<-done
		}
	})
}

// SND-31, POOL-31: the memory of all that one answer ends is home before the first of the callbacks runs: with buffer.memory
// exactly used up, a callback finds all of it, and its TrySend has room.
func TestACallbackFindsTheMemoryOfItsRecord(t *testing.T) {
	const size = 200
	partitions, rounds := 4000, 5 // many, so that memory that comes home too late is seen
	if invariant.Enabled {        // which looks at all of the pool with each step
		partitions, rounds = 200, 2
	}
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", partitions)
		p := c.producer(linger.BufferMemory(int64(partitions*size)), linger.BatchSize(size), linger.Linger(time.Second))
		warm(t, p)
		for range rounds {
			first := true
			for i := range partitions {
				mustSend(t, p, plainOn(int32(i), "v"), func(linger.RecordMetadata, error) {
					if !first {
						return
					}
					first = false
					if n := linger.MemoryAvailable(p); n != int64(partitions*size) {
						t.Errorf("%d of %d bytes are home when the first callback runs", n, partitions*size)
					}
					for part := range int32(partitions) {
						if _, err := p.TrySend(plainOn(part, "w"), nil); err != nil {
							t.Errorf("partition %d: %v", part, err)
						}
					}
				})
			}
			if n := linger.MemoryAvailable(p); n != 0 {
				t.Errorf("%d bytes are left, want none", n)
			}
			synctest.Wait() // a flush may find the sender half-way through the new batches
			mustFlush(t, p) // one request
			mustFlush(t, p) // what the callback sent
		}
	})
}

// SND-31, POOL-31: memory comes home by the sender, before callbacks and whether or not anybody looks at the outcome: a
// Send that waits for it goes on.
func TestMemoryComesHomeBeforeCallbacks(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.BufferMemory(1000), linger.BatchSize(1000), linger.Linger(0), linger.MaxBlock(time.Minute))
		warm(t, p)
		big := strings.Repeat("x", 900)
		stuck := make(chan struct{})
		c.on(kmsg.Produce, func(*call) bool { elapse(2 * time.Second); return false })
		mustSend(t, p, plain(big), func(linger.RecordMetadata, error) { <-stuck })
		if d := took(func() { mustSend(t, p, plain(big), nil) }); !about(d, 2*time.Second) {
			t.Errorf("the send waited %v for memory, want the 2s until the answer came, callback or not", d)
		}
		close(stuck)
		mustFlush(t, p)
	})
}

// POOL-17, POOL-31, CFG-08: when nothing comes home within max.block.ms the outcome is an exhausted buffer, with size, limit,
// total and what is available; what is in flight counts. It is a time-out.
func TestExhaustedMemoryIsAnOutcomeThatTellsTheNumbers(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.BufferMemory(1500), linger.BatchSize(1000), linger.MaxBlock(300*time.Millisecond))
		warm(t, p)
		c.on(kmsg.Produce, func(*call) bool { return true })
		mustSend(t, p, plain(strings.Repeat("x", 900)), nil)
		var called error
		var f linger.Future
		if d := took(func() {
			f = mustSend(t, p, plain(strings.Repeat("x", 900)), func(md linger.RecordMetadata, err error) { called = err })
		}); !about(d, 300*time.Millisecond) {
			t.Errorf("gave up after %v", d)
		}
		_, err := f.Wait(t.Context())
		if !errors.Is(err, linger.ErrBufferExhausted) || !errors.Is(err, linger.ErrTimeout) || called != err {
			t.Errorf("got %v, called back with %v", err, called)
		}
		if want := "Failed to allocate 1000 bytes within the configured max blocking time 300 ms. Total memory: 1500 bytes. Available memory: 500 bytes. Poolable size: 1000 bytes"; !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
		if n := p.Counters().BufferExhausted; n != 1 {
			t.Errorf("counted %d times", n)
		}
	})
}

// ACC-34: a slow Send waits in allocation and then opens a batch, in turn with others that wait.
func TestWaitersForMemoryAreServedInTurn(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.BufferMemory(1000), linger.BatchSize(1000), linger.Linger(0))
		warm(t, p)
		c.on(kmsg.Produce, func(*call) bool { elapse(time.Second); return false })
		big := strings.Repeat("x", 900)
		for i := range 6 {
			go func() { _, _ = p.Send(t.Context(), plain(fmt.Sprint(i)+big), nil) }()
			synctest.Wait()
		}
		rest(10 * time.Second)
		var got []string
		for _, v := range c.values("t", 0) {
			got = append(got, v[:1])
		}
		if want := []string{"0", "1", "2", "3", "4", "5"}; !cmp.Equal(got, want) {
			t.Errorf("served in the order %v, want %v", got, want)
		}
	})
}

// SND-32, COMP-01: a batch is compressed once and numbered once, however often it is sent; it ends once and its memory comes
// home once.
func TestABatchIsCompressedAndNumberedOnce(t *testing.T) {
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		t.Run(codec, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.topic("t", 1)
				p := c.producer(linger.CompressionType(codec), linger.Linger(10*time.Millisecond))
				warm(t, p)
				var sent []string
				c.on(kmsg.Produce, func(call *call) bool {
					sent = append(sent, string(call.req.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records))
					b := call.batches()[0]
					if b.codec != codec || len(b.records) != 20 || b.seq != 0 || b.pid < 0 {
						t.Errorf("attempt %d: codec %s, %d records, producer %d, sequence %d", len(sent), b.codec, len(b.records), b.pid, b.seq)
					}
					if len(sent) < 3 {
						call.fail(kerr.NotEnoughReplicas)
						return true
					}
					return false
				})
				called := 0
				for range 20 {
					mustSend(t, p, plain(strings.Repeat("abc", 20)), func(md linger.RecordMetadata, err error) { called++ })
				}
				mustFlush(t, p)
				if len(sent) != 3 || sent[0] != sent[1] || sent[1] != sent[2] {
					t.Errorf("%d attempts, of the same bytes %t", len(sent), sent[0] == sent[len(sent)-1])
				}
				if codec != "none" && len(sent[0]) > 400 {
					t.Errorf("20 similar records take %d bytes", len(sent[0]))
				}
				n := p.Counters()
				if called != 20 || n.RecordsDelivered != 20 || n.RecordsSent != 60 || n.RecordsRetried != 40 || n.Batches != 3 {
					t.Errorf("%d callbacks, counters %+v", called, n)
				}
			})
		})
	}
}

// SND-35, SND-08: a request carries acks, request.timeout.ms, no transactional id and one batch a partition; one request a
// broker.
func TestWhatAProduceRequestCarries(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.setBrokers(2)
		c.topic("t", 4)
		c.topic("u", 2)
		p := c.producer(linger.Acks("1"), linger.RequestTimeout(12345*time.Millisecond), linger.Linger(50*time.Millisecond), linger.BatchSize(100))
		warm(t, p)
		if err := p.Warm(t.Context(), "u"); err != nil {
			t.Fatal(err)
		}
		for part := range int32(4) {
			mustWait(t, mustSend(t, p, plainOn(part, "connects"), nil))
		}
		byBroker := map[int32][]string{}
		c.on(kmsg.Produce, func(call *call) bool {
			req := call.req.(*kmsg.ProduceRequest)
			if req.Acks != 1 || req.TimeoutMillis != 12345 || req.TransactionID != nil || call.client != "test" {
				t.Errorf("acks %d, time-out %d, transactional id %v, client %q", req.Acks, req.TimeoutMillis, req.TransactionID, call.client)
			}
			if len(req.Topics) > 2 {
				t.Errorf("%d topics in the request: one stands there twice", len(req.Topics))
			}
			var parts []string
			for _, b := range call.batches() {
				parts = append(parts, fmt.Sprintf("%s-%d", b.topic, b.partition))
			}
			slices.Sort(parts)
			c.change(func() { byBroker[call.broker] = append(byBroker[call.broker], strings.Join(parts, " ")) })
			return false
		})
		for _, topic := range []string{"t", "u"} {
			for part := range int32(4) {
				if topic == "t" || part < 2 {
					mustSend(t, p, rec{Topic: topic, Partition: linger.On(part), Value: []byte("v")}, nil)
				}
			}
		}
		rest(time.Second)
		want := map[int32][]string{1: {"t-0 t-2 u-0"}, 2: {"t-1 t-3 u-1"}}
		if diff := cmp.Diff(want, byBroker); diff != "" {
			t.Errorf("requests by broker (-want +got):\n%s", diff)
		}
		for range 5 { // drains begin elsewhere each time
			for part := range int32(4) {
				mustSend(t, p, plainOn(part, "v"), nil)
				mustSend(t, p, rec{Topic: "u", Partition: linger.On(part % 2), Value: []byte("v")}, nil)
			}
			mustFlush(t, p)
		}
		byBroker = map[int32][]string{}
		for range 3 { // three batches wait for one partition: one each request
			mustSend(t, p, plainOn(0, strings.Repeat("x", 90)), nil)
		}
		mustFlush(t, p)
		if want := map[int32][]string{1: {"t-0", "t-0", "t-0"}}; !cmp.Equal(byBroker, want) {
			t.Errorf("requests %v, want %v", byBroker, want)
		}
	})
}

// ACC-40, ACC-41, ACC-42, TUNE-03: a full batch goes at once, another when it has lingered; whichever is reached first.
// CFG-06, CFG-07: so batch.size bounds a batch, linger.ms its wait, and with linger.ms=0 nothing waits.
func TestAFullBatchGoesAtOnceAnotherWhenItHasLingered(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.Linger(300*time.Millisecond), linger.BatchSize(1000))
		warm(t, p)
		mustWait(t, mustSend(t, p, plain("connects"), nil))
		var sizes []int
		c.on(kmsg.Produce, func(call *call) bool { sizes = append(sizes, len(call.batches()[0].records)); return false })

		full := func() {
			for range 8 {
				mustSend(t, p, plain(strings.Repeat("x", 100)), nil)
			}
			f := mustSend(t, p, plain(strings.Repeat("x", 100)), nil)
			mustWait(t, f) // it stands in the second batch, which lingers
		}
		if d := took(full); !about(d, 300*time.Millisecond) {
			t.Errorf("the second batch was delivered after %v, want linger.ms after it was opened", d)
		}
		if want := []int{8, 1}; !cmp.Equal(sizes, want) {
			t.Errorf("batches of %v records, want %v", sizes, want)
		}
		sizes = nil
		lone := mustSend(t, p, plain("lone"), nil)
		rest(200 * time.Millisecond)
		mustSend(t, p, plain("joins"), nil)
		if d := took(func() { mustWait(t, lone) }); !about(d, 100*time.Millisecond) {
			t.Errorf("an unfilled batch left %v after 200 ms, want linger.ms after it was opened", d)
		}
		if want := []int{2}; !cmp.Equal(sizes, want) {
			t.Errorf("batches of %v records, want %v", sizes, want)
		}

		now := c.producer(linger.Linger(0))
		warm(t, now)
		mustWait(t, mustSend(t, now, plain("connects"), nil))
		sizes = nil
		for range 5 {
			if d := took(func() { mustWait(t, mustSend(t, now, plain("v"), nil)) }); d != 0 {
				t.Errorf("with linger.ms=0 a record took %v", d)
			}
		}
		if want := []int{1, 1, 1, 1, 1}; !cmp.Equal(sizes, want) {
			t.Errorf("with linger.ms=0: batches of %v records", sizes)
		}
	})
}

// TUNE-08: how long a record is tried is what delivery.timeout.ms says; retries, left alone, are not what ends it.
func TestDeliveryTimeoutAndNotRetriesEndsTheTrying(t *testing.T) {
	for _, limit := range []time.Duration{10 * time.Second, 40 * time.Second} {
		bubble(t, func(t *testing.T, c *cluster) {
			c.topic("t", 1)
			p := c.producer(linger.DeliveryTimeout(limit), linger.RequestTimeout(limit/2))
			warm(t, p)
			tries := 0
			c.on(kmsg.Produce, func(call *call) bool { tries++; call.fail(kerr.NotEnoughReplicas); return true })
			d := took(func() {
				if _, err := mustSend(t, p, plain("v"), nil).Wait(t.Context()); err == nil {
					t.Error("the record was delivered")
				}
			})
			if d < limit-1300*time.Millisecond || d > limit+time.Millisecond || tries < int(limit/time.Second)-3 {
				t.Errorf("given up after %v and %d tries, want about %v", d, tries, limit)
			}
		})
	}
}

// TMO-09: request.timeout.ms and linger.ms must fit into delivery.timeout.ms; New says so.
func TestDeliveryTimeoutMustHoldLingerAndRequest(t *testing.T) {
	_, err := linger.New(linger.String, linger.String, linger.BootstrapServers("10.0.0.1:9092"), linger.WithLogger(nil),
		linger.Linger(100*time.Millisecond), linger.RequestTimeout(10*time.Second), linger.DeliveryTimeout(10*time.Second))
	if !errors.Is(err, linger.ErrConfig) || !regexp.MustCompile(`delivery\.timeout\.ms.*linger\.ms.*request\.timeout\.ms`).MatchString(err.Error()) {
		t.Errorf("got %v", err)
	}
}

// B30: the longest time settings there are neither overflow nor expire anything.
func TestVeryLongTimeSettings(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.Set("linger.ms", int64(math.MaxInt64)), linger.Set("request.timeout.ms", math.MaxInt32), linger.Set("max.block.ms", int64(math.MaxInt64)),
			linger.Set("metadata.max.age.ms", int64(math.MaxInt64)), linger.Set("connections.max.idle.ms", int64(math.MaxInt64)),
			linger.Set("retry.backoff.ms", int64(math.MaxInt64)), linger.Set("retry.backoff.max.ms", int64(math.MaxInt64)), linger.Set("metadata.max.idle.ms", int64(math.MaxInt64)))
		f := mustSend(t, p, plain("v"), nil)
		rest(3 * time.Minute) // each second of an open batch costs a thousand ticks
		if f.Ready() {
			t.Error("a record with endless linger.ms has an outcome")
		}
		mustFlush(t, p)
		mustWait(t, f)
	})
}

// B23: a broker that closes an idle connection costs nobody an error, with retries or without.
func TestIdleConnectionsClosedByTheBrokerCostNoError(t *testing.T) {
	for name, opts := range map[string][]linger.Option{"defaults": nil, "acks=1, no retries": {linger.Acks("1"), linger.Retries(0)}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.topic("t", 1)
				p := c.producer(opts...)
				for range 20 {
					mustWait(t, mustSend(t, p, plain("v"), nil))
					rest(3 * time.Second)
					c.close() // the broker's side
					rest(3 * time.Second)
				}
				if n := c.dials(); n < 20 {
					t.Errorf("%d connections for 20 rounds", n)
				}
				if got := c.logged(4, ""); len(got) > 0 { // slog.LevelWarn
					t.Errorf("warned: %q", got)
				}
			})
		})
	}
}
