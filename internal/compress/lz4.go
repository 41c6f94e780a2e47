package compress

import (
	"encoding/binary"
	"slices"

	"github.com/pierrec/lz4/v4"
)

// lz4Block is how much goes into one block, as in Java's Lz4BlockOutputStream.
const lz4Block = 64 << 10

// lz4Header: magic; version 1 with independent blocks and no checksums; blocks of 64 KiB; the second byte of the
// xxHash-32 of those two.
var lz4Header = [7]byte{0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82}

// lz4Stored marks the length of a block that is not compressed.
const lz4Stored = 1 << 31

// lz4Encoder writes an lz4 frame as Java does.
//
// Java compresses with LZ4's fast compressor at level 9, the default, and with its high compressor at every other
// level, the lower ones included; so do we. Java's high compressor follows at most 1 << (level-1) earlier occurrences
// at each position; our library takes that number itself, so each level means the same effort here.
type lz4Encoder struct {
	fast   *lz4.CompressorCCompat // the reference implementation's own output, and the faster one for our blocks
	high   *lz4.CompressorHC
	blocks blocks
}

func newLZ4(level int) *lz4Encoder {
	e := &lz4Encoder{blocks: newBlocks(lz4Block)}
	if _, _, byDefault, _ := LZ4.Levels(); level == byDefault {
		e.fast = new(lz4.CompressorCCompat)
	} else {
		e.high = &lz4.CompressorHC{Level: 1 << (level - 1)}
	}
	return e
}

func (e *lz4Encoder) encode(dst []byte, src [][]byte) ([]byte, error) {
	dst = append(dst, lz4Header[:]...)
	e.blocks.start(src)
	for block := e.blocks.next(); len(block) > 0; block = e.blocks.next() {
		at := len(dst) + 4
		dst = slices.Grow(dst, 4+lz4.CompressBlockBound(len(block)))
		// With that room the block is compressed in place and cannot fail.
		n, err := e.compressBlock(block, dst[at:at+lz4.CompressBlockBound(len(block))])
		if err != nil {
			return dst, err
		}
		if n >= len(block) {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(len(block))|lz4Stored)
			dst = append(dst, block...)
			continue
		}
		dst = binary.LittleEndian.AppendUint32(dst, uint32(n))[:at+n]
	}
	return binary.LittleEndian.AppendUint32(dst, 0), nil
}

func (e *lz4Encoder) compressBlock(block, dst []byte) (int, error) {
	if e.fast != nil {
		return e.fast.CompressBlock(block, dst)
	}
	return e.high.CompressBlock(block, dst)
}

func lz4Bound(n int) int {
	full, rest := n/lz4Block, n%lz4Block
	bound := len(lz4Header) + full*(4+lz4.CompressBlockBound(lz4Block)) + 4
	if rest > 0 {
		bound += 4 + lz4.CompressBlockBound(rest)
	}
	return bound
}
