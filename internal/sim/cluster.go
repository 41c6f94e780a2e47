package sim

import (
	"fmt"
	"time"

	"linger/internal/clock"
	"linger/internal/metadata"
)

// cluster is what is true; each broker knows it with a delay.
type cluster struct {
	w          *world
	brokers    []*broker
	topics     []*topic
	partitions []*plog
	lastID     int64 // producer ids given so far
}

type topic struct {
	name       string
	id         [16]byte
	partitions []*plog
}

// leadership is who leads a partition, or who is believed to.
type leadership struct {
	leader int32 // -1 nobody
	epoch  int32
}

func (c *cluster) start(w *world) {
	c.w = w
	for i := range w.set.brokers {
		c.brokers = append(c.brokers, &broker{w: w, id: int32(i + 1), up: true})
	}
	for i, n := range w.set.partitions {
		t := &topic{name: fmt.Sprintf("t%d", i)}
		t.id[0], t.id[15] = 0xa0, byte(i+1)
		for p := range n {
			part := &plog{no: len(c.partitions), topic: t, index: int32(p), producers: make(map[int64]*producer), sent: make(map[sequenceKey]uint32)}
			part.leadership = leadership{leader: c.brokers[(i+p)%len(c.brokers)].id}
			t.partitions = append(t.partitions, part)
			c.partitions = append(c.partitions, part)
		}
		c.topics = append(c.topics, t)
	}
	for _, b := range c.brokers {
		for _, p := range c.partitions {
			b.view = append(b.view, p.leadership)
		}
	}
	c.troubleLater()
}

func (c *cluster) bootstrap() (all []metadata.Address) {
	for _, b := range c.brokers {
		all = append(all, metadata.Address{Host: b.host(), Port: port})
	}
	return all
}

// at is the broker at an address, nil when there is none.
func (c *cluster) at(addr string) *broker {
	for _, b := range c.brokers {
		if addr == fmt.Sprintf("10.0.0.%d:%d", b.id, port) {
			return b
		}
	}
	return nil
}

func (c *cluster) broker(id int32) *broker {
	if id < 1 || int(id) > len(c.brokers) {
		return nil
	}
	return c.brokers[id-1]
}

func (c *cluster) topic(name string) *topic {
	for _, t := range c.topics {
		if t.name == name {
			return t
		}
	}
	return nil
}

func (c *cluster) topicByID(id [16]byte) *topic {
	for _, t := range c.topics {
		if t.id == id {
			return t
		}
	}
	return nil
}

// troubleLater lets something happen to the cluster, again and again until the world heals.
func (c *cluster) troubleLater() {
	w := c.w
	w.after(w.dice.upTo(2*w.set.clusterEvery), func() {
		if w.healed {
			return
		}
		c.trouble()
		c.troubleLater()
	})
}

func (c *cluster) trouble() {
	w := c.w
	switch n := w.dice.IntN(100); {
	case n < 50:
		c.moveLeader()
	case n < 62:
		c.loseLeader()
	case n < 75:
		c.restart(c.brokers[w.dice.IntN(len(c.brokers))])
	case n < 85:
		b := c.brokers[w.dice.IntN(len(c.brokers))]
		w.fault(BrokerSlow)
		b.freeAt = max(b.freeAt, w.now).Add(w.dice.ms(20, 2*int(w.set.requestTimeout.Milliseconds())))
	case n < 92:
		w.fault(WallClockJumps)
		w.clk.SetWallMs(w.clk.WallMs() + int64(w.dice.between(-100_000, 100_000)))
	default:
		c.forgetSoon(c.partitions[w.dice.IntN(len(c.partitions))], 50)
	}
}

func (c *cluster) anyUp(but int32) *broker {
	var up []*broker
	for _, b := range c.brokers {
		if b.up && b.id != but {
			up = append(up, b)
		}
	}
	if len(up) == 0 {
		return nil
	}
	return up[c.w.dice.IntN(len(up))]
}

func (c *cluster) moveLeader() {
	p := c.partitions[c.w.dice.IntN(len(c.partitions))]
	if b := c.anyUp(p.leader); b != nil {
		c.w.fault(LeaderMoves)
		c.elect(p, b.id)
	}
}

func (c *cluster) loseLeader() {
	p := c.partitions[c.w.dice.IntN(len(c.partitions))]
	c.w.fault(LeaderLess)
	c.elect(p, -1)
	c.w.after(c.w.dice.ms(5, 300), func() { c.electAnyone(p) })
}

// electAnyone ends the time without a leader.
func (c *cluster) electAnyone(p *plog) {
	if b := c.anyUp(-1); p.leader < 0 && b != nil {
		c.elect(p, b.id)
	}
}

// elect makes leader the leader of p. Brokers hear of it one by one.
func (c *cluster) elect(p *plog, leader int32) {
	w := c.w
	p.leader, p.epoch, p.ledSince = leader, p.epoch+1, w.now
	w.trace.note(w.now, "cluster", "partition %d led by %d, epoch %d", int64(p.no), int64(leader), int64(p.epoch))
	news := p.leadership
	for _, b := range c.brokers {
		lag := w.dice.upTo(10 * time.Millisecond)
		if !w.healed && w.dice.chance(0.3) {
			w.fault(ViewLags)
			lag = w.dice.ms(20, 600)
		}
		w.after(lag, func() { b.learn(p, news) })
	}
}

// restart takes a broker away for a while; others lead meanwhile.
func (c *cluster) restart(b *broker) {
	w := c.w
	if !b.up {
		return
	}
	w.fault(BrokerRestarts)
	w.trace.note(w.now, "cluster", "broker %d goes", int64(b.id))
	b.up, b.restarts, b.freeAt = false, b.restarts+1, w.now
	w.net.cutAll(b)
	for _, p := range c.partitions {
		if p.leader != b.id {
			continue
		}
		if other := c.anyUp(b.id); other != nil {
			c.elect(p, other.id)
		} else {
			c.elect(p, -1)
		}
	}
	w.after(w.dice.ms(10, 500), func() { c.comeBack(b) })
}

func (c *cluster) comeBack(b *broker) {
	w := c.w
	if b.up {
		return
	}
	w.trace.note(w.now, "cluster", "broker %d is back", int64(b.id))
	b.up, b.freeAt = true, w.now
	for _, p := range c.partitions {
		if p.leader < 0 {
			c.electAnyone(p)
		} else if w.dice.chance(0.3) && p.leader != b.id {
			c.elect(p, b.id)
		}
	}
}

// forgetSoon is forget at the next quiet moment, if there is one within so many milliseconds.
func (c *cluster) forgetSoon(p *plog, ms int) {
	if c.w.healed || c.forget(p) || ms == 0 {
		return
	}
	c.w.after(time.Millisecond, func() { c.forgetSoon(p, ms-1) })
}

// forget deletes the records of p, and with them what p knows of producers; false means not now. Nothing may be in doubt
// or on its way: else Kafka itself could not tell a batch that comes again from a new one. For the same reason a broker
// that lets an unknown producer begin anywhere never forgets.
func (c *cluster) forget(p *plog) bool {
	if p.undecided > 0 || len(p.producers) == 0 || c.w.set.firstSequence == welcome || !c.w.net.quiet() {
		return false
	}
	c.w.fault(ProducerForgotten)
	c.w.trace.note(c.w.now, "cluster", "partition %d forgets its producers", int64(p.no))
	p.logStart = int64(len(p.log))
	clear(p.producers)
	return true
}

// heal ends all trouble: everybody is up, leads, and knows.
func (c *cluster) heal() {
	for _, b := range c.brokers {
		c.comeBack(b) // what waits at a slow one is still handled in its order
	}
	for _, p := range c.partitions {
		c.electAnyone(p)
		for _, b := range c.brokers {
			b.view[p.no] = p.leadership
		}
	}
}

// lastWord is one more change, at a moment at which nothing is on its way, that no record may fail from: the machine must
// notice and go on.
func (c *cluster) lastWord() {
	w := c.w
	if w.set.deliveryTimeout < 1500*time.Millisecond || w.set.retries <= mostRetries {
		return // no time, or no tries, for answers, back-offs and fresh metadata
	}
	switch n := w.dice.IntN(3); {
	case n == 0:
		c.forget(c.partitions[w.dice.IntN(len(c.partitions))])
	case n == 1 && w.set.hints && w.set.produceMax >= 10 && w.set.metadataMax >= 9 && w.set.acks != 0: // older metadata has no epochs to know stale news by
		c.whisper(c.partitions[w.dice.IntN(len(c.partitions))])
	default:
		c.moveLeader()
	}
}

// whisper moves a leader, and no metadata tells: the old leader's hint is the one way to the new one (KIP-951).
func (c *cluster) whisper(p *plog) {
	w := c.w
	next := c.anyUp(p.leader)
	if next == nil {
		return
	}
	w.fault(ViewLags)
	p.leader, p.epoch, p.ledSince = next.id, p.epoch+1, w.now
	w.trace.note(w.now, "cluster", "partition %d led by %d, epoch %d, and no metadata tells", int64(p.no), int64(p.leader), int64(p.epoch))
	p.whispered = p.leadership
}

// learn takes in who leads p, unless something newer is known.
func (b *broker) learn(p *plog, news leadership) {
	if known := &b.view[p.no]; news.epoch > known.epoch {
		*known = news
	}
}

// plog is one partition: its log, and what its leader knows of producers.
type plog struct {
	leadership
	no        int // among all partitions
	topic     *topic
	index     int32
	ledSince  clock.Instant
	whispered leadership // what hints tell and metadata does not

	log       []logged
	logStart  int64
	producers map[int64]*producer
	sent      map[sequenceKey]uint32 // checksum of the batch that came with it first
	undecided int                    // records in the log whose callbacks have not run
	appended  []*sent                // what the application appended, in order
	ended     int                    // of those, how many from the front on have had their callbacks
}

// logged is one record in a log.
type logged struct {
	id    int32 // the application's number of it
	epoch int16
}
