package linger_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
)

// Each test here shows that an option reaches the part that obeys it; what the part does with it is shown there.

// CFG-34, CFG-35, CFG-37, CFG-38: keyless records avoid a partition whose queue grows because its broker is busy, and leave
// it alone with partitioner.availability.timeout.ms. That has an effect with adaptive partitioning only, and neither has one
// on a partitioner of the application's.
func TestAdaptivePartitioningAvoidsABusyBroker(t *testing.T) {
	share := func(opts ...linger.Option) (free float64) {
		bubble(t, func(t *testing.T, c *cluster) {
			c.setBrokers(2)
			c.topic("t", 2)
			p := c.producer(append(opts, linger.Linger(0), linger.BatchSize(1000), linger.MaxInFlightRequestsPerConnection(2), linger.Acks("1"))...)
			warm(t, p)
			for part := range int32(2) {
				mustWait(t, mustSend(t, p, plainOn(part, "connects"), nil))
			}
			c.on(kmsg.Produce, func(call *call) bool { return call.broker == 2 })
			mustSend(t, p, plainOn(1, "never answered"), nil)
			const n = 2000
			for range n {
				rest(time.Millisecond)
				mustSend(t, p, plain(strings.Repeat("x", 200)), nil)
			}
			rest(time.Second)
			free = float64(len(c.values("t", 0))) / n
		})
		return free
	}
	off, timeout := linger.PartitionerAdaptivePartitioningEnable(false), linger.PartitionerAvailabilityTimeout(50*time.Millisecond)
	uniform, adaptive := share(off), share()
	away := share(timeout)
	// Uniform choices leave less than half for the free partition: a batch that can't go takes more records than one that can. It
	// is a third, by chance a twelfth more or less.
	if uniform < 0.15 || uniform > 0.6 || adaptive < 0.8 || away < 0.97 {
		t.Errorf("share of the free partition: uniform %.2f, adaptive %.2f, with an availability time-out %.2f; want less than a half, most, nearly all", uniform, adaptive, away)
	}
	if alone := share(off, timeout); alone < 0.15 || alone > 0.6 {
		t.Errorf("share of the free partition with an availability time-out alone: %.2f, want less than a half", alone)
	}
	if own := share(linger.WithPartitioner(linger.RoundRobin()), timeout); own < 0.49 || own > 0.51 {
		t.Errorf("share of the free partition with a partitioner that takes turns: %.2f, want a half", own)
	}
}

// partitioner.rack.aware and client.rack: keyless records stay in the rack.
func TestRackAwareRecordsStayInTheRack(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.setBrokers(3)
		c.racks = map[int32]string{1: "a", 2: "b", 3: "a"}
		c.topic("t", 3)
		p := c.producer(linger.PartitionerRackAware(true), linger.ClientRack("b"), linger.BatchSize(300))
		warm(t, p)
		for range 100 {
			mustSend(t, p, plain(strings.Repeat("x", 100)), nil)
		}
		mustFlush(t, p)
		if n := len(c.values("t", 1)); n != 100 {
			t.Errorf("%d of 100 records stayed in the rack", n)
		}
	})
}

// CFG-10: max.request.size bounds what goes into one request.
func TestMaxRequestSizeBoundsARequest(t *testing.T) {
	most := func(size int) (n int) {
		bubble(t, func(t *testing.T, c *cluster) {
			c.topic("t", 4)
			p := c.producer(linger.MaxRequestSize(size), linger.Linger(10*time.Millisecond))
			warm(t, p)
			mustWait(t, mustSend(t, p, plainOn(0, "connects"), nil))
			c.on(kmsg.Produce, func(call *call) bool { n = max(n, len(call.batches())); return false })
			for part := range int32(4) {
				mustSend(t, p, plainOn(part, strings.Repeat("x", 900)), nil)
			}
			rest(10 * time.Millisecond) // all become due at one instant; a flush may find the sender half-way through them
			mustFlush(t, p)
		})
		return n
	}
	if got := []int{most(2100), most(1 << 20)}; !cmp.Equal(got, []int{2, 4}) {
		t.Errorf("batches of 970 bytes in a request: %v, want 2 with 2100 bytes and all 4 with a million", got)
	}
}

// CFG-50: connections.max.idle.ms closes what is not used. (As in Java that asks for metadata, which connects again.)
func TestIdleConnectionsAreClosed(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.ConnectionsMaxIdle(5 * time.Second))
		mustWait(t, mustSend(t, p, plain("v"), nil))
		before := c.dials()
		rest(31 * time.Second)
		if n := c.dials() - before; n < 5 || n > 7 {
			t.Errorf("%d new connections in 31s, want one each 5s", n)
		}
		if n := c.openNow(); n != 1 {
			t.Errorf("%d connections are open", n)
		}
		mustWait(t, mustSend(t, p, plain("v"), nil))
	})
}

// metadata.cluster.check.enable: brokers are told which cluster they are taken for (KIP-1242).
func TestClusterCheckTellsBrokersTheirCluster(t *testing.T) {
	for _, on := range []bool{true, false} {
		bubble(t, func(t *testing.T, c *cluster) {
			c.topic("t", 1)
			var told []string
			c.on(kmsg.ApiVersions, func(call *call) bool {
				if id := call.req.(*kmsg.ApiVersionsRequest).ClusterID; id != nil {
					told = append(told, *id)
				}
				return false
			})
			p := c.producer(linger.MetadataClusterCheckEnable(on))
			mustWait(t, mustSend(t, p, plain("v"), nil))
			if (len(told) == 1 && told[0] == "cluster") != on {
				t.Errorf("enabled %t: brokers were told %q", on, told)
			}
		})
	}
}

// META-14, CFG-57: metadata.max.idle.ms forgets a topic that nobody uses, and its next use asks for it; one that is used stays.
func TestIdleTopicsAreForgotten(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		c.topic("busy", 1)
		busy := rec{Topic: "busy", Value: []byte("v")}
		p := c.producer(linger.MetadataMaxIdle(10*time.Second), linger.MetadataMaxAge(4*time.Second))
		mustWait(t, mustSend(t, p, busy, nil))
		mustWait(t, mustSend(t, p, plain("v"), nil))
		var asked [][]string
		c.on(kmsg.Metadata, func(call *call) bool {
			var topics []string
			for _, t := range call.req.(*kmsg.MetadataRequest).Topics {
				topics = append(topics, *t.Topic)
			}
			c.change(func() { asked = append(asked, topics) })
			elapse(500 * time.Millisecond) // who has to wait for it is seen
			return false
		})
		for range 30 {
			rest(time.Second)
			var f linger.Future
			if d := took(func() { f = mustSend(t, p, busy, nil) }); d != 0 {
				t.Errorf("a send to the topic in use waited %v", d)
			}
			mustWait(t, f)
		}
		if n := len(asked); n < 6 || !slices.Equal(asked[0], []string{"busy", "t"}) || !slices.Equal(asked[n-1], []string{"busy"}) {
			t.Errorf("asked for %v, want both topics at first and the busy one at last", asked)
		}
		for _, topics := range asked {
			if !slices.Contains(topics, "busy") {
				t.Errorf("asked for %v without the topic in use", topics)
			}
		}
		mustWait(t, mustSend(t, p, plain("v"), nil))
	})
}

// CFG-51, CFG-52, CFG-53, CFG-54: socket.connection.setup.timeout.ms bounds a dial, reconnect.backoff.ms and its ceiling
// what is between two.
func TestDialsAreBoundedAndSpaced(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		var mu sync.Mutex
		var lasted []time.Duration
		c.onDial = func(ctx context.Context, addr string) (net.Conn, error) {
			start := time.Now()
			<-ctx.Done()
			mu.Lock()
			defer mu.Unlock()
			lasted = append(lasted, time.Since(start))
			return nil, ctx.Err()
		}
		c.producer(linger.SocketConnectionSetupTimeout(2*time.Second), linger.SocketConnectionSetupTimeoutMax(3*time.Second),
			linger.ReconnectBackoff(2*time.Second), linger.ReconnectBackoffMax(2*time.Second))
		rest(51 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		for i, d := range lasted {
			if least, most := 1600*time.Millisecond, 2401*time.Millisecond; i == 0 && (d < least || d > most) {
				t.Errorf("the first dial lasted %v, want 2s ± 20 %%", d)
			}
			if d > 3601*time.Millisecond {
				t.Errorf("dial %d lasted %v, want at most 3s + 20 %%", i, d)
			}
		}
		if n := len(lasted); n < 8 || n > 14 {
			t.Errorf("%d dials in 51s, want one each 5s ± 20 %%", n)
		}
	})
}

// sized is a connection that has buffers.
type sized struct {
	net.Conn
	set func(what string, n int)
}

func (s sized) SetReadBuffer(n int) error  { s.set("read", n); return nil }
func (s sized) SetWriteBuffer(n int) error { s.set("write", n); return nil }

// CFG-48, CFG-49: send.buffer.bytes and receive.buffer.bytes. Unset, the former is larger than Java's.
func TestSocketBuffersAreSet(t *testing.T) {
	for name, tt := range map[string]struct {
		opts []linger.Option
		want map[string]int
	}{
		"both set":                  {[]linger.Option{linger.SendBufferBytes(123_456), linger.ReceiveBufferBytes(65_432)}, map[string]int{"write": 123_456, "read": 65_432}},
		"set to Java's default":     {[]linger.Option{linger.SendBufferBytes(131_072)}, map[string]int{"write": 131_072, "read": 32_768}},
		"neither set":               {nil, map[string]int{"write": 524_288, "read": 32_768}},
		"left to the system":        {[]linger.Option{linger.SendBufferBytes(-1), linger.ReceiveBufferBytes(-1)}, map[string]int{}},
		"set by a map of Java keys": {[]linger.Option{linger.Set("send.buffer.bytes", "1000")}, map[string]int{"write": 1000, "read": 32_768}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				got := map[string]int{}
				dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
					conn, err := c.dial(ctx, network, addr)
					return sized{conn, func(what string, n int) { c.change(func() { got[what] = n }) }}, err
				}
				c.topic("t", 1)
				p := c.producer(append(tt.opts, linger.WithDialer(dial))...)
				warm(t, p)
				if !cmp.Equal(got, tt.want) {
					t.Errorf("got %v, want %v", got, tt.want)
				}
			})
		})
	}
}

// CFG-58, CFG-59, META-17: brokers that keep metadata back for metadata.recovery.rebootstrap.trigger.ms are given up, if
// metadata.recovery.strategy says so.
func TestRebootstrapTriggerStartsOver(t *testing.T) {
	for _, strategy := range []string{"rebootstrap", "none"} {
		t.Run(strategy, func(t *testing.T) { rebootstrapTrigger(t, strategy) })
	}
}

func rebootstrapTrigger(t *testing.T, strategy string) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.MetadataRecoveryRebootstrapTrigger(5*time.Second), linger.RequestTimeout(60*time.Second), linger.MetadataRecoveryStrategy(strategy))
		mustWait(t, mustSend(t, p, plain("v"), nil))
		c.on(kmsg.Metadata, func(*call) bool { return true })
		dials := c.dials()
		go func() { _, _ = p.PartitionsFor(t.Context(), "u") }()
		rest(4 * time.Second)
		if n := c.dials() - dials; n != 0 {
			t.Errorf("%d dials before the trigger", n)
		}
		rest(2 * time.Second)
		if n := c.dials() - dials; (n > 0) != (strategy == "rebootstrap") {
			t.Errorf("%d dials after the trigger", n)
		}
	})
}

// CFG-73: buffer.memory.allocation.strategy: open batches take memory as they grow, so that more of them fit.
func TestIncrementalBatchesTakeLess(t *testing.T) {
	fit := func(opts ...linger.Option) (n int) {
		bubble(t, func(t *testing.T, c *cluster) {
			c.topic("t", 20)
			p := c.producer(append(opts, linger.BufferMemory(256<<10), linger.BatchSize(64<<10), linger.Linger(time.Hour), linger.DeliveryTimeout(3*time.Hour))...)
			warm(t, p)
			c.on(kmsg.Produce, func(*call) bool { return true })
			for part := range int32(20) {
				if _, err := p.TrySend(plainOn(part, "v"), nil); err == nil {
					n++
				} else if !errors.Is(err, linger.ErrWouldBlock) {
					t.Fatal(err)
				}
			}
		})
		return n
	}
	if got := []int{fit(), fit(linger.BufferMemoryAllocationStrategy("incremental"))}; !cmp.Equal(got, []int{4, 16}) {
		t.Errorf("batches that fit: %v, want 4 full ones, 16 with a chunk of 16 KiB each", got)
	}
}

// CFG-40, CFG-41, CFG-42: compression.gzip.level and its kind change what is sent.
func TestCompressionLevelsMatter(t *testing.T) {
	text := strings.Repeat("the quick brown fox jumps over the lazy dog and then does something else entirely ", 3)
	bytesAt := func(opts ...linger.Option) (n int) {
		bubble(t, func(t *testing.T, c *cluster) {
			c.topic("t", 1)
			p := c.producer(append(opts, linger.Linger(10*time.Millisecond), linger.BatchSize(200_000))...)
			warm(t, p)
			c.on(kmsg.Produce, func(call *call) bool { n = call.batches()[0].bytes; return false })
			for i := range 300 {
				mustSend(t, p, plain(text[i%50:]+strings.Repeat("z", i%17)), nil)
			}
			mustFlush(t, p)
		})
		return n
	}
	gzip := func(level int) int {
		return bytesAt(linger.CompressionType("gzip"), linger.CompressionGzipLevel(level))
	}
	if fast, small := gzip(1), gzip(9); fast <= small {
		t.Errorf("gzip: %d bytes at level 1, %d at level 9", fast, small)
	}
	zstd := func(level int) int {
		return bytesAt(linger.CompressionType("zstd"), linger.CompressionZstdLevel(level))
	}
	if fast, small := zstd(1), zstd(19); fast == small {
		t.Errorf("zstd: %d bytes at levels 1 and 19", fast)
	}
	lz4 := func(level int) int { return bytesAt(linger.CompressionType("lz4"), linger.CompressionLZ4Level(level)) }
	if fast, small := lz4(1), lz4(17); fast == small {
		t.Errorf("lz4: %d bytes at levels 1 and 17", fast)
	}
}

// A broker that asks for a pause, in an answer of any kind, gets it (KIP-219).
func TestThrottledBrokersGetTheirPause(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		p := c.producer(linger.Linger(0), linger.MetadataMaxAge(time.Minute))
		mustWait(t, mustSend(t, p, plain("connects"), nil))
		c.on(kmsg.Produce, func(call *call) bool {
			c.on(kmsg.Produce, nil)
			c.mu.Lock()
			resp := call.usual()
			c.mu.Unlock()
			resp.(*kmsg.ProduceResponse).ThrottleMillis = 4000
			call.answer(resp)
			return true
		})
		mustWait(t, mustSend(t, p, plain("is answered with a throttle"), nil))
		if d := took(func() { mustWait(t, mustSend(t, p, plain("waits"), nil)) }); !about(d, 4*time.Second) {
			t.Errorf("the next request was answered after %v, want the pause of 4s", d)
		}
		c.on(kmsg.Metadata, func(call *call) bool {
			c.on(kmsg.Metadata, nil) // once: "u" is asked for again as soon as the pause is over, and that could go on
			c.mu.Lock()
			resp := call.usual()
			c.mu.Unlock()
			resp.(*kmsg.MetadataResponse).ThrottleMillis = 7000
			call.answer(resp)
			return true
		})
		go func() { _, _ = p.PartitionsFor(t.Context(), "u") }()
		rest(time.Second)
		if d := took(func() { mustWait(t, mustSend(t, p, plain("waits"), nil)) }); d < 6*time.Second-time.Millisecond {
			t.Errorf("after metadata with a throttle: answered after %v, want the rest of 7s", d)
		}
	})
}

// CFG-67: client.id goes into every request, and into every line of the log.
func TestClientIDIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		var log bytes.Buffer // slog's handler has a lock
		for _, key := range []kmsg.Key{kmsg.ApiVersions, kmsg.Metadata, kmsg.InitProducerID, kmsg.Produce} {
			c.on(key, func(call *call) bool {
				if call.client != "shop-7" {
					t.Errorf("%s by client %q", key.Name(), call.client)
				}
				return false
			})
		}
		ic := &spy{onSend: func(rec) (rec, error) { return rec{}, errors.New("is logged") }}
		p := c.producer(linger.ClientID("shop-7"), linger.WithInterceptors[[]byte, []byte](ic), linger.RetryBackoff(2*time.Second), // is warned of
			linger.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
		mustWait(t, mustSend(t, p, plain("v"), nil))
		p.Close()
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		for _, line := range lines {
			if !strings.Contains(line, "client.id=shop-7") {
				t.Errorf("a line without the client's id: %s", line)
			}
		}
		if len(lines) < 5 {
			t.Errorf("%d lines in all, want those of the options, the interceptor and the connections", len(lines))
		}
	})
}
