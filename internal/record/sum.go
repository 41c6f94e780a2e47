package record

import (
	"hash/crc32"
	"math"
)

// A batch's CRC covers its header and then its records. The header is made anew for each attempt, when the records have long
// left the processor's cache. So the records are summed while they are written, a block at a time, and the header's
// sum is put in front of theirs:
//
//	crc(header + records) = shift(crc(header), length of records) xor crc(records)
//
// The plain twin is PutHeader, which goes through all bytes again: with 32 MiB of batches between append and request it took
// four times as long for each byte.

// sumBlock is how many bytes wait to be summed: few enough to be still in the first cache, enough for the CPU's instruction
// to run at its full speed.
const sumBlock = 6 << 10

// sum takes in the bytes of the last chunk that it has not seen.
func (b *Builder) sum() {
	fresh := b.tail[b.sumAt:b.at]
	b.crc = crc32.Update(b.crc, castagnoli, fresh)
	b.summed += len(fresh)
	b.sumAt, b.sumNext = b.at, b.at+sumBlock
}

// neverSum is sumNext of a batch whose bytes will be replaced by compressed ones.
const neverSum = math.MaxInt

// PutHeader writes the header of the batch with the given producer state into dst, which must be BatchOverhead bytes.
func (b *Builder) PutHeader(dst []byte, transactional bool, producerID int64, epoch int16, baseSequence int32) {
	h := b.Header(transactional, producerID, epoch, baseSequence)
	n := b.Size() - BatchOverhead
	if b.summed != n {
		PutHeader(dst, h, b.Chunks())
		return
	}
	putFields(dst, h, BatchOverhead+n)
	putCRC(dst, shift(headerCRC(dst), n)^b.crc)
}

// shift is what becomes of a CRC when n zero bytes follow: crc times x to the power of 8n, modulo the polynomial.
func shift(crc uint32, n int) uint32 {
	for k := 0; n > 0; k++ {
		if n&1 == 1 {
			crc = multiply(crc, zeroBytes[k])
		}
		n >>= 1
	}
	return crc
}

// zeroBytes are the factors of 1, 2, 4 … zero bytes.
var zeroBytes = powers()

func powers() (p [63]uint32) {
	p[0] = 1 << (31 - 8) // x to the power of 8; the highest bit stands for the lowest power
	for k := 1; k < len(p); k++ {
		p[k] = multiply(p[k-1], p[k-1])
	}
	return p
}

// multiply multiplies two polynomials over GF(2) modulo Castagnoli's.
func multiply(a, b uint32) (product uint32) {
	for a != 0 {
		product ^= b & uint32(int32(a)>>31) // b, if a's lowest power is there
		a <<= 1
		b = b>>1 ^ crc32.Castagnoli&-(b&1)
	}
	return product
}
