package record

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linger/internal/compress"
	"linger/internal/kerr"
	"linger/test/oracle"
)

type recordVector struct {
	OffsetDelta          int32
	Timestamp            int64
	Key, Value           *string
	Headers              [][2]*string
	SizeInBytes          int
	UpperBound           int
	UpperBoundCompressed int
}

type stepVector struct {
	// room
	KeySize, ValueSize   *int
	HasRoomFor           bool
	NumRecords           int
	EstimatedSizeInBytes int
	IsFull               bool
	// estimator
	Observed, Before, After, Returned json.Number
	AfterBits                         string
}

type batchVector struct {
	ID, Kind, Compression     string
	TimestampType             string
	LogAppendTime, BaseOffset int64
	ProducerID                int64 `json:"producerId"`
	ProducerEpoch             int16
	BaseSequence              int32
	Transactional             bool
	PartitionLeaderEpoch      int32
	Records                   []recordVector
	EstimatedSizeAfterEach    []int
	Bytes, BytesAfterRewrite  *string
	Rewrite                   *struct {
		ProducerEpoch int16
		BaseSequence  int32
	}
	SizeInBytes                 *int
	CRC                         *uint32
	BaseTimestamp, MaxTimestamp int64
	LastOffset                  int32
	LastSequence                int32
	Attributes                  int16
	Error                       []struct{ Class, Message string }
	// compressed
	UncompressedBytes int
	CompressionRatio  json.Number
	Decoded           []struct {
		Offset, Timestamp int64
		Sequence          int32
		Key, Value        *string
		Headers           [][2]*string
	}
	// room, estimator
	WriteLimit                int
	EstimatedCompressionRatio json.Number
	Initial, Start            *json.Number
	Steps                     []stepVector
}

func TestOracleRecordBatch(t *testing.T) { // ACC-16, COMP-06, COMP-07
	var set struct {
		Constants struct {
			ImprovingStep   json.Number `json:"COMPRESSION_RATIO_IMPROVING_STEP"`
			DeteriorateStep json.Number `json:"COMPRESSION_RATIO_DETERIORATE_STEP"`
			Factor          json.Number `json:"COMPRESSION_RATE_ESTIMATION_FACTOR"`
			BatchOverhead   int         `json:"RECORD_BATCH_OVERHEAD"`
			MaxOverhead     int         `json:"MAX_RECORD_OVERHEAD"`
			InitialRatio    map[string]json.Number
		}
		Cases []batchVector
	}
	oracle.Load(t, "record-batch.json", &set)
	c := set.Constants
	if improvingStep != f32(t, c.ImprovingStep) || deteriorateStep != f32(t, c.DeteriorateStep) ||
		compressionFactor != f32(t, c.Factor) || BatchOverhead != c.BatchOverhead || MaxRecordOverhead != c.MaxOverhead {
		t.Errorf("constants differ from Java's %+v", c)
	}
	for codec, ratio := range c.InitialRatio {
		var e Estimator
		if e.Ratio() != f32(t, ratio) {
			t.Errorf("%s is expected at %v first, in Java at %v", codec, e.Ratio(), ratio)
		}
	}
	oracle.Run(t, set.Cases, func(v batchVector) string { return v.ID }, nil, func(t *testing.T, v batchVector) {
		switch v.Kind {
		case "batch":
			sameBatch(t, v)
		case "compressed":
			sameCompressed(t, v)
		case "room":
			sameRoom(t, v)
		case "estimator":
			sameEstimator(t, v)
		default:
			t.Fatalf("unknown kind %q", v.Kind)
		}
	})
}

func f32(t *testing.T, n json.Number) float32 {
	t.Helper()
	f, err := strconv.ParseFloat(n.String(), 32)
	if err != nil {
		t.Fatal(err)
	}
	return float32(f)
}

func unhex(t *testing.T, s *string) []byte {
	t.Helper()
	if s == nil {
		return nil
	}
	b, err := hex.DecodeString(*s)
	if err != nil {
		t.Fatal(err)
	}
	if b == nil {
		b = []byte{}
	}
	return b
}

// headersOf decodes [key, value] pairs; keys are text, values hex.
func headersOf(t *testing.T, pairs [][2]*string) (hs []Header) {
	t.Helper()
	for _, p := range pairs {
		hs = append(hs, Header{Key: *p[0], Value: unhex(t, p[1])})
	}
	return hs
}

// sameBatch builds the batch and wants Java's sizes after each record and Java's bytes, or Java's refusal.
func sameBatch(t *testing.T, v batchVector) {
	if v.TimestampType != "CREATE_TIME" || v.BaseOffset != 0 || v.PartitionLeaderEpoch != -1 || v.Compression != "none" {
		t.Fatalf("a producer writes no such batch: %s, base offset %d, leader epoch %d, %s",
			v.TimestampType, v.BaseOffset, v.PartitionLeaderEpoch, v.Compression)
	}
	var b Builder
	b.Reset(make([]byte, 100), math.MaxInt32, false, 1)
	var err error
	for i, r := range v.Records {
		if err = CheckTimestamp(r.Timestamp); err != nil {
			break
		}
		appendVector(t, &b, i, r)
		if i < len(v.EstimatedSizeAfterEach) && b.EstimatedSize() != v.EstimatedSizeAfterEach[i] {
			t.Errorf("record %d: estimated size %d, Java %d", i, b.EstimatedSize(), v.EstimatedSizeAfterEach[i])
		}
	}
	h := b.Header(v.Transactional, v.ProducerID, v.ProducerEpoch, v.BaseSequence)
	if err == nil {
		err = h.Check()
	}
	if len(v.Error) > 0 || err != nil {
		sameError(t, err, v)
		return
	}
	if b.Count() == 0 {
		if *v.Bytes != "" || b.Size() != 0 {
			t.Errorf("an empty batch has %d bytes, in Java %q", b.Size(), *v.Bytes)
		}
		return
	}
	got := whole(&b, h)
	if want := unhex(t, v.Bytes); !bytes.Equal(got, want) {
		t.Errorf("bytes differ:\n%x\nJava\n%x", got, want)
	}
	sameFields(t, got, v)
	if v.SizeInBytes != nil && b.Size() != *v.SizeInBytes {
		t.Errorf("size is %d, Java %d", b.Size(), *v.SizeInBytes)
	}
	if v.Rewrite != nil {
		h.ProducerEpoch, h.BaseSequence = v.Rewrite.ProducerEpoch, v.Rewrite.BaseSequence
		if got, want := whole(&b, h), unhex(t, v.BytesAfterRewrite); !bytes.Equal(got, want) {
			t.Errorf("bytes after a rewrite differ:\n%x\nJava\n%x", got, want)
		}
	}
}

func appendVector(t *testing.T, b *Builder, i int, r recordVector) {
	t.Helper()
	key, value := unhex(t, r.Key), unhex(t, r.Value)
	var headers []byte
	if len(r.Headers) > 0 {
		headers = AppendHeaders(nil, headersOf(t, r.Headers))
	}
	before := b.UncompressedSize()
	for b.Append(r.Timestamp, key, value, headers) == NeedsChunk {
		b.AddChunk(make([]byte, 100))
	}
	if got := b.UncompressedSize() - before; got != r.SizeInBytes {
		t.Errorf("record %d takes %d bytes, in Java %d", i, got, r.SizeInBytes)
	}
	bound := UpperBound(nullableLen(key), nullableLen(value), len(headers))
	if bound != r.UpperBound || bound != r.UpperBoundCompressed {
		t.Errorf("record %d: upper bound %d, in Java %d and compressed %d", i, bound, r.UpperBound, r.UpperBoundCompressed)
	}
}

func sameError(t *testing.T, err error, v batchVector) {
	t.Helper()
	if err == nil || len(v.Error) == 0 {
		t.Fatalf("error is %v, Java's %v", err, v.Error)
	}
	want := v.Error[0]
	if kerr.JavaMessage(err) != want.Message || "java.lang."+kerr.JavaName(err) != want.Class {
		t.Errorf("error is %s: %s, Java's %s: %s", kerr.JavaName(err), kerr.JavaMessage(err), want.Class, want.Message)
	}
}

// sameFields reads the batch back.
func sameFields(t *testing.T, whole []byte, v batchVector) {
	t.Helper()
	got, rest, err := ReadBatch(whole)
	if err != nil || len(rest) != 0 {
		t.Fatalf("reading it back: %v, %d bytes behind", err, len(rest))
	}
	if v.CRC == nil { // Java's bytes are all that was observed
		return
	}
	if got.CRC != *v.CRC || got.Attributes != v.Attributes || got.LastOffsetDelta != v.LastOffset ||
		got.BaseTimestamp != v.BaseTimestamp || got.MaxTimestamp != v.MaxTimestamp || got.ProducerID != v.ProducerID ||
		got.BaseSequence != v.BaseSequence || got.LeaderEpoch != v.PartitionLeaderEpoch || got.BaseOffset != v.BaseOffset {
		t.Errorf("read back %+v, Java has %+v", got, v)
	}
}

// sameCompressed reads what Java compressed, rebuilds the batch and wants the same records, size and header fields; and
// with Java's own compressed bytes put in place, Java's batch.
func sameCompressed(t *testing.T, v batchVector) {
	java := unhex(t, v.Bytes)
	batch, rest, err := ReadBatch(java)
	if err != nil || len(rest) != 0 {
		t.Fatalf("reading Java's batch: %v, %d bytes behind", err, len(rest))
	}
	records, err := compress.Decompress(compress.Type(batch.Codec), batch.Records, 1<<24)
	if err != nil {
		t.Fatal(err)
	}
	b := newBuilder(BatchOverhead + len(records))
	r := NewReader([][]byte{records}, batch.BaseTimestamp, int(batch.Count))
	var rec Record
	for i := 0; r.Next(&rec); i++ {
		if i == len(v.Decoded) {
			t.Fatal("more records than in Java")
		}
		sameRecord(t, rec, i, v)
		if b.Append(rec.Timestamp, rec.Key, rec.Value, rec.Headers) < 0 {
			t.Fatalf("record %d has no room in a batch of Java's size", i)
		}
	}
	if r.Err() != nil || b.Count() != len(v.Decoded) {
		t.Fatalf("%d records of %d: %v", b.Count(), len(v.Decoded), r.Err())
	}
	if got := bytes.Join(b.Chunks(), nil); !bytes.Equal(got, records) {
		t.Error("the same records encode to other bytes than Java's")
	}
	if b.UncompressedSize() != v.UncompressedBytes {
		t.Errorf("uncompressed size %d, Java %d", b.UncompressedSize(), v.UncompressedBytes)
	}
	b.ReplaceChunks(batch.Codec, [][]byte{batch.Records})
	if got, want := b.CompressionRatio(), f32(t, v.CompressionRatio); got != want {
		t.Errorf("ratio %v, Java %v", got, want)
	}
	if got := whole(b, b.Header(v.Transactional, v.ProducerID, v.ProducerEpoch, v.BaseSequence)); !bytes.Equal(got, java) {
		t.Errorf("batch around Java's compressed bytes differs: %x, Java %x", got[:BatchOverhead], java[:BatchOverhead])
	}
	if batch.CRC != *v.CRC || batch.Attributes != v.Attributes || b.Size() != *v.SizeInBytes {
		t.Errorf("CRC %d, attributes %d, size %d, Java %d, %d, %d", batch.CRC, batch.Attributes, b.Size(), *v.CRC, v.Attributes, *v.SizeInBytes)
	}
}

func sameRecord(t *testing.T, rec Record, i int, v batchVector) {
	t.Helper()
	want := v.Decoded[i]
	hs, err := DecodeHeaders(rec.Headers)
	if err != nil {
		t.Fatal(err)
	}
	type view struct {
		Offset, Timestamp int64
		Key, Value        []byte
		Headers           []Header
	}
	got := view{int64(rec.OffsetDelta), rec.Timestamp, rec.Key, rec.Value, hs}
	java := view{want.Offset, want.Timestamp, unhex(t, want.Key), unhex(t, want.Value), headersOf(t, want.Headers)}
	if !reflect.DeepEqual(java, got) { // go-cmp goes byte by byte, over 80 KB
		t.Errorf("record %d (Java, linger): %s", i, cmp.Diff(java, got))
	}
	sequence := int32(-1)
	if v.BaseSequence >= 0 {
		sequence = v.BaseSequence + int32(i)
	}
	if sequence != want.Sequence {
		t.Errorf("record %d: sequence %d, Java %d", i, sequence, want.Sequence)
	}
}

func sameRoom(t *testing.T, v batchVector) {
	var b Builder
	b.Reset(make([]byte, 1<<16), v.WriteLimit, v.Compression != "none", f32(t, v.EstimatedCompressionRatio))
	for i, s := range v.Steps {
		key, value := zeros(s.KeySize), zeros(s.ValueSize)
		hasRoom := b.HasRoomFor(0, nullableLen(key), nullableLen(value), 0)
		tried := b.TryAppend(0, key, value, nil)
		if hasRoom != s.HasRoomFor || (tried >= 0) != s.HasRoomFor {
			t.Errorf("step %d: room %t, appended at %d, Java %t", i, hasRoom, tried, s.HasRoomFor)
		}
		got := fmt.Sprint(b.Count(), b.EstimatedSize(), b.IsFull())
		if want := fmt.Sprint(s.NumRecords, s.EstimatedSizeInBytes, s.IsFull); got != want {
			t.Errorf("step %d: records, size, full: %s, Java %s", i, got, want)
		}
	}
}

func zeros(n *int) []byte {
	if n == nil {
		return nil
	}
	return make([]byte, *n)
}

func sameEstimator(t *testing.T, v batchVector) {
	var e Estimator
	if v.Start != nil {
		e.Set(f32(t, *v.Start))
	}
	for i, s := range v.Steps {
		if e.Ratio() != f32(t, s.Before) {
			t.Errorf("step %d starts at %v, Java %v", i, e.Ratio(), s.Before)
		}
		returned := e.Observe(f32(t, s.Observed))
		if returned != f32(t, s.Returned) || e.Ratio() != f32(t, s.After) {
			t.Errorf("step %d: returned %v, now %v, Java %v, %v", i, returned, e.Ratio(), s.Returned, s.After)
		}
		if got := fmt.Sprintf("%08x", math.Float32bits(e.Ratio())); got != s.AfterBits {
			t.Errorf("step %d: bits %s, Java %s", i, got, s.AfterBits)
		}
	}
}
