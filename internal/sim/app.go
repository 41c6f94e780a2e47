package sim

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"

	"linger/internal/accumulator"
	"linger/internal/kerr"
	"linger/internal/metadata"
	"linger/internal/partition"
	"linger/internal/record"
	"linger/internal/sender"
)

// app plays the application: it appends records in bursts, flushes now and then, waits for the world to heal, appends
// the last ones in peace, and closes.
type app struct {
	w       *world
	dice    dice
	view    *metadata.View // newest, as the engine published it
	records []*sent
	next    *sent // drawn, not appended yet
	quota   int   // records to append in the present phase
	flushes []flush
	fatal   bool // the producer is past saving
	closing bool
	forced  bool
	peace   int // records before this one were appended before the world healed; -1 as long as it has not
}

// sent is one record and what became of it. It is its own callback.
type sent struct {
	w         *world
	id        int32
	topic     *topic
	partition int32 // as told by the append
	wish      int32 // explicit partition, accumulator.AnyPartition for none
	key       []byte
	value     []byte
	headers   []byte
	stamp     int64

	appended accumulator.Appended
	calls    int
	outcome  accumulator.Outcome
	copies   int // in the log
}

// flush is one call of Flush: everything before record must be done when it is.
type flush struct {
	gen    *accumulator.Generation
	before int
}

func (a *app) start(w *world) {
	a.w, a.dice, a.quota, a.peace = w, newDice(w.seed, dieApp), w.set.records-peaceful, -1
	for _, t := range w.cluster.topics {
		w.post(sender.Event{Kind: sender.TopicWanted, Topic: t.name})
	}
	w.after(a.dice.upTo(w.set.pause), a.burst)
	if w.set.force {
		a.quota = w.set.records
	}
}

// burst appends some records, as far as memory and metadata allow.
func (a *app) burst() {
	if a.closing {
		return
	}
	pause := a.dice.upTo(a.w.set.pause)
	for range a.dice.between(1, a.w.set.burst) {
		if len(a.records) >= a.quota {
			a.phaseOver()
			return
		}
		if a.crowded() || !a.append() {
			pause = a.dice.ms(1, 5)
			break
		}
	}
	if a.dice.chance(0.03) {
		a.flush()
	}
	a.w.after(pause, a.burst)
}

// crowded reports whether, in peace, enough records are on their way: with one batch out at a time and a delivery.timeout.ms
// that is hardly more than request.timeout.ms, the last of many would expire in its queue, and rightly.
func (a *app) crowded() bool {
	if a.peace < 0 {
		return false
	}
	open := 0
	for _, s := range a.records[a.peace:] {
		if s.calls == 0 {
			open++
		}
	}
	return open >= 3
}

// append tries to append the next record; false means not now.
func (a *app) append() bool {
	w := a.w
	if a.next == nil {
		a.next = a.draw()
	}
	s := a.next
	if !a.knows(s) {
		w.post(sender.Event{Kind: sender.RefreshWanted, Topic: s.topic.name})
		return false
	}
	t := w.acc.Topic(s.topic.name)
	to := s.wish
	if to == accumulator.AnyPartition && s.key != nil {
		to = partition.ForKey(s.key, int(t.PartitionCount()))
	}
	s.stamp = w.clk.WallMs()
	if a.dice.chance(0.02) {
		s.stamp = int64(a.dice.IntN(1 << 40))
	}
	e := accumulator.Entry{TimestampMs: s.stamp, Key: s.key, Value: s.value, Headers: s.headers, Callback: s}
	r, err := w.acc.TryAppend(t, to, &e)
	switch {
	case errors.Is(err, kerr.ErrWouldBlock):
		w.reach(AppendBlocked)
		return false
	case err != nil:
		w.fail("append of record %d: %v", s.id, err)
		return false
	}
	s.appended, s.partition = r, r.Partition
	a.records, a.next = append(a.records, s), nil
	p := s.topic.partitions[s.partition]
	p.appended = append(p.appended, s)
	w.trace.note(w.now, "app", "record %d to partition %d, %d bytes", int64(s.id), int64(p.no), int64(r.Bytes))
	if r.BatchFull {
		w.reach(BatchFilled)
	}
	if r.Wake {
		w.post(sender.Event{Kind: sender.Nudge})
	}
	return true
}

// knows reports whether metadata satisfies the record: what the engine's WaitTopic waits for.
func (a *app) knows(s *sent) bool {
	if a.view == nil {
		return false
	}
	t := a.view.Topic(s.topic.name)
	return t != nil && len(t.Partitions) > int(max(s.wish, 0)) && a.w.acc.Topic(s.topic.name).PartitionCount() > max(s.wish, 0)
}

// draw makes a record that names itself: its number stands in front of the value.
func (a *app) draw() *sent {
	d := a.dice
	w := a.w
	s := &sent{w: w, id: int32(len(a.records)), wish: accumulator.AnyPartition}
	s.topic = w.cluster.topics[d.IntN(len(w.cluster.topics))]
	switch n := d.IntN(10); {
	case n < 4:
		s.wish = int32(d.IntN(len(s.topic.partitions)))
	case n < 7:
		s.key = binary.BigEndian.AppendUint32(nil, uint32(d.IntN(20)))
	}
	s.value = make([]byte, d.between(8, max(8, w.set.maxValue)))
	binary.BigEndian.PutUint32(s.value, uint32(s.id))
	for i := 4; i < len(s.value); i++ {
		s.value[i] = byte(int(s.id)*31 + i)
	}
	if d.chance(0.1) {
		s.headers = record.AppendHeaders(nil, []record.Header{{Key: "n", Value: s.value[:4]}})
	}
	return s
}

// phaseOver: the troubled phase ends once enough has gone wrong; then the world heals, and after a while the last
// records are appended.
func (a *app) phaseOver() {
	w := a.w
	switch {
	case a.peace >= 0:
		a.closeInOrder()
	case w.counts.faults() < minFaults && a.quota < mostRecords:
		a.quota += 50
		s := &w.set
		s.requestFaults, s.linkFaults, s.clusterEvery = min(2*s.requestFaults, 0.5), min(2*s.linkFaults, 0.5), max(s.clusterEvery/2, 30*time.Millisecond)
		a.burst()
	case w.set.force:
		w.after(a.dice.ms(0, 300), a.closeByForce) // in the middle of things
	default:
		w.healed = true
		w.cluster.heal()
		w.trace.note(w.now, "world", "heals after %d faults", int64(w.counts.faults()))
		w.after(w.set.heal(), func() {
			w.cluster.lastWord()
			a.peace = len(a.records)
			a.quota = len(a.records) + peaceful
			a.burst()
		})
	}
}

func (a *app) flush() {
	a.flushes = append(a.flushes, flush{gen: a.w.acc.Flush(), before: len(a.records)})
	a.w.trace.note(a.w.now, "app", "flush of %d records", int64(len(a.records)))
}

// looksAtFlushes checks those that are over: every callback of theirs must have run.
func (a *app) looksAtFlushes() {
	left := a.flushes[:0]
	for _, f := range a.flushes {
		select {
		case <-f.gen.Done():
			a.w.reach(FlushDone)
			for _, s := range a.records[:f.before] {
				if s.calls == 0 {
					a.w.fail("flush is over and record %d, appended before it, has no outcome", s.id)
					break
				}
			}
		default:
			left = append(left, f)
		}
	}
	a.flushes = left
}

func (a *app) closeInOrder() {
	if a.closing {
		return
	}
	a.w.reach(ClosedInOrder)
	a.close()
	if a.dice.chance(0.1) {
		a.w.after(a.dice.upTo(10*time.Second), a.closeByForce) // close with a limit
	}
}

func (a *app) close() {
	w := a.w
	w.trace.note(w.now, "app", "closes with %d records", int64(len(a.records)))
	a.closing = true
	w.acc.Close()
	w.post(sender.Event{Kind: sender.CloseBegin})
	a.next = a.draw()
	e := accumulator.Entry{Key: a.next.key, Value: a.next.value, Callback: a.next}
	if _, err := w.acc.TryAppend(w.acc.Topic(a.next.topic.name), 0, &e); !errors.Is(err, kerr.ErrClosed) {
		w.fail("append after close: %v", err)
	}
	w.reach(AppendRefusedClosed)
}

func (a *app) closeByForce() {
	w := a.w
	if w.loop.done {
		return
	}
	if !a.closing {
		w.fault(ClosedByForce)
		a.close()
	}
	w.trace.note(w.now, "app", "force")
	a.forced = true
	w.post(sender.Event{Kind: sender.CloseForce})
}

// Done is the callback.
func (s *sent) Done(o *accumulator.Outcome) {
	w := s.w
	w.trace.note(w.now, "callback", "record %d, offset %d", int64(s.id), o.Offset)
	w.trace.text(w.now, "callback", "record %d: %v", s.id, o.Err)
	if s.calls++; s.calls > 1 {
		w.fail("record %d: callback %d; first %v, now %v", s.id, s.calls, s.outcome.Err, o.Err)
		return
	}
	s.outcome = *o
	if int(s.id) >= len(w.app.records) || w.app.records[s.id] != s {
		w.fail("record %d: its append failed, and its callback runs", s.id)
		return
	}
	if s.copies > 0 {
		s.topic.partitions[s.partition].undecided--
	}
	if s.appended.Result.Ready(s.appended.Index) {
		w.fail("record %d: its future is done before its callback has run", s.id)
	}
	s.checkOutcome(o)
	w.countOutcome(o)
}

func (s *sent) checkOutcome(o *accumulator.Outcome) {
	w := s.w
	if o.Topic != s.topic.name || o.Partition != s.partition {
		w.fail("record %d was appended to %s-%d, its callback says %s-%d", s.id, s.topic.name, s.partition, o.Topic, o.Partition)
	}
	if o.Err == nil && (int(o.ValueSize) != len(s.value) || o.TimestampMs != s.stamp) {
		w.fail("record %d: its callback says %d bytes at %d, want %d at %d", s.id, o.ValueSize, o.TimestampMs, len(s.value), s.stamp)
	}
	if w.app.peace >= 0 && int(s.id) >= w.app.peace && o.Err != nil && w.mustArrive() {
		w.fail("record %d was appended after the world had healed, and yet failed: %v", s.id, o.Err)
	}
}

// mustArrive: what is appended once the world has healed is acknowledged. Not so when the producer is at its end; nor
// with few retries, since a batch that used them up leaves a gap in the sequences that the batches behind it fall into.
func (w *world) mustArrive() bool {
	return !w.app.fatal && !w.app.forced && (w.set.mode != idempotent || w.set.retries > mostRetries)
}

func (w *world) countOutcome(o *accumulator.Outcome) {
	switch {
	case o.Err == nil && o.Offset >= 0:
		w.reach(Acked)
	case o.Err == nil && w.set.mode == idempotent:
		w.reach(AckedAsDuplicate)
	case o.Err == nil:
		w.reach(AckedWithoutOffset)
	case errors.Is(o.Err, kerr.ErrForceClosed):
		w.reach(ForceClosed)
	case kerr.CodeOf(o.Err) == kerr.InvalidRecord || kerr.CodeOf(o.Err) == kerr.UnknownServerError:
		w.reach(FailedByRecord)
	case errors.Is(o.Err, kerr.ErrTimeout) && kerr.CodeOf(o.Err) == kerr.RequestTimedOut && isExpiry(o.Err):
		w.reach(ExpiredUnsent)
	case kerr.CodeOf(o.Err).Retriable():
		w.reach(FailedOnce)
	default:
		w.reach(FailedFatal)
	}
}

// isExpiry tells an expired batch from one whose last answer was REQUEST_TIMED_OUT.
func isExpiry(err error) bool {
	e, ok := errors.AsType[*kerr.Error](err)
	return ok && errors.Is(e.Err, kerr.ErrTimeout)
}

// recognize finds out which record was written to p, and compares it byte by byte; -1 when it is none of ours.
func (a *app) recognize(p *plog, rec *record.Record) int32 {
	w := a.w
	if len(rec.Value) < 8 {
		w.fail("partition %d: a record of %d bytes is none of ours", p.no, len(rec.Value))
		return -1
	}
	id := binary.BigEndian.Uint32(rec.Value)
	if id >= uint32(len(a.records)) {
		w.fail("partition %d: there is no record %d", p.no, id)
		return -1
	}
	s := a.records[id]
	switch {
	case s.topic != p.topic || s.partition != p.index:
		w.fail("record %d was appended to %s-%d and is in the log of %s-%d", id, s.topic.name, s.partition, p.topic.name, p.index)
	case !bytes.Equal(rec.Value, s.value) || !bytes.Equal(rec.Key, s.key) || (rec.Key == nil) != (s.key == nil):
		w.fail("record %d: its key or value is not what was appended", id)
	case s.headers != nil && !bytes.Equal(rec.Headers, s.headers):
		w.fail("record %d: its headers are not what was appended", id)
	case rec.Timestamp != s.stamp:
		w.fail("record %d: its time stamp is %d, want %d", id, rec.Timestamp, s.stamp)
	}
	return int32(id)
}

// isOldest reports whether no record of p that was appended before the batch's first is without an outcome.
func (a *app) isOldest(p *plog, b *sentBatch) bool {
	for p.ended < len(p.appended) && p.appended[p.ended].calls > 0 {
		p.ended++
	}
	var rec record.Record
	if !b.reader(a.w).Next(&rec) || p.ended == len(p.appended) {
		return false
	}
	return a.recognize(p, &rec) == p.appended[p.ended].id
}

// logged notes a copy of the record in a log.
func (a *app) logged(p *plog, id int32) {
	s := a.records[id]
	if s.copies++; s.copies == 1 && s.calls == 0 {
		p.undecided++
	}
}
