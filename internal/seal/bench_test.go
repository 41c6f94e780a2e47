package seal

import (
	"testing"

	"linger/internal/compress"
)

// BenchmarkHandOver is what a job costs besides the work: to the worker, and word that it is done back.
func BenchmarkHandOver(b *testing.B) {
	done := make(chan int, 1)
	p := New(1, snappy, func(job int, _ *compress.Compressor) { done <- job })
	defer p.Stop()
	b.ReportAllocs()
	for b.Loop() {
		p.Submit(1)
		<-done
	}
}
