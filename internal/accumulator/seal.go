package accumulator

import (
	"bytes"
	"slices"
	"sync"

	"linger/internal/compress"
)

// sendToSeal gives a closed batch to the sealers: the next Seals hands it out. The caller holds the queue's lock.
func (s *Schedule) sendToSeal(b *Batch) {
	b.become(Sealing)
	b.holder = HeldBySealer
	s.toSeal = append(s.toSeal, b)
}

// Seals appends to dst the batches that are to be compressed: call Seal on each, anywhere, then Sealed with it.
func (s *Schedule) Seals(dst []*Batch) []*Batch {
	dst = append(dst, s.toSeal...)
	clear(s.toSeal)
	s.toSeal = s.toSeal[:0]
	return dst
}

// unseal takes back a batch that Seals has not handed out, and reports whether it could.
func (s *Schedule) unseal(b *Batch) bool {
	i := slices.Index(s.toSeal, b)
	if i < 0 {
		return false
	}
	s.toSeal = slices.Delete(s.toSeal, i, i+1)
	b.backFromSealer()
	return true
}

// backFromSealer lets the node be drained that waited for b.
func (b *Batch) backFromSealer() {
	if b.goesWith != nil {
		b.goesWith.sealing--
		b.goesWith = nil
	}
}

// Seal compresses the batch. It touches the batch's bytes only: the caller is its holder, on whatever goroutine.
//
// The compressed bytes go back into the batch's own memory. When that is too small for them, since some bytes only grow
// under compression, they stay in a scratch of the batch's that is just as large. A codec that fails leaves the batch as
// it is, which is a valid batch without compression.
func (b *Batch) Seal(c *compress.Compressor) {
	store := &b.Queue.Topic.acc.scratches
	codec := c.Codec().Type
	scratch := store.get(compress.MaxCompressedLen(codec, b.builder.UncompressedSize()))
	out, err := c.Compress(scratch, b.builder.Chunks())
	if err == nil && len(out) > 0 && !b.builder.Compressed(uint8(codec), out) {
		b.scratch = bytes.Clone(out)
		b.builder.ReplaceChunks(uint8(codec), [][]byte{b.scratch})
	}
	store.put(out)
}

// Sealed takes a batch back from its sealer. If it has ended meanwhile its memory may go home (MayFree), else it may be
// drained once it is at the head of its queue.
func (s *Schedule) Sealed(b *Batch) {
	b.Queue.Topic.ratio.Observe(b.builder.CompressionRatio())
	b.backFromSealer()
	b.become(Sealed)
	if b.ended {
		b.holder = HeldByNobody
		return
	}
	b.holder = HeldByQueue
	s.look(b.Queue, s.now)
}

// Bounds of the scratches kept for sealers: as many as there may be workers, none larger than this.
const (
	maxIdleScratches = 16
	maxIdleScratch   = 4 << 20
)

// scratchStore keeps the memory that sealers compress into.
type scratchStore struct {
	mu   sync.Mutex
	idle [][]byte
}

// get is an empty slice with room for n bytes.
func (s *scratchStore) get(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.idle) - 1; last >= 0 {
		buf := s.idle[last]
		s.idle = s.idle[:last]
		if cap(buf) >= n {
			return buf[:0]
		}
	}
	return make([]byte, 0, n)
}

func (s *scratchStore) put(buf []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.idle) < maxIdleScratches && cap(buf) <= maxIdleScratch {
		s.idle = append(s.idle, buf)
	}
}
