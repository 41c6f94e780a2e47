package nullbroker_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"linger"
	"linger/bench/floor"
	"linger/bench/franz"
	"linger/bench/nullbroker"
	"linger/cmd/linger/perf"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, o nullbroker.Options) *nullbroker.Broker {
	t.Helper()
	o.Listen = "127.0.0.1:0"
	b, err := nullbroker.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func clients() map[string]func(*perf.Run) (perf.Client, error) {
	return map[string]func(*perf.Run) (perf.Client, error){"linger": perf.OpenLinger(), "franz": franz.Open, "floor": floor.Open}
}

// What is compared is the same work: each client brings every record of the workload, unchanged and in valid batches.
func TestAllClientsBringTheSameRecords(t *testing.T) {
	small := perf.Default()
	small.Records, small.Warmup = 3000, 500
	keyed := small
	keyed.KeyCardinality, keyed.BatchSize, keyed.Goroutines = 100, 16<<10, 3
	lz4 := keyed
	lz4.Payload, lz4.RecordSize, lz4.Compression = "json", 300, "lz4"
	zstd := lz4
	zstd.Compression, zstd.BatchSize = "zstd", 64<<10
	once := small
	once.Acks, once.Idempotence = "1", false
	large := small
	large.Records, large.RecordSize = 300, 100<<10
	for name, w := range map[string]perf.Workload{"small": small, "keyed": keyed, "lz4": lz4, "zstd": zstd, "acks=1": once, "large": large} {
		t.Run(name, func(t *testing.T) {
			var want *nullbroker.Contents
			for client, open := range clients() {
				if name == "large" && client == "floor" {
					continue // a batch of the floor holds no record larger than batch.size
				}
				b := start(t, nullbroker.Options{Partitions: 5, Verify: true})
				w := w
				w.Bootstrap = b.Addr()
				res, err := perf.NewRun(w).Measure(open)
				if err != nil {
					t.Fatalf("%s: %v", client, err)
				}
				seen := b.Seen()
				if seen.Failures > 0 {
					t.Fatalf("%s: %s", client, seen.FirstFailure)
				}
				if n := int64(w.Records + w.Warmup); seen.Records != n || seen.Contents.Records != n || res.Records != int64(w.Records) {
					t.Errorf("%s: %d records, %d verified, want %d", client, seen.Records, seen.Contents.Records, n)
				}
				if got, want := seen.Contents.Sequenced > 0, w.Idempotence; got != want {
					t.Errorf("%s: batches with a producer id: %t, want %t", client, got, want)
				}
				// Some clients send a batch that does not shrink as it is, so that not every batch has the codec.
				if got, want := seen.Contents.Compressed > 0, w.Compression != "none"; got != want {
					t.Errorf("%s: batches with a codec: %t, want %t", client, got, want)
				}
				got := *seen.Contents
				got.Sequenced, got.Compressed = 0, 0
				if want == nil {
					want = &got
				}
				if diff := cmp.Diff(*want, got); diff != "" {
					t.Errorf("%s brought others than the client before it:\n%s", client, diff)
				}
			}
		})
	}
}

func TestOffsetsCountByPartition(t *testing.T) {
	b := start(t, nullbroker.Options{Partitions: 2})
	p, err := linger.New(linger.String, linger.String, linger.BootstrapServers(b.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i, want := range []int64{0, 0, 1, 1, 2} {
		md, err := p.SendSync(t.Context(), linger.Record[string, string]{Topic: "t", Value: "v", Partition: linger.On(int32(i % 2))})
		if err != nil || md.Offset != want {
			t.Errorf("record %d has offset %d and error %v, want offset %d", i, md.Offset, err, want)
		}
	}
}

// produceRequest is one request as kmsg frames it: somebody else's idea of the format.
func produceRequest(version int16, partition int32, records []byte) []byte {
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = version, -1, 1000
	topic, part := kmsg.NewProduceRequestTopic(), kmsg.NewProduceRequestTopicPartition()
	topic.Topic = "t"
	part.Partition, part.Records = partition, records
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	return kmsg.NewRequestFormatter().AppendRequest(nil, req, 7)
}

func batchOf(count int32) []byte {
	b := kmsg.RecordBatch{Magic: 2, NumRecords: count, LastOffsetDelta: count - 1, ProducerID: 1, Length: 49}
	return b.AppendTo(nil)
}

// readFrame reads one answer without its length, however the network cuts it.
func readFrame(t *testing.T, in io.Reader) []byte {
	t.Helper()
	var length [4]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		t.Fatal(err)
	}
	frame := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(in, frame); err != nil {
		t.Fatal(err)
	}
	return frame
}

func TestEveryProduceVersionIsAnsweredInItsFormat(t *testing.T) {
	b := start(t, nullbroker.Options{Partitions: 1})
	conn, err := net.Dial("tcp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	base := int64(0)
	for version := int16(3); version <= 12; version++ {
		if _, err := conn.Write(produceRequest(version, 0, batchOf(10))); err != nil {
			t.Fatal(err)
		}
		frame := readFrame(t, in)
		resp := kmsg.NewPtrProduceResponse()
		resp.Version = version
		body := frame[4:]
		if resp.IsFlexible() {
			body = body[1:]
		}
		if err := resp.ReadFrom(body); err != nil {
			t.Fatalf("v%d: %v", version, err)
		}
		if p := resp.Topics[0].Partitions[0]; resp.Topics[0].Topic != "t" || p.ErrorCode != 0 || p.BaseOffset != base || frame[3] != 7 {
			t.Errorf("v%d: answer %+v, correlation id %d; want base offset %d and id 7", version, resp.Topics, frame[3], base)
		}
		base += 10
	}
}

func TestVerifyFindsWhatIsWrongWithABatch(t *testing.T) {
	flip := func(at int) []byte { b := batchOf(1); b[at]++; return b }
	for name, tc := range map[string]struct {
		batch []byte
		want  string
	}{
		"a wrong CRC":                       {flip(17), "CRC"},
		"a length that is off":              {append(batchOf(1), 0), "length"},
		"a count that is off":               {flip(60), "CRC"},
		"no record where one is said to be": {withCRC(batchOf(1)), "no length that fits"},
		"an old format":                     {flip(16), ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, nullbroker.Options{Partitions: 1, Verify: true})
			conn, err := net.Dial("tcp", b.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := conn.Write(produceRequest(8, 0, tc.batch)); err != nil {
				t.Fatal(err)
			}
			resp := kmsg.NewPtrProduceResponse()
			resp.Version = 8
			if err := resp.ReadFrom(readFrame(t, conn)[4:]); err != nil {
				t.Fatal(err)
			}
			if code := resp.Topics[0].Partitions[0].ErrorCode; code != 2 {
				t.Errorf("error code %d, want CORRUPT_MESSAGE", code)
			}
			if first := b.Seen().FirstFailure; !strings.Contains(first, tc.want) {
				t.Errorf("failure %q does not mention %q", first, tc.want)
			}
		})
	}
}

func TestNonsenseEndsTheConnection(t *testing.T) {
	b := start(t, nullbroker.Options{Partitions: 1})
	conn, err := net.Dial("tcp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes of answer", n)
	}
	if b.Seen().Failures == 0 {
		t.Error("nothing was counted as a failure")
	}
}

func TestCommandPrintsAddressAndWhatItSaw(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- nullbroker.Command(ctx, []string{"-partitions", "3"}, w, io.Discard); w.Close() }()
	out := bufio.NewReader(r)
	addr, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	load := perf.Default()
	load.Bootstrap, load.Records, load.Warmup = strings.TrimSpace(addr), 1000, 0
	if _, err := perf.NewRun(load).Measure(perf.OpenLinger()); err != nil {
		t.Fatal(err)
	}
	stop()
	var seen nullbroker.Seen
	if err := json.NewDecoder(out).Decode(&seen); err != nil || seen.Records != 1000 {
		t.Errorf("it saw %+v (%v), want 1000 records", seen, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := nullbroker.Command(t.Context(), []string{"-partitions", "0"}, &bytes.Buffer{}, io.Discard); err == nil {
		t.Error("a broker without partitions started")
	}
}
