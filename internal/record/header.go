package record

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"linger/internal/kerr"
)

// No producer id, epoch and sequence: what a batch carries without idempotence.
const (
	NoProducerID    int64 = -1
	NoProducerEpoch int16 = -1
	NoSequence      int32 = -1
)

// NoTimestamp stands for a record without a timestamp.
const NoTimestamp int64 = -1

// Where the fields of the header stand.
const (
	offBaseOffset      = 0
	offLength          = 8
	offLeaderEpoch     = 12
	offMagic           = 16
	offCRC             = 17
	offAttributes      = 21 // the CRC covers everything from here on
	offLastOffsetDelta = 23
	offBaseTimestamp   = 27
	offMaxTimestamp    = 35
	offProducerID      = 43
	offProducerEpoch   = 51
	offBaseSequence    = 53
	offCount           = 57

	lengthOverhead = 12 // what the length field doesn't count: base offset and itself
	magic          = 2

	attrCodec         = 0x07
	attrTransactional = 0x10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// BatchHeader is what the sender knows of a batch besides its bytes.
type BatchHeader struct {
	Codec         uint8 // 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd
	Transactional bool
	BaseTimestamp int64 // milliseconds
	MaxTimestamp  int64 // milliseconds
	Count         int32 // records, at least 1
	ProducerID    int64 // NoProducerID without idempotence, as the next two
	ProducerEpoch int16
	BaseSequence  int32
}

// Header is the header of b's batch with the given producer state.
func (b *Builder) Header(transactional bool, producerID int64, epoch int16, baseSequence int32) BatchHeader {
	return BatchHeader{
		Codec: b.codec, Transactional: transactional,
		BaseTimestamp: b.baseTs, MaxTimestamp: b.maxTs, Count: int32(b.count),
		ProducerID: producerID, ProducerEpoch: epoch, BaseSequence: baseSequence,
	}
}

// Check refuses a producer state that a broker would, with Java's words.
func (h *BatchHeader) Check() error {
	switch {
	case h.Transactional && h.ProducerID == NoProducerID:
		return illegal("Cannot write transactional messages without a valid producer ID")
	case h.ProducerID == NoProducerID:
		return nil
	case h.ProducerEpoch == NoProducerEpoch:
		return illegal("Invalid negative producer epoch")
	case h.BaseSequence < 0:
		return illegal("Invalid negative sequence number used")
	}
	return nil
}

// CheckTimestamp refuses a negative timestamp other than NoTimestamp. Append does not look.
func CheckTimestamp(ms int64) error {
	if ms < 0 && ms != NoTimestamp {
		return illegal(fmt.Sprintf("Invalid negative timestamp %d", ms))
	}
	return nil
}

func illegal(text string) error {
	return &kerr.Error{Msg: text, Err: kerr.ErrIllegalArgument}
}

// PutHeader writes the header of a batch whose other bytes are chunks into dst, which must be BatchOverhead bytes: base
// offset 0 and leader epoch -1, as every producer writes them, and the CRC over all of it.
func PutHeader(dst []byte, h BatchHeader, chunks [][]byte) {
	size := BatchOverhead
	for _, c := range chunks {
		size += len(c)
	}
	putFields(dst, h, size)
	crc := headerCRC(dst)
	for _, c := range chunks {
		crc = crc32.Update(crc, castagnoli, c)
	}
	putCRC(dst, crc)
}

// putFields writes all but the CRC of a batch of size bytes.
func putFields(dst []byte, h BatchHeader, size int) {
	_ = dst[BatchOverhead-1]
	attributes := uint16(h.Codec & attrCodec)
	if h.Transactional {
		attributes |= attrTransactional
	}
	be := binary.BigEndian
	be.PutUint64(dst[offBaseOffset:], 0)
	be.PutUint32(dst[offLength:], uint32(size-lengthOverhead))
	be.PutUint32(dst[offLeaderEpoch:], 0xffffffff)
	dst[offMagic] = magic
	be.PutUint16(dst[offAttributes:], attributes)
	be.PutUint32(dst[offLastOffsetDelta:], uint32(h.Count-1))
	be.PutUint64(dst[offBaseTimestamp:], uint64(h.BaseTimestamp))
	be.PutUint64(dst[offMaxTimestamp:], uint64(h.MaxTimestamp))
	be.PutUint64(dst[offProducerID:], uint64(h.ProducerID))
	be.PutUint16(dst[offProducerEpoch:], uint16(h.ProducerEpoch))
	be.PutUint32(dst[offBaseSequence:], uint32(h.BaseSequence))
	be.PutUint32(dst[offCount:], uint32(h.Count))
}

// headerCRC is the CRC of the header's own bytes.
func headerCRC(dst []byte) uint32 {
	return crc32.Checksum(dst[offAttributes:BatchOverhead], castagnoli)
}

func putCRC(dst []byte, crc uint32) { binary.BigEndian.PutUint32(dst[offCRC:], crc) }
