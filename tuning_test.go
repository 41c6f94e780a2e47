package linger_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
	"linger/internal/kerr"
)

// TUNE-01: at moderate load linger.ms of 5 to 20 gives more records a request than 0 does.
func TestLingerGathersRecordsAtModerateLoad(t *testing.T) {
	const n = 200
	requests := func(wait time.Duration) (count int) {
		bubble(t, func(t *testing.T, c *cluster) {
			c.topic("t", 1)
			p := c.producer(linger.Linger(wait))
			warm(t, p)
			trickle(t, p, n, "v")
			if got := len(c.records("t", 0)); got != n {
				t.Errorf("linger %v: %d records in the log, want %d", wait, got, n)
			}
			count = c.count("Produce")
		})
		return count
	}
	// A record each millisecond: a batch takes those of linger.ms, give or take the one at its end.
	for _, tt := range []struct {
		wait     time.Duration
		min, max int
	}{{0, n, n}, {5 * time.Millisecond, n / 6, n / 5}, {20 * time.Millisecond, n / 21, n / 20}} {
		if got := requests(tt.wait); got < tt.min || got > tt.max {
			t.Errorf("linger %v: %d requests for %d records, want %d to %d", tt.wait, got, n, tt.min, tt.max)
		}
	}
}

// trickle sends n records to topic t, one each millisecond, and waits for their outcomes.
func trickle(t *testing.T, p producer, n int, value string) {
	t.Helper()
	for i := range n {
		mustSend(t, p, plain(fmt.Sprintf("%s %d", value, i)), nil)
		rest(time.Millisecond)
	}
	mustFlush(t, p)
}

// TUNE-02: at high load a larger batch.size gives more records a request, until max.request.size limits a request or all that
// there is to send is in it.
func TestLargerBatchesGatherMoreUntilALimit(t *testing.T) {
	const parts, each = 8, 800 // some 84 KB a partition
	perRequest := func(batchSize, maxRequest int) (n int) {
		bubble(t, func(t *testing.T, c *cluster) {
			c.topic("t", parts)
			p := c.producer(linger.BatchSize(batchSize), linger.MaxRequestSize(maxRequest), linger.Linger(time.Minute), linger.DeliveryTimeout(time.Hour),
				linger.MaxInFlightRequestsPerConnection(1))
			warm(t, p)
			release := c.holdAll(kmsg.Produce)
			plug := mustSend(t, p, plainOn(0, "while it is out the broker gets nothing more"), nil)
			over, end := context.WithCancel(t.Context())
			end()
			_ = p.Flush(over)
			synctest.Wait()
			for i := range parts * each {
				mustSend(t, p, plainOn(int32(i%parts), strings.Repeat("x", 100)), nil)
			}
			before := p.Counters()
			release()
			synctest.Wait() // what is full is through, before what is not is flushed
			mustFlush(t, p)
			mustWait(t, plug)
			k := p.Counters()
			requests, bytes := k.Requests-before.Requests, k.Bytes-before.Bytes
			if before.Requests != 1 || k.RecordsDelivered != 1+parts*each {
				t.Errorf("batch.size %d: %d requests before the load, %d records delivered, want 1 and %d", batchSize, before.Requests, k.RecordsDelivered, 1+parts*each)
			}
			if bytes > requests*int64(maxRequest) {
				t.Errorf("%d requests of %d bytes, above max.request.size %d", requests, bytes, maxRequest)
			}
			n = int(parts * each / requests)
		})
		return n
	}
	measure := func(maxRequest int, sizes ...int) (all []int) {
		for _, size := range sizes {
			all = append(all, perRequest(size, maxRequest))
		}
		return all
	}
	rising := func(name string, got []int) {
		t.Helper()
		for i := 1; i < len(got); i++ {
			if got[i] < 2*got[i-1]-got[i-1]/5 { // batch.size doubles, a batch's head does not
				t.Errorf("%s: records a request %v, want them to rise with batch.size", name, got)
			}
		}
	}
	const limit = 32 << 10
	rising("below max.request.size", measure(limit, 1000, 2000, 4000))
	if got, most := measure(limit, 8000, 16000, 32000), limit/100; slices.Max(got) > most || slices.Min(got) < most*7/10 {
		t.Errorf("at max.request.size: %v records a request, want nearly %d and no more", got, most)
	}
	rising("below the load", measure(1<<20, 8000, 16000, 32000))
	if got := measure(1<<20, 96<<10, 128<<10); !cmp.Equal(got, []int{parts * each, parts * each}) {
		t.Errorf("above the load: %v records a request, want all %d in one", got, parts*each)
	}
}

// replicated makes broker 1 the leader of topic t with broker 2 as its replica, which has a record replicas later. The leader
// says to acks=1 that it has a record after leader, to acks=all once the replica has it too. When it crashes, what only it had
// is lost and broker 2 leads.
type replicated struct {
	c                *cluster
	leader, replicas time.Duration
	crashed          bool // guarded by c.mu
}

func (r *replicated) start() {
	r.c.setBrokers(2)
	r.c.topic("t", 1)
	r.c.on(kmsg.Produce, func(call *call) bool {
		if call.broker == 2 {
			return false
		}
		go r.append(call)
		return true
	})
}

// append is the leader's part and, later, the replica's.
func (r *replicated) append(call *call) {
	acks := call.req.(*kmsg.ProduceRequest).Acks
	if acks == 0 {
		close(call.done)
	}
	elapse(r.leader)
	var resp kmsg.Response
	r.c.change(func() {
		if !r.crashed {
			resp = call.produced(func(ft *fakeTopic, b batch) (kerr.Code, int64) { return kerr.None, int64(len(ft.log[b.partition])) })
		}
	})
	if resp == nil {
		return // it died with the record unread
	}
	if acks == 1 {
		call.answer(resp)
	}
	elapse(r.replicas - r.leader)
	copied := false
	r.c.change(func() {
		if !r.crashed {
			call.usual()
			copied = true
		}
	})
	if acks == -1 && copied {
		call.answer(resp)
	}
}

func (r *replicated) crash() {
	r.c.change(func() {
		r.crashed = true
		ft := r.c.topics["t"]
		ft.leaders[0], ft.epochs[0] = 2, ft.epochs[0]+1
	})
	r.c.closeBroker(1)
}

// TUNE-05: of acks 0, 1 and all each is safer than the one before, and slower.
func TestAcksTradeSpeedForSafety(t *testing.T) {
	const n = 10
	const leader, replicas = 2 * time.Millisecond, 20 * time.Millisecond
	const gather = time.Millisecond // linger.ms: enough for all to be in one batch
	type result struct {
		failed, lost int
	}
	// run sends n records in one batch and returns when they had their outcomes, and what became of them in the end.
	run := func(acks string, crashAfter time.Duration) (d time.Duration, got result) {
		bubble(t, func(t *testing.T, c *cluster) {
			r := &replicated{c: c, leader: leader, replicas: replicas}
			r.start()
			p := c.producer(linger.Acks(acks), linger.Linger(gather))
			warm(t, p)
			if crashAfter > 0 {
				go func() { elapse(gather + crashAfter); r.crash() }()
			}
			var all []linger.Future
			start := time.Now()
			for i := range n {
				all = append(all, mustSend(t, p, plain(fmt.Sprint(i)), nil))
			}
			for _, f := range all {
				if _, err := f.Wait(t.Context()); err != nil {
					got.failed++
				}
			}
			d = time.Since(start) - gather
			rest(time.Second)
			got.lost = n - len(c.records("t", 0))
		})
		return d, got
	}
	for _, tt := range []struct {
		acks string
		slow time.Duration
		// What is lost although its outcome is success: when the leader dies with the batch unread, with the batch alone in its log,
		// and when all have it.
		unread, unreplicated, safe int
	}{{"0", 0, n, n, 0}, {"1", leader, 0, n, 0}, {"all", replicas, 0, 0, 0}} {
		if d, got := run(tt.acks, 0); !about(d, tt.slow) || got != (result{}) {
			t.Errorf("acks=%s: outcomes after %v, %+v, want them after %v and nothing lost", tt.acks, d, got, tt.slow)
		}
		for after, lost := range map[time.Duration]int{time.Millisecond: tt.unread, 10 * time.Millisecond: tt.unreplicated, 30 * time.Millisecond: tt.safe} {
			if _, got := run(tt.acks, after); got != (result{lost: lost}) {
				t.Errorf("acks=%s, the leader dies after %v: %+v, want no failure and %d lost", tt.acks, after, got, lost)
			}
		}
	}
}

// TUNE-06: with acks=0 nothing waits for a broker, neither a request's turn among those in flight nor an outcome, and what a lost
// connection swallows nobody hears of.
func TestWithoutAcksNothingWaitsAndLossIsSilent(t *testing.T) {
	const n = 500
	run := func(acks string) (d time.Duration) {
		bubble(t, func(t *testing.T, c *cluster) {
			c.topic("t", 1)
			p := c.producer(linger.Acks(acks), linger.EnableIdempotence(false), linger.BatchSize(0), linger.Linger(0), linger.MaxInFlightRequestsPerConnection(5))
			warm(t, p)
			c.on(kmsg.Produce, func(call *call) bool {
				if acks != "0" {
					elapse(10 * time.Millisecond) // before the next request is read
				}
				return false
			})
			d = took(func() { sendNumbered(t, p, n, acks == "0") })
			synctest.Wait()
			if got := len(c.records("t", 0)); got != n || c.count("Produce") != n {
				t.Errorf("acks=%s: %d records in %d requests, want %d", acks, got, c.count("Produce"), n)
			}
		})
		return d
	}
	if d := run("0"); d != 0 {
		t.Errorf("acks=0: %v for %d requests, want no wait at all", d, n)
	}
	if d := run("1"); d < n*10*time.Millisecond-time.Millisecond {
		t.Errorf("acks=1: %v for %d requests: the broker's time is not waited for", d, n)
	}

	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.Acks("0"), linger.BatchSize(0), linger.Linger(0))
		warm(t, p)
		sendNumbered(t, p, 1, true)
		synctest.Wait()
		c.on(kmsg.Produce, func(call *call) bool { call.hangUp(); c.on(kmsg.Produce, nil); return true })
		sendNumbered(t, p, 1, true)
		rest(time.Second)
		sendNumbered(t, p, 1, true)
		rest(time.Second)
		k := p.Counters()
		if got := len(c.records("t", 0)); got != 2 || k.RecordsDelivered != 3 || k.RecordsFailed != 0 || k.RecordsRetried != 0 {
			t.Errorf("%d records in the log, %+v: want one of three lost, and all taken for delivered at once", got, k)
		}
	})
}

// sendNumbered sends n records, too large for two to share a batch.size of 0, and waits for their success; with noOffset none may have one.
func sendNumbered(t *testing.T, p producer, n int, noOffset bool) {
	t.Helper()
	var all []linger.Future
	for i := range n {
		all = append(all, mustSend(t, p, plain(fmt.Sprintf("%0100d", i)), nil))
	}
	for i, f := range all {
		if md := mustWait(t, f); md.HasOffset() == noOffset || noOffset && md.Offset != -1 {
			t.Fatalf("record %d: offset %d", i, md.Offset)
		}
	}
}

// TUNE-10: the fuller the batches, the more compression takes off; linger.ms fills them.
func TestCompressionPaysMoreWithFullerBatches(t *testing.T) {
	for _, codec := range []string{"gzip", "snappy", "lz4", "zstd"} {
		ratio := func(wait time.Duration) (r float64) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.topic("t", 1)
				p := c.producer(linger.CompressionType(codec), linger.Linger(wait))
				warm(t, p)
				onWire := 0
				c.on(kmsg.Produce, func(call *call) bool { onWire += call.batches()[0].bytes; return false })
				trickle(t, p, 300, `{"level":"info","service":"checkout","message":"order accepted"}`)
				k := p.Counters()
				if k.Bytes != int64(onWire) {
					t.Errorf("%s: %d bytes counted, %d arrived", codec, k.Bytes, onWire)
				}
				r = float64(k.UncompressedBytes) / float64(onWire)
			})
			return r
		}
		one, some, many := ratio(0), ratio(10*time.Millisecond), ratio(100*time.Millisecond)
		if one > 1.5 || some < 1.5*one || many < 1.5*some {
			t.Errorf("%s: bytes before and after, as a ratio: %.2f with linger 0, %.2f with 10 ms, %.2f with 100 ms", codec, one, some, many)
		}
	}
}

// TUNE-12: idempotence costs one InitProducerId request at the start, and a round trip in which a partition's first batch goes
// alone; after that not a byte, a request or a wait more.
func TestIdempotenceCostsOneRequest(t *testing.T) {
	type cost struct {
		start, load []string // requests by kind
		bytes       int64    // of the load
		time        time.Duration
	}
	run := func(on bool) (got cost) {
		bubble(t, func(t *testing.T, c *cluster) {
			c.topic("t", 4)
			var written atomic.Int64
			c.onDial = func(_ context.Context, addr string) (net.Conn, error) {
				return &countingConn{c.connect(1), &written}, nil
			}
			p := c.producer(linger.EnableIdempotence(on), linger.Linger(5*time.Millisecond))
			warm(t, p)
			for i := range int32(4) {
				mustWait(t, mustSend(t, p, plainOn(i, "goes alone, as a partition's first batch does"), nil))
			}
			rest(time.Second) // metadata that is still wanted waits for its back-off
			c.on(kmsg.Produce, func(call *call) bool {
				go func() { elapse(30 * time.Millisecond); call.asUsual() }() // three are in flight at a time
				return true
			})
			c.change(func() { got.start = slices.Clone(c.calls) })
			before := written.Load()
			got.time = took(func() {
				for range 50 {
					for i := range 40 {
						mustSend(t, p, plainOn(int32(i%4), strings.Repeat("x", 100)), nil)
					}
					rest(10 * time.Millisecond)
				}
				mustFlush(t, p)
			})
			got.bytes = written.Load() - before
			c.change(func() { got.load = slices.Clone(c.calls[len(got.start):]) })
			if b := p.Counters().Bytes; got.bytes < b || b == 0 {
				t.Errorf("%d bytes were written and %d counted", got.bytes, b)
			}
		})
		return got
	}
	off, on := run(false), run(true)
	// How often connections and metadata are made anew is a matter of who is first.
	with, without := count(on.start), count(off.start)
	if with["InitProducerID"] != 1 || without["InitProducerID"] != 0 || with["Produce"] != without["Produce"] {
		t.Errorf("requests at the start %v, without idempotence %v: want one InitProducerID more", on.start, off.start)
	}
	on.start, off.start = nil, nil
	if diff := cmp.Diff(off, on, cmp.AllowUnexported(cost{})); diff != "" {
		t.Errorf("the load (-without +with idempotence):\n%s", diff)
	}
}

func count(words []string) map[string]int {
	n := map[string]int{}
	for _, w := range words {
		n[w]++
	}
	return n
}

type countingConn struct {
	net.Conn
	written *atomic.Int64
}

func (c *countingConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
}
