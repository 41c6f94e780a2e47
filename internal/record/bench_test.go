package record

import (
	"fmt"
	"testing"
)

// BenchmarkPutHeader is what each attempt of a batch costs: 61 bytes and the checksum.
func BenchmarkPutHeader(b *testing.B) {
	for _, size := range []int{1 << 10, 16 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			head, chunks := make([]byte, BatchOverhead), [][]byte{make([]byte, size)}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				PutHeader(head, BatchHeader{Count: 100}, chunks)
			}
		})
	}
}
