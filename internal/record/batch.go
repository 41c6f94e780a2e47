package record

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Batch is a whole batch as it was read.
type Batch struct {
	BatchHeader
	BaseOffset      int64
	LeaderEpoch     int32
	Attributes      int16
	LastOffsetDelta int32
	CRC             uint32
	Records         []byte // compressed with Codec; aliases what was read
}

// ReadBatch reads the batch at the front of b and returns what lies behind it. Length, magic and CRC are checked, the
// records are not: decompress them, then see NewReader.
func ReadBatch(b []byte) (batch Batch, rest []byte, err error) {
	if len(b) < BatchOverhead {
		return Batch{}, b, fmt.Errorf("%w: %d bytes are no header", ErrCorrupt, len(b))
	}
	be := binary.BigEndian
	length := int64(int32(be.Uint32(b[offLength:])))
	if length < BatchOverhead-lengthOverhead || length > int64(len(b)-lengthOverhead) {
		return Batch{}, b, fmt.Errorf("%w: length %d in %d bytes", ErrCorrupt, length, len(b))
	}
	if b[offMagic] != magic {
		return Batch{}, b, fmt.Errorf("%w: magic %d", ErrCorrupt, b[offMagic])
	}
	end := int(length) + lengthOverhead
	batch = Batch{
		BaseOffset:      int64(be.Uint64(b[offBaseOffset:])),
		LeaderEpoch:     int32(be.Uint32(b[offLeaderEpoch:])),
		Attributes:      int16(be.Uint16(b[offAttributes:])),
		LastOffsetDelta: int32(be.Uint32(b[offLastOffsetDelta:])),
		CRC:             be.Uint32(b[offCRC:]),
		Records:         b[BatchOverhead:end:end],
		BatchHeader: BatchHeader{
			BaseTimestamp: int64(be.Uint64(b[offBaseTimestamp:])),
			MaxTimestamp:  int64(be.Uint64(b[offMaxTimestamp:])),
			ProducerID:    int64(be.Uint64(b[offProducerID:])),
			ProducerEpoch: int16(be.Uint16(b[offProducerEpoch:])),
			BaseSequence:  int32(be.Uint32(b[offBaseSequence:])),
			Count:         int32(be.Uint32(b[offCount:])),
		},
	}
	batch.Codec = uint8(batch.Attributes & attrCodec)
	batch.Transactional = batch.Attributes&attrTransactional != 0
	if crc := crc32.Checksum(b[offAttributes:end], castagnoli); crc != batch.CRC {
		return Batch{}, b, fmt.Errorf("%w: CRC %08x, computed %08x", ErrCorrupt, batch.CRC, crc)
	}
	if batch.Count < 0 {
		return Batch{}, b, fmt.Errorf("%w: %d records", ErrCorrupt, batch.Count)
	}
	return batch, b[end:], nil
}
