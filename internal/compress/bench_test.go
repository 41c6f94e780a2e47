package compress

import (
	"fmt"
	"testing"
)

func BenchmarkCompress(b *testing.B) {
	for _, typ := range types[1:] {
		for _, n := range []int{16 << 10, 256 << 10} {
			b.Run(fmt.Sprintf("%s/%dKiB", typ, n>>10), func(b *testing.B) {
				c := newCompressor(b, typ.Default())
				src := [][]byte{text(n)}
				dst := make([]byte, 0, MaxCompressedLen(typ, n))
				b.SetBytes(int64(n))
				b.ReportAllocs()
				var out []byte
				for b.Loop() {
					out, _ = c.Compress(dst, src)
				}
				b.ReportMetric(float64(len(out))/float64(n), "ratio")
			})
		}
	}
}
