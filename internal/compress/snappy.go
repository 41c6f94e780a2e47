package compress

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/s2"
)

// snappyBlock is how much goes into one block, as in Java's SnappyOutputStream.
const snappyBlock = 32 << 10

// snappyHeader: magic, version, lowest version that can read it.
var snappyHeader = [16]byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1}

var snappyMaxBlock = s2.MaxEncodedLen(snappyBlock)

// snappyEncoder writes the blocked stream of Java's snappy library, which is neither snappy's own framing format nor
// one bare block. Snappy has no levels.
type snappyEncoder struct {
	blocks blocks
}

func newSnappy() *snappyEncoder { return &snappyEncoder{blocks: newBlocks(snappyBlock)} }

func (e *snappyEncoder) encode(dst []byte, src [][]byte) ([]byte, error) {
	dst = append(dst, snappyHeader[:]...)
	e.blocks.start(src)
	for block := e.blocks.next(); len(block) > 0; block = e.blocks.next() {
		at := len(dst) + 4
		dst = slices.Grow(dst, 4+s2.MaxEncodedLen(len(block)))
		// With that room the block is encoded in place.
		n := len(s2.EncodeSnappy(dst[at:at:cap(dst)], block))
		dst = binary.BigEndian.AppendUint32(dst, uint32(n))[:at+n]
	}
	return dst, nil
}

func snappyBound(n int) int {
	full, rest := n/snappyBlock, n%snappyBlock
	bound := len(snappyHeader) + full*(4+snappyMaxBlock)
	if rest > 0 {
		bound += 4 + s2.MaxEncodedLen(rest)
	}
	return bound
}

var errSnappy = errors.New("not a blocked snappy stream")

func decodeSnappy(src []byte, limit int) ([]byte, error) {
	if len(src) < len(snappyHeader) || !bytes.Equal(src[:8], snappyHeader[:8]) {
		return nil, errSnappy
	}
	src = src[len(snappyHeader):]
	var out []byte
	for len(src) > 0 {
		if len(src) < 4 {
			return nil, fmt.Errorf("%w: %d bytes where a block length should be", errSnappy, len(src))
		}
		size := binary.BigEndian.Uint32(src)
		src = src[4:]
		if uint64(size) > uint64(len(src)) {
			return nil, fmt.Errorf("%w: block of %d bytes, %d remain", errSnappy, size, len(src))
		}
		block := src[:size]
		src = src[size:]
		n, err := s2.DecodedLen(block)
		if err != nil {
			return nil, err
		}
		if n > limit-len(out) {
			return nil, errTooLong(limit)
		}
		// A snappy block cannot say more than about 21 bytes with one: do not believe a length beyond that.
		if n > 32*len(block) {
			return nil, fmt.Errorf("%w: block of %d bytes claims %d", errSnappy, size, n)
		}
		out = slices.Grow(out, n)
		plain, err := s2.Decode(out[len(out):len(out)+n], block)
		if err != nil {
			return nil, err
		}
		out = append(out, plain...) // a no-op copy onto itself when it was decoded in place
	}
	return out, nil
}
