package sender

import (
	"linger/internal/accumulator"
	"linger/internal/client"
	"linger/internal/record"
	"linger/internal/wire"
)

// produceRequest is one Produce request and the batches it holds. It is recycled once it has let go of them.
//
// The batches' record bytes are not copied: Frame.Vec points into their chunks, so their memory stays with the request
// until the client machine says that the connection no longer reads it (KAFKA-19012).
type produceRequest struct {
	client  client.Request
	batches []*accumulator.Batch // in the order in which they stand in the request
	topics  []wire.ProduceTopic
	parts   []wire.ProducePartition
	headers []byte // 61 bytes a batch
	frame   wire.Frame
}

func (s *Sender) idleRequest() *produceRequest {
	if n := len(s.requests); n > 0 {
		r := s.requests[n-1]
		s.requests = s.requests[:n-1]
		return r
	}
	return new(produceRequest)
}

// maxIdleRequests bounds the requests kept for reuse.
const maxIdleRequests = 64

func (s *Sender) recycle(r *produceRequest) {
	clear(r.batches)
	clear(r.topics)
	clear(r.parts)
	r.batches, r.topics, r.parts = r.batches[:0], r.topics[:0], r.parts[:0]
	r.headers = r.headers[:0]
	r.frame.Reset()
	if len(s.requests) < maxIdleRequests {
		s.requests = append(s.requests, r)
	}
}

// frameBatches writes the request around its batches: topics in the order of their first batch, the 61 header bytes of
// each batch made anew.
func (s *Sender) frameBatches(r *produceRequest) {
	need := len(r.batches) * record.BatchOverhead
	if cap(r.headers) < need {
		r.headers = make([]byte, 0, need)
	}
	r.groupByTopic()
	for _, b := range r.batches {
		at := len(r.headers)
		r.headers = r.headers[:at+record.BatchOverhead]
		head := r.headers[at:]
		b.PutHeader(head)
		r.parts = append(r.parts, wire.ProducePartition{Index: b.Queue.Partition, Header: head, Chunks: b.Chunks()})
	}
	start := 0
	for i, b := range r.batches {
		if last := i+1 == len(r.batches); last || r.batches[i+1].Queue.Topic != b.Queue.Topic {
			t := b.Queue.Topic
			r.topics = append(r.topics, wire.ProduceTopic{Name: t.Name, ID: t.ID(), Partitions: r.parts[start : i+1]})
			start = i + 1
		}
	}
}

func (s *Sender) countRequest(r *produceRequest) {
	c := s.o.Counters
	c.ProduceRequests.Add(1)
	c.BatchesSent.Add(int64(len(r.batches)))
	for _, b := range r.batches {
		c.RecordsSent.Add(int64(b.RecordCount()))
		c.BytesSent.Add(int64(b.Size()))
		c.UncompressedBytes.Add(int64(b.UncompressedSize()))
	}
}

// groupByTopic brings batches of one topic together; topics keep the order of their first batch, batches that of the drain.
func (r *produceRequest) groupByTopic() {
	bs := r.batches
	for i := 0; i < len(bs); {
		j := i + 1
		for k := j; k < len(bs); k++ {
			if bs[k].Queue.Topic != bs[i].Queue.Topic {
				continue
			}
			moved := bs[k]
			copy(bs[j+1:k+1], bs[j:k])
			bs[j] = moved
			j++
		}
		i = j
	}
}
