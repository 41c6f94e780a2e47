package compress

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/pierrec/lz4/v4"

	"linger/test/oracle"
)

type batchCase struct {
	ID, Kind, Compression string
	Level                 *int
	Bytes                 string
	UncompressedBytes     int
	Decoded               []struct {
		Offset     int64
		Key, Value *string
		Headers    [][2]*string
	}
}

// batchHeader is the size of what stands before a batch's records, and is never compressed.
const batchHeader = 61

// COMP-03, COMP-04: what Java's codecs wrote is read, and the same records written by ours are read back unchanged.
func TestOracleCompressed(t *testing.T) {
	var set struct{ Cases []batchCase }
	oracle.Load(t, "record-batch.json", &set)
	var cases []batchCase
	for _, c := range set.Cases {
		if c.Kind == "compressed" {
			cases = append(cases, c)
		}
	}
	oracle.Run(t, cases, func(c batchCase) string { return c.ID }, nil, func(t *testing.T, c batchCase) {
		typ, err := ParseType(c.Compression)
		if err != nil {
			t.Fatal(err)
		}
		codec := typ.Default()
		if c.Level != nil {
			codec.Level = *c.Level
		}
		batch, err := hex.DecodeString(c.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		java := batch[batchHeader:]
		records, err := Decompress(typ, java, c.UncompressedBytes-batchHeader)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(records); got != c.UncompressedBytes-batchHeader {
			t.Errorf("%d bytes of records, want %d", got, c.UncompressedBytes-batchHeader)
		}
		checkRecords(t, records, c)
		ours := checkRoundTrip(t, newCompressor(t, codec), [][]byte{records})
		switch typ {
		case Snappy:
			checkSnappyBlocks(t, ours, java)
		case LZ4:
			checkLZ4Blocks(t, ours, java)
		}
	})
}

// checkRecords takes the records apart far enough to find keys, values and headers in order.
func checkRecords(t *testing.T, b []byte, c batchCase) {
	t.Helper()
	varint := func() int {
		v, n := binary.Varint(b)
		if n <= 0 {
			t.Fatalf("no varint in %d bytes", len(b))
		}
		b = b[n:]
		return int(v)
	}
	field := func(what string, want *string) {
		n := varint()
		if n < 0 {
			if want != nil {
				t.Fatalf("%s is null, want %q", what, *want)
			}
			return
		}
		if want == nil || n > len(b) || hex.EncodeToString(b[:n]) != *want {
			t.Fatalf("%s is not as Java decoded it", what)
		}
		b = b[n:]
	}
	for _, r := range c.Decoded {
		varint()  // length
		b = b[1:] // attributes
		varint()  // timestamp delta
		if got, want := int64(varint()), r.Offset-c.Decoded[0].Offset; got != want {
			t.Fatalf("offset delta %d, want %d", got, want)
		}
		field("key", r.Key)
		field("value", r.Value)
		if got := varint(); got != len(r.Headers) {
			t.Fatalf("%d headers, want %d", got, len(r.Headers))
		}
		for _, h := range r.Headers {
			n := varint()
			b = b[n:] // the name stands in the vectors as text
			field("header", h[1])
		}
	}
	if len(b) != 0 {
		t.Errorf("%d bytes behind the last record", len(b))
	}
}

// checkSnappyBlocks holds our container against Java's: the same header and the same cut into blocks.
func checkSnappyBlocks(t *testing.T, ours, java []byte) {
	t.Helper()
	if !bytes.Equal(ours[:16], java[:16]) {
		t.Errorf("header % x, want % x", ours[:16], java[:16])
	}
	sizes := func(b []byte) (out []uint64) {
		for b = b[16:]; len(b) > 0; {
			n := binary.BigEndian.Uint32(b)
			plain, _ := binary.Uvarint(b[4:])
			out = append(out, plain)
			b = b[4+n:]
		}
		return out
	}
	checkSameBlocks(t, sizes(ours), sizes(java))
}

// checkLZ4Blocks holds our container against Java's: the same header, the same cut into blocks, the same end mark.
func checkLZ4Blocks(t *testing.T, ours, java []byte) {
	t.Helper()
	if !bytes.Equal(ours[:7], java[:7]) {
		t.Errorf("header % x, want % x", ours[:7], java[:7])
	}
	plain := make([]byte, 64<<10)
	sizes := func(b []byte) (out []uint64) {
		for b = b[7:]; len(b) > 4; {
			mark := binary.LittleEndian.Uint32(b)
			block := b[4 : 4+mark&^lz4Stored]
			n := len(block)
			if mark&lz4Stored == 0 {
				var err error
				if n, err = lz4.UncompressBlock(block, plain); err != nil {
					t.Fatal(err)
				}
			}
			out = append(out, uint64(n))
			b = b[4+len(block):]
		}
		if len(b) != 4 || binary.LittleEndian.Uint32(b) != 0 {
			t.Errorf("end mark % x", b)
		}
		return out
	}
	checkSameBlocks(t, sizes(ours), sizes(java))
}

func checkSameBlocks(t *testing.T, got, want []uint64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d blocks, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("block %d: %d, want %d", i, got[i], want[i])
		}
	}
}
