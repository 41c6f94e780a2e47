package nullbroker

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	produceMin = 3
	produceMax = 13

	batchOverhead = 61 // bytes of a batch's header
	offMagic      = 16
	offCount      = 57

	codeNone             = 0
	codeCorrupt          = 2
	codeUnknownPartition = 3
	codeUnknownTopicID   = 100
)

var errShort = errors.New("a request ends too early")

// produce answers a Produce request from behind its client id on.
func (b *Broker) produce(out []byte, version int16, corr int32, c *cursor) ([]byte, error) {
	if version < produceMin || version > produceMax {
		return out, fmt.Errorf("Produce v%d", version)
	}
	flexible := version >= 9
	b.requests.Add(1)
	b.version.Store(int32(version))
	c.tags(flexible) // the header's
	c.text(flexible) // transactional id
	acks := c.int16()
	c.int32() // timeout

	start := len(out)
	out = binary.BigEndian.AppendUint32(out, 0)
	out = binary.BigEndian.AppendUint32(out, uint32(corr))
	if flexible {
		out = append(out, 0)
	}
	topics := c.count(flexible)
	out = appendCount(out, flexible, topics)
	for ; topics > 0 && !c.bad; topics-- {
		out = b.produceTopic(out, version, c)
	}
	out = binary.BigEndian.AppendUint32(out, 0) // throttle
	if flexible {
		out = append(out, 0)
	}
	switch {
	case c.bad:
		return out[:start], errShort
	case acks == 0:
		return out[:start], nil
	}
	binary.BigEndian.PutUint32(out[start:], uint32(len(out)-start-frameSize))
	return out, nil
}

func (b *Broker) produceTopic(out []byte, version int16, c *cursor) []byte {
	flexible := version >= 9
	var t *topic
	if version >= 13 {
		id := c.take(16)
		if id == nil {
			return out
		}
		t = b.topicByID([16]byte(id))
		out = append(out, id...)
	} else {
		name := c.text(flexible)
		t = b.topic(name)
		out = appendText(out, flexible, name)
	}
	partitions := c.count(flexible)
	out = appendCount(out, flexible, partitions)
	for ; partitions > 0 && !c.bad; partitions-- {
		p := c.int32()
		records := c.bytes(flexible)
		c.tags(flexible)
		code, base := int16(codeUnknownTopicID), int64(-1)
		if t != nil {
			code, base = b.store(t, p, records)
		}
		out = appendPartition(out, version, p, code, base)
	}
	c.tags(flexible)
	if flexible {
		out = append(out, 0)
	}
	return out
}

func appendPartition(out []byte, version int16, p int32, code int16, base int64) []byte {
	be, flexible := binary.BigEndian, version >= 9
	out = be.AppendUint32(out, uint32(p))
	out = be.AppendUint16(out, uint16(code))
	out = be.AppendUint64(out, uint64(base))
	out = be.AppendUint64(out, ^uint64(0)) // log append time: none
	if version >= 5 {
		out = be.AppendUint64(out, 0) // log start offset
	}
	if version >= 8 {
		out = appendCount(out, flexible, 0) // errors of single records
		if flexible {
			out = append(out, 0) // error message: null
		} else {
			out = append(out, 0xff, 0xff)
		}
	}
	if flexible {
		out = append(out, 0)
	}
	return out
}

// store counts one partition's batch and gives it its offset.
func (b *Broker) store(t *topic, p int32, batch []byte) (code int16, base int64) {
	switch {
	case p < 0 || int(p) >= len(t.next):
		return codeUnknownPartition, -1
	case len(batch) < batchOverhead || batch[offMagic] != 2:
		return codeCorrupt, -1
	}
	n := int64(int32(binary.BigEndian.Uint32(batch[offCount:])))
	b.batches.Add(1)
	b.records.Add(n)
	b.bytes.Add(int64(len(batch)))
	if b.verifier != nil {
		if err := b.verifier.batch(t.name, p, batch); err != nil {
			b.fail(fmt.Errorf("%s-%d: %w", t.name, p, err))
			return codeCorrupt, -1
		}
	}
	return codeNone, t.next[p].Add(n) - n
}
