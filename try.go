package linger

import (
	"context"

	"linger/internal/kerr"
)

// TrySend is Send that never blocks: where Send would wait it returns ErrWouldBlock and has taken nothing, so that the same
// record may be tried again. Neither cb nor a Future hears of it, and it counts as no refusal.
//
// Each try is a send to plug-ins: interceptors see the record again, and when it was not taken their OnAck hears so
// with ErrWouldBlock, once for each OnSend; serializers and a partitioner of the application's own are asked again. RoundRobin
// gives its turn to the next record that is taken. While there is no memory for any record none of them is asked.
func (p *Producer[K, V]) TrySend(r Record[K, V], cb Callback) (Future, error) {
	if f, ok := p.sendPlain(&r, cb); ok {
		return f, nil
	}
	if p.core.acc.Exhausted() && !p.core.acc.IsClosed() {
		return Future{}, kerr.ErrWouldBlock
	}
	return p.sendStepwise(context.Background(), &r, cb, true)
}

// untake undoes what a try has left behind when the record was not taken.
func (p *Producer[K, V]) untake(r *Record[K, V], d *draft, md RecordMetadata, err error) error {
	if robin, ok := p.partitioner.(*roundRobin); ok && d.asked {
		robin.turns.GiveBack(r.Topic)
	}
	if p.interceptors != nil {
		p.interceptors.onAck(md, r.Headers, err)
	}
	return err
}

// tryTopic is findTopic that takes what is known now, and otherwise asks for the topic so that a later try finds it.
func (c *core) tryTopic(topic string, d *draft) error {
	t, n, err := c.engine.Topic(topic, d.entry.Partition)
	if t == nil {
		c.engine.WantTopic(topic) // also what was refused may be allowed by now
		if err == nil {
			err = kerr.ErrWouldBlock
		}
	}
	d.known, d.count = t, n
	return err
}
