package accumulator

import (
	"context"
	"time"

	"linger/internal/clock"
	"linger/internal/compress"
	"linger/internal/kerr"
	"linger/internal/partition"
	"linger/internal/record"
)

// Append puts one record into the last batch of its partition, or opens a batch for it; with AnyPartition the built-in
// partitioner chooses. It may wait for memory, or for its turn (see pacer), for budget at most and until ctx ends; no clock
// is read unless the open batch has no room.
//
// Errors, after which nothing was taken: kerr.ErrClosedDuringSend; kerr.ErrBufferExhausted once budget is used up;
// kerr.ErrIllegalArgument when the record can never fit buffer.memory; ctx's within kerr.ErrInterrupted.
// Appended.Partition and e.Partition name the partition even then.
func (a *Accumulator) Append(ctx context.Context, t *Topic, partition int32, e *Entry, budget time.Duration) (r Appended, err error) {
	e.Partition = partition
	if t.AppendOpen(e, &r) {
		return r, nil
	}
	return a.appendSlow(ctx, t, partition, e, a.o.Clock.Now().Add(budget), true)
}

// TryAppend is Append that never waits: where Append would, it fails with kerr.ErrWouldBlock.
func (a *Accumulator) TryAppend(t *Topic, partition int32, e *Entry) (r Appended, err error) {
	e.Partition = partition
	if t.AppendOpen(e, &r) {
		return r, nil
	}
	return a.appendSlow(context.Background(), t, partition, e, 0, false)
}

// AppendOpen is the path of nearly every record: the open batch of e.Partition has room. Whatever is out of the ordinary (no
// open batch, no room, an older generation, the producer closed, a sticky choice that another append replaced) is left to
// Append: ok is false and nothing has happened then.
//
// One lock, one load of the admission word under it, one copy of the record: no clock, no allocation, no channel. r is
// filled field by field where the caller has it: an Appended is too large for registers, and each copy of one waits
// for its fields to arrive in memory.
func (t *Topic) AppendOpen(e *Entry, r *Appended) (ok bool) {
	p := e.Partition
	var choice *partition.Choice
	var view *partition.View
	if p == AnyPartition {
		if view = t.view.Load(); view == nil || view.Count == 0 {
			return false
		}
		choice = t.sticky.Peek(view)
		p = choice.Partition()
	}
	q := t.at(p)
	if q == nil {
		return false
	}
	q.mu.Lock()
	b := q.open
	// An open batch was opened under a word that admitted it; if the word is the same now, it still does.
	if b == nil || uint64(b.word) != t.acc.word.Load() || choice != nil && t.sticky.Changed(choice) {
		q.mu.Unlock()
		return false
	}
	before := b.builder.EstimatedSize()
	start := b.builder.TryAppend(e.TimestampMs, e.Key, e.Value, e.Headers)
	if start < 0 {
		q.mu.Unlock()
		return false
	}
	b.keep(e, start)
	bytes := b.builder.EstimatedSize() - before
	filled := b.builder.IsFull()
	r.Result, r.Index, r.Partition, r.Bytes = b.result, int32(len(b.slots)-1), p, bytes
	r.BatchFull = filled || q.batches.len() > 1
	if filled {
		q.closeOpen()
	}
	if choice != nil {
		t.sticky.Update(choice, view, bytes, filled)
	}
	q.mu.Unlock()
	e.Partition = p
	if filled {
		r.Wake = q.signal()
	}
	return true
}

// appendSlow is the whole of Java's RecordAccumulator.append: a loop that starts over when the sticky choice or the
// admission word changed under it. Memory is taken at most once and kept over rounds; what no batch was opened with goes
// back at the end.
func (a *Accumulator) appendSlow(ctx context.Context, t *Topic, p int32, e *Entry, deadline clock.Instant, block bool) (Appended, error) {
	r, err := a.lent(ctx, t, p, e, deadline, block)
	if err != nil && r.Wake {
		a.nudge() // the caller does not look at r after an error
	}
	return r, err
}

// lent is rounds with memory of its own, which is a batch's or the pool's again when it returns; see Settle.
func (a *Accumulator) lent(ctx context.Context, t *Topic, p int32, e *Entry, deadline clock.Instant, block bool) (Appended, error) {
	a.lending.RLock()
	defer a.lending.RUnlock()
	var m memory
	r, err := a.rounds(ctx, t, p, e, deadline, block, &m)
	a.giveBack(&m)
	return r, err
}

func (a *Accumulator) rounds(ctx context.Context, t *Topic, p int32, e *Entry, deadline clock.Instant, block bool, m *memory) (Appended, error) {
	var created clock.Instant
	wake, waited := false, !block
	for {
		s, err := a.begin(t, p, e)
		if err != nil {
			return Appended{Partition: s.partition, Wake: wake}, err
		}
		r, verdict := a.round(&s, e, m, created)
		r.Wake = r.Wake || wake
		wake = r.Wake
		switch verdict {
		case appended:
			return r, nil
		case startOver:
			continue
		case refused:
			r.Wake = s.missed() || r.Wake
			return r, kerr.ErrClosedDuringSend
		}
		if !waited {
			if waited, err = a.pace(ctx, deadline); waited && err == nil {
				continue
			}
			waited = true
		}
		if err == nil {
			*m, err = a.allocate(ctx, e, deadline, block)
		}
		if err != nil {
			r.Wake = s.missed() || r.Wake
			return r, err
		}
		created = a.touch(t) // waiting may have taken long, and a clock is not read under the lock
	}
}

// verdict is how a round ended.
type verdict uint8

const (
	appended verdict = iota
	startOver
	refused // the producer is closed
	wantsMemory
)

// step is one round of an append: what it saw before it had the lock.
type step struct {
	t         *Topic
	word      word
	view      *partition.View
	choice    *partition.Choice // nil: the record named its partition
	partition int32
	queue     *Queue
}

// missed tells the Schedule of the queue of a record that was not taken: it may be new, and an empty queue counts for the
// load table.
func (s *step) missed() (wake bool) { return s.queue.signal() }

// begin looks at the admission word and at the sticky choice, without a lock.
func (a *Accumulator) begin(t *Topic, p int32, e *Entry) (step, error) {
	s := step{t: t, word: word(a.word.Load()), partition: p}
	if p < AnyPartition {
		return s, &kerr.Error{Op: "send", Topic: t.Name, Partition: p, Msg: "the partition is negative", Err: kerr.ErrIllegalArgument}
	}
	if p == AnyPartition {
		if s.view = t.view.Load(); s.view == nil || s.view.Count == 0 {
			return s, &kerr.Error{Op: "send", Topic: t.Name, Partition: -1, Msg: "no partition of the topic is known", Err: kerr.ErrIllegalState}
		}
		s.choice = t.sticky.Peek(s.view)
		s.partition = s.choice.Partition()
	}
	e.Partition = s.partition
	s.queue = t.queue(s.partition)
	return s, nil
}

// round holds the lock once: it tries the last batch and, with memory at hand, opens a new one.
func (a *Accumulator) round(s *step, e *Entry, m *memory, created clock.Instant) (r Appended, v verdict) {
	q := s.queue
	r.Partition = s.partition
	q.mu.Lock()
	if word(a.word.Load()) != s.word || s.switched() {
		q.mu.Unlock()
		return r, startOver
	}
	if s.word.closed() {
		q.mu.Unlock()
		return r, refused
	}
	opened := q.opened
	wasOpen := q.open != nil
	if wasOpen && q.open.word == s.word && a.addGrowing(q.open, e, &r) {
		v = appended
	} else {
		if wasOpen {
			q.closeOpen() // no room for this record, or a batch from before a flush: full for every other one, too
		}
		v = wantsMemory
		if m.held() {
			a.openBatch(s, e, m, created, &r)
			v = appended
		}
	}
	if q.open != nil && q.open.builder.IsFull() {
		q.closeOpen()
	}
	if v == appended {
		r.BatchFull = q.open == nil || q.batches.len() > 1
		s.t.sticky.Update(s.choice, s.view, r.Bytes, q.open == nil)
	}
	news := q.opened != opened || wasOpen && q.open == nil
	q.mu.Unlock()
	if news {
		r.Wake = q.signal()
	}
	return r, v
}

// switched reports whether the append must start over with another sticky choice: because an append has replaced the
// one it peeked at, or because a switch that was put off while a batch had room is due now that all are full. The
// caller holds the lock of the choice's queue (Java: partitionChanged).
func (s *step) switched() bool {
	if s.choice == nil {
		return false
	}
	if s.t.sticky.Changed(s.choice) {
		return true
	}
	return s.queue.open == nil && s.t.sticky.Update(s.choice, s.view, 0, true)
}

// addGrowing is add for a batch that may need more memory to use the room it has.
func (a *Accumulator) addGrowing(b *Batch, e *Entry, r *Appended) bool {
	before := b.builder.EstimatedSize()
	for {
		switch start := b.add(e); {
		case start >= 0:
			r.Result, r.Index, r.Bytes = b.result, int32(len(b.slots)-1), b.builder.EstimatedSize()-before
			return true
		case start == record.NoRoom:
			return false
		}
		if !a.grow(b, b.builder.RecordSize(e.TimestampMs, int(size(e.Key)), int(size(e.Value)), len(e.Headers))) {
			return false
		}
	}
}

// openBatch makes a new last batch out of m with e as its first record, which always fits. The caller holds the lock.
func (a *Accumulator) openBatch(s *step, e *Entry, m *memory, created clock.Instant, r *Appended) {
	q := s.queue
	b := a.batches.get(s.t.Name, q.Partition)
	b.Queue, b.word, b.order = q, s.word, q.opened*pieceUnit
	b.charge, b.slots = len(m.first), a.slots.get()
	q.opened++
	q.lastCreated = max(q.lastCreated, created)
	b.CreatedAt, b.LastAttempt = q.lastCreated, q.lastCreated
	b.stage = a.gens.join(s.word)
	b.builder.Reset(m.first, m.limit, a.compresses(), s.t.ratio.Ratio())
	for _, chunk := range m.more {
		b.builder.AddChunk(chunk)
	}
	*m = memory{}
	if b.add(e) < 0 {
		panic("broken invariant: a new batch has no room for its first record")
	}
	q.put(q.batches.len(), b)
	q.open = b
	a.open.Add(1)
	a.incomplete.Add(1)
	r.Result, r.Index, r.Bytes, r.NewBatch = b.result, 0, b.builder.EstimatedSize(), true
}

// touch reads the clock for a batch about to be opened.
//
// Batches count their age in whole milliseconds, as Java's do: those of one burst expire in one turn. Else, with the first
// of them gone, the next would be sent in what little time it has left, behind a gap.
func (a *Accumulator) touch(t *Topic) clock.Instant {
	now, _ := a.o.Coarse.Refresh()
	t.touched.Store(int64(now))
	return now - now%clock.Instant(time.Millisecond)
}

func (a *Accumulator) compresses() bool { return a.o.Codec.Type != compress.None }
