package record

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// plainRecord encodes a record as the format reads, one field after the other: the twin of Builder.
func plainRecord(tsDelta int64, offset int, key, value []byte, hs []Header) []byte {
	field := func(b, f []byte) []byte {
		if f == nil {
			return binary.AppendVarint(b, -1)
		}
		return append(binary.AppendVarint(b, int64(len(f))), f...)
	}
	body := []byte{0}
	body = binary.AppendVarint(body, tsDelta)
	body = binary.AppendVarint(body, int64(offset))
	body = field(body, key)
	body = field(body, value)
	body = binary.AppendVarint(body, int64(len(hs)))
	for _, h := range hs {
		body = field(body, []byte(h.Key))
		body = field(body, h.Value)
	}
	return append(binary.AppendVarint(nil, int64(len(body))), body...)
}

// plainBatch puts a header before contiguous records, field by field: the twin of PutHeader.
func plainBatch(h BatchHeader, records []byte) []byte {
	be := binary.BigEndian
	tail := be.AppendUint16(nil, uint16(h.Codec)|map[bool]uint16{true: 16}[h.Transactional])
	tail = be.AppendUint32(tail, uint32(h.Count-1))
	tail = be.AppendUint64(tail, uint64(h.BaseTimestamp))
	tail = be.AppendUint64(tail, uint64(h.MaxTimestamp))
	tail = be.AppendUint64(tail, uint64(h.ProducerID))
	tail = be.AppendUint16(tail, uint16(h.ProducerEpoch))
	tail = be.AppendUint32(tail, uint32(h.BaseSequence))
	tail = be.AppendUint32(tail, uint32(h.Count))
	tail = append(tail, records...)

	b := be.AppendUint64(nil, 0)
	b = be.AppendUint32(b, uint32(4+1+4+len(tail)))
	b = be.AppendUint32(b, math.MaxUint32)
	b = append(b, 2)
	b = be.AppendUint32(b, crc32.Checksum(tail, crc32.MakeTable(crc32.Castagnoli)))
	return append(b, tail...)
}

// whole is the batch as one slice.
func whole(b *Builder, h BatchHeader) []byte {
	out := make([]byte, BatchOverhead)
	PutHeader(out, h, b.Chunks())
	for _, c := range b.Chunks() {
		out = append(out, c...)
	}
	return out
}

func newBuilder(size int) *Builder {
	b := new(Builder)
	b.Reset(make([]byte, size), size, false, 1)
	return b
}

type sample struct {
	TS         int64
	Key, Value []byte
	Headers    []Header
}

func genBytes(most int) *rapid.Generator[[]byte] {
	return rapid.OneOf(rapid.Just([]byte(nil)), rapid.SliceOfN(rapid.Byte(), 0, most))
}

func genSample() *rapid.Generator[sample] {
	return rapid.Custom(func(t *rapid.T) sample {
		header := rapid.Custom(func(t *rapid.T) Header {
			return Header{Key: rapid.StringN(0, 5, 20).Draw(t, "key"), Value: genBytes(70).Draw(t, "value")}
		})
		return sample{
			TS:  rapid.OneOf(rapid.Int64Range(-1, math.MaxInt64), rapid.Int64Range(1000, 1200)).Draw(t, "ts"),
			Key: genBytes(140).Draw(t, "key"), Value: genBytes(300).Draw(t, "value"),
			Headers: rapid.SliceOfN(header, 0, 3).Draw(t, "headers"),
		}
	})
}

// Any records, in chunks of any sizes: the bytes are the plain twin's, the reader gives the records back, and no byte
// beyond the chunks' own is touched.
func TestBuilderEqualsItsPlainTwinOverAnyChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SliceOfN(genSample(), 1, 12).Draw(t, "records")
		chunkSize := rapid.IntRange(1, 400)
		var b Builder
		b.Reset(make([]byte, chunkSize.Draw(t, "first chunk")), math.MaxInt32, false, 1)
		var want []byte
		maxTS := int64(-1)
		for i, s := range samples {
			var headers []byte
			if len(s.Headers) > 0 {
				headers = AppendHeaders(nil, s.Headers)
				if len(headers) != HeadersLen(s.Headers) {
					t.Fatalf("HeadersLen is %d, encoded are %d", HeadersLen(s.Headers), len(headers))
				}
			}
			size := b.RecordSize(s.TS, nullableLen(s.Key), nullableLen(s.Value), len(headers))
			written := b.UncompressedSize()
			start := b.Append(s.TS, s.Key, s.Value, headers)
			for ; start == NeedsChunk; start = b.Append(s.TS, s.Key, s.Value, headers) {
				if b.Remaining() >= size {
					t.Fatalf("%d bytes left, and a record of %d needs a chunk", b.Remaining(), size)
				}
				b.AddChunk(make([]byte, chunkSize.Draw(t, "chunk")))
			}
			if start != len(want) {
				t.Fatalf("record %d starts at %d, want %d", i, start, len(want))
			}
			record := plainRecord(s.TS-samples[0].TS, i, s.Key, s.Value, s.Headers)
			if got := b.UncompressedSize() - written; got != len(record) || size != len(record) {
				t.Fatalf("record %d takes %d bytes, was to take %d, plainly %d", i, got, size, len(record))
			}
			if bound := UpperBound(nullableLen(s.Key), nullableLen(s.Value), len(headers)); BatchOverhead+len(record) > bound {
				t.Fatalf("record of %d bytes is above its upper bound %d", len(record), bound)
			}
			want = append(want, record...)
			maxTS = max(maxTS, s.TS)
		}
		h := b.Header(true, 77, 3, 9)
		if got := bytes.Join(b.Chunks(), nil); !bytes.Equal(got, want) {
			t.Fatalf("records: %s", cmp.Diff(want, got))
		}
		if h.MaxTimestamp != maxTS || h.BaseTimestamp != samples[0].TS || int(h.Count) != len(samples) {
			t.Fatalf("header %+v", h)
		}
		if got := whole(&b, h); !bytes.Equal(got, plainBatch(h, want)) {
			t.Fatalf("batch: %s", cmp.Diff(plainBatch(h, want), got))
		}
		if b.EstimatedSize() != BatchOverhead+len(want) || b.Size() != b.EstimatedSize() {
			t.Fatalf("size %d, estimated %d, want %d", b.Size(), b.EstimatedSize(), BatchOverhead+len(want))
		}
		readBack(t, b.Reader(), samples)
	})
}

// TryAppend's short path does what tryExact does, or leaves it to it.
func TestTryAppendEqualsItsPlainTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int{200, 900, 16384, 40000}).Draw(t, "limit")
		compressed := rapid.Bool().Draw(t, "compressed")
		ratio := rapid.Float32Range(0.01, 1.5).Draw(t, "ratio")
		chunk := rapid.IntRange(62, 40000).Draw(t, "chunk")
		var fast, plain Builder
		fast.Reset(make([]byte, chunk), limit, compressed, ratio)
		plain.Reset(make([]byte, chunk), limit, compressed, ratio)
		length := rapid.OneOf(rapid.IntRange(0, 70), rapid.IntRange(8100, 8300), rapid.IntRange(0, 300))
		field := func(name string) []byte {
			if rapid.Bool().Draw(t, name+" is null") {
				return nil
			}
			return bytes.Repeat([]byte{name[0]}, length.Draw(t, name))
		}
		for range rapid.IntRange(1, 90).Draw(t, "records") {
			ts := rapid.OneOf(rapid.Int64Range(1000, 1100), rapid.Int64Range(-1, math.MaxInt64)).Draw(t, "ts")
			key, value := field("key"), field("value")
			var headers []byte
			if rapid.IntRange(0, 3).Draw(t, "headers") == 0 {
				headers = AppendHeaders(nil, []Header{{"h", value}})
			}
			room := fast.HasRoomFor(ts, nullableLen(key), nullableLen(value), len(headers))
			got, want := fast.TryAppend(ts, key, value, headers), plain.tryExact(ts, key, value, headers)
			if got != want || room == (got == NoRoom) {
				t.Fatalf("TryAppend gives %d, plainly %d, room %t", got, want, room)
			}
			if got == NeedsChunk {
				fast.AddChunk(make([]byte, chunk))
				plain.AddChunk(make([]byte, chunk))
			}
			if fast.Count() != plain.Count() || fast.UncompressedSize() != plain.UncompressedSize() ||
				fast.MaxTimestamp() != plain.MaxTimestamp() || fast.Remaining() != plain.Remaining() {
				t.Fatalf("%d records of %d bytes up to %d, plainly %d of %d up to %d", fast.Count(), fast.UncompressedSize(),
					fast.MaxTimestamp(), plain.Count(), plain.UncompressedSize(), plain.MaxTimestamp())
			}
		}
		if !bytes.Equal(bytes.Join(fast.Chunks(), nil), bytes.Join(plain.Chunks(), nil)) {
			t.Fatal("bytes differ")
		}
	})
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func readBack(t fataler, r *Reader, want []sample) {
	t.Helper()
	var rec Record
	i := 0
	for ; r.Next(&rec); i++ {
		hs, err := DecodeHeaders(rec.Headers)
		if err != nil {
			t.Fatalf("headers of record %d: %v", i, err)
		}
		got := sample{TS: rec.Timestamp, Key: rec.Key, Value: rec.Value, Headers: hs}
		w := want[i]
		if len(w.Headers) == 0 {
			w.Headers = nil
		}
		if diff := cmp.Diff(w, got); diff != "" || int(rec.OffsetDelta) != i {
			t.Fatalf("record %d (offset %d): %s", i, rec.OffsetDelta, diff)
		}
	}
	if r.Err() != nil || i != len(want) {
		t.Fatalf("read %d records of %d: %v", i, len(want), r.Err())
	}
}

func TestFirstChunkHoldsWhatAJavaBatchWould(t *testing.T) {
	// A record of 39 bytes: 100 - 61 bytes of header.
	value := make([]byte, 32)
	b := newBuilder(100)
	if start := b.Append(5, nil, value, nil); start != 0 {
		t.Fatalf("a record of 39 bytes in a batch of 100: %d", start)
	}
	if b.Remaining() != 0 || !b.IsFull() {
		t.Errorf("remaining %d, full %t, size %d", b.Remaining(), b.IsFull(), b.EstimatedSize())
	}
	b = newBuilder(99)
	if start := b.Append(5, nil, value, nil); start != NeedsChunk {
		t.Errorf("a record of 39 bytes in a batch of 99: %d, want NeedsChunk", start)
	}
	if b.Count() != 0 || b.UncompressedSize() != BatchOverhead {
		t.Error("a refused append left a trace")
	}
}

func TestBatchHasRoom(t *testing.T) { // ACC-16 (room's part)
	tests := map[string]struct {
		before func(b *Builder)
		want   int // of TryAppend with 50 bytes of value, in a batch with a limit of 120
	}{
		"for its first record":       {before: func(*Builder) {}, want: 0},
		"not past its limit":         {before: func(b *Builder) { b.Append(0, nil, make([]byte, 40), nil) }, want: NoRoom},
		"not once it is closed":      {before: func(b *Builder) { b.Close() }, want: NoRoom},
		"for a second one that fits": {before: func(b *Builder) { b.Append(0, nil, nil, nil); b.writeLimit = 125 }, want: 7},
		"but not for one that is a byte too large": {
			before: func(b *Builder) { b.Append(0, nil, nil, nil); b.writeLimit = 124 }, want: NoRoom,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var b Builder
			b.Reset(make([]byte, 1000), 120, false, 1)
			tt.before(&b)
			hasRoom := b.HasRoomFor(0, -1, 50, 0)
			if got := b.TryAppend(0, nil, make([]byte, 50), nil); got != tt.want {
				t.Errorf("TryAppend gives %d, want %d", got, tt.want)
			}
			if hasRoom != (tt.want >= 0) {
				t.Errorf("HasRoomFor says %t", hasRoom)
			}
		})
	}
}

// The estimate is a product of three 32-bit floats; in 64 bits, or in another order, these come out one off (as Java was
// seen to compute them).
func TestEstimateIsIn32BitFloats(t *testing.T) { // ACC-16 (the estimate's last bit)
	for _, tt := range []struct {
		written int
		ratio   uint32 // bits
		want    int
	}{
		{288996, 0x3e6da40c, 70420}, {551200, 0x3f0a010a, 311997}, {975672, 0x3f4be627, 815958}, {922945, 0x3f3703af, 692803},
	} {
		b := Builder{written: tt.written, compressed: true, ratio: math.Float32frombits(tt.ratio)}
		if got := b.EstimatedSize() - BatchOverhead; got != tt.want {
			t.Errorf("%d bytes at %v: %d, want %d", tt.written, b.ratio, got, tt.want)
		}
	}
}

func TestClosedBuilderTakesNoRecord(t *testing.T) {
	b := newBuilder(200)
	b.Append(1, nil, nil, nil)
	b.Close()
	if got := b.Append(1, nil, nil, nil); got != NoRoom || b.Count() != 1 || !b.IsFull() {
		t.Errorf("append to a closed batch: %d, count %d, full %t", got, b.Count(), b.IsFull())
	}
}

func TestCompressedBytesTakeTheRecordsPlace(t *testing.T) { // COMP-05 (the ratio's part)
	var b Builder
	b.Reset(make([]byte, 100), 1000, true, 0.5)
	b.AddChunk(make([]byte, 30))
	b.Append(7, nil, make([]byte, 50), nil)
	data := bytes.Repeat([]byte{0xc0}, 120) // the header's place is free for them
	if !b.Compressed(4, data) {
		t.Fatal("120 bytes don't fit in chunks of 130")
	}
	if got := bytes.Join(b.Chunks(), nil); !bytes.Equal(got, data) {
		t.Errorf("chunks hold %x", got)
	}
	if b.Size() != BatchOverhead+120 || b.EstimatedSize() != b.Size() || !b.Closed() {
		t.Errorf("size %d, estimated %d, closed %t", b.Size(), b.EstimatedSize(), b.Closed())
	}
	if got, want := b.CompressionRatio(), float32(120)/57; got != want {
		t.Errorf("ratio %v, want %v", got, want)
	}
	h := b.Header(false, NoProducerID, NoProducerEpoch, NoSequence)
	if h.Codec != 4 || h.MaxTimestamp != 7 || h.Count != 1 {
		t.Errorf("header %+v", h)
	}
	if !bytes.Equal(whole(&b, h), plainBatch(h, data)) {
		t.Error("the batch's bytes differ from the plain ones")
	}
}

func TestCompressedBytesThatDontFitGoElsewhere(t *testing.T) {
	b := newBuilder(100)
	b.Append(7, nil, make([]byte, 20), nil)
	before := slices.Clone(b.Chunks()[0])
	big := make([]byte, 101)
	if b.Compressed(1, big) || b.Compressed(1, nil) {
		t.Fatal("took what doesn't fit, or nothing")
	}
	if !bytes.Equal(b.Chunks()[0], before) || b.Codec() != 0 || b.Closed() {
		t.Fatal("a refusal left a trace")
	}
	views := [][]byte{big[:60], big[60:]}
	b.ReplaceChunks(1, views)
	views[0] = nil
	if got := bytes.Join(b.Chunks(), nil); len(got) != 101 || b.Size() != BatchOverhead+101 || b.Codec() != 1 {
		t.Errorf("%d bytes, size %d, codec %d", len(got), b.Size(), b.Codec())
	}
	if got := b.Memory(); len(got) != 1 || len(got[0]) != 100 {
		t.Errorf("memory to give back is %d chunks", len(got))
	}
}

func TestHeaderIsWrittenAnewPerAttempt(t *testing.T) { // COMP-06, COMP-07
	b := newBuilder(100)
	b.Append(7, []byte("k"), nil, nil)
	records := bytes.Clone(b.Chunks()[0])
	for _, h := range []BatchHeader{
		b.Header(false, NoProducerID, NoProducerEpoch, NoSequence),
		b.Header(true, 4711, 1, 0),
		b.Header(true, 4711, 2, math.MaxInt32),
	} {
		dst := bytes.Repeat([]byte{0xee}, BatchOverhead)
		PutHeader(dst, h, b.Chunks())
		if got := append(dst, b.Chunks()[0]...); !bytes.Equal(got, plainBatch(h, records)) {
			t.Errorf("batch of %+v: %x", h, got)
		}
	}
	if !bytes.Equal(records, b.Chunks()[0]) {
		t.Error("a header was written into the records")
	}
}

func TestEmptyBatchHasNoBytes(t *testing.T) {
	b := newBuilder(100)
	if b.Size() != 0 || len(b.Chunks()) != 0 || b.BaseTimestamp() != -1 || b.MaxTimestamp() != -1 || b.IsFull() {
		t.Errorf("size %d, %d chunks, timestamps %d, %d", b.Size(), len(b.Chunks()), b.BaseTimestamp(), b.MaxTimestamp())
	}
}

func TestCopySplitsAndLeavesOut(t *testing.T) {
	src := newBuilder(4000)
	var samples []sample
	for i := range 10 {
		s := sample{TS: int64(1000 - 7*i), Key: []byte{byte(i)}, Value: make([]byte, 10*i), Headers: []Header{{"h", nil}}}
		samples = append(samples, s)
		src.Append(s.TS, s.Key, s.Value, AppendHeaders(nil, s.Headers))
	}
	tests := map[string]func(i int) bool{
		"the front half":      func(i int) bool { return i < 5 },
		"the back half":       func(i int) bool { return i >= 5 },
		"all but the first":   func(i int) bool { return i != 0 },
		"all but one between": func(i int) bool { return i != 4 },
		"everything":          func(int) bool { return true },
	}
	for name, keep := range tests {
		t.Run(name, func(t *testing.T) {
			dst := newBuilder(70)
			ok, err := Copy(dst, src.Reader(), keep, func(size int) []byte { return make([]byte, 33) })
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			var want []sample
			for i, s := range samples {
				if keep(i) {
					want = append(want, s)
				}
			}
			if dst.BaseTimestamp() != want[0].TS {
				t.Errorf("base timestamp %d, want %d", dst.BaseTimestamp(), want[0].TS)
			}
			readBack(t, dst.Reader(), want)
		})
	}
	if ok, err := Copy(newBuilder(70), src.Reader(), tests["everything"], func(int) []byte { return nil }); ok || err != nil {
		t.Errorf("a copy without memory: %t, %v", ok, err)
	}
}

func TestReaderRefuses(t *testing.T) {
	good := plainRecord(0, 0, []byte("key"), []byte("value"), []Header{{"h", []byte("v")}})
	tests := map[string]struct {
		bytes []byte
		count int
	}{
		"a record that is cut off":             {good[:len(good)-1], 1},
		"fewer records than declared":          {good, 2},
		"more bytes than declared records":     {append(slices.Clone(good), 0), 1},
		"a negative record length":             {[]byte{1}, 1},
		"an endless length":                    {bytes.Repeat([]byte{0x80}, 9), 1},
		"an empty record":                      {[]byte{0}, 1},
		"a key longer than the record":         {[]byte{12, 0, 0, 0, 100, 1, 0}, 1},
		"a key length below -1":                {[]byte{12, 0, 0, 0, 3, 1, 0}, 1},
		"a header without a key":               {[]byte{16, 0, 0, 0, 1, 1, 2, 1, 1}, 1},
		"bytes behind the headers":             {[]byte{14, 0, 0, 0, 1, 1, 0, 9}, 1},
		"more headers than bytes could hold":   {[]byte{14, 0, 0, 0, 1, 1, 126, 0}, 1},
		"a negative number of headers":         {[]byte{12, 0, 0, 0, 1, 1, 3}, 1},
		"an offset delta of more than 32 bits": {[]byte{22, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 1, 0, 0}, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for cut := range len(tt.bytes) { // wherever a chunk ends
				r := NewReader([][]byte{tt.bytes[:cut], tt.bytes[cut:]}, 0, tt.count)
				var rec Record
				for r.Next(&rec) {
				}
				if r.Err() == nil {
					t.Fatalf("read without error, cut at %d", cut)
				}
			}
		})
	}
}

func TestReadBatchRefuses(t *testing.T) {
	b := newBuilder(200)
	b.Append(7, []byte("k"), []byte("v"), nil)
	good := whole(b, b.Header(false, -1, -1, -1))
	if batch, rest, err := ReadBatch(append(slices.Clone(good), 1, 2)); err != nil || len(rest) != 2 || batch.Count != 1 {
		t.Fatalf("a good batch: %+v, %d bytes left, %v", batch, len(rest), err)
	}
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 0x40
		if _, _, err := ReadBatch(bad); err == nil && i >= offAttributes {
			t.Errorf("byte %d changed, and the batch is read", i)
		}
		if _, _, err := ReadBatch(good[:i]); err == nil {
			t.Errorf("cut at %d, and the batch is read", i)
		}
	}
}

func TestEstimatorGetsWorseAtOnceAndBetterInSteps(t *testing.T) {
	var e Estimator
	if e.Ratio() != 1 {
		t.Fatalf("a fresh estimator expects %v", e.Ratio())
	}
	e.Set(0.5)
	step := float32(0.005)
	tests := []struct {
		name           string
		observed, want float32
	}{
		{"much better is one small step", 0.1, 0.5 - step},
		{"as expected changes nothing", 0.5 - step, 0.5 - step},
		{"a little better goes all the way", 0.494, 0.494},
		{"a little worse is a step of 0.05", 0.5, 0.544},
		{"much worse goes all the way", 2, 2},
	}
	for _, tt := range tests {
		if got := e.Observe(tt.observed); !near(got, tt.want) || e.Ratio() != got {
			t.Errorf("%s: expects %v, want %v", tt.name, got, tt.want)
		}
	}
}

// near allows for the last bit; the bits themselves are the oracle's business.
func near(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-6 }

func wantAllocs(t *testing.T, want float64, f func()) {
	t.Helper()
	if got := testing.AllocsPerRun(200, f); got != want {
		t.Errorf("%v allocations, want %v", got, want)
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	chunk, second := make([]byte, 300), make([]byte, 300)
	key, value, headers := []byte("key"), make([]byte, 100), AppendHeaders(nil, []Header{{"h", nil}})
	header := make([]byte, BatchOverhead)
	var b Builder
	b.Reset(chunk, 16384, false, 1)
	b.AddChunk(second)
	wantAllocs(t, 0, func() {
		b.Reset(chunk, 16384, false, 1)
		b.AddChunk(second)
		for b.TryAppend(5, key, value, headers) >= 0 { // the third crosses
		}
		if b.Count() != 4 {
			t.Fatalf("%d records", b.Count())
		}
		b.Close()
		PutHeader(header, b.Header(false, -1, -1, -1), b.Chunks())
	})
}

func TestFreshBuilderWithOneChunkAllocatesNothing(t *testing.T) {
	chunk := make([]byte, 300)
	value := make([]byte, 100)
	b := new(Builder)
	wantAllocs(t, 0, func() {
		*b = Builder{}
		b.Reset(chunk, 300, false, 1)
		b.Append(5, nil, value, nil)
		_ = b.Chunks()
	})
}

func FuzzReader(f *testing.F) {
	two := append(plainRecord(0, 0, []byte("k"), nil, nil), plainRecord(5, 1, nil, []byte("v"), []Header{{"h", nil}})...)
	f.Add(two, 2, 3)
	f.Add([]byte{14, 0, 0, 0, 1, 1, 126, 0}, 1, 1)
	f.Fuzz(func(t *testing.T, records []byte, count, cut int) {
		if count < 0 || count > 1000 {
			return
		}
		cut = max(0, min(cut, len(records)))
		chunks := [][]byte{records[:cut], records[cut:]}
		var again Builder
		again.Reset(make([]byte, len(records)+2*BatchOverhead+30*count), math.MaxInt32, false, 1)
		split, contiguous := NewReader(chunks, 0, count), NewReader([][]byte{records}, 0, count)
		var a, b Record
		for split.Next(&a) {
			if !contiguous.Next(&b) || !cmp.Equal(a, b) {
				t.Fatalf("in two chunks %+v, in one %+v", a, b)
			}
			if again.Append(a.Timestamp, a.Key, a.Value, a.Headers) < 0 {
				t.Fatal("a record grew by being read and written")
			}
		}
		if contiguous.Next(&b) || (split.Err() == nil) != (contiguous.Err() == nil) {
			t.Fatalf("in two chunks %v, in one %v", split.Err(), contiguous.Err())
		}
	})
}

func FuzzReadBatch(f *testing.F) {
	b := newBuilder(200)
	b.Append(7, []byte("k"), []byte("v"), nil)
	f.Add(whole(b, b.Header(true, 4711, 1, 0)))
	f.Fuzz(func(t *testing.T, in []byte) {
		batch, rest, err := ReadBatch(in)
		if err == nil && len(batch.Records)+len(rest)+BatchOverhead != len(in) {
			t.Fatalf("%d bytes of records and %d behind them in %d", len(batch.Records), len(rest), len(in))
		}
	})
}

func BenchmarkAppend100(b *testing.B) {
	chunk := make([]byte, 1<<20)
	value := make([]byte, 100)
	var bld Builder
	bld.Reset(chunk, 1<<20, false, 1)
	for b.Loop() {
		if bld.Append(1700000000000, nil, value, nil) < 0 {
			bld.Reset(chunk, 1<<20, false, 1)
		}
	}
}

func BenchmarkTryAppend100Keyed(b *testing.B) {
	chunk := make([]byte, 16384)
	key, value := make([]byte, 16), make([]byte, 100)
	var bld Builder
	bld.Reset(chunk, 16384, false, 1)
	for b.Loop() {
		if bld.TryAppend(1700000000000, key, value, nil) < 0 {
			bld.Reset(chunk, 16384, false, 1)
		}
	}
}

func BenchmarkTryAppend10(b *testing.B) {
	chunk := make([]byte, 16384)
	value := make([]byte, 10)
	var bld Builder
	bld.Reset(chunk, 16384, false, 1)
	for b.Loop() {
		if bld.TryAppend(1700000000000, nil, value, nil) < 0 {
			bld.Reset(chunk, 16384, false, 1)
		}
	}
}
