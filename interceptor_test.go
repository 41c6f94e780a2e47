package linger_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
	"linger/internal/kerr"
)

// letters makes interceptors A, B, C … that note what they see in *log and append their letter to the value.
func letters(n int, log *[]string) (spies []*spy, opt linger.Option) {
	var list []linger.Interceptor[[]byte, []byte]
	for i := range n {
		s := &spy{name: string(rune('A' + i))}
		s.onSend = func(r rec) (rec, error) {
			*log = append(*log, fmt.Sprintf("%s.send %s", s.name, r.Value))
			r.Value = append(slices.Clone(r.Value), s.name...)
			return r, nil
		}
		s.onAck = func(md linger.RecordMetadata, err error) {
			*log = append(*log, fmt.Sprintf("%s.ack %s-%d failed %t", s.name, md.Topic, md.Partition, err != nil))
		}
		spies, list = append(spies, s), append(list, s)
	}
	return spies, linger.WithInterceptors(list...)
}

// ICPT-01, ICPT-04, SEND-02: each interceptor gets what the one before returned; after the answer they hear of it in the same
// order, before the callback.
func TestInterceptorsRunInOrderBothWays(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		var log []string
		_, opt := letters(3, &log)
		p := c.producer(opt)
		mustWait(t, mustSend(t, p, plain("v"), func(linger.RecordMetadata, error) { log = append(log, "callback") }))
		want := []string{"A.send v", "B.send vA", "C.send vAB", "A.ack t-0 failed false", "B.ack t-0 failed false", "C.ack t-0 failed false", "callback"}
		if diff := cmp.Diff(want, log); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if got := c.values("t", 0); !slices.Equal(got, []string{"vABC"}) {
			t.Errorf("sent %q", got)
		}
	})
}

// ICPT-02, SEND-02: an interceptor may return another record altogether: headers, a masked value, another topic and partition.
func TestInterceptorMayReturnAnotherRecord(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		c.topic("other", 3)
		ic := &spy{onSend: func(r rec) (rec, error) {
			return rec{
				Topic: "other", Partition: linger.On(1), Key: []byte("k"), // whose hash says 2
				Value: []byte("****"), Timestamp: time.UnixMilli(99),
				Headers: append(slices.Clone(r.Headers), linger.Header{Key: "trace", Value: []byte("id")}),
			}, nil
		}}
		p := c.producer(linger.WithInterceptors[[]byte, []byte](ic))
		r := plain("secret")
		r.Headers = []linger.Header{{Key: "own"}}
		md := mustWait(t, mustSend(t, p, r, nil))
		if md.Topic != "other" || md.Partition != 1 {
			t.Errorf("went to %s-%d", md.Topic, md.Partition)
		}
		want := []stored{{key: []byte("k"), value: []byte("****"), timestampMs: 99, headers: []linger.Header{{Key: "own"}, {Key: "trace", Value: []byte("id")}}}}
		if diff := cmp.Diff(want, c.records("other", 1), cmp.AllowUnexported(stored{})); diff != "" {
			t.Errorf("stored (-want +got):\n%s", diff)
		}
		if len(r.Headers) != 1 || string(r.Value) != "secret" {
			t.Errorf("the caller's record became %v", r)
		}
	})
}

// ICPT-03: interceptors come before the serializers and the partitioner.
func TestInterceptorsComeBeforeSerializersAndPartitioner(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		var log []string
		ic := interceptorFunc[string, string](func(r linger.Record[string, string]) (linger.Record[string, string], error) {
			log = append(log, "interceptor")
			r.Value = "dressed"
			return r, nil
		})
		ser := linger.SerializerFunc[string](func(_ string, _ []linger.Header, v string) ([]byte, error) {
			log = append(log, "serializer "+v)
			return []byte(v), nil
		})
		part := linger.PartitionerFunc(func(_ string, _, value []byte, _ linger.Cluster) (int32, error) {
			log = append(log, "partitioner "+string(value))
			return 0, nil
		})
		p := producerOf[string, string](c, linger.String, ser, linger.WithInterceptors[string, string](ic), linger.WithPartitioner(part))
		mustWait(t, mustSend(t, p, linger.Record[string, string]{Topic: "t", Value: "plain"}, nil))
		if want := []string{"interceptor", "serializer dressed", "partitioner dressed"}; !slices.Equal(log, want) {
			t.Errorf("got %q, want %q", log, want)
		}
	})
}

type interceptorFunc[K, V any] func(linger.Record[K, V]) (linger.Record[K, V], error)

func (f interceptorFunc[K, V]) OnSend(r linger.Record[K, V]) (linger.Record[K, V], error) {
	return f(r)
}
func (interceptorFunc[K, V]) OnAck(linger.RecordMetadata, []linger.Header, error) {}

// ICPT-05: what an interceptor does with the outcome, a panic and changed headers included, is nobody else's outcome.
func TestInterceptorCannotAlterTheOutcome(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		a, b := &spy{name: "A"}, &spy{name: "B"}
		a.onAck = func(md linger.RecordMetadata, err error) { md.Offset, md.Topic = 99, "x"; panic("no") }
		heard := linger.RecordMetadata{}
		b.onAck = func(md linger.RecordMetadata, err error) { heard = md }
		p := c.producer(linger.WithInterceptors[[]byte, []byte](a, b))
		var called linger.RecordMetadata
		md := mustWait(t, mustSend(t, p, plain("v"), func(md linger.RecordMetadata, err error) { called = md }))
		if md.Offset != 0 || md.Topic != "t" || called != md || heard != md {
			t.Errorf("future %+v, callback %+v, next interceptor %+v", md, called, heard)
		}
	})
}

// ICPT-06, ICPT-07, ERR-05: however a record fails, every interceptor hears of it once, with the topic, the partition as far
// as it is known, the headers and the error.
func TestInterceptorsHearOfEveryFailure(t *testing.T) {
	tests := []struct {
		name      string
		opts      []linger.Option
		rec       rec
		partition int32
		prepare   func(t *testing.T, c *cluster, p producer)
	}{
		{name: "too large, partition asked for", opts: []linger.Option{linger.MaxRequestSize(100)}, rec: plainOn(1, strings.Repeat("x", 100)), partition: 1},
		{name: "too large, no partition yet", opts: []linger.Option{linger.MaxRequestSize(100)}, rec: plain(strings.Repeat("x", 100)), partition: -1},
		{name: "unknown topic", opts: []linger.Option{linger.MaxBlock(time.Second)}, rec: rec{Topic: "nope"}, partition: -1},
		{name: "the partitioner fails", opts: []linger.Option{linger.WithPartitioner(linger.PartitionerFunc(func(string, []byte, []byte, linger.Cluster) (int32, error) {
			return 0, errors.New("no choice")
		}))}, rec: plain("v"), partition: -1},
		{name: "no memory, partition chosen", opts: []linger.Option{linger.BufferMemory(100), linger.BatchSize(100), linger.MaxBlock(time.Second), linger.Acks("1")}, rec: plainOn(1, "v"), partition: 1,
			prepare: func(t *testing.T, c *cluster, p producer) {
				c.on(kmsg.Produce, func(*call) bool { return true })
				mustSend(t, p, plainOn(0, "takes all"), nil)
			}},
		{name: "no memory, partition chosen by the key", opts: []linger.Option{linger.BufferMemory(100), linger.BatchSize(100), linger.MaxBlock(time.Second), linger.Acks("1")},
			rec: rec{Topic: "t", Key: []byte{}}, partition: 1, // murmur2 of no bytes is odd
			prepare: func(t *testing.T, c *cluster, p producer) {
				c.on(kmsg.Produce, func(*call) bool { return true })
				mustSend(t, p, plainOn(0, "takes all"), nil)
			}},
		{name: "closed", rec: plainOn(1, "v"), partition: -1, prepare: func(t *testing.T, c *cluster, p producer) { p.Close() }},
		{name: "the broker refuses", rec: plainOn(1, "v"), partition: 1, prepare: func(t *testing.T, c *cluster, p producer) {
			c.on(kmsg.Produce, func(call *call) bool { call.fail(kerr.TopicAuthorizationFailed); return true })
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) {
				c.topic("t", 2)
				a, b := &spy{}, &spy{}
				p := c.producer(append(tt.opts, linger.WithInterceptors[[]byte, []byte](a, b))...)
				if tt.prepare != nil {
					tt.prepare(t, c, p)
				}
				var heard []string
				var errs []error
				for i, s := range []*spy{a, b} {
					s.onAck = func(md linger.RecordMetadata, err error) {
						heard = append(heard, fmt.Sprintf("%d %s-%d offset %d sizes %d %d time %d", i, md.Topic, md.Partition, md.Offset, md.KeySize, md.ValueSize, md.Timestamp.Unix()))
						errs = append(errs, err)
					}
					s.onAckHeaders = func(h []linger.Header) { heard = append(heard, fmt.Sprintf("%d %s", i, h[0].Key)) }
				}
				tt.rec.Headers = []linger.Header{{Key: "h"}}
				f, err := p.Send(t.Context(), tt.rec, nil)
				if err == nil {
					_, err = f.Wait(t.Context())
				}
				if err == nil || len(errs) != 2 || errs[0] != err || errs[1] != err {
					t.Errorf("failed with %v, the interceptors heard %v", err, errs)
				}
				where := fmt.Sprintf("%s-%d offset -1 sizes -1 -1 time %d", tt.rec.Topic, tt.partition, time.Time{}.Unix())
				if diff := cmp.Diff([]string{"0 h", "0 " + where, "1 h", "1 " + where}, heard); diff != "" {
					t.Errorf("the interceptors heard (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// ICPT-08, ICPT-09, SEND-03: an interceptor that fails or panics is logged and left out: the next one gets the last good
// record, and the record is sent.
func TestFaultyInterceptorIsLeftOut(t *testing.T) {
	faults := map[string]func(rec) (rec, error){
		"error": func(r rec) (rec, error) { return rec{Topic: "bad"}, errors.New("sorry") },
		"panic": func(r rec) (rec, error) { panic("oops") },
	}
	for name, fault := range faults {
		for at := range 3 {
			t.Run(fmt.Sprintf("%s in number %d", name, at), func(t *testing.T) {
				bubble(t, func(t *testing.T, c *cluster) {
					c.topic("t", 1)
					var log []string
					spies, opt := letters(3, &log)
					spies[at].onSend = fault
					spies[at].onAck = func(linger.RecordMetadata, error) { panic("again") }
					p := c.producer(opt)
					mustWait(t, mustSend(t, p, plain("v"), nil))
					want := strings.Replace("vABC", spies[at].name, "", 1)
					if got := c.values("t", 0); !slices.Equal(got, []string{want}) {
						t.Errorf("sent %q, want %q", got, want)
					}
					acks := 0
					for _, l := range log {
						if strings.Contains(l, ".ack t-0 failed false") {
							acks++
						}
					}
					if acks != 2 {
						t.Errorf("%d others heard the outcome, want 2: %q", acks, log)
					}
					if n := len(c.logged(slog.LevelWarn, "interceptor=*linger_test.spy")); n != 2 {
						t.Errorf("logged %d faults, want one before the send and one after", n)
					}
				})
			})
		}
	}
}

// meter is the sample of ICPT-10: success rate, latency, an alarm and an audit log out of one interceptor.
type meter struct {
	sent          int
	acked, failed int
	worst         time.Duration
	alarms, audit []string
}

func (m *meter) OnSend(r rec) (rec, error) {
	m.sent++
	r.Headers = append(slices.Clone(r.Headers), linger.Header{Key: "sent-at", Value: []byte(time.Now().Format(time.RFC3339Nano))})
	return r, nil
}

func (m *meter) OnAck(md linger.RecordMetadata, headers []linger.Header, err error) {
	at, _ := time.Parse(time.RFC3339Nano, string(headers[len(headers)-1].Value))
	m.worst = max(m.worst, time.Since(at))
	if err != nil {
		m.failed++
		m.alarms = append(m.alarms, fmt.Sprintf("%s: %v", md.Topic, linger.ClassOf(err)))
		return
	}
	m.acked++
	m.audit = append(m.audit, fmt.Sprintf("%s-%d@%d", md.Topic, md.Partition, md.Offset))
}

// ICPT-10: success rate, latency, alarm and audit log are a few lines each.
func TestSampleInterceptorMeasuresAlarmsAndAudits(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		m := &meter{}
		p := c.producer(linger.WithInterceptors[[]byte, []byte](m), linger.MaxRequestSize(200))
		c.on(kmsg.Produce, func(*call) bool { elapse(time.Second); return false })
		mustWait(t, mustSend(t, p, plain("ok"), nil))
		mustSend(t, p, plain(strings.Repeat("x", 300)), nil)
		if m.sent != 2 || m.acked != 1 || m.failed != 1 || m.worst < time.Second {
			t.Errorf("sent %d, acked %d, failed %d, worst latency %v", m.sent, m.acked, m.failed, m.worst)
		}
		if !slices.Equal(m.audit, []string{"t-0@0"}) || len(m.alarms) != 1 {
			t.Errorf("audit %q, alarms %q", m.audit, m.alarms)
		}
	})
}

// ICPT-12: interceptors are closed with the producer, once each; one that fails to close is logged and keeps no other open.
func TestInterceptorsAreClosedWithTheProducer(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		var closed []string
		a := &spy{onClose: func() error { closed = append(closed, "A"); return errors.New("stuck") }}
		b := &spy{onClose: func() error { closed = append(closed, "B"); panic("worse") }}
		d := &spy{onClose: func() error { closed = append(closed, "D"); return nil }}
		p, err := linger.New(linger.ByteArray, linger.ByteArray, c.options(linger.WithInterceptors[[]byte, []byte](a, b, d))...)
		if err != nil {
			t.Fatal(err)
		}
		err = p.Close()
		if err == nil || !strings.Contains(err.Error(), "stuck") || !strings.Contains(err.Error(), "worse") {
			t.Errorf("close: got %v, want both faults", err)
		}
		_ = p.Close()
		if !slices.Equal(closed, []string{"A", "B", "D"}) {
			t.Errorf("closed %q", closed)
		}
		if len(c.logged(slog.LevelWarn, "stuck")) != 1 {
			t.Error("the fault was not logged")
		}
	})
}

// CFG-74: New that fails, early or late, leaves nothing behind: what it made is closed, nothing runs, nothing was dialled.
func TestNewThatFailsLeavesNothingBehind(t *testing.T) {
	tests := []struct {
		name   string
		opts   []linger.Option
		key    string
		closed []string
	}{
		{"an option alone is wrong", []linger.Option{linger.Set("linger.ms", "soon")}, "linger.ms", nil},
		{"two options contradict each other", []linger.Option{linger.EnableIdempotence(true), linger.Acks("1")}, "acks", nil},
		{"a plug-in is of the wrong kind", []linger.Option{linger.Set("interceptor.classes", "A,B")}, "interceptor.classes", []string{"A"}},
		{"no server has an address", []linger.Option{linger.Set("interceptor.classes", "A"), linger.WithNames(noNames, noNames), linger.BootstrapServers("bad:9092")},
			"bootstrap.servers", []string{"A"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, c *cluster) { // which holds no goroutine after its end
				var closed []string
				named := &spy{onClose: func() error { closed = append(closed, "A"); return nil }}
				registry := linger.NewRegistry().With("A", func() any { return named }).With("B", func() any { return 5 })
				p, err := linger.New(linger.ByteArray, linger.ByteArray, append(c.options(linger.WithRegistry(registry)), tt.opts...)...)
				if p != nil || !errors.Is(err, linger.ErrConfig) || !strings.Contains(err.Error(), tt.key) {
					t.Errorf("got %v, want an ErrConfig about %s", err, tt.key)
				}
				if !strings.HasPrefix(fmt.Sprint(err), "failed to construct producer: ") {
					t.Errorf("the error does not say what came of it: %v", err)
				}
				if !slices.Equal(closed, tt.closed) || c.dials() != 0 {
					t.Errorf("closed %q, want %q; %d connections", closed, tt.closed, c.dials())
				}
			})
		})
	}
}

// CFG-68: interceptors that interceptor.classes names are configured with the options, before those that were handed in as
// values.
func TestInterceptorsByNameAreConfigured(t *testing.T) {
	bubble(t, func(t *testing.T, c *cluster) {
		c.topic("t", 1)
		var order []string
		named := &spy{onSend: func(r rec) (rec, error) { order = append(order, "named"); return r, nil }}
		values := map[string]string{}
		named.onConfigure = func(v map[string]string) error { values = v; return nil }
		given := &spy{onSend: func(r rec) (rec, error) { order = append(order, "given"); return r, nil }}
		second := &spy{onSend: func(r rec) (rec, error) { order = append(order, "second"); return r, nil }}
		p := c.producer(linger.WithInterceptors[[]byte, []byte](given), linger.Set("interceptor.classes", "mine, a second"), linger.Set("my.own", "x"),
			linger.WithRegistry(linger.NewRegistry().With("a second", func() any { return second }).With("mine", func() any { return named })))
		mustWait(t, mustSend(t, p, plain("v"), nil))
		if !slices.Equal(order, []string{"named", "second", "given"}) || values["my.own"] != "x" || values["client.id"] != "test" {
			t.Errorf("order %q, configured with my.own=%q", order, values["my.own"])
		}
		named.onConfigure = func(map[string]string) error { return errors.New("refuses") }
		_, err := linger.New(linger.ByteArray, linger.ByteArray, c.options(linger.Set("interceptor.classes", "mine"),
			linger.WithRegistry(linger.NewRegistry().With("mine", func() any { return named })))...)
		if !errors.Is(err, linger.ErrConfig) || !strings.Contains(err.Error(), "refuses") {
			t.Errorf("got %v, want an ErrConfig", err)
		}
	})
}

// A plug-in is configured with what a config provider gave, which nobody else is shown: neither Config nor the log.
func TestWhatAProviderGaveReachesPluginsAlone(t *testing.T) {
	t.Setenv("LINGER_TEST_NAME", "from-env")
	bubble(t, func(t *testing.T, c *cluster) {
		values := map[string]string{}
		ic := &spy{onConfigure: func(v map[string]string) error { values = v; return nil }}
		p := c.producer(linger.Set("interceptor.classes", "mine"), linger.WithRegistry(linger.NewRegistry().With("mine", func() any { return ic })),
			linger.Set("config.providers", "env"), linger.Set("config.providers.env.class", "org.apache.kafka.common.config.provider.EnvVarConfigProvider"),
			linger.Set("client.id", "${env:LINGER_TEST_NAME}"), linger.Set("my.own", "${env:LINGER_TEST_NAME}"))
		c.topic("t", 1)
		mustWait(t, mustSend(t, p, plain("v"), nil))
		c.setBrokers(0) // so that there is something to tell
		c.close()
		rest(time.Second)
		if values["client.id"] != "from-env" || values["my.own"] != "from-env" {
			t.Errorf("configured with client.id=%s, my.own=%s", values["client.id"], values["my.own"])
		}
		for _, e := range p.Config() {
			if strings.Contains(e.Value, "from-env") {
				t.Errorf("Config shows %s=%s", e.Key, e.Value)
			}
		}
		if all, told := c.logged(slog.LevelDebug, ""), c.logged(slog.LevelDebug, "from-env"); len(told) > 0 || len(all) < 2 {
			t.Errorf("of %d log lines %q show the value", len(all), told)
		}
	})
}
