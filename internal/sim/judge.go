package sim

// judge looks, at the end of a world, whether every promise was kept.
func (w *world) judge() {
	if len(w.failed) > 0 {
		return // the end was not reached in order, and more would only follow from that
	}
	w.judgeRest()
	for _, s := range w.app.records {
		s.judge()
	}
	for _, p := range w.cluster.partitions {
		w.judgeLog(p)
	}
	w.judgeWorld()
	t := w.tally.Snapshot()
	w.counts.Paths[SplitDone] += int(t.BatchSplits)
	w.counts.Paths[RetryDone] += int(t.RecordRetries)
}

// judgeRest: nothing is left running, and all memory is home.
func (w *world) judgeRest() {
	if n := len(w.loop.undelivered); n > 0 {
		w.fail("the machine is done, and %d batches wait for their callbacks", n)
	}
	if w.net.open > 0 {
		w.fail("the machine is done, and %d links are open", w.net.open)
	}
	if w.sealing > 0 {
		w.fail("the machine is done, and %d batches are being compressed", w.sealing)
	}
	if n, queued := w.acc.Incomplete(), w.acc.Undrained(); n != 0 || queued != 0 {
		w.fail("the machine is done, and %d batches are incomplete, %d queued", n, queued)
	}
	if a, t := w.pool.Available(), w.pool.Total(); a != t {
		w.fail("%d of %d bytes of memory came home", a, t)
	}
	w.app.looksAtFlushes()
	if n := len(w.app.flushes); n > 0 {
		w.fail("%d flushes never ended", n)
	}
}

// judge looks at one record: one callback, and a future that says the same.
func (s *sent) judge() {
	w := s.w
	if s.calls != 1 {
		w.fail("record %d: %d callbacks", s.id, s.calls)
		return
	}
	offset, _, err, ok := s.appended.Result.At(s.appended.Index)
	switch {
	case !ok:
		w.fail("record %d: its future is not done", s.id)
	case (err == nil) != (s.outcome.Err == nil) || offset != s.outcome.Offset:
		w.fail("record %d: its future says offset %d, %v; its callback said %d, %v", s.id, offset, err, s.outcome.Offset, s.outcome.Err)
	}
	p := s.topic.partitions[s.partition]
	acked := s.outcome.Err == nil
	if acked && w.set.mode != silent && s.copies == 0 {
		w.fail("record %d of partition %d was acknowledged and is not in the log", s.id, p.no)
	}
	if w.set.mode == idempotent && s.copies > 1 {
		w.fail("record %d of partition %d is in the log %d times; outcome %v", s.id, p.no, s.copies, s.outcome.Err)
	}
	if at := s.outcome.Offset; acked && at >= 0 && (at >= int64(len(p.log)) || p.log[at].id != s.id) {
		w.fail("record %d of partition %d: offset %d was told, and something else is there", s.id, p.no, at)
	}
}

// judgeLog looks at the order in one log.
func (w *world) judgeLog(p *plog) {
	seen := make(map[int32]bool, len(p.log))
	last, newest := int32(-1), int32(-1)
	for at, l := range p.log {
		s := w.app.records[l.id]
		first := !seen[l.id]
		seen[l.id] = true
		var counts bool
		switch w.set.mode {
		case idempotent:
			counts = true // whatever became of it
		case ordered:
			counts = first && s.outcome.Err == nil
		}
		if !first {
			w.reach(Doubled)
		}
		if !counts {
			if first && l.id < newest {
				w.reach(Reordered)
			}
			newest = max(newest, l.id)
			continue
		}
		if l.id <= last {
			w.fail("partition %d: record %d stands at offset %d, behind record %d that was appended later", p.no, l.id, at, last)
			return
		}
		last = l.id
	}
}

// judgeWorld: the world was one that counts.
func (w *world) judgeWorld() {
	if n := len(w.app.records); n < minRecords {
		w.fail("a world of %d records", n)
	}
	if n := w.counts.faults(); n < minFaults {
		w.fail("a world of %d faults", n)
	}
	if len(w.cluster.partitions) < 3 || len(w.cluster.brokers) < 2 {
		w.fail("a world of %d partitions and %d brokers", len(w.cluster.partitions), len(w.cluster.brokers))
	}
}
