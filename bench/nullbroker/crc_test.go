package nullbroker_test

import (
	"encoding/binary"
	"hash/crc32"
)

// withCRC puts the right CRC into a batch.
func withCRC(b []byte) []byte {
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}
