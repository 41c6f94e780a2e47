package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"linger"
	"linger/internal/kerr"
)

// driver runs operations and prints what came of them.
type driver struct {
	bootstrap, control string

	mu        sync.Mutex
	out       *json.Encoder
	producers map[string]*producer
}

type producer struct {
	name    string
	p       *linger.Producer[[]byte, []byte]
	nextID  int
	pending atomic.Int64
}

type line = map[string]any

func (d *driver) emit(l line) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.out.Encode(l) // nobody is there to be told when standard output is gone
}

func (d *driver) get(name string) *producer {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.producers[name]
}

func (d *driver) execute(i int, o *op) {
	if o.P == "" {
		o.P = "a"
	}
	l := line{"type": "op", "i": i, "op": o.Op, "p": o.P, "ok": true}
	start := time.Now()
	if err := d.run(i, o); err != nil {
		describe(l, err)
	}
	l["ms"] = time.Since(start).Milliseconds()
	d.emit(l)
}

// describe names an error and its causes as Java would.
func describe(l line, err error) {
	names := kerr.JavaNames(err)
	l["ok"], l["error"], l["message"], l["causes"] = false, names[0], err.Error(), names[1:]
}

func (d *driver) run(i int, o *op) error {
	ctx := context.Background()
	p := d.get(o.P)
	if p == nil && o.Op != "new" && o.Op != "control" && o.Op != "sleep" {
		return fmt.Errorf("no producer %q", o.P)
	}
	switch o.Op {
	case "new":
		return d.create(o)
	case "send":
		d.send(p, o)
	case "flush":
		return p.p.Flush(ctx)
	case "partitions_for":
		_, err := p.p.PartitionsFor(ctx, o.topic())
		return err
	case "close":
		d.metrics(i, p)
		if o.TimeoutMs != nil {
			return p.p.CloseTimeout(ms(o.TimeoutMs, 0))
		}
		return p.p.Close()
	case "sleep":
		time.Sleep(ms(o.Ms, 0))
	case "wait":
		return p.wait(ms(o.Ms, 20000))
	case "state":
		time.Sleep(100 * time.Millisecond)
		d.state(i, p)
	case "metrics":
		d.metrics(i, p)
	case "control":
		return d.command(o.Cmd)
	default:
		return fmt.Errorf("operation %q is not supported", o.Op)
	}
	return nil
}

func (o *op) topic() string {
	if o.Topic == "" {
		return "t"
	}
	return o.Topic
}

func (d *driver) create(o *op) error {
	opts := []linger.Option{
		linger.Set("bootstrap.servers", d.bootstrap), linger.Set("client.id", "client-"+o.P), linger.Set("enable.metrics.push", "false"),
	}
	for _, key := range slices.Sorted(maps.Keys(o.Config)) {
		opts = append(opts, linger.Set(key, o.Config[key]))
	}
	p, err := linger.New(linger.ByteArray, linger.ByteArray, opts...)
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.producers[o.P] = &producer{name: o.P, p: p}
	d.mu.Unlock()
	return nil
}

func (d *driver) send(p *producer, o *op) {
	n := 1
	if o.N != nil {
		n = *o.N
	}
	for j := range n {
		d.sendOne(p, o, j)
		if o.GapMs > 0 {
			time.Sleep(time.Duration(o.GapMs) * time.Millisecond)
		}
	}
}

func (d *driver) sendOne(p *producer, o *op, j int) {
	id := p.nextID
	p.nextID++
	r := linger.Record[[]byte, []byte]{Topic: o.topic(), Value: payload(p.name, id, o.Size)}
	if o.Partition != nil {
		r.Partition = linger.On(*o.Partition)
	}
	if o.Key != nil {
		r.Key = []byte(strings.ReplaceAll(*o.Key, "{i}", fmt.Sprint(j)))
	}
	p.pending.Add(1)
	_, err := p.p.Send(context.Background(), r, func(md linger.RecordMetadata, err error) {
		defer p.pending.Add(-1)
		l := line{"type": "record", "p": p.name, "id": id, "topic": o.topic(), "ok": true}
		if md.Partition >= 0 {
			l["partition"] = md.Partition
		}
		if err != nil {
			describe(l, err)
		} else if md.HasOffset() {
			l["offset"] = md.Offset
		}
		d.emit(l)
	})
	if err != nil {
		l := line{"type": "record", "p": p.name, "id": id, "topic": o.topic(), "thrown": true}
		describe(l, err)
		d.emit(l)
		p.pending.Add(-1)
	}
}

func payload(name string, id, size int) []byte {
	v := fmt.Appendf(nil, "%s-%d", name, id)
	for len(v) < size {
		v = append(v, '.')
	}
	return v
}

func (p *producer) wait(limit time.Duration) error {
	for end := time.Now().Add(limit); p.pending.Load() > 0; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("%w: %d records pending", kerr.ErrTimeout, p.pending.Load())
		}
	}
	return nil
}

func (d *driver) state(i int, p *producer) {
	id := p.p.Identity()
	l := line{"type": "state", "i": i, "p": p.name, "state": id.State, "producer_id": id.ProducerID, "epoch": id.Epoch}
	if id.Err != nil {
		l["error"] = kerr.JavaName(id.Err)
	}
	d.emit(l)
}

func (d *driver) metrics(i int, p *producer) {
	m := p.p.Counters()
	d.emit(line{"type": "metrics", "i": i, "p": p.name, "values": line{
		"record-send-total": m.RecordsSent, "record-retry-total": m.RecordsRetried, "record-error-total": m.RecordsFailed,
		"batch-split-total": m.BatchSplits, "buffer-exhausted-total": m.BufferExhausted,
	}})
}

func (d *driver) command(cmd string) error {
	conn, err := net.Dial("tcp", d.control)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := fmt.Fprintln(conn, cmd); err != nil {
		return err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(answer, "ok") {
		return errors.New("control: " + strings.TrimSpace(answer))
	}
	return nil
}
