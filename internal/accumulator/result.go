package accumulator

import (
	"context"
	"sort"
	"sync"
	"sync/atomic"

	"linger/internal/invariant"
	"linger/internal/kerr"
)

// Result is what futures look at: the outcome of one batch, which is the outcome of each of its records. There is one per
// batch; a future is a Result and an index. It is never recycled, so a future may be asked for ever. All methods are
// safe for concurrent use.
//
// A batch that the broker finds too large is split. Its Result then knows its pieces, and asking it about record i is
// asking the piece that holds it.
//
//	pending ──► done
//	   └──────► split ──► the pieces' own Results, each pending ──► …
type Result struct {
	topic     string
	partition int32

	state atomic.Uint32 // resultState; ending and pieces are written before it and never again

	mu      sync.Mutex
	changed chan struct{} // closed when the state leaves pending; made by the first who waits
	done    chan struct{} // closed when every record is done; made by the first who asks
	open    int           // pieces that are not done; 0 in other states

	ending Ending
	pieces []piece
	parent *Result // the Result that this one is a piece of
}

type resultState = uint32

const (
	resultPending resultState = iota
	resultDone
	resultSplit
)

// piece is a part of a split batch: the records from first on, up to the next piece's first.
type piece struct {
	first  int32
	result *Result
}

// NewFailedResult is a Result that ended with err before there was a batch. The partition is -1 when none was chosen.
func NewFailedResult(topic string, partition int32, err error) *Result {
	r := &Result{topic: topic, partition: partition}
	r.ending = Ending{BaseOffset: -1, LogAppendMs: -1, Err: err}
	r.state.Store(resultDone)
	return r
}

// Topic is the topic of every record of the batch.
func (r *Result) Topic() string { return r.topic }

// Partition is the partition of every record of the batch.
func (r *Result) Partition() int32 { return r.partition }

// Ready reports whether record i is done: At(i) has its outcome, and its callback has run.
func (r *Result) Ready(i int32) bool {
	r, _ = r.follow(i)
	return r.state.Load() == resultDone
}

// At is the outcome of record i: its offset (-1 when the broker gave none), the broker's log append time in ms since 1970
// (-1 when the topic keeps the producer's time stamps), or its error. ok is false while the record is not done.
func (r *Result) At(i int32) (offset, logAppendMs int64, err error, ok bool) { //nolint:revive // the error is an outcome here
	r, i = r.follow(i)
	if r.state.Load() != resultDone {
		return -1, -1, nil, false
	}
	if err := r.ending.ErrAt(i); err != nil {
		return -1, -1, err, true
	}
	return r.ending.OffsetAt(i), r.ending.LogAppendMs, nil, true
}

// Wait blocks until record i is done or ctx ends. Its error is about the waiting (kerr.ErrInterrupted around ctx's),
// never about the record: that is At's.
func (r *Result) Wait(ctx context.Context, i int32) error {
	for {
		r, i = r.follow(i)
		changed := r.waiter()
		if changed == nil {
			if r.state.Load() == resultDone {
				return nil
			}
			continue // split in between: on to the piece
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return kerr.Interrupted(ctx, "the record's outcome")
		}
	}
}

// Done is a channel that closes when record i is done. Asked for before a split it closes when all records of the batch
// are done, which may be later: a channel cannot follow its record.
func (r *Result) Done(i int32) <-chan struct{} {
	r, _ = r.follow(i)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done == nil {
		r.done = make(chan struct{})
		if r.isDone() {
			close(r.done)
		}
	}
	return r.done
}

// follow finds the Result that speaks for record i, and the record's index there.
func (r *Result) follow(i int32) (*Result, int32) {
	for r.state.Load() == resultSplit {
		at := sort.Search(len(r.pieces), func(k int) bool { return r.pieces[k].first > i }) - 1
		p := r.pieces[at]
		r, i = p.result, i-p.first
	}
	return r, i
}

// waiter is a channel that closes when the state leaves pending; nil when it has.
func (r *Result) waiter() chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.Load() != resultPending {
		return nil
	}
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return r.changed
}

// isDone: every record is done. The caller holds mu.
func (r *Result) isDone() bool {
	s := r.state.Load()
	return s == resultDone || s == resultSplit && r.open == 0
}

// finish ends the batch. It is called once, when the callbacks have run.
func (r *Result) finish(e Ending) {
	r.mu.Lock()
	invariant.Check(r.state.Load() == resultPending, "result of %s-%d finished twice", r.topic, r.partition)
	r.ending = e
	r.state.Store(resultDone)
	r.closeLocked()
	r.mu.Unlock()
	r.parent.pieceDone()
}

// splitInto hands the batch's records over to its pieces: sizes[k] records to results[k].
func (r *Result) splitInto(pieces []piece) {
	r.mu.Lock()
	invariant.Check(r.state.Load() == resultPending, "result of %s-%d split after its end", r.topic, r.partition)
	for _, p := range pieces {
		p.result.parent = r
	}
	r.pieces, r.open = pieces, len(pieces)
	r.state.Store(resultSplit)
	r.closeLocked()
	r.mu.Unlock()
}

// pieceDone counts one piece of r as done; a nil r is the parent of a Result that is no piece.
func (r *Result) pieceDone() {
	for ; r != nil; r = r.parent {
		r.mu.Lock()
		r.open--
		all := r.open == 0
		if all {
			r.closeLocked()
		}
		r.mu.Unlock()
		if !all {
			return
		}
	}
}

func (r *Result) closeLocked() {
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
	if r.done != nil && r.isDone() {
		close(r.done)
	}
}
