package wire

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// BenchmarkAppendProduce frames one request around its batches.
func BenchmarkAppendProduce(b *testing.B) {
	for _, partitions := range []int{1, 6, 100} {
		b.Run(fmt.Sprintf("partitions=%d", partitions), func(b *testing.B) {
			topic := ProduceTopic{Name: "orders", ID: [16]byte{1}}
			for i := range partitions {
				topic.Partitions = append(topic.Partitions, ProducePartition{Index: int32(i), Header: make([]byte, 61), Chunks: [][]byte{make([]byte, 1000)}})
			}
			topics := []ProduceTopic{topic}
			var f Frame
			b.ReportAllocs()
			for b.Loop() {
				f.Reset()
				if err := AppendProduce(&f, MaxProduceVersion, 1, "producer-1", nil, -1, 30000, topics); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReadProduceResponse reads an answer without errors.
func BenchmarkReadProduceResponse(b *testing.B) {
	for _, partitions := range []int{1, 6, 100} {
		b.Run(fmt.Sprintf("partitions=%d", partitions), func(b *testing.B) {
			body := []byte{2} // one topic
			body = append(body, make([]byte, 16)...)
			body = append(body, byte(partitions+1))
			for i := range partitions {
				body = binary.BigEndian.AppendUint32(body, uint32(i))
				body = append(body, make([]byte, 2+8+8+8)...) // code, base offset, log append time, log start offset
				body = append(body, 1, 0, 0)                  // no record errors, no message, no tags
			}
			body = append(body, 0, 0, 0, 0, 0, 0) // the topic's tags, throttle time, tags
			var p ProduceResponse
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Read(MaxProduceVersion, body); err != nil {
					b.Fatal(err)
				}
			}
			if len(p.Partitions) != partitions {
				b.Fatalf("%d partitions", len(p.Partitions))
			}
		})
	}
}
