package accumulator

// Closed is a channel that closes when Close is called.
func (a *Accumulator) Closed() <-chan struct{} { return a.closed }

// IsClosed reports whether Close has been called.
func (a *Accumulator) IsClosed() bool { return word(a.word.Load()).closed() }

// Close admits no append any more and closes the open batches. When it returns, every append that was admitted has its
// record in a batch that the Schedule will see; the others fail with kerr.ErrClosedDuringSend. Appends that wait for
// memory or for their turn fail. What is buffered is not touched. Closing twice does nothing more.
func (a *Accumulator) Close() {
	a.closeOnce.Do(func() {
		a.word.Or(uint64(wordClosed))
		close(a.closed)
		a.o.Pool.Close()
		a.Barrier()
		a.nudge()
	})
}

// Settle returns when no append holds memory that is in no batch. It may be called after Close, when nothing is lent any more: so
// it waits neither for memory nor for anybody's code. Without it, who counts the memory after the last batch may find some
// missing: an append that took it before Close, and was refused, is about to give it back.
func (a *Accumulator) Settle() {
	a.lending.Lock()
	a.lending.Unlock() //nolint:staticcheck // passing is all
}

// Flush starts a new generation of batches and returns the one before it: its Done closes when everything appended before
// Flush was called has been delivered. Its batches are closed and go at once; records appended later stay in batches of
// their own and linger as usual (Java sends those early, too, while a flush is on).
func (a *Accumulator) Flush() *Generation {
	old := a.gens.next(func() { a.word.Add(uint64(generationUnit)) })
	a.Barrier()
	a.gens.seal(old)
	a.nudge()
	return old
}

// Barrier passes the lock of every queue once and closes the open batches of earlier words. When it returns, no append
// that was admitted under an earlier word is unfinished.
func (a *Accumulator) Barrier() {
	for _, t := range a.topics.Load().ordered {
		queues := *t.queues.Load()
		for i := range queues {
			if q := queues[i].Load(); q != nil {
				q.pass()
			}
		}
	}
}

// pass is the barrier at one queue.
func (q *Queue) pass() {
	q.mu.Lock()
	w := word(q.Topic.acc.word.Load())
	old := q.open != nil && q.open.word != w
	if old {
		q.closeOpen()
	}
	q.mu.Unlock()
	if old {
		q.signal()
	}
}
