package wire

import "fmt"

// ProduceResponse is a Produce response taken apart. It is read again and again into the same value, which takes no
// memory once it has held a response as large, unless partitions failed with a text. It is not safe for use by several
// goroutines. Everything in it is overwritten by the next Read.
type ProduceResponse struct {
	// Partitions are all partitions of all topics, in the order of the wire.
	Partitions []ProducedPartition
	// ThrottleMs is how long the broker wants this client to be silent.
	ThrottleMs int32
	// Nodes are the addresses of the leaders named in Partitions, where the broker sent them (v10, KIP-951).
	Nodes []NodeEndpoint

	recordErrors []RecordError
}

// ProducedPartition is the outcome for one batch.
type ProducedPartition struct {
	// Topic is the name, in the response's own bytes; nil from v13 on.
	Topic []byte
	// TopicID counts from v13 on.
	TopicID   [16]byte
	Partition int32
	// ErrorCode is Kafka's number; 0 is success.
	ErrorCode int16
	// BaseOffset is the offset of the batch's first record, -1 when unknown.
	BaseOffset int64
	// LogAppendTime is in milliseconds, -1 when the records kept their own time.
	LogAppendTime int64
	// LogStartOffset is -1 when unknown (before v5).
	LogStartOffset int64
	// RecordErrors names the records that made the broker refuse the batch (v8, KIP-467).
	RecordErrors []RecordError
	// Message explains the error (v8); empty when null.
	Message string
	// LeaderID and LeaderEpoch say who leads now; -1 when the broker did not say (v10).
	LeaderID, LeaderEpoch int32
}

// RecordError is why one record of a batch was refused.
type RecordError struct {
	// BatchIndex counts the records of the batch from 0.
	BatchIndex int32
	// Message is empty and HasMessage false when the broker gave none.
	Message    string
	HasMessage bool
}

// NodeEndpoint is the address of a broker.
type NodeEndpoint struct {
	NodeID int32
	Host   string
	Port   int32
	// Rack is empty and HasRack false when the broker has none.
	Rack    string
	HasRack bool
}

// Read takes body apart, which is what ResponseBody gave. Topic names refer to body, so body must stay as it is while
// they are looked at. After an error the value holds nothing of use.
func (p *ProduceResponse) Read(version int16, body []byte) error {
	p.reset()
	if version < MinProduceVersion || version > MaxProduceVersion {
		return fmt.Errorf("produce version %d is outside %d to %d", version, MinProduceVersion, MaxProduceVersion)
	}
	r := reader{src: body}
	flexible := version >= produceFlexible
	for range r.count(flexible, minTopicBytes(version), "topics") {
		p.readTopic(&r, version)
		if r.err != nil {
			return p.failed(r.err)
		}
	}
	p.ThrottleMs = r.int32("throttle time")
	if flexible {
		p.readTags(&r, version)
	}
	if r.err != nil {
		return p.failed(r.err)
	}
	return nil
}

func (p *ProduceResponse) reset() {
	clear(p.Partitions)
	clear(p.Nodes)
	clear(p.recordErrors)
	p.Partitions, p.Nodes, p.recordErrors, p.ThrottleMs = p.Partitions[:0], p.Nodes[:0], p.recordErrors[:0], 0
}

func (p *ProduceResponse) failed(err error) error {
	p.reset()
	return fmt.Errorf("produce response: %w", err)
}

// minTopicBytes is the least a topic takes: its name's length or its id, the count of its partitions.
func minTopicBytes(version int16) int {
	switch {
	case version >= produceTopicID:
		return 16 + 1
	case version >= produceFlexible:
		return 1 + 1
	default:
		return 2 + 4
	}
}

// minPartitionBytes is the least a partition takes: index, error, base offset, time, and what later versions add.
func minPartitionBytes(version int16) int {
	n := 4 + 2 + 8 + 8
	if version >= 5 {
		n += 8
	}
	if version >= 8 {
		n += 2 // record errors and message, the shortest way
	}
	return n
}

func (p *ProduceResponse) readTopic(r *reader, version int16) {
	var name []byte
	var id [16]byte
	flexible := version >= produceFlexible
	if version >= produceTopicID {
		copy(id[:], r.take(len(id), "topic id"))
	} else {
		name = r.string(flexible, "topic")
	}
	for range r.count(flexible, minPartitionBytes(version), "partitions") {
		p.readPartition(r, version, name, id)
		if r.err != nil {
			return
		}
	}
	r.skipTags(flexible, "topic")
}

func (p *ProduceResponse) readPartition(r *reader, version int16, name []byte, id [16]byte) {
	flexible := version >= produceFlexible
	p.Partitions = append(p.Partitions, ProducedPartition{
		Topic: name, TopicID: id, LogStartOffset: -1, LeaderID: -1, LeaderEpoch: -1,
	})
	q := &p.Partitions[len(p.Partitions)-1]
	q.Partition = r.int32("partition")
	q.ErrorCode = r.int16("error code")
	q.BaseOffset = r.int64("base offset")
	q.LogAppendTime = r.int64("log append time")
	if version >= 5 {
		q.LogStartOffset = r.int64("log start offset")
	}
	if version >= 8 {
		q.RecordErrors = p.readRecordErrors(r, flexible)
		q.Message, _ = str(r.nullableString(flexible, "error message"))
	}
	if !flexible {
		return
	}
	for range r.tags("partition") {
		number, field := r.tag("partition")
		if number == 0 && version >= produceLeader {
			q.LeaderID = field.int32("leader id")
			q.LeaderEpoch = field.int32("leader epoch")
			field.skipTags(true, "leader")
		}
		if r.adopt(&field); r.err != nil {
			return
		}
	}
}

func (p *ProduceResponse) readRecordErrors(r *reader, flexible bool) []RecordError {
	const minRecordErrorBytes = 4 + 1
	n := r.count(flexible, minRecordErrorBytes, "record errors")
	if n == 0 {
		return nil
	}
	from := len(p.recordErrors)
	for range n {
		e := RecordError{BatchIndex: r.int32("record error")}
		e.Message, e.HasMessage = str(r.nullableString(flexible, "record error message"))
		r.skipTags(flexible, "record error")
		if r.err != nil {
			return nil
		}
		p.recordErrors = append(p.recordErrors, e)
	}
	// An append of a later partition may move recordErrors; this slice then keeps the old array, whose elements stay.
	return p.recordErrors[from:len(p.recordErrors):len(p.recordErrors)]
}

func (p *ProduceResponse) readTags(r *reader, version int16) {
	for range r.tags("response") {
		number, field := r.tag("response")
		if number == 0 && version >= produceLeader {
			p.readNodes(&field)
		}
		if r.adopt(&field); r.err != nil {
			return
		}
	}
}

func (p *ProduceResponse) readNodes(r *reader) {
	const minNodeBytes = 4 + 1 + 4 + 1 + 1
	for range r.count(true, minNodeBytes, "node endpoints") {
		n := NodeEndpoint{NodeID: r.int32("node id")}
		n.Host, _ = str(r.string(true, "node host"))
		n.Port = r.int32("node port")
		n.Rack, n.HasRack = str(r.nullableString(true, "node rack"))
		r.skipTags(true, "node")
		if r.err != nil {
			return
		}
		p.Nodes = append(p.Nodes, n)
	}
}

// adopt takes over the fault of a part that had a reader of its own.
func (r *reader) adopt(part *reader) {
	if r.err == nil && part.err != nil {
		r.err, r.src = part.err, nil
	}
}
