package record

import (
	"bytes"
	"hash/crc32"
	"testing"

	"pgregory.net/rapid"
)

// The header of a batch that was summed while it was written is that of the plain twin, which reads all its bytes.
func TestHeaderOfASummedBatchIsThePlainOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		compressed := rapid.Bool().Draw(t, "compressed")
		var b Builder
		b.Reset(make([]byte, rapid.IntRange(100, 20_000).Draw(t, "chunk")), 1<<20, compressed, 1)
		for range rapid.IntRange(0, 2).Draw(t, "more chunks") {
			b.AddChunk(make([]byte, rapid.IntRange(1, 20_000).Draw(t, "chunk")))
		}
		sizes := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 200), rapid.IntRange(0, 15_000)), 1, 60).Draw(t, "sizes")
		for i, n := range sizes {
			value := bytes.Repeat([]byte{byte(i), 7}, n)[:n]
			if b.TryAppend(int64(1000+i), nil, value, nil) == NeedsChunk {
				b.AddChunk(make([]byte, b.RecordSize(int64(1000+i), 0, n, 0)+BatchOverhead))
				b.TryAppend(int64(1000+i), nil, value, nil)
			}
		}
		same := func(when string) {
			got, want := make([]byte, BatchOverhead), make([]byte, BatchOverhead)
			b.PutHeader(got, true, 4711, 3, 99)
			PutHeader(want, b.Header(true, 4711, 3, 99), b.Chunks())
			if !bytes.Equal(got, want) {
				t.Fatalf("%s: header %x, the plain twin's %x", when, got, want)
			}
		}
		same("open")
		b.Close()
		same("closed")
		if compressed && !b.Compressed(2, []byte("what the codec made of it")) {
			b.ReplaceChunks(2, [][]byte{[]byte("what the codec "), []byte("made of it")})
		}
		same("sealed")
	})
}

// A closed batch without compression is all summed: what the header costs does not depend on its size.
func TestClosedBatchNeedsNoSecondLookAtItsBytes(t *testing.T) {
	var b Builder
	b.Reset(make([]byte, 1<<16), 1<<16, false, 1)
	for b.TryAppend(5, nil, make([]byte, 100), nil) >= 0 {
	}
	b.Close()
	if n := b.Size() - BatchOverhead; b.summed != n {
		t.Errorf("%d of %d bytes are summed", b.summed, n)
	}
}

func FuzzShift(f *testing.F) {
	f.Add([]byte("head"), []byte("records"))
	f.Add([]byte{}, bytes.Repeat([]byte{1}, 3000))
	f.Fuzz(func(t *testing.T, head, rest []byte) {
		got := shift(crc32.Checksum(head, castagnoli), len(rest)) ^ crc32.Checksum(rest, castagnoli)
		if want := crc32.Checksum(append(bytes.Clone(head), rest...), castagnoli); got != want {
			t.Errorf("combined CRC %08x, want %08x", got, want)
		}
	})
}
