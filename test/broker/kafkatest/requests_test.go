//go:build unix

package kafkatest_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"linger/test/broker/kafkatest"
)

func TestRequestsAreFoundHoweverTheBytesAreCut(t *testing.T) {
	request := func(key, version uint16, corr uint32, body int) []byte {
		b := binary.BigEndian.AppendUint32(nil, uint32(8+body))
		b = binary.BigEndian.AppendUint16(b, key)
		b = binary.BigEndian.AppendUint16(b, version)
		return append(binary.BigEndian.AppendUint32(b, corr), make([]byte, body)...)
	}
	want := []kafkatest.RequestHead{{Key: 18, Version: 4, Corr: 0}, {Key: 3, Version: 13, Corr: 1}, {Key: 0, Version: 12, Corr: 1 << 31}}
	bytes := slices.Concat(request(18, 4, 0, 30), request(3, 13, 1, 0), request(0, 12, 1<<31, 5000))
	for _, piece := range []int{1, 3, 11, 12, 13, 42, len(bytes)} {
		var f kafkatest.RequestHeads
		var got []kafkatest.RequestHead
		for part := range slices.Chunk(bytes, piece) {
			f.Follow(part, func(h kafkatest.RequestHead) { got = append(got, h) })
		}
		if !slices.Equal(got, want) {
			t.Errorf("in pieces of %d bytes: %+v, want %+v", piece, got, want)
		}
	}
}
