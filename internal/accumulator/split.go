package accumulator

import (
	"fmt"

	"linger/internal/clock"
	"linger/internal/compress"
	"linger/internal/invariant"
	"linger/internal/record"
)

// Split cuts a landed batch that the broker found too large into pieces, which take its place in its queue as if they had
// never been tried (Java: splitAndReenqueue). assign is called for each piece in order, to give it its part of the
// batch's sequences. It returns how many pieces there are. The batch itself has ended then and may be freed.
//
// A batch is first cut to batch.size; a piece that is still too large, to half its size. So the number of rounds is
// logarithmic, and it ends with single records, however far batch.size is above the broker's limit (KAFKA-8350).
func (s *Schedule) Split(b *Batch, now clock.Instant, assign func(piece *Batch)) int {
	invariant.Check(b.holder == HeldByNobody && !b.ended, "a batch is split that is held or has ended")
	s.now = now
	// The next batches are to come out smaller: as large as this one was, compressed, or not compressed at all.
	b.Queue.Topic.ratio.Set(max(1, b.builder.CompressionRatio()))
	pieces := s.cut(b)
	s.shareCharge(b, pieces)
	s.chain(b, pieces)
	for _, p := range pieces {
		assign(p)
	}
	for i := len(pieces) - 1; i >= 0; i-- { // each goes in front of the one behind it
		s.enqueue(pieces[i], false)
	}
	s.end(b)
	s.look(b.Queue, now)
	return len(pieces)
}

// cut makes the pieces.
func (s *Schedule) cut(b *Batch) []*Batch {
	limit := s.splitSize
	if b.piece {
		limit = max(b.maxRecord, b.Size()/2)
	}
	pieces := s.cutTo(b, limit, b.RecordCount())
	if b.piece && len(pieces) == 1 && b.RecordCount() > 1 {
		// Records so small that two always fit what one may take: Java would send the same batch for ever.
		s.acc.slots.put(pieces[0].slots)
		pieces = s.cutTo(b, limit, (b.RecordCount()+1)/2)
	}
	return pieces
}

// cutTo copies the batch's records to pieces of at most limit bytes, estimated as for any batch, and at most count
// records.
func (s *Schedule) cutTo(b *Batch, limit, count int) (pieces []*Batch) {
	chunks, raw := b.plain()
	r := record.NewReader(chunks, b.builder.BaseTimestamp(), b.RecordCount())
	var rec record.Record
	var p *Batch
	for i := 0; r.Next(&rec); i++ {
		need := record.UpperBound(int(size(rec.Key)), int(size(rec.Value)), len(rec.Headers))
		e := Entry{TimestampMs: rec.Timestamp, Key: rec.Key, Value: rec.Value, Headers: rec.Headers, Callback: b.slots[i].Callback}
		if p == nil || p.RecordCount() == count || p.add(&e) < 0 {
			// A record may take more here than it took in the batch: its time stamp counts from the piece's first.
			p = s.newPiece(b, i, max(limit, need), max(need, raw))
			pieces = append(pieces, p)
			if p.add(&e) < 0 {
				panic("broken invariant: a new piece has no room for its first record")
			}
		}
		p.maxRecord = max(p.maxRecord, need)
		raw -= p.lastSize()
	}
	if err := r.Err(); err != nil {
		panic(fmt.Sprintf("broken invariant: a batch of ours cannot be read: %v", err))
	}
	return pieces
}

// newPiece is an empty piece that begins with record i of b. Its memory is not the pool's; it gets a part of b's charge.
func (s *Schedule) newPiece(b *Batch, i, limit, rawLeft int) *Batch {
	p := s.acc.batches.get(b.Queue.Topic.Name, b.Queue.Partition)
	p.Queue, p.word, p.stage, p.piece = b.Queue, b.word, b.stage, true
	p.CreatedAt, p.LastAttempt, p.order = b.CreatedAt, b.CreatedAt, b.order+int64(i)
	p.slots = s.acc.slots.get()
	room := min(limit, record.BatchOverhead+rawLeft+record.MaxRecordOverhead)
	p.builder.Reset(make([]byte, room), limit, s.acc.compresses(), b.Queue.Topic.ratio.Ratio())
	return p
}

// plain is the batch's records without compression, and how many bytes they are.
func (b *Batch) plain() ([][]byte, int) {
	raw := b.builder.UncompressedSize() - record.BatchOverhead
	chunks := b.builder.Chunks()
	if b.builder.Codec() == 0 {
		return chunks, raw
	}
	var packed []byte
	for _, c := range chunks {
		packed = append(packed, c...)
	}
	plain, err := compress.Decompress(compress.Type(b.builder.Codec()), packed, raw)
	if err != nil {
		panic(fmt.Sprintf("broken invariant: a batch of ours cannot be decompressed: %v", err))
	}
	return [][]byte{plain}, raw
}

// shareCharge divides what b was charged among the pieces by their sizes, to the byte: b's buffers are dropped, and the
// pool gets its bytes back as the pieces end.
func (s *Schedule) shareCharge(b *Batch, pieces []*Batch) {
	left := b.charge
	if !b.piece {
		left += (len(b.builder.Memory()) - 1) * s.acc.o.Pool.Poolable()
	}
	b.charge = 0
	total := 0
	for _, p := range pieces {
		total += p.builder.UncompressedSize()
	}
	for _, p := range pieces {
		size := p.builder.UncompressedSize()
		p.charge = int(int64(left) * int64(size) / int64(total))
		left -= p.charge
		total -= size
	}
}

// chain hands the batch's records over to the pieces: their futures, and the flushes that wait for them. The pieces join
// the batch's generation before it leaves, so that no flush returns in between (KAFKA-9312).
func (s *Schedule) chain(b *Batch, pieces []*Batch) {
	results := make([]piece, len(pieces))
	for i, p := range pieces {
		results[i] = piece{int32(p.order - b.order), p.result}
		p.close()
		if !s.acc.compresses() {
			p.become(Sealed)
		}
	}
	s.acc.gens.add(b.stage, len(pieces)-1) // b's own place goes to one of them
	s.acc.incomplete.Add(int64(len(pieces)))
	b.result.splitInto(results)
	s.acc.slots.put(b.slots)
	b.result, b.slots, b.stage = nil, nil, nil
}
