package compress

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"linger/internal/invariant"
)

var types = []Type{None, Gzip, Snappy, LZ4, Zstd}

// levelsOf are the lowest, the default and the highest level of a codec, and some between.
func levelsOf(t Type) []int {
	switch t {
	case Gzip:
		return []int{-1, 1, 2, 6, 9}
	case LZ4:
		return []int{1, 8, 9, 10, 17}
	case Zstd:
		return []int{-1 << 17, 0, 3, 6, 22}
	default:
		return []int{0}
	}
}

func newCompressor(t testing.TB, c Codec) *Compressor {
	t.Helper()
	out, err := NewCompressor(c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// random bytes do not compress.
func random(n int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// text compresses, in ways that effort matters to: words of a small language, with much that nearly repeats.
func text(n int) []byte { return makeText()[:n:n] }

var makeText = sync.OnceValue(func() []byte {
	const longest = 1200 << 10
	r := rand.New(rand.NewPCG(2, 2))
	var words [400]string
	for i := range words {
		for range 2 + r.IntN(8) {
			words[i] += string(rune('a' + r.IntN(26)))
		}
	}
	var b []byte
	for len(b) < longest {
		word := words[r.IntN(1+r.IntN(len(words)))]
		b = append(append(b, word...), ` {}":,`[r.IntN(6)])
		if r.IntN(40) == 0 {
			b = fmt.Appendf(b, `"id":%d,"at":17000%d`, r.IntN(1e6), len(b))
		}
	}
	return b
})

// CASES B29: every codec at every kind of level gives back what went in, at the sizes where blocks end.
func TestWhatGoesInComesOut(t *testing.T) {
	contents := map[string][]byte{
		"nothing":           {},
		"one byte":          {7},
		"32 KiB minus one":  text(32<<10 - 1),
		"32 KiB":            text(32 << 10),
		"64 KiB minus one":  text(64<<10 - 1),
		"64 KiB":            text(64 << 10),
		"64 KiB plus one":   text(64<<10 + 1),
		"150 kB of text":    text(150_000),
		"900 kB random":     random(900_000),
		"900 kB of zeroes":  make([]byte, 900_000),
		"random then zeros": append(random(100_000), make([]byte, 100_000)...),
	}
	for _, typ := range types {
		for _, level := range levelsOf(typ) {
			c := newCompressor(t, Codec{Type: typ, Level: level})
			for name, want := range contents {
				t.Run(fmt.Sprintf("%s at %d: %s", typ, level, name), func(t *testing.T) {
					checkRoundTrip(t, c, [][]byte{want})
				})
			}
		}
	}
}

func checkRoundTrip(t testing.TB, c *Compressor, src [][]byte) []byte {
	t.Helper()
	want := slices.Concat(src...)
	before := []byte("before")
	out, err := c.Compress(slices.Clone(before), src)
	if err != nil {
		t.Fatal(err)
	}
	packed, found := bytes.CutPrefix(out, before)
	if !found {
		t.Fatal("what was in dst is gone")
	}
	if now := slices.Concat(src...); !bytes.Equal(now, want) {
		t.Fatal("the source was written to")
	}
	if bound := MaxCompressedLen(c.Codec().Type, len(want)); len(packed) > bound {
		t.Errorf("%d bytes became %d, the bound is %d", len(want), len(packed), bound)
	}
	got, err := Decompress(c.Codec().Type, packed, len(want))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%d bytes came back as %d other ones", len(want), len(got))
	}
	if len(want) > 0 {
		if _, err := Decompress(c.Codec().Type, packed, len(want)-1); err == nil {
			t.Error("a limit one byte too low was not noticed")
		}
	}
	return packed
}

func TestHowSourceIsCutIntoChunksDoesNotMatter(t *testing.T) {
	for _, typ := range types {
		t.Run(typ.String(), func(t *testing.T) {
			c := newCompressor(t, typ.Default())
			rapid.Check(t, func(r *rapid.T) {
				n := rapid.IntRange(0, 150_000).Draw(r, "bytes")
				all := text(150_000)[:n]
				if rapid.Bool().Draw(r, "incompressible") {
					all = random(n)
				}
				whole, err := c.Compress(nil, [][]byte{all})
				if err != nil {
					r.Fatal(err)
				}
				var chunks [][]byte
				for rest := all; len(rest) > 0; {
					n := min(len(rest), rapid.IntRange(0, 70_000).Draw(r, "chunk"))
					chunks = append(chunks, rest[:n])
					rest = rest[n:]
				}
				packed, err := c.Compress(nil, chunks)
				if err != nil {
					r.Fatal(err)
				}
				// gzip is a stream whose blocks follow the writes; the others must not differ by a byte.
				if typ != Gzip && !bytes.Equal(packed, whole) {
					r.Fatal("chunks changed the bytes")
				}
				got, err := Decompress(typ, packed, len(all))
				if err != nil || !bytes.Equal(got, all) {
					r.Fatalf("%d bytes came back wrong: %v", len(all), err)
				}
			})
		})
	}
}

// CASES B29, COMP-04: levels change the output, and no level costs readability.
func TestLevelsChangeTheOutput(t *testing.T) {
	src := [][]byte{text(100_000)}
	tests := map[Type][]int{ // from the least effort to the most
		Gzip: {1, 6, 9},
		LZ4:  {1, 4, 8, 17},
		Zstd: {-1 << 17, 3, 6, 22},
	}
	for typ, levels := range tests {
		t.Run(typ.String(), func(t *testing.T) {
			sizes := make(map[int]int)
			for _, level := range levels {
				packed := checkRoundTrip(t, newCompressor(t, Codec{Type: typ, Level: level}), src)
				if other, taken := sizes[len(packed)]; taken {
					t.Errorf("levels %d and %d both give %d bytes", other, level, len(packed))
				}
				sizes[len(packed)] = level
			}
			if smallest := slices.Min(slices.Collect(maps.Keys(sizes))); sizes[smallest] != levels[len(levels)-1] {
				t.Errorf("level %d gives the smallest output, want the highest, %d", sizes[smallest], levels[len(levels)-1])
			}
		})
	}
}

func TestDefaultLevelsAreJavas(t *testing.T) {
	src := [][]byte{text(100_000)}
	size := func(level int) int { return len(checkRoundTrip(t, newCompressor(t, Codec{Gzip, level}), src)) }
	if got := Gzip.Default().Level; got != -1 || size(-1) >= size(1) || size(-1) <= size(9) {
		t.Errorf("gzip's default is %d with %d bytes, want -1 with a size between %d and %d", got, size(-1), size(9), size(1))
	}
	if got := LZ4.Default().Level; got != 9 {
		t.Errorf("lz4's default is %d, want 9", got)
	}
	if newLZ4(9).fast == nil || newLZ4(8).fast != nil || newLZ4(10).fast != nil {
		t.Error("the fast compressor of lz4 is for level 9 and no other")
	}
	if got := Zstd.Default().Level; got != 3 {
		t.Errorf("zstd's default is %d, want 3", got)
	}
}

func TestCodecsAreRefusedOutsideTheirLevels(t *testing.T) {
	tests := map[string]struct {
		codec Codec
		want  bool
	}{
		"gzip 10 is too high":            {Codec{Gzip, 10}, false},
		"gzip 0 is not a level":          {Codec{Gzip, 0}, false},
		"gzip -2 is too low":             {Codec{Gzip, -2}, false},
		"gzip -1 is the default":         {Codec{Gzip, -1}, true},
		"gzip 9 is the highest":          {Codec{Gzip, 9}, true},
		"lz4 0 is too low":               {Codec{LZ4, 0}, false},
		"lz4 18 is too high":             {Codec{LZ4, 18}, false},
		"lz4 17 is the highest":          {Codec{LZ4, 17}, true},
		"zstd 23 is too high":            {Codec{Zstd, 23}, false},
		"zstd -131073 is too low":        {Codec{Zstd, -131073}, false},
		"zstd -131072 is the lowest":     {Codec{Zstd, -131072}, true},
		"zstd 0 is a level":              {Codec{Zstd, 0}, true},
		"snappy has no levels to refuse": {Codec{Snappy, 99}, true},
		"none has no levels to refuse":   {Codec{None, 99}, true},
		"there is no codec 5":            {Codec{Type: 5}, false},
		"there is no codec -1":           {Codec{Type: -1}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := NewCompressor(tt.codec); (err == nil) != tt.want {
				t.Errorf("NewCompressor(%v): %v, want it taken: %t", tt.codec, err, tt.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for number, name := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		got, err := ParseType(name)
		if err != nil || got != Type(number) {
			t.Errorf("ParseType(%q) = %d, %v, want %d", name, got, err, number)
		}
		if Type(number).String() != name {
			t.Errorf("%d is called %q, want %q", number, Type(number), name)
		}
	}
	for _, name := range []string{"", "GZIP", "Zstd", "brotli"} {
		if _, err := ParseType(name); err == nil {
			t.Errorf("ParseType(%q) took it", name)
		}
	}
	if got := Type(9).String(); got != "Type(9)" {
		t.Errorf("Type(9) is called %q", got)
	}
}

// COMP-02: 1000 similar records compress better in one batch than in 1000.
func TestFullerBatchesCompressBetter(t *testing.T) {
	records := make([][]byte, 1000)
	for i := range records {
		records[i] = fmt.Appendf(nil, `{"user":%d,"action":"click","page":"/products/%d"}`, i*7919%100000, i%37)
	}
	for _, typ := range types[1:] {
		t.Run(typ.String(), func(t *testing.T) {
			c := newCompressor(t, typ.Default())
			together := len(checkRoundTrip(t, c, records))
			apart := 0
			for i := range records {
				apart += len(checkRoundTrip(t, c, records[i:i+1]))
			}
			if plain := totalLen(records); together*2 > plain || together >= apart {
				t.Errorf("%d bytes: %d in one batch, %d in 1000", plain, together, apart)
			}
		})
	}
}

// Bytes without repetitions but with a small alphabet shrink, as in Java.
func TestHexShrinksWithoutRepetitions(t *testing.T) {
	hexed := hex.AppendEncode(nil, random(32<<10))
	for _, codec := range []Codec{Gzip.Default(), {Zstd, 1}, Zstd.Default()} {
		packed := checkRoundTrip(t, newCompressor(t, codec), [][]byte{hexed})
		if len(packed)*10 > len(hexed)*6 {
			t.Errorf("%v: %d bytes became %d, want 60 %% at most", codec, len(hexed), len(packed))
		}
	}
}

// The containers are read by libraries' own readers where they have one for the format.
func TestLibrariesReadTheContainers(t *testing.T) {
	want := text(200_000)
	t.Run("a snappy block is bare snappy behind a header of 16 and a length of 4", func(t *testing.T) {
		packed := checkRoundTrip(t, newCompressor(t, Snappy.Default()), [][]byte{want[:snappyBlock]})
		got, err := snappy.Decode(nil, packed[20:])
		if err != nil || !bytes.Equal(got, want[:snappyBlock]) {
			t.Errorf("the block does not decode: %v", err)
		}
	})
	t.Run("zstd says its size and needs no window above its limit", func(t *testing.T) {
		packed := checkRoundTrip(t, newCompressor(t, Zstd.Default()), [][]byte{text(1200 << 10)})
		var h zstd.Header
		if err := h.Decode(packed); err != nil {
			t.Fatal(err)
		}
		if h.WindowSize > zstdWindow || h.HasCheckSum || h.FrameContentSize != 1200<<10 {
			t.Errorf("frame header %+v", h)
		}
	})
	t.Run("gzip is one member", func(t *testing.T) {
		packed := checkRoundTrip(t, newCompressor(t, Gzip.Default()), [][]byte{want})
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		r.Multistream(false)
		got, err := readAll(r, len(want))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("the first member is not everything: %v", err)
		}
	})
	t.Run("lz4 has Java's header and end mark", func(t *testing.T) {
		packed := checkRoundTrip(t, newCompressor(t, LZ4.Default()), [][]byte{want})
		if !bytes.HasPrefix(packed, []byte{4, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82}) || !bytes.HasSuffix(packed, []byte{0, 0, 0, 0}) {
			t.Errorf("frame % x … % x", packed[:7], packed[len(packed)-4:])
		}
	})
}

func TestAWarmCompressorAllocatesNothing(t *testing.T) {
	one := [][]byte{text(100_000)}
	chunks := [][]byte{one[0][:10_000], one[0][10_000:70_000], one[0][70_000:]}
	for _, typ := range types {
		for _, level := range levelsOf(typ) {
			t.Run(fmt.Sprintf("%s at %d", typ, level), func(t *testing.T) {
				c := newCompressor(t, Codec{typ, level})
				dst := make([]byte, 0, MaxCompressedLen(typ, len(one[0])))
				wantAllocs(t, 0, func() { _, _ = c.Compress(dst, one) })
				wantAllocs(t, 0, func() { _, _ = c.Compress(dst, chunks) })
				if out, _ := c.Compress(dst, one); &out[0] != &dst[:1][0] {
					t.Error("the room of MaxCompressedLen was not used")
				}
			})
		}
	}
}

func wantAllocs(t *testing.T, want float64, f func()) {
	t.Helper()
	if invariant.Enabled {
		t.Skip("the race detector allocates")
	}
	f()
	if got := testing.AllocsPerRun(3, f); got > want {
		t.Errorf("%v allocations, want %v", got, want)
	}
}

func TestACompressorFitsTheNextBatchWhateverTheLast(t *testing.T) {
	for _, typ := range types {
		t.Run(typ.String(), func(t *testing.T) {
			c := newCompressor(t, typ.Default())
			for _, n := range []int{0, 120_000, 3, 70_000, 0, 1} {
				checkRoundTrip(t, c, [][]byte{text(n)})
				checkRoundTrip(t, c, [][]byte{random(n), text(n)})
				checkRoundTrip(t, c, [][]byte{nil, text(n), {}, nil})
			}
			checkRoundTrip(t, c, nil)
		})
	}
}
