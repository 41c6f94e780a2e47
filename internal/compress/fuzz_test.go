package compress

import (
	"bytes"
	"testing"
)

// fuzzLimit keeps hostile input from costing more than a little.
const fuzzLimit = 1 << 20

func FuzzDecompress(f *testing.F) {
	for _, typ := range types {
		for _, plain := range [][]byte{nil, []byte("linger"), text(3000), make([]byte, 70_000)} {
			packed := checkRoundTrip(f, newCompressor(f, typ.Default()), [][]byte{plain})
			f.Add(int8(typ), packed)
			f.Add(int8(typ), packed[:len(packed)/2])
		}
	}
	f.Add(int8(Snappy), append(bytes.Clone(snappyHeader[:]), 0xff, 0xff, 0xff, 0xff))
	f.Add(int8(Snappy), append(bytes.Clone(snappyHeader[:]), 0, 0, 0, 5, 0xff, 0xff, 0xff, 0x7f, 0))
	f.Fuzz(func(t *testing.T, typ int8, src []byte) {
		out, err := Decompress(Type(typ), src, fuzzLimit)
		if err != nil {
			if out != nil {
				t.Errorf("%d bytes came with error %v", len(out), err)
			}
			return
		}
		if len(out) > fuzzLimit {
			t.Errorf("%d bytes, the limit is %d", len(out), fuzzLimit)
		}
		checkRoundTrip(t, newCompressor(t, Type(typ).Default()), [][]byte{out})
	})
}

// FuzzCompress holds every codec against its plain twin: Decompress uses the libraries' own readers.
func FuzzCompress(f *testing.F) {
	f.Add([]byte("linger linger linger"), uint16(3))
	f.Add(text(40_000), uint16(1000))
	f.Fuzz(func(t *testing.T, src []byte, at uint16) {
		cut := min(int(at), len(src))
		for _, typ := range types {
			checkRoundTrip(t, newCompressor(t, typ.Default()), [][]byte{src[:cut], src[cut:]})
		}
	})
}
