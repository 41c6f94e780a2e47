package floor

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

const (
	headerBytes = 61
	perRecord   = 32 // at most, besides key and value
)

// batch is one record batch, its header's room in front.
type batch struct {
	buf       []byte
	packed    []byte // header's room and compressed records
	count     int32
	partition int32
	ms        int64
	sampled   []int64 // what Send got, for records whose latency counts
}

func newBatch(size int) *batch { return &batch{buf: make([]byte, headerBytes, size+perRecord)} }

func (b *batch) reset(partition int32, ms int64) {
	b.buf, b.count, b.sampled, b.partition, b.ms = b.buf[:headerBytes], 0, b.sampled[:0], partition, ms
}

// add appends one record; all of a batch have its time stamp.
func (b *batch) add(key, value []byte) {
	keyLen := int64(-1)
	if key != nil {
		keyLen = int64(len(key))
	}
	body := 3 + varintLen(int64(b.count)) + varintLen(keyLen) + len(key) + varintLen(int64(len(value))) + len(value)
	p := binary.AppendVarint(b.buf, int64(body))
	p = append(p, 0, 0) // attributes, time stamp
	p = binary.AppendVarint(p, int64(b.count))
	p = append(binary.AppendVarint(p, keyLen), key...)
	p = append(binary.AppendVarint(p, int64(len(value))), value...)
	b.buf = append(p, 0) // headers
	b.count++
}

func varintLen(n int64) int {
	size := 1
	for u := uint64(n<<1) ^ uint64(n>>63); u >= 0x80; u >>= 7 {
		size++
	}
	return size
}

// finish writes the header and returns the whole batch.
func (b *batch) finish(c codec, crc *crc32.Table, producer int64, sequence int32) []byte {
	out := b.buf
	if c.pack != nil {
		b.packed = c.pack(append(b.packed[:0], b.buf[:headerBytes]...), b.buf[headerBytes:])
		out = b.packed
	}
	epoch := uint16(0)
	if producer < 0 {
		epoch, sequence = 0xffff, -1
	}
	be := binary.BigEndian
	be.PutUint64(out, 0)
	be.PutUint32(out[8:], uint32(len(out)-12))
	be.PutUint32(out[12:], 0xffffffff)
	out[16] = 2
	be.PutUint16(out[21:], c.attributes)
	be.PutUint32(out[23:], uint32(b.count-1))
	be.PutUint64(out[27:], uint64(b.ms))
	be.PutUint64(out[35:], uint64(b.ms))
	be.PutUint64(out[43:], uint64(producer))
	be.PutUint16(out[51:], epoch)
	be.PutUint32(out[53:], uint32(sequence))
	be.PutUint32(out[57:], uint32(b.count))
	be.PutUint32(out[17:], crc32.Checksum(out[21:], crc))
	return out
}

// codec packs records, at the level the clients use by default.
type codec struct {
	attributes uint16
	pack       func(dst, src []byte) []byte // appends
}

func newCodec(name string) (codec, error) {
	switch name {
	case "none":
		return codec{}, nil
	case "lz4":
		w := lz4.NewWriter(nil)
		err := w.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false))
		return codec{3, func(dst, src []byte) []byte {
			s := sink{dst}
			w.Reset(&s)
			_, werr := w.Write(src)
			if err := w.Close(); err != nil || werr != nil {
				panic("lz4 into memory failed")
			}
			return s.b
		}}, err
	case "zstd":
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(64<<10), zstd.WithEncoderCRC(false))
		return codec{4, func(dst, src []byte) []byte { return e.EncodeAll(src, dst) }}, err
	}
	return codec{}, fmt.Errorf("compression %q", name)
}

type sink struct{ b []byte }

func (s *sink) Write(p []byte) (int, error) { s.b = append(s.b, p...); return len(p), nil }
