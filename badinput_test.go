package linger_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
)

// Each malformed option is an ErrConfig that names the option, the value and the way out.
func TestMalformedOptionsAreNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "client.properties")
	if err := os.WriteFile(file, []byte("linger.ms = soon\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "broken.properties")
	if err := os.WriteFile(broken, []byte("# ours\nlinger.ms = 5\nssl.key.password = hunter2\\users\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		opts []linger.Option
		want []string
	}{
		{"a word for a number", []linger.Option{linger.Set("linger.ms", "soon")}, []string{"linger.ms", "soon"}},
		{"a number out of range", []linger.Option{linger.Set("batch.size", -1)}, []string{"batch.size", "-1"}},
		{"a codec nobody has", []linger.Option{linger.CompressionType("brotli")}, []string{"compression.type", "brotli", "zstd"}},
		{"a level that is none", []linger.Option{linger.CompressionType("zstd"), linger.CompressionZstdLevel(23)}, []string{"compression.zstd.level", "23"}},
		{"no servers", []linger.Option{linger.BootstrapServers()}, []string{"bootstrap.servers"}},
		{"a server without a port", []linger.Option{linger.BootstrapServers("broker")}, []string{"bootstrap.servers", "broker"}},
		{"a port that is none", []linger.Option{linger.BootstrapServers("broker:99999")}, []string{"bootstrap.servers", "broker:99999"}},
		{"idempotence with acks=1", []linger.Option{linger.EnableIdempotence(true), linger.Acks("1")}, []string{"acks", "idempoten"}},
		{"six in flight", []linger.Option{linger.MaxInFlightRequestsPerConnection(6)}, []string{"max.in.flight.requests.per.connection", "5"}},
		{"an unknown serializer", []linger.Option{linger.Set("key.serializer", "com.example.Avro")}, []string{"key.serializer", "com.example.Avro", "linger.WithRegistry"}},
		{"no option at all", []linger.Option{linger.Linger(0), nil}, []string{"option number", "nil"}},
		{"transactions", []linger.Option{linger.Set("transactional.id", "t")}, []string{"transactional.id", "not supported"}},
		{"a file", []linger.Option{linger.PropertiesFile(file)}, []string{"linger.ms", "soon"}},
		{"a file that is malformed", []linger.Option{linger.PropertiesFile(broken)}, []string{broken, "line 3", `\uXXXX`, `write \\`}},
		{"a file that is not there", []linger.Option{linger.PropertiesFile(file + "x")}, []string{file + "x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			key := linger.ByteArray
			if strings.Contains(tt.name, "serializer") {
				key = nil
			}
			before := runtime.NumGoroutine()
			_, err := linger.New(key, linger.ByteArray, append([]linger.Option{linger.BootstrapServers("10.0.0.1:9092"), linger.WithLogger(nil)}, tt.opts...)...)
			if err == nil {
				t.Fatal("New took it")
			}
			if !errors.Is(err, linger.ErrConfig) {
				t.Errorf("got %v, want an ErrConfig", err)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows what may be a secret: %v", err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error does not say %q: %v", part, err)
				}
			}
			if after := runtime.NumGoroutine(); after > before {
				t.Errorf("%d goroutines more than before", after-before)
			}
		})
	}
}

// Options that nobody reads are told, so that a misspelt one is found; one that a plug-in may read is not.
func TestOptionsThatNobodyReadsAreTold(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		tell := func(opts ...linger.Option) []string {
			c.change(func() { c.logs = nil })
			p, err := linger.New[string, string](nil, nil, c.options(append(opts, linger.Set("key.serializer", "StringSerializer"), linger.Set("value.serializer", "StringSerializer"))...)...)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			return c.logged(slog.LevelInfo, "were supplied but are not used yet")
		}
		if got := tell(linger.Set("linger.msec", "5"), linger.Set("key.serializer.encoding", "UTF-16")); len(got) != 1 || !strings.Contains(got[0], "[linger.msec]") {
			t.Errorf("logged %q, want a line about linger.msec alone", got)
		}
		if got := tell(linger.Linger(5 * time.Millisecond)); len(got) != 0 {
			t.Errorf("logged %q", got)
		}
		if got := tell(linger.Set("my.own", "x"), linger.WithPartitioner(&askedPartitioner{})); len(got) != 0 {
			t.Errorf("logged %q of an option that the partitioner may have read", got)
		}
	})
}

// talker is a peer that is no broker: it says something at once and reads what comes.
func talker(says string) func(ctx context.Context, addr string) (net.Conn, error) {
	return func(context.Context, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			go func() { _, _ = io.WriteString(theirs, says) }()
			_, _ = io.Copy(io.Discard, theirs)
		}()
		return ours, nil
	}
}

// B24: a peer that is not Kafka costs a time-out that says what it looks like, little memory, and a back-off; a broker that
// appears in its place is found.
func TestPeerThatIsNotKafkaIsNamed(t *testing.T) {
	size := func(n int32) string {
		return string(binary.BigEndian.AppendUint32(nil, uint32(n))) + "\x00\x00\x00\x00"
	}
	for name, tt := range map[string]struct{ says, want string }{
		"HTTP":              {"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", "HTTP"},
		"a huge length":     {size(2147483647), "2147483647"},
		"a negative length": {size(-5), "-5"},
		"SSH":               {"SSH-2.0-OpenSSH_9.6\r\n", "1397966893"}, // the text as a length
		"an empty answer":   {size(4), "ApiVersions"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.topic("t", 1)
				c.change(func() { c.onDial = talker(tt.says) })
				p := c.producer(linger.MaxBlock(5 * time.Second))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				var err error
				d := took(func() { _, err = mustSend(t, p, plain("v"), nil).Wait(t.Context()) })
				runtime.ReadMemStats(&after)
				if !about(d, 5*time.Second) || !errors.Is(err, linger.ErrTimeout) {
					t.Errorf("failed after %v with %v, want a time-out after max.block.ms", d, err)
				}
				for _, part := range []string{"10.0.0.1:9092", tt.want} {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("the error does not say %q: %v", part, err)
					}
				}
				if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
					t.Errorf("took %d bytes of memory", took)
				}
				if n := c.dials(); n < 4 || n > 40 {
					t.Errorf("%d dials in 5s, want a growing back-off from 50 ms to a second", n)
				}
				c.change(func() { c.onDial = nil })
				mustWait(t, mustSend(t, p, plain("a broker, at last"), nil))
			})
		})
	}
}

// B25: an answer to nobody, one that can't be read and one that comes twice end the connection; what was on it is tried again
// on a new one, and nothing is credited to the wrong request. SND-05: the fault is logged and the loop goes on.
func TestAnswersThatCannotBeReadEndTheConnection(t *testing.T) {
	faults := map[string]func(call *call, frame []byte){
		"a wrong correlation id": func(call *call, frame []byte) {
			binary.BigEndian.PutUint32(frame[4:], uint32(call.corr+77))
			call.write(frame)
		},
		"a body cut short": func(call *call, frame []byte) {
			frame = frame[:len(frame)-9]
			binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
			call.write(frame)
		},
		"twice": func(call *call, frame []byte) { call.write(append(slices.Clone(frame), frame...)) },
		"cut off": func(call *call, frame []byte) {
			call.write(frame[:len(frame)-5])
			go func() { <-call.done; call.hangUp() }()
		},
		"an empty frame": func(call *call, frame []byte) { call.write(make([]byte, 4)) },
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.topic("t", 1)
				c.numbered()
				p := c.producer(linger.Linger(0), linger.BatchSize(100))
				warm(t, p)
				mustWait(t, mustSend(t, p, plain("connects"), nil))
				dials := c.dials()
				c.on(kmsg.Produce, func(call *call) bool {
					c.on(kmsg.Produce, nil)
					c.mu.Lock()
					resp := call.usual()
					c.mu.Unlock()
					fault(call, call.frame(resp))
					return true
				})
				var fs []linger.Future
				for _, v := range []string{"a", "b", "c"} {
					fs = append(fs, mustSend(t, p, plain(strings.Repeat(v, 60)), nil))
				}
				if d := took(func() { mustFlush(t, p) }); d > 5*time.Second {
					t.Errorf("flush took %v", d)
				}
				for i, f := range fs {
					if md := mustWait(t, f); md.Offset != int64(i+1) {
						t.Errorf("record %d has offset %d", i, md.Offset)
					}
				}
				if got := c.values("t", 0); len(got) != 4 || got[1][:1]+got[2][:1]+got[3][:1] != "abc" {
					t.Errorf("the log holds %q", got)
				}
				if c.dials() != dials+1 {
					t.Errorf("%d new connections, want 1", c.dials()-dials)
				}
				if n := len(c.logged(slog.LevelInfo, "10.0.0.1:9092")) + len(c.logged(slog.LevelWarn, "")); n == 0 {
					t.Error("nothing was logged")
				}
			})
		})
	}
}

// B26: a peer that never speaks, and one that reads nothing, are bounded by the setup and request time-outs; other brokers'
// traffic goes on; close keeps its limit.
func TestPeersThatHangAreBounded(t *testing.T) {
	deaf := func(context.Context, string) (net.Conn, error) {
		ours, _ := net.Pipe() // nobody has the other end
		return ours, nil
	}
	undialled := func(ctx context.Context, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
	for name, dial := range map[string]func(context.Context, string) (net.Conn, error){
		"never speaks": talker(""), "reads nothing": deaf, "never connects": undialled,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.setBrokers(2)
				c.topic("t", 2)
				p := c.producer(linger.RequestTimeout(time.Second), linger.DeliveryTimeout(20*time.Second), linger.MaxBlock(7*time.Second), linger.Linger(0))
				warm(t, p)
				for part := range int32(2) {
					mustWait(t, mustSend(t, p, plainOn(part, "connects"), nil))
				}
				c.change(func() {
					c.onDial = func(ctx context.Context, addr string) (net.Conn, error) {
						if addr == brokerAddr(2) {
							return dial(ctx, addr)
						}
						return nil, nil
					}
				})
				c.closeBroker(2)
				before := c.dials()
				hung := mustSend(t, p, plainOn(1, strings.Repeat("x", 500_000)), nil)
				for range 20 {
					if d := took(func() { mustWait(t, mustSend(t, p, plainOn(0, "goes on"), nil)) }); d > 10*time.Millisecond {
						t.Errorf("the other broker's traffic took %v", d)
					}
					rest(100 * time.Millisecond)
				}
				rest(15 * time.Second)
				if n := c.dials() - before; n < 1 || n > 40 {
					t.Errorf("%d dials in 17s", n)
				}
				var report linger.Report
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				if d := took(func() { report, _ = p.Shutdown(ctx) }); d > 2*time.Second+time.Millisecond {
					t.Errorf("close took %v, want its 2s", d)
				}
				if _, err := hung.Wait(t.Context()); err == nil {
					t.Error("the record was delivered")
				}
				if report.BytesLeft != 0 {
					t.Errorf("%d bytes left", report.BytesLeft)
				}
			})
		})
	}
}

// A dialer that panics, or gives nothing, costs the connection and not the process; the error tells.
func TestFaultyDialersAreContained(t *testing.T) {
	for name, tt := range map[string]struct {
		dial func(context.Context, string, string) (net.Conn, error)
		want string
	}{
		"panics":        {func(context.Context, string, string) (net.Conn, error) { panic("no network") }, "no network"},
		"gives nothing": {func(context.Context, string, string) (net.Conn, error) { return nil, nil }, "neither a connection nor an error"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				p := c.producer(linger.WithDialer(tt.dial), linger.MaxBlock(time.Second))
				if _, err := mustSend(t, p, plain("v"), nil).Wait(t.Context()); !errors.Is(err, linger.ErrTimeout) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want a time-out that says %q", err, tt.want)
				}
			})
		})
	}
}
