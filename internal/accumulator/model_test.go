package accumulator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"linger/internal/clock"
	"linger/internal/compress"
	"linger/internal/kerr"
	"linger/internal/metadata"
)

// world drives an accumulator by random steps beside a naive model of it: lists of record numbers.
type world struct {
	*fixture
	numbers *numbers
	sent    map[int32][]int // record numbers by partition, as they were accepted
	next    int
	live    map[*Batch]bool // batches that were seen and not freed
	out     []*Batch        // in requests
	sealing []*Batch
	flushes []flushed
	leaders []int32
	epochs  []int32
	gate    gate
}

type flushed struct {
	stage *Generation
	upTo  int // records sent before
}

func newWorld(t *rapid.T) *world {
	w := &world{numbers: newNumbers(), sent: map[int32][]int{}, live: map[*Batch]bool{}, leaders: slices.Clone(leaders4), epochs: make([]int32, 4)}
	draws := rapid.Int32()
	w.fixture = newFixture(t, setup{
		batchSize:       rapid.SampledFrom([]int{0, 150, 400}).Draw(t, "batch.size"),
		linger:          clock.Ms(rapid.SampledFrom([]int64{0, 20}).Draw(t, "linger.ms")),
		memory:          rapid.SampledFrom([]int64{1500, 10_000}).Draw(t, "buffer.memory"),
		codec:           rapid.SampledFrom([]compress.Type{compress.None, compress.LZ4}).Draw(t, "codec"),
		idempotent:      rapid.Bool().Draw(t, "idempotent"),
		adaptive:        rapid.Bool().Draw(t, "adaptive"),
		deliveryTimeout: 200 * time.Millisecond, backoffMs: 10, backoffMaxMs: 40,
		random: func() int32 { return draws.Draw(t, "random") },
	})
	w.setCluster(w.leaders, w.epochs, nil)
	return w
}

func (w *world) send(t *rapid.T) {
	partition := rapid.Int32Range(-1, 3).Draw(t, "partition")
	e := &Entry{TimestampMs: int64(w.next), Value: make([]byte, rapid.IntRange(0, 300).Draw(t, "size")), Callback: numbered{w.next, w.numbers}}
	var r Appended
	var err error
	if rapid.Bool().Draw(t, "try") {
		r, err = w.acc.TryAppend(w.topic, partition, e)
	} else {
		r, err = w.acc.Append(context.Background(), w.topic, partition, e, 0)
	}
	switch {
	case err == nil:
		w.sent[r.Partition] = append(w.sent[r.Partition], w.next)
		w.next++
		if partition >= 0 && r.Partition != partition || e.Partition != r.Partition {
			t.Fatalf("asked for partition %d, got %d, entry says %d", partition, r.Partition, e.Partition)
		}
	case !errors.Is(err, kerr.ErrBufferExhausted) && !errors.Is(err, kerr.ErrWouldBlock):
		t.Fatal(err)
	}
}

// turn is what a Step does.
func (w *world) turn(t *rapid.T) {
	now := w.clk.Now()
	w.sched.Refresh(now)
	w.compareReady(t, now)
	for _, b := range w.sched.Expired(now, nil) {
		w.end(b, Ending{BaseOffset: -1, LogAppendMs: -1, Err: kerr.ErrTimeout})
	}
	if got, want := w.sched.NextExpiry(), w.nextExpiry(); got != want {
		t.Fatalf("next expiry %d, want %d", got, want)
	}
	for _, node := range w.sched.Ready(now, nil) {
		drained := w.sched.Drain(now, node, rapid.IntRange(0, 800).Draw(t, "max"), &w.gate, nil)
		seen := map[*Queue]bool{}
		for _, b := range drained {
			if seen[b.Queue] || b.Queue.Muted || b.Holder() != HeldByRequest || w.leaders[b.Queue.Partition] != node {
				t.Fatalf("partition %d must not be in this request", b.Queue.Partition)
			}
			seen[b.Queue] = true
		}
		w.out = append(w.out, drained...)
	}
	w.sealing = w.sched.Seals(w.sealing)
}

// compareReady asks the plain twin: a walk over all queues.
func (w *world) compareReady(t *rapid.T, now clock.Instant) {
	want, wantNext, unknown := map[int32]bool{}, clock.Never, false
	for p, leader := range w.leaders {
		q := w.topic.at(int32(p))
		if q == nil || q.batches.len() == 0 {
			continue
		}
		b := q.batches.front()
		linger := b.LastAttempt.Add(w.acc.o.Linger)
		switch {
		case leader < 0:
			unknown = true
		case q.Muted:
		case b.backingOff(now):
			wantNext = min(wantNext, b.retryAt)
		case q.batches.len() > 1 || b.full() || linger <= now:
			want[leader] = true
		default:
			wantNext = min(wantNext, linger)
		}
	}
	got := w.sched.Ready(now, nil)
	if len(got) != len(want) || slices.ContainsFunc(got, func(n int32) bool { return !want[n] }) {
		t.Fatalf("ready nodes %v, want %v", got, want)
	}
	if next := w.sched.NextReady(); next != wantNext {
		t.Fatalf("next ready at %d, want %d", next, wantNext)
	}
	if (len(w.sched.UnknownLeaders()) > 0) != unknown {
		t.Fatalf("unknown leaders %v", w.sched.UnknownLeaders())
	}
}

func (w *world) nextExpiry() clock.Instant {
	next := clock.Never
	for _, q := range w.sched.queues {
		for _, b := range q.InFlight {
			if !b.ended {
				next = min(next, b.CreatedAt.Add(w.acc.o.DeliveryTimeout))
			}
		}
		if b := q.batches.front(); b != nil {
			next = min(next, b.CreatedAt.Add(w.acc.o.DeliveryTimeout))
		}
	}
	return next
}

func (w *world) end(b *Batch, e Ending) {
	c := w.sched.Complete(b, e)
	deliver(&c)
	w.free(b)
}

func (w *world) free(b *Batch) {
	if w.sched.MayFree(b) {
		delete(w.live, b)
		w.acc.Free(b)
	}
}

// sealed gives one batch back from the workers.
func (w *world) sealed(t *rapid.T) {
	if len(w.sealing) == 0 {
		t.Skip("nothing is being sealed")
	}
	i := rapid.IntRange(0, len(w.sealing)-1).Draw(t, "which")
	b := w.sealing[i]
	w.sealing = slices.Delete(w.sealing, i, i+1)
	b.Seal(w.compressor)
	w.sched.Sealed(b)
	w.free(b)
}

// answer is a broker's for one batch.
func (w *world) answer(t *rapid.T) {
	if len(w.out) == 0 {
		t.Skip("nothing is in flight")
	}
	i := rapid.IntRange(0, len(w.out)-1).Draw(t, "which")
	b := w.out[i]
	w.out = slices.Delete(w.out, i, i+1)
	if !b.Ended() { // what is on the wire is what was appended
		want := []int{}
		for _, s := range b.slots {
			want = append(want, s.Callback.(numbered).n)
		}
		got := []int{}
		for _, rec := range recordsOf(t, b) {
			got = append(got, int(rec.Timestamp))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("on the wire %v, appended %v", got, want)
		}
	}
	w.sched.Landed(b)
	switch kind := rapid.SampledFrom([]string{"done", "retry", "split", "failed"}).Draw(t, "answer"); {
	case b.Ended():
		w.free(b)
	case kind == "retry":
		w.sched.PutBack(b, w.clk.Now())
	case kind == "split" && b.RecordCount() > 1:
		sequence := b.Stamp.BaseSequence
		w.sched.Split(b, w.clk.Now(), func(p *Batch) {
			p.Stamp.Has, p.Stamp.BaseSequence = true, sequence
			sequence += p.Stamp.Count
		})
		w.free(b)
	case kind == "failed":
		w.end(b, Ending{BaseOffset: -1, LogAppendMs: -1, Err: kerr.ErrRecordTooLarge})
	default:
		w.end(b, Ending{BaseOffset: b.order, LogAppendMs: -1})
	}
}

func (w *world) changeLeader(t *rapid.T) {
	p := rapid.IntRange(0, 3).Draw(t, "partition")
	w.leaders[p] = rapid.SampledFrom([]int32{-1, 1, 2, 3}).Draw(t, "leader")
	w.epochs[p]++
	w.sched.Refresh(w.clk.Now())
	w.setCluster(w.leaders, w.epochs, nil)
}

func (w *world) mute(t *rapid.T) {
	if len(w.sched.queues) == 0 {
		t.Skip("no queue is known")
	}
	q := rapid.SampledFrom(w.sched.queues).Draw(t, "queue")
	if q.Muted {
		w.sched.Unmute(q)
	} else {
		w.sched.Mute(q)
	}
}

// check holds after every step.
func (w *world) check(t *rapid.T) {
	holding := map[int32][]int{}
	queued, unended, charged := 0, 0, int64(0)
	note := func(b *Batch) {
		w.live[b] = true
		for _, s := range b.slots {
			holding[b.Queue.Partition] = append(holding[b.Queue.Partition], s.Callback.(numbered).n)
		}
		if !b.Ended() {
			unended++
		}
	}
	for p := range w.leaders {
		q := w.topic.at(int32(p))
		if q == nil {
			continue
		}
		for i := range q.batches.len() {
			note(q.batches.at(i))
			if b := q.batches.at(i); b.state == Open && (i != q.batches.len()-1 || q.open != b) {
				t.Fatalf("partition %d has an open batch that is not its last", p)
			}
		}
		queued += q.batches.len()
		if ns := holding[int32(p)]; w.acc.o.Idempotent && !slices.IsSorted(ns) {
			t.Fatalf("partition %d holds %v", p, ns)
		}
		for _, b := range q.InFlight {
			note(b)
		}
	}
	for b := range w.live {
		charged += int64(b.charge)
		if !b.piece {
			for _, chunk := range b.builder.Memory()[1:] {
				charged += int64(len(chunk))
			}
		}
	}
	if got := w.pool.Total() - w.pool.Available(); got != charged {
		t.Fatalf("%d bytes are charged, batches hold %d", got, charged)
	}
	if w.sched.Undrained() != queued || w.sched.Incomplete() != unended {
		t.Fatalf("%d undrained, %d incomplete; counted %d and %d", w.sched.Undrained(), w.sched.Incomplete(), queued, unended)
	}
	for p, sent := range w.sent {
		got := holding[p]
		for _, n := range sent {
			if _, done := w.numbers.outcomes[n]; done {
				got = append(got, n)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, sent) {
			t.Fatalf("partition %d: %v were sent, %v are held or delivered", p, sent, got)
		}
	}
	if len(w.numbers.twice) > 0 {
		t.Fatalf("delivered twice: %v", w.numbers.twice)
	}
	w.checkFlushes(t)
}

func (w *world) checkFlushes(t *rapid.T) {
	for _, f := range w.flushes {
		delivered := 0
		for n := range f.upTo {
			if _, done := w.numbers.outcomes[n]; done {
				delivered++
			}
		}
		if over := closed(f.stage.Done()); over != (delivered == f.upTo) {
			t.Fatalf("flush over: %v, with %d of %d records delivered", over, delivered, f.upTo)
		}
	}
}

// settle lets everything end.
func (w *world) settle(t *rapid.T) {
	w.leaders = slices.Clone(leaders4)
	w.sched.Refresh(w.clk.Now())
	w.setCluster(w.leaders, nil, nil)
	for _, q := range w.sched.queues {
		w.sched.Unmute(q)
	}
	for round := 0; w.sched.Incomplete() > 0 || len(w.out)+len(w.sealing) > 0; round++ {
		if round > 1000 {
			t.Fatal("does not settle")
		}
		w.clk.Advance(50 * time.Millisecond)
		w.turn(t)
		for len(w.sealing) > 0 {
			w.sealed(t)
		}
		for _, b := range w.out {
			w.sched.Landed(b)
			if b.Ended() {
				w.free(b)
			} else {
				w.end(b, Ending{BaseOffset: 0, LogAppendMs: -1})
			}
		}
		w.out = w.out[:0]
	}
	w.check(t)
	if w.pool.Available() != w.pool.Total() || len(w.numbers.outcomes) != w.next {
		t.Fatalf("%d of %d bytes available, %d of %d records delivered",
			w.pool.Available(), w.pool.Total(), len(w.numbers.outcomes), w.next)
	}
}

// ACC-27, ACC-36, ACC-48, TMO-06: nothing is lost, doubled or reordered, and all memory comes home, whatever happens.
func TestAccumulatorKeepsUpWithItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		actions := map[string]func(*rapid.T){
			"send": w.send, "send again": w.send, "send more": w.send,
			"turn": w.turn, "turn again": w.turn, "answer": w.answer, "answer again": w.answer, "leader": w.changeLeader, "mute": w.mute,
			"advance": func(t *rapid.T) { w.clk.Advance(clock.Ms(rapid.Int64Range(0, 60).Draw(t, "ms"))) },
			"flush":   func(*rapid.T) { w.flushes = append(w.flushes, flushed{w.acc.Flush(), w.next}) },
			"":        w.check,
		}
		if w.acc.compresses() {
			actions["sealed"] = w.sealed
		}
		t.Repeat(actions)
		w.settle(t)
	})
}

// The same calls give the same answers: what is drained, by which node, in which order, and what expires.
func TestScheduleIsDeterministic(t *testing.T) {
	run := func() (said []string) {
		rng := rand.New(rand.NewPCG(3, 4))
		f := newFixture(t, setup{batchSize: 200, linger: 5 * time.Millisecond, deliveryTimeout: 60 * time.Millisecond, adaptive: true,
			random: func() int32 { return int32(rng.Uint32()) }})
		topics := []*Topic{f.topic}
		var described []*metadata.Topic
		for i := range 8 {
			mt := &metadata.Topic{Name: fmt.Sprint("t", i)}
			for p := range 5 {
				mt.Partitions = append(mt.Partitions, metadata.Partition{Leader: int32(1 + (i+p)%3)})
			}
			described = append(described, mt)
			topics = append(topics, f.acc.Topic(mt.Name))
		}
		f.sched.SetCluster(metadata.NewCluster(1, "c", []metadata.Node{{ID: 1}, {ID: 2}, {ID: 3}}, described), 0)
		for range 400 {
			for range rng.IntN(6) {
				topic := topics[1+rng.IntN(8)]
				if _, err := f.acc.Append(context.Background(), topic, rng.Int32N(6)-1, entry(rng.IntN(150)), 0); err != nil {
					t.Fatal(err)
				}
			}
			if rng.IntN(40) == 0 {
				f.acc.Flush()
			}
			f.clk.Advance(clock.Ms(rng.Int64N(4)))
			now := f.clk.Now()
			f.sched.Refresh(now)
			for _, b := range f.sched.Expired(now, nil) {
				said = append(said, fmt.Sprintf("%d expired %s-%d", now, b.Queue.Topic.Name, b.Queue.Partition))
			}
			for _, node := range f.sched.Ready(now, nil) {
				for _, b := range f.sched.Drain(now, node, rng.IntN(1000), nil, nil) {
					said = append(said, fmt.Sprintf("%d %d takes %s-%d %d", now, node, b.Queue.Topic.Name, b.Queue.Partition, b.RecordCount()))
				}
			}
			said = append(said, fmt.Sprint(f.sched.NextCheck()))
		}
		return said
	}
	first := run()
	for range 5 {
		if again := run(); !slices.Equal(first, again) {
			t.Fatal("two runs of the same calls differ")
		}
	}
}

// The heap of deadlines against a sorted list.
func TestDeadlinesComeInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := deadlines{which: heapExpiry}
		queues := make([]*Queue, 12)
		for i := range queues {
			queues[i] = &Queue{order: int32(i)}
		}
		model := map[*Queue]clock.Instant{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			q := rapid.SampledFrom(queues).Draw(t, "queue")
			if rapid.Bool().Draw(t, "set") {
				model[q] = clock.Instant(rapid.Int64Range(0, 9).Draw(t, "at"))
				h.set(q, model[q])
			} else {
				delete(model, q)
				h.remove(q)
			}
			for q, at := range model {
				if h.place(q) < 0 || h.at(q) != at {
					t.Fatal("a queue is not where it was put")
				}
			}
		}
		var want, got []*Queue
		for q := range model {
			want = append(want, q)
		}
		slices.SortFunc(want, func(a, b *Queue) int {
			return cmp.Or(cmp.Compare(model[a], model[b]), cmp.Compare(a.order, b.order))
		})
		for h.top() != clock.Never {
			got = append(got, h.first())
			h.remove(h.first())
		}
		if !slices.Equal(got, want) {
			t.Fatal("not in order")
		}
	})
}

// bitset against a map.
func TestBitsetFindsItsMembersInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "size")
		var b bitset
		b = b.resize(n)
		members := map[int]bool{}
		for range rapid.IntRange(0, 50).Draw(t, "steps") {
			i := rapid.IntRange(0, n-1).Draw(t, "member")
			if rapid.Bool().Draw(t, "in") {
				b.set(i)
				members[i] = true
			} else {
				b.unset(i)
				delete(members, i)
			}
		}
		start, end := rapid.IntRange(0, n).Draw(t, "from"), rapid.IntRange(0, n).Draw(t, "to")
		var got []int
		for i := b.next(start, end); i < end; i = b.next(i+1, end) {
			got = append(got, i)
		}
		for i := start; i < end; i++ {
			if members[i] != slices.Contains(got, i) {
				t.Fatalf("%d: member %v, found %v", i, members[i], got)
			}
		}
	})
}
