package sim

import (
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/clock"
	"linger/internal/compress"
	"linger/internal/kerr"
	"linger/internal/record"
)

// producer is what a partition knows of a producer id (Kafka: ProducerStateEntry): the last five batches.
type producer struct {
	epoch   int16
	batches []numbered
}

// remembered is how many batches of a producer a partition can tell duplicates from.
const (
	remembered        = 5
	rememberedGuarded = 1000 // see Options.Guarded
)

func (w *world) remembers() int {
	if w.o.Guarded {
		return rememberedGuarded
	}
	return remembered
}

// numbered is a batch that is in the log.
type numbered struct {
	first, last int32
	offset      int64
}

// sequenceKey is what no two different batches may have in common.
type sequenceKey struct {
	id       int64
	epoch    int16
	sequence int32
	count    int32
}

// finding is what the broker says of one batch.
type finding struct {
	code     kerr.Code
	offset   int64
	start    int64
	hint     leadership
	invalid  []int32 // records
	message  *string
	appended bool
	missing  bool // the answer is silent about it
}

// produce appends the batches of a request, each or not, and says so.
func (b *broker) produce(c *socket, h header, body []byte, arrived clock.Instant, f Fault) kmsg.Response {
	w := b.w
	batches, err := readProduce(h, body)
	if err != nil {
		w.fail("broker %d received a broken produce request: %v", b.id, err)
		return nil
	}
	w.checkRequest(batches)
	victim := w.dice.IntN(len(batches))
	found := make([]finding, len(batches))
	for i := range batches {
		g := f
		if i != victim {
			g = NoFault
		}
		found[i] = b.judge(&batches[i], h, arrived, g)
	}
	if w.set.acks != 0 {
		return b.producedAnswer(h, batches, found)
	}
	for i := range found {
		if found[i].code != kerr.None {
			c.cut(errReset) // the only way in which a broker can tell
			break
		}
	}
	return nil
}

// checkRequest: max.request.size bounds the batches of a request, but for a first one that alone is larger, and each
// partition has one.
func (w *world) checkRequest(batches []sentBatch) {
	total := 0
	for i := range batches {
		total += batches[i].size
		for j := range i {
			if batches[j].index == batches[i].index && batches[j].topic == batches[i].topic && batches[j].id == batches[i].id {
				w.fail("a request has two batches for partition %d of one topic", batches[i].index)
			}
		}
	}
	if total > w.set.maxRequest && len(batches) > 1 {
		w.fail("a request of %d batches has %d bytes, %d may be", len(batches), total, w.set.maxRequest)
	}
}

// judge looks at one batch in the order in which Kafka does: who leads, is it valid, was it here before, does it follow.
func (b *broker) judge(s *sentBatch, h header, arrived clock.Instant, f Fault) finding {
	w := b.w
	no := func(code kerr.Code) finding {
		return finding{code: code, offset: -1, start: -1, hint: leadership{-1, -1}}
	}
	t := w.cluster.topic(s.topic)
	if h.version >= 13 {
		t = w.cluster.topicByID(s.id)
	}
	if t == nil || int(s.index) >= len(t.partitions) {
		w.fail("broker %d received a batch for partition %d of an unknown topic (%q, %x)", b.id, s.index, s.topic, s.id)
		return no(kerr.UnknownTopicOrPartition)
	}
	p := t.partitions[s.index]
	w.trace.note(w.now, "broker", "%d: partition %d, %d records, producer %d, epoch %d, sequence %d, CRC %d",
		int64(b.id), int64(p.no), int64(s.Count), s.ProducerID, int64(s.ProducerEpoch), int64(s.BaseSequence), int64(s.CRC))
	r := b.find(p, s, h, arrived, f, no)
	w.trace.note(w.now, "broker", "%d: partition %d, error %d, offset %d", int64(b.id), int64(p.no), int64(r.code), r.offset)
	return r
}

func (b *broker) find(p *plog, s *sentBatch, h header, arrived clock.Instant, f Fault, no func(kerr.Code) finding) finding {
	w := b.w
	p.compareWithEarlier(w, s)
	// A request that waited here while leadership went away and came back is still one of the old days.
	if p.leader != b.id || arrived < p.ledSince {
		r := no(kerr.NotLeaderOrFollower)
		w.reach(SaidNotLeader)
		known := b.view[p.no]
		if p.whispered.epoch > known.epoch {
			known = p.whispered
		}
		if w.set.hints && h.version >= 10 && known.leader >= 0 && known.leader != b.id {
			w.reach(SaidNotLeaderHint)
			r.hint = known
		}
		return r
	}
	if w.set.batchLimit > 0 && s.size > w.set.batchLimit {
		w.reach(SaidTooLarge)
		return no(kerr.MessageTooLarge)
	}
	if r, refused := b.refuse(p, s, h, f, no); refused {
		return r
	}
	r := b.append(p, s, h, no)
	switch {
	case r.code != kerr.None:
	case f == RefusedAppended:
		w.fault(f)
		r.code = []kerr.Code{kerr.NotEnoughReplicasAfterAppend, kerr.RequestTimedOut}[w.dice.IntN(2)]
		r.offset = -1
	case f == LeftOut:
		w.fault(f)
		r.missing = true
	}
	return r
}

// refuse are the faults that keep a batch out of the log.
func (b *broker) refuse(p *plog, s *sentBatch, h header, f Fault, no func(kerr.Code) finding) (finding, bool) {
	w := b.w
	forGood := w.set.mode != idempotent || !w.o.Guarded || p.undecided == 0 && w.app.isOldest(p, s)
	switch {
	case f == Refused:
		w.fault(f)
		codes := []kerr.Code{
			kerr.NotEnoughReplicas, kerr.RequestTimedOut, kerr.KafkaStorageError, kerr.UnknownTopicOrPartition, kerr.LeaderNotAvailable,
			kerr.CorruptMessage, kerr.NotLeaderOrFollower, kerr.FencedLeaderEpoch,
		}
		return no(codes[w.dice.IntN(len(codes))]), true
	case f == RefusedForGood && forGood:
		w.fault(f)
		codes := []kerr.Code{kerr.MessageTooLarge, kerr.PolicyViolation, kerr.TopicAuthorizationFailed, kerr.InvalidTimestamp, kerr.RecordListTooLarge}
		if s.ProducerID >= 0 {
			codes = append(codes, kerr.InvalidProducerEpoch)
		}
		if p.undecided > 0 {
			codes = codes[1:] // what is in the log already was not too large
		}
		code := codes[w.dice.IntN(len(codes))]
		if code == kerr.InvalidProducerEpoch {
			w.reach(SaidStaleEpoch)
		}
		return no(code), true
	case f == RefusedRecords && forGood && h.version >= 8:
		w.fault(f)
		r := no(kerr.InvalidRecord)
		r.message = kmsg.StringPtr("One or more records have been rejected")
		for i := range s.Count {
			if i == 0 || w.dice.chance(0.2) {
				r.invalid = append(r.invalid, i)
			}
		}
		return r, true
	case f == RefusedTopicID && h.version >= 13:
		w.fault(f)
		return no(kerr.UnknownTopicID), true
	case f == RefusedProducer && w.set.mode == idempotent:
		w.fault(f)
		return no(kerr.ClusterAuthorizationFailed), true
	}
	return finding{}, false
}

// append puts a batch into the log, unless its numbers forbid it (Kafka: ProducerAppendInfo, ProducerStateManager).
func (b *broker) append(p *plog, s *sentBatch, h header, no func(kerr.Code) finding) finding {
	w := b.w
	if s.ProducerID < 0 {
		if w.set.mode == idempotent {
			w.fail("a batch of an idempotent producer came without a producer id")
		}
		return p.extend(w, s)
	}
	known := p.producers[s.ProducerID]
	last := sequenceAt(s.BaseSequence, s.Count)
	switch {
	case known == nil:
		switch {
		case s.BaseSequence == 0 || w.set.firstSequence == welcome:
		case w.set.firstSequence == outOfOrder || h.version < 5: // Kafka 1.0 brought both v5 and UNKNOWN_PRODUCER_ID
			w.reach(SaidOutOfOrder)
			return no(kerr.OutOfOrderSequenceNumber)
		default:
			w.reach(SaidUnknownProducer)
			r := no(kerr.UnknownProducerID)
			r.start = p.logStart
			return r
		}
		known = &producer{epoch: s.ProducerEpoch}
		p.producers[s.ProducerID] = known
	case s.ProducerEpoch < known.epoch:
		w.reach(SaidStaleEpoch)
		return no(kerr.InvalidProducerEpoch)
	case s.ProducerEpoch > known.epoch:
		if s.BaseSequence != 0 {
			w.reach(SaidOutOfOrder)
			return no(kerr.OutOfOrderSequenceNumber)
		}
		w.reach(NewEpoch)
		known.epoch, known.batches = s.ProducerEpoch, known.batches[:0]
	default:
		for _, old := range known.batches {
			if old.first == s.BaseSequence && old.last == last {
				if w.set.duplicateIsError {
					w.reach(SaidDuplicateError)
					return no(kerr.DuplicateSequenceNumber)
				}
				w.reach(SaidDuplicate)
				r := no(kerr.None)
				r.offset, r.start = old.offset, p.logStart
				return r
			}
		}
		if n := len(known.batches); n > 0 && s.BaseSequence != sequenceAt(known.batches[n-1].last, 2) {
			w.reach(SaidOutOfOrder)
			return no(kerr.OutOfOrderSequenceNumber)
		}
	}
	if len(known.batches) == w.remembers() {
		known.batches = known.batches[:copy(known.batches, known.batches[1:])]
	}
	r := p.extend(w, s)
	known.batches = append(known.batches, numbered{s.BaseSequence, last, r.offset})
	return r
}

// sequenceAt is the last of count sequences from first on; they wrap at 2^31.
func sequenceAt(first, count int32) int32 {
	return int32((int64(first) + int64(count) - 1) & math.MaxInt32)
}

// reader reads the batch's records.
func (s *sentBatch) reader(w *world) *record.Reader {
	plain := s.Records
	if s.Codec != 0 {
		var err error
		if plain, err = compress.Decompress(compress.Type(s.Codec), s.Records, 1<<20); err != nil {
			w.fail("a batch of %s-%d can't be decompressed: %v", s.topic, s.index, err)
		}
	}
	return record.NewReader([][]byte{plain}, s.BaseTimestamp, int(s.Count))
}

// extend writes the records of a batch to the log and compares them with what was sent.
func (p *plog) extend(w *world, s *sentBatch) finding {
	base := int64(len(p.log))
	r := s.reader(w)
	var rec record.Record
	for r.Next(&rec) {
		id := w.app.recognize(p, &rec)
		if id < 0 {
			continue
		}
		p.log = append(p.log, logged{id: id, epoch: s.ProducerEpoch})
		w.app.logged(p, id)
	}
	if r.Err() != nil {
		w.fail("partition %d: a batch can't be read: %v", p.no, r.Err())
	}
	w.reach(SaidOK)
	return finding{offset: base, start: p.logStart, hint: leadership{-1, -1}, appended: true}
}

// compareWithEarlier: a batch that comes again with its sequence is the same to the byte, and no other batch ever has
// that sequence (the pieces of a split batch have fewer records).
func (p *plog) compareWithEarlier(w *world, s *sentBatch) {
	if s.ProducerID < 0 {
		return
	}
	key := sequenceKey{s.ProducerID, s.ProducerEpoch, s.BaseSequence, s.Count}
	crc, again := p.sent[key]
	if !again {
		p.sent[key] = s.CRC
		return
	}
	w.reach(SameBatchAgain)
	if crc != s.CRC {
		w.fail("partition %d: producer %d, epoch %d: two batches have sequence %d", p.no, s.ProducerID, s.ProducerEpoch, s.BaseSequence)
	}
}

// producedAnswer is the answer to a produce request.
func (b *broker) producedAnswer(h header, batches []sentBatch, found []finding) kmsg.Response {
	resp := kmsg.NewPtrProduceResponse()
	resp.Version = h.version
	for i := range batches {
		s, r := &batches[i], &found[i]
		if r.missing {
			continue
		}
		n := len(resp.Topics)
		if n == 0 || resp.Topics[n-1].Topic != s.topic || resp.Topics[n-1].TopicID != s.id {
			t := kmsg.NewProduceResponseTopic()
			t.Topic, t.TopicID = s.topic, s.id
			resp.Topics = append(resp.Topics, t)
			n++
		}
		a := kmsg.NewProduceResponseTopicPartition()
		a.Partition, a.ErrorCode, a.BaseOffset, a.LogStartOffset, a.ErrorMessage = s.index, int16(r.code), r.offset, r.start, r.message
		a.CurrentLeader.LeaderID, a.CurrentLeader.LeaderEpoch = r.hint.leader, r.hint.epoch
		for _, at := range r.invalid {
			e := kmsg.NewProduceResponseTopicPartitionErrorRecord()
			e.RelativeOffset = at
			if b.w.dice.chance(0.5) {
				e.ErrorMessage = kmsg.StringPtr("record is invalid")
			}
			a.ErrorRecords = append(a.ErrorRecords, e)
		}
		resp.Topics[n-1].Partitions = append(resp.Topics[n-1].Partitions, a)
		if other := b.w.cluster.broker(r.hint.leader); other != nil {
			resp.Brokers = append(resp.Brokers, kmsg.ProduceResponseBroker{NodeID: other.id, Host: other.host(), Port: port})
		}
	}
	return resp
}
