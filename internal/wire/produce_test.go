package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"linger/internal/invariant"
)

// produceCall is one call of AppendProduce.
type produceCall struct {
	version   int16
	corr      int32
	clientID  string
	txnID     *string
	acks      int16
	timeoutMs int32
	topics    []ProduceTopic
}

func (c produceCall) frame(f *Frame) error {
	return AppendProduce(f, c.version, c.corr, c.clientID, c.txnID, c.acks, c.timeoutMs, c.topics)
}

func (c produceCall) plain() ([]byte, error) {
	return AppendProducePlain(nil, c.version, c.corr, c.clientID, c.txnID, c.acks, c.timeoutMs, c.topics)
}

// kmsg is the same request by another hand.
func (c produceCall) kmsg() []byte {
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.TransactionID, req.Acks, req.TimeoutMillis = c.version, c.txnID, c.acks, c.timeoutMs
	for _, t := range c.topics {
		topic := kmsg.NewProduceRequestTopic()
		topic.Topic, topic.TopicID = t.Name, t.ID
		for _, p := range t.Partitions {
			part := kmsg.NewProduceRequestTopicPartition()
			part.Partition = p.Index
			part.Records = slices.Concat(append([][]byte{p.Header}, p.Chunks...)...)
			topic.Partitions = append(topic.Partitions, part)
		}
		req.Topics = append(req.Topics, topic)
	}
	f := kmsg.NewRequestFormatter(kmsg.FormatterClientID(c.clientID))
	return f.AppendRequest(nil, req, c.corr)
}

func header(fill byte) []byte { return bytes.Repeat([]byte{fill}, BatchHeader) }

// calls are the shapes a request can have, for one version.
func calls(version int16) map[string]produceCall {
	txn, empty := "txn-1", ""
	base := produceCall{version: version, corr: 77, clientID: "producer-1", acks: -1, timeoutMs: 30000}
	with := func(change func(*produceCall)) produceCall {
		c := base
		change(&c)
		return c
	}
	one := []ProduceTopic{{Name: "orders", ID: [16]byte{1, 2, 3}, Partitions: []ProducePartition{
		{Index: 3, Header: header(1), Chunks: [][]byte{[]byte("records")}},
	}}}
	return map[string]produceCall{
		"no topics":                 base,
		"one batch":                 with(func(c *produceCall) { c.topics = one }),
		"in a transaction":          with(func(c *produceCall) { c.topics, c.txnID = one, &txn }),
		"an empty transactional id": with(func(c *produceCall) { c.topics, c.txnID = one, &empty }),
		"acks 0 and an empty client id": with(func(c *produceCall) {
			c.topics, c.acks, c.clientID = one, 0, ""
		}),
		"a topic without partitions": with(func(c *produceCall) { c.topics = []ProduceTopic{{Name: "a"}, one[0]} }),
		"many topics, batches and chunks": with(func(c *produceCall) {
			for i := range 20 {
				t := ProduceTopic{Name: strings.Repeat("t", 1+i*13), ID: [16]byte{byte(i)}}
				for j := range i {
					t.Partitions = append(t.Partitions, ProducePartition{
						Index: int32(j), Header: header(byte(i)),
						Chunks: [][]byte{{}, bytes.Repeat([]byte{byte(j)}, 50*j), nil, []byte("x"), {}},
					})
				}
				c.topics = append(c.topics, t)
			}
		}),
		"a batch without record bytes": with(func(c *produceCall) {
			c.topics = []ProduceTopic{{Name: "t", Partitions: []ProducePartition{{Header: header(9)}}}}
		}),
		"names as long as they can be": with(func(c *produceCall) {
			long := strings.Repeat("n", MaxNameBytes)
			c.clientID, c.txnID = long, &long
			c.topics = []ProduceTopic{{Name: long, Partitions: one[0].Partitions}}
		}),
	}
}

func TestProduceIsWhatOthersWrite(t *testing.T) {
	var f Frame
	for version := MinProduceVersion; version <= MaxProduceVersion; version++ {
		for name, call := range calls(version) {
			t.Run(fmt.Sprintf("v%d: %s", version, name), func(t *testing.T) {
				plain, err := call.plain()
				if err != nil {
					t.Fatal(err)
				}
				if want := call.kmsg(); !bytes.Equal(plain, want) {
					t.Errorf("plain request\n%x, want kmsg's\n%x", plain, want)
				}
				f.Reset()
				if err := call.frame(&f); err != nil {
					t.Fatal(err)
				}
				checkFrame(t, &f, plain, call.topics)
			})
		}
	}
}

func checkFrame(t testing.TB, f *Frame, want []byte, topics []ProduceTopic) {
	t.Helper()
	got := slices.Concat(f.Vec...)
	if !bytes.Equal(got, want) {
		t.Errorf("frame\n%x, want its plain twin\n%x", got, want)
	}
	if f.Size != len(want) {
		t.Errorf("Size is %d, want %d", f.Size, len(want))
	}
	records := 0
	for _, topic := range topics {
		for _, p := range topic.Partitions {
			for _, c := range p.Chunks {
				records += len(c)
				if len(c) > 0 && !slices.ContainsFunc(f.Vec, func(v []byte) bool { return &v[0] == &c[0] && len(v) == len(c) }) {
					t.Errorf("a chunk of %d bytes is not referred to", len(c))
				}
			}
		}
	}
	if len(f.Head) != len(want)-records {
		t.Errorf("Head has %d bytes, want %d: all but the records", len(f.Head), len(want)-records)
	}
}

func TestProduceTwinsAgree(t *testing.T) {
	var f Frame
	rapid.Check(t, func(r *rapid.T) {
		call := drawCall(r)
		plain, err := call.plain()
		if err != nil {
			r.Fatal(err)
		}
		f.Reset()
		if err := call.frame(&f); err != nil {
			r.Fatal(err)
		}
		if !bytes.Equal(slices.Concat(f.Vec...), plain) || f.Size != len(plain) || !bytes.Equal(plain, call.kmsg()) {
			r.Fatal("frame, plain twin and kmsg differ")
		}
	})
}

func drawCall(r *rapid.T) produceCall {
	c := produceCall{
		version:   rapid.Int16Range(MinProduceVersion, MaxProduceVersion).Draw(r, "version"),
		corr:      rapid.Int32().Draw(r, "corr"),
		clientID:  rapid.String().Draw(r, "client"),
		acks:      rapid.Int16Range(-1, 1).Draw(r, "acks"),
		timeoutMs: rapid.Int32().Draw(r, "timeout"),
	}
	if rapid.Bool().Draw(r, "transactional") {
		id := rapid.String().Draw(r, "txn")
		c.txnID = &id
	}
	for range rapid.IntRange(0, 4).Draw(r, "topics") {
		t := ProduceTopic{Name: rapid.String().Draw(r, "topic")}
		copy(t.ID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(r, "id"))
		for range rapid.IntRange(0, 4).Draw(r, "partitions") {
			t.Partitions = append(t.Partitions, ProducePartition{
				Index:  rapid.Int32().Draw(r, "index"),
				Header: rapid.SliceOfN(rapid.Byte(), BatchHeader, BatchHeader).Draw(r, "header"),
				Chunks: rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 300), 0, 3).Draw(r, "chunks"),
			})
		}
		c.topics = append(c.topics, t)
	}
	return c
}

func TestProduceIsRefused(t *testing.T) {
	long := strings.Repeat("n", MaxNameBytes+1)
	// One slice of memory stands for many chunks: the lengths count, the bytes are never looked at.
	chunk := make([]byte, 1<<20)
	huge := make([][]byte, 1<<11)
	for i := range huge {
		huge[i] = chunk
	}
	tests := map[string]struct {
		call produceCall
		want string
	}{
		"a version too old":            {produceCall{version: 2}, "produce version 2 is outside 3 to 13"},
		"a version too new":            {produceCall{version: 14}, "produce version 14 is outside 3 to 13"},
		"a client id too long":         {produceCall{version: 9, clientID: long}, "client.id is 32768 bytes long, at most 32767 can be sent"},
		"a transactional id too long":  {produceCall{version: 9, txnID: &long}, "transactional.id is 32768 bytes long, at most 32767 can be sent"},
		"a topic too long":             {produceCall{version: 9, topics: []ProduceTopic{{Name: long}}}, "topic is 32768 bytes long, at most 32767 can be sent"},
		"more than a length can say":   {produceCall{version: 9, topics: []ProduceTopic{{Partitions: []ProducePartition{{Header: header(0), Chunks: huge}}}}}, "produce request of 2147483742 bytes, at most 2147483647 can be sent"},
		"a batch of two, each of 1 GB": {produceCall{version: 13, topics: []ProduceTopic{{Partitions: []ProducePartition{{Header: header(0), Chunks: huge[:1<<10]}, {Header: header(0), Chunks: huge[:1<<10]}}}}}, "produce request of 2147483828 bytes, at most 2147483647 can be sent"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var f Frame
			if err := tt.call.frame(&f); err == nil || err.Error() != tt.want {
				t.Errorf("frame: %v, want %s", err, tt.want)
			}
			if _, err := tt.call.plain(); err == nil || err.Error() != tt.want {
				t.Errorf("plain: %v, want %s", err, tt.want)
			}
		})
	}
}

func TestATopicNameOfAnyLengthIsFineWhereOnlyItsIDIsSent(t *testing.T) {
	var f Frame
	call := produceCall{version: 13, topics: []ProduceTopic{{Name: strings.Repeat("n", MaxNameBytes+1)}}}
	if err := call.frame(&f); err != nil {
		t.Error(err)
	}
}

// A frame may be written by something that eats the slices as it goes, as net.Buffers does.
func TestAFrameIsBuiltAnewAfterItWasConsumed(t *testing.T) {
	var f Frame
	first, second := calls(13)["many topics, batches and chunks"], calls(9)["one batch"]
	if err := first.frame(&f); err != nil {
		t.Fatal(err)
	}
	for i := range f.Vec {
		f.Vec[i] = nil
	}
	f.Reset()
	if err := second.frame(&f); err != nil {
		t.Fatal(err)
	}
	plain, err := second.plain()
	if err != nil {
		t.Fatal(err)
	}
	checkFrame(t, &f, plain, second.topics)
}

func TestResetLetsGoOfTheChunks(t *testing.T) {
	var f Frame
	if err := calls(13)["many topics, batches and chunks"].frame(&f); err != nil {
		t.Fatal(err)
	}
	f.Reset()
	for i, v := range f.Vec[:cap(f.Vec)] {
		if v != nil {
			t.Fatalf("Vec[%d] still holds %d bytes", i, len(v))
		}
	}
	if len(f.Head) != 0 || f.Size != 0 {
		t.Errorf("%d bytes of head and a size of %d after Reset", len(f.Head), f.Size)
	}
}

func TestTheLengthPrefixCountsWhatFollows(t *testing.T) {
	for name, call := range calls(11) {
		t.Run(name, func(t *testing.T) {
			var f Frame
			if err := call.frame(&f); err != nil {
				t.Fatal(err)
			}
			if got, want := int(binary.BigEndian.Uint32(f.Vec[0])), f.Size-SizePrefix; got != want {
				t.Errorf("prefix says %d, %d follow", got, want)
			}
		})
	}
}

func TestAWarmFrameAllocatesNothing(t *testing.T) {
	for _, version := range []int16{3, 9, 13} {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			var f Frame
			call := calls(version)["many topics, batches and chunks"]
			wantAllocs(t, 0, func() {
				f.Reset()
				if err := call.frame(&f); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func wantAllocs(t *testing.T, want float64, f func()) {
	t.Helper()
	if invariant.Enabled {
		t.Skip("checks allocate their arguments")
	}
	f()
	if got := testing.AllocsPerRun(20, f); got > want {
		t.Errorf("%v allocations, want %v", got, want)
	}
}

// FuzzProduce holds the framed request against its plain twin and kmsg's.
func FuzzProduce(f *testing.F) {
	f.Add(int16(3), int32(1), "client", true, "txn", "topic", []byte("records"), uint8(2), uint8(3))
	f.Add(int16(13), int32(-1), "", false, "", "", []byte{}, uint8(0), uint8(0))
	f.Fuzz(func(t *testing.T, version int16, corr int32, client string, inTxn bool, txn, topic string, records []byte, topics, parts uint8) {
		call := produceCall{version: version, corr: corr, clientID: client, acks: 1, timeoutMs: corr}
		if inTxn {
			call.txnID = &txn
		}
		for i := range int(topics) % 5 {
			pt := ProduceTopic{Name: topic, ID: [16]byte{byte(i)}}
			for j := range int(parts) % 5 {
				cut := len(records) * j / 5
				pt.Partitions = append(pt.Partitions, ProducePartition{
					Index: int32(j), Header: header(byte(i)), Chunks: [][]byte{records[:cut], records[cut:]},
				})
			}
			call.topics = append(call.topics, pt)
		}
		var fr Frame
		err := call.frame(&fr)
		plain, plainErr := call.plain()
		if (err == nil) != (plainErr == nil) {
			t.Fatalf("frame: %v, plain: %v", err, plainErr)
		}
		if err != nil {
			return
		}
		checkFrame(t, &fr, plain, call.topics)
		if diff := cmp.Diff(call.kmsg(), plain); diff != "" {
			t.Errorf("not what kmsg writes: %s", diff)
		}
	})
}
