package sim

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/record"
	"linger/internal/wire"
)

// header is the head of a request.
type header struct {
	key, version int16
	corr         int32
	flexible     bool
}

var errShort = errors.New("the frame is too short")

// readHeader takes a request apart, its length prefix included.
func readHeader(frame []byte) (h header, body []byte, err error) {
	be := binary.BigEndian
	if len(frame) < 14 {
		return h, nil, errShort
	}
	if n := int(be.Uint32(frame)); n != len(frame)-4 {
		return h, nil, fmt.Errorf("the prefix says %d bytes, there are %d", n, len(frame)-4)
	}
	h.key, h.version, h.corr = int16(be.Uint16(frame[4:])), int16(be.Uint16(frame[6:])), int32(be.Uint32(frame[8:]))
	client := int(int16(be.Uint16(frame[12:])))
	body = frame[14:]
	if client > len(body) {
		return h, nil, errShort
	}
	body = body[max(client, 0):]
	req := kmsg.RequestForKey(h.key)
	if req == nil {
		return h, nil, fmt.Errorf("there is no API %d", h.key)
	}
	req.SetVersion(h.version)
	if h.flexible = req.IsFlexible(); h.flexible {
		if len(body) == 0 || body[0] != 0 {
			return h, nil, errors.New("the header's tags are not empty")
		}
		body = body[1:]
	}
	return h, body, nil
}

// sentBatch is one batch of a produce request.
type sentBatch struct {
	record.Batch
	topic string
	id    [16]byte
	index int32
	size  int
}

// readProduce takes a produce request apart and checks each batch's length and CRC.
func readProduce(h header, body []byte) (batches []sentBatch, err error) {
	req := kmsg.NewPtrProduceRequest()
	req.Version = h.version
	if err := req.ReadFrom(body); err != nil {
		return nil, err
	}
	for i := range req.Topics {
		t := &req.Topics[i]
		for j := range t.Partitions {
			p := &t.Partitions[j]
			b, rest, err := record.ReadBatch(p.Records)
			if err != nil {
				return nil, fmt.Errorf("batch of %s-%d: %w", t.Topic, p.Partition, err)
			}
			if len(rest) > 0 {
				return nil, fmt.Errorf("batch of %s-%d: %d bytes behind it", t.Topic, p.Partition, len(rest))
			}
			batches = append(batches, sentBatch{Batch: b, topic: t.Topic, id: t.TopicID, index: p.Partition, size: len(p.Records)})
		}
	}
	return batches, nil
}

// encodeAnswer is the frame of an answer, without its length prefix.
func encodeAnswer(h header, resp kmsg.Response) []byte {
	frame := binary.BigEndian.AppendUint32(nil, uint32(h.corr))
	if h.flexible && h.key != wire.KeyApiVersions {
		frame = append(frame, 0)
	}
	return resp.AppendTo(frame)
}
