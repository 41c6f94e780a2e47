package nullbroker

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Contents is what verified batches held. ContentSum is over all keys and values whatever their order, so that two
// clients that were given the same records have the same.
type Contents struct {
	Records    int64  `json:"records"`
	KeyBytes   int64  `json:"key_bytes"`
	ValueBytes int64  `json:"value_bytes"`
	ContentSum uint64 `json:"content_sum"`
	// Sequenced batches carry a producer id, Compressed ones a codec.
	Sequenced  int64 `json:"sequenced_batches"`
	Compressed int64 `json:"compressed_batches"`
}

// verifier decodes batches with other people's code and follows sequences.
type verifier struct {
	decompress kgo.Decompressor
	castagnoli *crc32.Table

	mu   sync.Mutex
	next map[sequenced]int32
	c    Contents
}

type sequenced struct {
	producer  int64
	epoch     int16
	topic     string
	partition int32
}

func newVerifier() *verifier {
	return &verifier{decompress: kgo.DefaultDecompressor(), castagnoli: crc32.MakeTable(crc32.Castagnoli), next: map[sequenced]int32{}}
}

func (v *verifier) contents() Contents {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.c
}

const (
	offCRC        = 17
	offAttributes = 21
	codecBits     = 7
	lengthBytes   = 12 // of a batch, not counted in its length
)

func (v *verifier) batch(topic string, partition int32, raw []byte) error {
	var b kmsg.RecordBatch
	if err := b.ReadFrom(raw); err != nil {
		return err
	}
	switch {
	case int(b.Length) != len(raw)-lengthBytes:
		return fmt.Errorf("batch of length %d in %d bytes", b.Length, len(raw))
	case crc32.Checksum(raw[offAttributes:], v.castagnoli) != uint32(b.CRC):
		return fmt.Errorf("CRC %08x is wrong", uint32(b.CRC))
	case b.NumRecords < 1 || b.LastOffsetDelta != b.NumRecords-1:
		return fmt.Errorf("%d records, last offset delta %d", b.NumRecords, b.LastOffsetDelta)
	case b.Attributes&^codecBits != 0:
		return fmt.Errorf("attributes %#x", b.Attributes)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.sequence(topic, partition, &b); err != nil {
		return err
	}
	return v.records(&b)
}

func (v *verifier) sequence(topic string, partition int32, b *kmsg.RecordBatch) error {
	if b.ProducerID < 0 {
		return nil
	}
	v.c.Sequenced++
	k := sequenced{b.ProducerID, b.ProducerEpoch, topic, partition}
	if want := v.next[k]; b.FirstSequence != want {
		return fmt.Errorf("sequence %d, expected %d", b.FirstSequence, want)
	}
	v.next[k] += b.NumRecords
	return nil
}

func (v *verifier) records(b *kmsg.RecordBatch) error {
	body := b.Records
	if codec := kgo.CompressionCodecType(b.Attributes & codecBits); codec != kgo.CodecNone {
		v.c.Compressed++
		var err error
		if body, err = v.decompress.Decompress(body, codec); err != nil {
			return fmt.Errorf("codec %d: %w", codec, err)
		}
	}
	newest := b.FirstTimestamp
	for i := range b.NumRecords {
		var r kmsg.Record
		length, n := binary.Varint(body)
		if n <= 0 || length < 0 || length > int64(len(body)-n) {
			return fmt.Errorf("record %d of %d has no length that fits", i, b.NumRecords)
		}
		end := n + int(length)
		if err := r.ReadFrom(body[:end]); err != nil {
			return fmt.Errorf("record %d of %d: %w", i, b.NumRecords, err)
		}
		if r.OffsetDelta != i {
			return fmt.Errorf("record %d has offset delta %d", i, r.OffsetDelta)
		}
		body = body[end:]
		newest = max(newest, b.FirstTimestamp+r.TimestampDelta64)
		v.c.Records++
		v.c.KeyBytes += int64(len(r.Key))
		v.c.ValueBytes += int64(len(r.Value))
		v.c.ContentSum += uint64(crc32.Checksum(r.Value, v.castagnoli))<<16 ^ uint64(crc32.Checksum(r.Key, v.castagnoli))
	}
	if len(body) != 0 {
		return fmt.Errorf("%d bytes behind the last record", len(body))
	}
	if newest != b.MaxTimestamp {
		return fmt.Errorf("newest record is of %d, the header says %d", newest, b.MaxTimestamp)
	}
	return nil
}
