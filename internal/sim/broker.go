package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/internal/clock"
	"linger/internal/kerr"
	"linger/internal/wire"
)

const port = 9092

// broker handles requests one after the other, in the order in which they came in, whatever becomes of their connections:
// a request that was received is handled even if nobody waits for its answer any more.
type broker struct {
	w        *world
	id       int32
	up       bool
	restarts int
	freeAt   clock.Instant // when it has handled what it has
	view     []leadership  // what it knows, by partition
}

func (b *broker) host() string { return fmt.Sprintf("broker%d", b.id) }

// arrive queues a frame, and reports whether anybody was there to do so.
func (b *broker) arrive(c *socket, frame []byte) bool {
	w := b.w
	h, body, err := readHeader(frame)
	if err != nil {
		w.fail("broker %d received what is no request: %v", b.id, err)
		return false
	}
	if !b.up {
		return false
	}
	arrived, life := w.now, b.restarts
	f := b.drawFault(h)
	b.freeAt = max(b.freeAt, w.now).Add(time.Duration(w.dice.IntN(300_000)))
	w.agenda.add(b.freeAt, func() {
		c.queued--
		if b.up && b.restarts == life {
			b.handle(c, h, body, arrived, f)
		}
	})
	if f == CutInQueue {
		w.fault(f)
		c.cut(errReset)
	}
	return true
}

// Faults that requests meet, by API.
var (
	anyFaults = [...]Fault{
		CutBeforeAppend, CutInQueue, CutAfterAppend, RequestIgnored, AnswerLost, AnswerSkipped, AnswerLate, WrongCorr, Truncated, AnsweredTwice, Throttled,
	}
	produceFaults = [...]Fault{
		LeftOut, Refused, Refused, Refused, RefusedAppended, RefusedAppended, RefusedForGood, RefusedRecords, RefusedTopicID, RefusedProducer,
	}
	metadataFaults = [...]Fault{MetadataRefused, MetadataEmpty}
)

// drawFault decides what goes wrong with a request.
func (b *broker) drawFault(h header) Fault {
	w := b.w
	if w.healed || !w.dice.chance(w.set.requestFaults) {
		return NoFault
	}
	special := w.dice.chance(0.5)
	switch {
	case special && h.key == wire.KeyProduce:
		f := produceFaults[w.dice.IntN(len(produceFaults))]
		if f == RefusedProducer && (!w.dice.chance(0.1) || w.counts.faults() < minFaults) {
			f = Refused // it ends the producer, and with it everything else that a world could show
		}
		return f
	case special && h.key == int16(kmsg.Metadata):
		return metadataFaults[w.dice.IntN(len(metadataFaults))]
	case special && h.key == int16(kmsg.InitProducerID):
		return IdentityRefused
	}
	return anyFaults[w.dice.IntN(len(anyFaults))]
}

// handle does what a request asks for and answers it, unless the fault wants otherwise.
func (b *broker) handle(c *socket, h header, body []byte, arrived clock.Instant, f Fault) {
	w := b.w
	if c.state >= closing && h.key == wire.KeyProduce {
		w.reach(WrittenWithoutLink)
	}
	switch f {
	case CutBeforeAppend:
		w.fault(f)
		c.cut(errReset)
		return
	case RequestIgnored:
		w.fault(f)
		return
	}
	resp := b.perform(c, h, body, arrived, f)
	if resp == nil {
		return
	}
	if f == Throttled {
		if t, ok := resp.(interface{ SetThrottle(int32) }); ok {
			w.fault(f)
			t.SetThrottle(int32(w.dice.between(1, 100)))
		}
	}
	b.reply(c, h, resp, f)
}

func (b *broker) perform(c *socket, h header, body []byte, arrived clock.Instant, f Fault) kmsg.Response {
	switch h.key {
	case wire.KeyApiVersions:
		return b.hello(h)
	case int16(kmsg.Metadata):
		return b.metadata(h, body, f)
	case int16(kmsg.InitProducerID):
		return b.initProducer(h, body, f)
	case wire.KeyProduce:
		return b.produce(c, h, body, arrived, f)
	}
	b.w.fail("broker %d was asked for API %d", b.id, h.key)
	return nil
}

// reply sends an answer, in whatever state the fault leaves it.
func (b *broker) reply(c *socket, h header, resp kmsg.Response, f Fault) {
	w := b.w
	frame := encodeAnswer(h, resp)
	late := time.Duration(0)
	if h.key == wire.KeyProduce && w.set.acks == -1 {
		late = w.dice.upTo(w.set.replication)
	}
	switch f {
	case CutAfterAppend:
		w.fault(f)
		c.cut(errReset)
		return
	case AnswerLost:
		w.fault(f)
		c.buried = true
		return
	case AnswerSkipped:
		w.fault(f)
		return
	case AnswerLate:
		w.fault(f)
		late += w.set.requestTimeout + w.dice.ms(0, 200)
	case WrongCorr:
		w.fault(f)
		frame[3] += byte(w.dice.between(1, 255))
	case Truncated:
		w.fault(f)
		frame = frame[:w.dice.between(0, len(frame)-1)]
	}
	c.answer(frame, late)
	if f == AnsweredTwice {
		w.fault(f)
		c.answer(frame, late)
	}
}

// hello answers ApiVersions.
func (b *broker) hello(h header) kmsg.Response {
	s := &b.w.set
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.Version = h.version
	if h.version > s.helloMax {
		b.w.reach(SaidHelloTooNew)
		resp.Version, resp.ErrorCode = 0, int16(kerr.UnsupportedVersion)
	}
	for _, r := range []struct{ key, max int16 }{
		{wire.KeyProduce, s.produceMax}, {int16(kmsg.Metadata), s.metadataMax}, {wire.KeyApiVersions, s.helloMax}, {int16(kmsg.InitProducerID), s.initMax},
	} {
		k := kmsg.NewApiVersionsResponseApiKey()
		k.ApiKey, k.MaxVersion = r.key, r.max
		resp.ApiKeys = append(resp.ApiKeys, k)
	}
	return resp
}

// initProducer gives a fresh producer id.
func (b *broker) initProducer(h header, body []byte, f Fault) kmsg.Response {
	w := b.w
	req := kmsg.NewPtrInitProducerIDRequest()
	req.Version = h.version
	if err := req.ReadFrom(body); err != nil || req.TransactionalID != nil || req.TransactionTimeoutMillis != math.MaxInt32 {
		w.fail("broker %d was asked for a producer id by %v, %d ms: %v", b.id, req.TransactionalID, req.TransactionTimeoutMillis, err)
	}
	resp := kmsg.NewPtrInitProducerIDResponse()
	resp.Version = h.version
	if f == IdentityRefused {
		w.fault(f)
		resp.ErrorCode, resp.ProducerID, resp.ProducerEpoch = int16(kerr.CoordinatorLoadInProgress), -1, -1
		return resp
	}
	w.cluster.lastID++
	resp.ProducerID, resp.ProducerEpoch = 1000+w.cluster.lastID, w.set.firstEpoch
	return resp
}

// metadata answers with what the broker knows, which may be old.
func (b *broker) metadata(h header, body []byte, f Fault) kmsg.Response {
	w := b.w
	req := kmsg.NewPtrMetadataRequest()
	req.Version = h.version
	if err := req.ReadFrom(body); err != nil {
		w.fail("broker %d received a metadata request that can't be read: %v", b.id, err)
		return nil
	}
	resp := kmsg.NewPtrMetadataResponse()
	resp.Version = h.version
	resp.ClusterID, resp.ControllerID = kmsg.StringPtr("sim"), 1
	if f == MetadataEmpty {
		w.fault(f)
		return resp
	}
	for _, other := range w.cluster.brokers {
		if other.up {
			n := kmsg.NewMetadataResponseBroker()
			n.NodeID, n.Host, n.Port = other.id, other.host(), port
			resp.Brokers = append(resp.Brokers, n)
		}
	}
	for i := range req.Topics {
		if t := w.cluster.topic(*req.Topics[i].Topic); t != nil {
			resp.Topics = append(resp.Topics, b.describe(t, f))
		} else {
			w.fail("broker %d was asked for topic %q", b.id, *req.Topics[i].Topic)
		}
	}
	return resp
}

func (b *broker) describe(t *topic, f Fault) kmsg.MetadataResponseTopic {
	d := kmsg.NewMetadataResponseTopic()
	d.Topic, d.TopicID = kmsg.StringPtr(t.name), t.id
	if f == MetadataRefused {
		b.w.fault(f)
		d.ErrorCode = int16(kerr.UnknownTopicOrPartition)
		if b.w.dice.chance(0.5) {
			d.ErrorCode = int16(kerr.LeaderNotAvailable)
		}
		return d
	}
	for _, p := range t.partitions {
		known := b.view[p.no]
		m := kmsg.NewMetadataResponseTopicPartition()
		m.Partition, m.Leader, m.LeaderEpoch = p.index, known.leader, known.epoch
		if known.leader < 0 {
			m.ErrorCode = int16(kerr.LeaderNotAvailable)
		}
		for _, other := range b.w.cluster.brokers {
			m.Replicas, m.ISR = append(m.Replicas, other.id), append(m.ISR, other.id)
		}
		d.Partitions = append(d.Partitions, m)
	}
	return d
}
