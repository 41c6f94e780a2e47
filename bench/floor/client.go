package floor

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"linger/cmd/linger/perf"
	"linger/internal/partition"
)

const (
	produceVersion = 8
	requestBytes   = 384 << 10 // full batches wait for company up to here
	lingerEvery    = 64        // records between two looks at the clock
	idleBatches    = 4096
	answerBytes    = 4 + 2 + 8 + 8 + 8 + 4 + 2 // of a partition in an answer: no record errors, no message
)

type client struct {
	run      *perf.Run
	conn     net.Conn
	in       *bufio.Reader
	codec    codec
	crc      *crc32.Table
	producer int64
	head     []byte // of each request, up to the partition count

	mu        sync.Mutex
	open      []*batch // by partition, nil for none
	sequences []int32
	sticky    int32
	ready     []*batch // full ones of different partitions
	readySize int
	sends     int
	oldest    time.Time
	corr      uint32

	inFlight chan []*batch // its capacity is max.in.flight
	idle     chan *batch
}

// Open connects and learns the partition count and a producer id.
func Open(r *perf.Run) (perf.Client, error) {
	conn, err := net.Dial("tcp", r.Brokers()[0])
	if err != nil {
		return nil, err
	}
	c := &client{
		run: r, conn: conn, in: bufio.NewReaderSize(conn, 64<<10), crc: crc32.MakeTable(crc32.Castagnoli), producer: -1,
		inFlight: make(chan []*batch, r.MaxInFlight), idle: make(chan *batch, idleBatches),
	}
	if c.codec, err = newCodec(r.Compression); err != nil {
		return nil, err
	}
	if err := c.introduce(); err != nil {
		return nil, err
	}
	c.head = requestHead(r)
	go func() { // ends with the connection
		if err := c.readAnswers(); !errors.Is(err, net.ErrClosed) {
			panic(err)
		}
	}()
	return c, nil
}

func requestHead(r *perf.Run) []byte {
	acks := map[string]uint16{"all": 0xffff, "1": 1, "0": 0}[r.Acks]
	be := binary.BigEndian
	h := []byte{0, 0, 0, 0, 0, 0, 0, produceVersion, 0, 0, 0, 0, 0, 0} // length, key, version, correlation id, client id
	h = append(h, 0xff, 0xff)                                          // transactional id
	h = be.AppendUint32(be.AppendUint16(h, acks), 30_000)
	h = be.AppendUint16(be.AppendUint32(h, 1), uint16(len(r.Topic)))
	return append(h, r.Topic...)
}

func (c *client) introduce() error {
	meta, topic := kmsg.NewPtrMetadataRequest(), kmsg.NewMetadataRequestTopic()
	topic.Topic, meta.Version = &c.run.Topic, 7
	meta.Topics = append(meta.Topics, topic)
	about := kmsg.NewPtrMetadataResponse()
	if err := c.ask(meta, about); err != nil {
		return err
	}
	n := len(about.Topics[0].Partitions)
	if n == 0 {
		return fmt.Errorf("topic %s: error %d", c.run.Topic, about.Topics[0].ErrorCode)
	}
	c.open, c.sequences = make([]*batch, n), make([]int32, n)
	if !c.run.Idempotence {
		return nil
	}
	who, id := kmsg.NewPtrInitProducerIDRequest(), kmsg.NewPtrInitProducerIDResponse()
	who.Version = 1
	err := c.ask(who, id)
	c.producer = id.ProducerID
	return err
}

func (c *client) ask(req kmsg.Request, resp kmsg.Response) error {
	if _, err := c.conn.Write(kmsg.NewRequestFormatter().AppendRequest(nil, req, 0)); err != nil {
		return err
	}
	resp.SetVersion(req.GetVersion())
	frame, err := c.frame(nil)
	if err != nil {
		return err
	}
	return resp.ReadFrom(frame[4:])
}

func (c *client) frame(b []byte) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(c.in, length[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(length[:]))
	if cap(b) < n {
		b = make([]byte, n)
	}
	_, err := io.ReadFull(c.in, b[:n])
	return b[:n], err
}

func (c *client) NewSender() perf.Sender { return c }

func (c *client) Send(key, value []byte, at int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.sticky
	if key != nil {
		p = partition.ForKey(key, len(c.open))
	}
	b := c.open[p]
	if b != nil && len(b.buf)+perRecord+len(key)+len(value) > c.run.BatchSize {
		c.fill(p)
		if key == nil {
			p = (p + 1) % int32(len(c.open))
			c.sticky = p
		}
		b = c.open[p]
	}
	if b == nil {
		b = c.start(p)
	}
	b.add(key, value)
	if at != 0 {
		b.sampled = append(b.sampled, at)
	}
	if c.sends++; c.run.LingerMs == 0 || c.sends%lingerEvery == 0 && time.Since(c.oldest) >= c.run.Linger() {
		c.sendAll()
	}
}

func (c *client) start(p int32) *batch {
	var b *batch
	select {
	case b = <-c.idle:
	default:
		b = newBatch(c.run.BatchSize)
	}
	now := time.Now()
	b.reset(p, now.UnixMilli())
	if c.oldest.IsZero() {
		c.oldest = now
	}
	c.open[p] = b
	return b
}

// fill moves a full batch to the ready ones. Writing with the lock held is the back-pressure.
func (c *client) fill(p int32) {
	for _, r := range c.ready { // one batch of a partition in a request
		if r.partition == p {
			c.writeReady()
			break
		}
	}
	b := c.open[p]
	c.open[p] = nil
	c.ready, c.readySize = append(c.ready, b), c.readySize+len(b.buf)
	if c.readySize >= requestBytes {
		c.writeReady()
	}
}

func (c *client) sendAll() {
	c.writeReady()
	for p, b := range c.open {
		if b != nil {
			c.fill(int32(p))
		}
	}
	c.writeReady()
	c.oldest = time.Time{}
}

func (c *client) writeReady() {
	if len(c.ready) == 0 {
		return
	}
	sent := append([]*batch(nil), c.ready...)
	c.ready, c.readySize = c.ready[:0], 0
	c.inFlight <- sent
	be := binary.BigEndian
	req := append(make([]byte, 0, len(c.head)+4+8*len(sent)), c.head...)
	req = be.AppendUint32(req, uint32(len(sent)))
	var vec net.Buffers
	from, size := 0, 0
	for _, b := range sent {
		raw := b.finish(c.codec, c.crc, c.producer, c.sequences[b.partition])
		c.sequences[b.partition] += b.count
		req = be.AppendUint32(be.AppendUint32(req, uint32(b.partition)), uint32(len(raw)))
		vec = append(vec, req[from:len(req):len(req)], raw)
		from, size = len(req), size+len(raw)
	}
	c.corr++
	be.PutUint32(req, uint32(len(req)+size-4))
	be.PutUint32(req[8:], c.corr)
	if _, err := vec.WriteTo(c.conn); err != nil {
		panic(err)
	}
}

func (c *client) readAnswers() error {
	be := binary.BigEndian
	var frame []byte
	for {
		var err error
		if frame, err = c.frame(frame); err != nil {
			return err
		}
		b := frame[8:] // correlation id, topic count
		b = b[2+be.Uint16(b):]
		n := be.Uint32(b)
		for b = b[4:]; n > 0; n-- {
			if code := be.Uint16(b[4:]); code != 0 {
				return fmt.Errorf("partition %d: error %d", be.Uint32(b), code)
			}
			b = b[answerBytes:]
		}
		for _, b := range <-c.inFlight {
			c.settle(b)
		}
	}
}

// settle tells the harness of each record, as a client's callbacks would.
func (c *client) settle(b *batch) {
	for _, at := range b.sampled {
		c.run.Done(at, nil)
	}
	for range int(b.count) - len(b.sampled) {
		c.run.Done(0, nil)
	}
	select {
	case c.idle <- b:
	default:
	}
}

func (c *client) Flush() {
	c.mu.Lock()
	c.sendAll()
	c.mu.Unlock()
}

func (c *client) Close() error { return c.conn.Close() }
