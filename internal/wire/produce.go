package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"linger/internal/invariant"
)

// The versions of Produce spoken here. Older ones carry older record formats; 4.x brokers have dropped them (KIP-896).
const (
	MinProduceVersion int16 = 3
	MaxProduceVersion int16 = 13
)

// BatchHeader is the size of a record batch's header in bytes: everything before its first record.
const BatchHeader = 61

const (
	produceFlexible int16 = 9  // KIP-482
	produceLeader   int16 = 10 // KIP-951
	produceTopicID  int16 = 13 // KIP-516
)

// ProduceTopic is one topic of a Produce request.
type ProduceTopic struct {
	// Name goes out up to v12, at most MaxNameBytes.
	Name string
	// ID goes out from v13 on.
	ID [16]byte
	// Partitions are in the order of the wire.
	Partitions []ProducePartition
}

// ProducePartition is one batch on its way. The slices stay the caller's: Header is copied, Chunks are referred to.
type ProducePartition struct {
	Index int32
	// Header is the batch's header, stamped: BatchHeader bytes.
	Header []byte
	// Chunks are the bytes behind the header: the records, or what a codec made of them.
	Chunks [][]byte
}

func (p *ProducePartition) batchLen() int {
	n := len(p.Header)
	for _, c := range p.Chunks {
		n += len(c)
	}
	return n
}

// AppendProduce adds a Produce request to the frame, which must be empty; it takes no memory when the frame has held
// one as large. The bytes are those of AppendProducePlain.
//
// txnID is nil outside transactions, acks is -1 (all), 0 or 1, timeoutMs is how long the broker may wait for
// replicas. It fails, and leaves the frame to be Reset, when the version is not spoken here or the request is longer
// than a length prefix can say.
func AppendProduce(dst *Frame, version int16, corr int32, clientID string, txnID *string, acks int16, timeoutMs int32, topics []ProduceTopic) error {
	invariant.Check(len(dst.Head) == 0, "frame holds %d bytes of an earlier request", len(dst.Head))
	size, err := produceSize(version, clientID, txnID, topics)
	if err != nil {
		return err
	}
	flexible := version >= produceFlexible
	// Grown once and before the first slice of it goes into Vec, Head never moves.
	dst.Head = slices.Grow(dst.Head, size.head)
	h := appendInt32(dst.Head, int32(size.total-SizePrefix))
	h = appendHeader(h, KeyProduce, version, corr, clientID, flexible)
	h = appendNullableString(h, txnID, flexible)
	h = appendInt16(h, acks)
	h = appendInt32(h, timeoutMs)
	h = appendCount(h, len(topics), flexible)
	for i := range topics {
		t := &topics[i]
		h = appendTopic(h, t, version)
		for j := range t.Partitions {
			h = dst.appendPartition(h, &t.Partitions[j], flexible)
		}
		h = appendNoTags(h, flexible)
	}
	dst.Head = appendNoTags(h, flexible)
	dst.flush()
	invariant.Check(len(dst.Head) == size.head && dst.Size == size.total,
		"frame of %d+%d bytes, computed %d+%d", len(dst.Head), dst.Size, size.head, size.total)
	return nil
}

func appendTopic(dst []byte, t *ProduceTopic, version int16) []byte {
	flexible := version >= produceFlexible
	if version >= produceTopicID {
		dst = append(dst, t.ID[:]...)
	} else {
		dst = appendString(dst, t.Name, flexible)
	}
	return appendCount(dst, len(t.Partitions), flexible)
}

func (f *Frame) appendPartition(h []byte, p *ProducePartition, flexible bool) []byte {
	h = appendInt32(h, p.Index)
	h = appendCount(h, p.batchLen(), flexible) // bytes and arrays have the same kind of length
	h = append(h, p.Header...)
	f.Head = h
	for _, c := range p.Chunks {
		f.chunk(c)
	}
	return appendNoTags(h, flexible)
}

// AppendProducePlain appends the request of AppendProduce in one piece. It is the plain twin: tests hold one against
// the other.
func AppendProducePlain(dst []byte, version int16, corr int32, clientID string, txnID *string, acks int16, timeoutMs int32, topics []ProduceTopic) ([]byte, error) {
	if _, err := produceSize(version, clientID, txnID, topics); err != nil {
		return dst, err
	}
	flexible := version >= produceFlexible
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = appendHeader(dst, KeyProduce, version, corr, clientID, flexible)
	dst = appendNullableString(dst, txnID, flexible)
	dst = appendInt16(dst, acks)
	dst = appendInt32(dst, timeoutMs)
	dst = appendCount(dst, len(topics), flexible)
	for i := range topics {
		dst = appendTopic(dst, &topics[i], version)
		for _, p := range topics[i].Partitions {
			batch := slices.Concat(append([][]byte{p.Header}, p.Chunks...)...)
			dst = appendInt32(dst, p.Index)
			dst = appendCount(dst, len(batch), flexible)
			dst = append(dst, batch...)
			dst = appendNoTags(dst, flexible)
		}
		dst = appendNoTags(dst, flexible)
	}
	dst = appendNoTags(dst, flexible)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-SizePrefix))
	return dst, nil
}

// size is what a request will take, in bytes.
type size struct {
	head  int // all that is no record byte
	total int // length prefix included
}

func produceSize(version int16, clientID string, txnID *string, topics []ProduceTopic) (size, error) {
	if version < MinProduceVersion || version > MaxProduceVersion {
		return size{}, fmt.Errorf("produce version %d is outside %d to %d", version, MinProduceVersion, MaxProduceVersion)
	}
	if err := checkNames(version, clientID, txnID, topics); err != nil {
		return size{}, err
	}
	flexible := version >= produceFlexible
	tags := 0 // bytes at the end of each structure
	if flexible {
		tags = 1
	}
	head := SizePrefix + headerLen(clientID, flexible) + nullableStringLen(txnID, flexible) + 2 + 4 +
		countLen(len(topics), flexible) + tags
	records := 0
	for i := range topics {
		t := &topics[i]
		if version >= produceTopicID {
			head += len(t.ID)
		} else {
			head += stringLen(t.Name, flexible)
		}
		head += countLen(len(t.Partitions), flexible) + tags
		for j := range t.Partitions {
			p := &t.Partitions[j]
			invariant.Check(len(p.Header) == BatchHeader, "batch header of %d bytes", len(p.Header))
			n := p.batchLen()
			head += 4 + countLen(n, flexible) + len(p.Header) + tags
			records += n - len(p.Header)
		}
	}
	if n := head + records - SizePrefix; n > math.MaxInt32 {
		return size{}, fmt.Errorf("produce request of %d bytes, at most %d can be sent", n, math.MaxInt32)
	}
	return size{head: head, total: head + records}, nil
}

func checkNames(version int16, clientID string, txnID *string, topics []ProduceTopic) error {
	check := func(what, name string) error {
		if len(name) > MaxNameBytes {
			return fmt.Errorf("%s is %d bytes long, at most %d can be sent", what, len(name), MaxNameBytes)
		}
		return nil
	}
	if err := check("client.id", clientID); err != nil {
		return err
	}
	if txnID != nil {
		if err := check("transactional.id", *txnID); err != nil {
			return err
		}
	}
	if version >= produceTopicID {
		return nil
	}
	for i := range topics {
		if err := check("topic", topics[i].Name); err != nil {
			return err
		}
	}
	return nil
}
