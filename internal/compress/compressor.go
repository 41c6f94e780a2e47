package compress

import "slices"

// Compressor compresses one batch after the other. It belongs to one goroutine and keeps its memory from batch to
// batch: once it has seen a batch as large it allocates nothing, if what it appends to has room.
type Compressor struct {
	codec  Codec
	encode encoder // nil: no compression
}

// encoder appends the compressed form of the chunks, one behind the other, to dst.
type encoder interface {
	encode(dst []byte, src [][]byte) ([]byte, error)
}

// NewCompressor makes a Compressor, or says why the codec is refused. Encoders are made here; they are large (lz4
// 0.25 MB at most, gzip 1 MB, zstd a few MB), which is why sealers share a small fixed set.
func NewCompressor(c Codec) (*Compressor, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	out := &Compressor{codec: c}
	var err error
	switch c.Type {
	case Gzip:
		out.encode, err = newGzip(c.Level)
	case Snappy:
		out.encode = newSnappy()
	case LZ4:
		out.encode = newLZ4(c.Level)
	case Zstd:
		out.encode, err = newZstd(c.Level)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Codec is what the Compressor was made for.
func (c *Compressor) Codec() Codec { return c.codec }

// Compress appends the compressed form of the chunks of src, taken as one run of bytes, to dst and returns the longer
// dst. src is only read, and dst must not share memory with it. Room for MaxCompressedLen bytes always suffices.
func (c *Compressor) Compress(dst []byte, src [][]byte) ([]byte, error) {
	if c.encode == nil {
		for _, chunk := range src {
			dst = append(dst, chunk...)
		}
		return dst, nil
	}
	return c.encode.encode(dst, src)
}

// MaxCompressedLen is a bound on what Compress appends for n bytes, which may be more than n when they do not compress.
func MaxCompressedLen(t Type, n int) int {
	switch t {
	case Gzip:
		return gzipBound(n)
	case Snappy:
		return snappyBound(n)
	case LZ4:
		return lz4Bound(n)
	case Zstd:
		return zstdBound(n)
	default:
		return n
	}
}

func totalLen(src [][]byte) (n int) {
	for _, chunk := range src {
		n += len(chunk)
	}
	return n
}

// gather is the chunks in one piece: src itself when there is one chunk, else a copy in scratch.
func gather(scratch []byte, src [][]byte) (all, scratchNow []byte) {
	if len(src) == 1 {
		return src[0], scratch
	}
	scratch = slices.Grow(scratch[:0], totalLen(src))
	for _, chunk := range src {
		scratch = append(scratch, chunk...)
	}
	return scratch, scratch
}

// blocks cuts chunks into blocks of a fixed size. A block inside one chunk is that chunk's own memory; one that
// straddles chunks is copied into scratch and valid until the next call.
type blocks struct {
	head    []byte   // what is left of the current chunk
	rest    [][]byte // the chunks behind it
	scratch []byte   // its capacity is the size of a block
}

func newBlocks(size int) blocks { return blocks{scratch: make([]byte, 0, size)} }

func (b *blocks) start(src [][]byte) { b.head, b.rest = nil, src }

// next gives the next block; empty at the end. It lets go of the source there.
func (b *blocks) next() []byte {
	size := cap(b.scratch)
	b.advance()
	if len(b.head) >= size || len(b.rest) == 0 {
		return b.cut(size)
	}
	out := b.scratch[:0]
	for len(b.head) > 0 && len(out) < size {
		out = append(out, b.cut(size-len(out))...)
		b.advance()
	}
	return out
}

// advance makes head the next bytes there are.
func (b *blocks) advance() {
	for len(b.head) == 0 && len(b.rest) > 0 {
		b.head, b.rest = b.rest[0], b.rest[1:]
	}
}

// cut takes up to n bytes off head.
func (b *blocks) cut(n int) []byte {
	n = min(n, len(b.head))
	out := b.head[:n]
	if b.head = b.head[n:]; len(b.head) == 0 {
		b.head = nil
	}
	return out
}
