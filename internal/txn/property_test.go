package txn

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"linger/internal/kerr"
	"linger/internal/wire"
)

// The plain twin of what stands around a Partition: a queue that drains and takes back, a connection that keeps order,
// and a broker that checks sequences as Kafka's ProducerStateManager does.
type world struct {
	t       *rapid.T
	m       *Manager
	p       *Partition
	queue   []*testBatch // not out, in the order to leave
	wire    []attempt
	born    int
	ended   int
	retries int

	given  int64 // the next producer id
	known  bool  // the broker has seen the producer
	id     ProducerID
	next   int32
	recent []attempt // the last five appended, which it recognises
	log    []int     // names of batches in the order they were appended
	acked  map[int]bool
	gaveUp bool // some batch was given up after it was sent
}

type testBatch struct {
	stamp    Stamp
	name     int
	attempts int
}

type attempt struct {
	batch *testBatch
	sent  header
	count int32
}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, m: New(Options{}), p: new(Partition), acked: map[int]bool{}, retries: rapid.IntRange(0, 8).Draw(t, "retries")}
	w.turn()
	start := rapid.SampledFrom([]int32{0, 1<<31 - 1, 1<<31 - 5, 1<<31 - 40}).Draw(t, "first sequence")
	if start != 0 {
		w.p.StartAt(w.m.ProducerID(), start)
	}
	w.known, w.id, w.next = true, w.m.ProducerID(), start
	return w
}

func (w *world) turn() {
	if err := w.m.ResolveSequences(); err != nil {
		w.t.Fatal(err)
	}
	if err := w.m.BumpIfNeeded(); err != nil {
		w.t.Fatal(err)
	}
	if r := w.m.Next(); r != nil {
		// Near the end of the epochs, so that ids run out as well.
		if err := w.m.Answered(r, &wire.InitProducerIDResponse{ProducerID: w.given, ProducerEpoch: 32766}); err != nil {
			w.t.Fatal(err)
		}
		w.given++
	}
}

func (w *world) drain() {
	w.turn()
	if len(w.queue) == 0 || len(w.wire) >= 5 {
		return
	}
	b := w.queue[0]
	if ok, _ := w.m.MaySend(w.p, &b.stamp); !ok {
		return
	}
	w.queue = w.queue[1:]
	w.m.Assign(w.p, &b.stamp)
	w.wire = append(w.wire, attempt{b, headerOf(&b.stamp), b.stamp.Count})
}

// append is the broker's side: what it answers to an attempt.
func (w *world) append(a attempt) kerr.Code {
	id := ProducerID{a.sent.id, a.sent.epoch}
	for _, r := range w.recent {
		if r.sent == a.sent && r.count == a.count {
			return kerr.DuplicateSequenceNumber
		}
	}
	switch {
	case !w.known || id.ID != w.id.ID:
		// a producer that it does not know may start anywhere
	case id.Epoch < w.id.Epoch:
		return kerr.InvalidProducerEpoch
	case id.Epoch > w.id.Epoch && a.sent.sequence != 0, id.Epoch == w.id.Epoch && a.sent.sequence != w.next:
		return kerr.OutOfOrderSequenceNumber
	}
	w.known, w.id, w.next = true, id, AddSequence(a.sent.sequence, a.count)
	w.recent = append(w.recent, a)
	if len(w.recent) > 5 {
		w.recent = w.recent[1:]
	}
	w.log = append(w.log, a.batch.name)
	return kerr.None
}

// answer takes the oldest request off the connection.
func (w *world) answer(fate string) {
	if len(w.wire) == 0 {
		return
	}
	a := w.wire[0]
	w.wire = w.wire[1:]
	code := kerr.NetworkException
	switch fate {
	case "answered":
		code = w.append(a)
	case "answer lost":
		w.append(a)
	case "lost":
	case "refused":
		code = kerr.NotLeaderOrFollower
	case "invalid":
		code = kerr.InvalidRecord
	}
	b := a.batch
	if w.gone(b) {
		return
	}
	switch {
	case code == kerr.None || code == kerr.DuplicateSequenceNumber:
		w.m.HandleCompleted(w.p, &b.stamp, -1)
		w.acked[b.name] = true
		w.end(b)
	case b.attempts < w.retries && w.m.CanRetry(w.p, &b.stamp, code, -1):
		b.attempts++
		w.putBack(b)
	default:
		w.gaveUp = w.gaveUp || code != kerr.InvalidRecord
		w.fail(b, code, b.attempts < w.retries)
	}
}

func (w *world) gone(b *testBatch) bool { return b.attempts < 0 }

func (w *world) end(b *testBatch) {
	b.attempts = -1
	w.ended++
}

func (w *world) fail(b *testBatch, code kerr.Code, adjust bool) {
	if err := w.m.HandleFailed(w.p, &b.stamp, &kerr.Error{Code: code}, adjust); err != nil {
		w.t.Fatal(err)
	}
	w.end(b)
}

// putBack keeps the batches that have a sequence in its order, in front of those that have none.
func (w *world) putBack(b *testBatch) {
	at := 0
	for at < len(w.queue) && w.queue[at].stamp.Has && compareStamps(&w.queue[at].stamp, &b.stamp) < 0 {
		at++
	}
	w.queue = slices.Insert(w.queue, at, b)
}

// expire gives up the oldest batch, wherever it is.
func (w *world) expire() {
	var b *testBatch
	if len(w.wire) > 0 && !w.gone(w.wire[0].batch) {
		b = w.wire[0].batch
	}
	if len(w.queue) > 0 && (b == nil || w.queue[0].name < b.name) {
		b = w.queue[0]
		w.queue = w.queue[1:]
	}
	if b == nil {
		return
	}
	w.fail(b, kerr.RequestTimedOut, false)
	if b.stamp.Has {
		w.gaveUp = true
		w.m.MarkUnresolved(w.p, &b.stamp)
	}
}

// invariants hold after every step.
func (w *world) invariants(*rapid.T) {
	p := w.p
	for i, s := range p.inFlight {
		if i > 0 && compareStamps(p.inFlight[i-1], s) >= 0 {
			w.t.Fatalf("in flight out of order: %v before %v", headerOf(p.inFlight[i-1]), headerOf(s))
		}
		if s.BaseSequence < 0 || s.LastSequence() < 0 {
			w.t.Fatalf("negative sequence %d..%d", s.BaseSequence, s.LastSequence())
		}
	}
	if len(p.inFlight) > 0 {
		youngest := p.inFlight[len(p.inFlight)-1]
		if (ProducerID{youngest.ProducerID, youngest.Epoch}) == p.ProducerID() && !after(p.next, youngest.LastSequence()) {
			w.t.Fatalf("next sequence %d is not behind %d", p.next, youngest.LastSequence())
		}
	}
	if len(w.m.unresolved) > 0 != p.unresolved || len(w.m.rewrite) > 0 != p.rewriteWanted {
		w.t.Fatal("the manager's lists and the partition's marks differ")
	}
	// Without a raised epoch and without a batch given up, the log is what was sent: in order, each batch once.
	if w.m.ProducerID() == (ProducerID{0, 32766}) && !w.gaveUp {
		if !slices.IsSorted(w.log) || len(slices.Compact(slices.Clone(w.log))) != len(w.log) {
			w.t.Fatalf("log %v", w.log)
		}
	}
	for name := range w.acked {
		if !slices.Contains(w.log, name) {
			w.t.Fatalf("batch %d was acknowledged and is not in the log %v", name, w.log)
		}
	}
}

// IDEM-01, IDEM-16, IDEM-17 at this level: whatever a connection and a broker do, nothing acknowledged is missing, the
// order holds, and once they behave again everything comes to an end.
func TestSequencesSurviveAnyBroker(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		t.Repeat(map[string]func(*rapid.T){
			"": w.invariants,
			"send": func(*rapid.T) {
				w.queue = append(w.queue, &testBatch{stamp: Stamp{Count: rapid.Int32Range(1, 9).Draw(t, "records")}, name: w.born})
				w.born++
			},
			"drain":       func(*rapid.T) { w.drain() },
			"answered":    func(*rapid.T) { w.answer("answered") },
			"answer lost": func(*rapid.T) { w.answer("answer lost") },
			"lost":        func(*rapid.T) { w.answer("lost") },
			"refused":     func(*rapid.T) { w.answer("refused") },
			"invalid":     func(*rapid.T) { w.answer("invalid") },
			"expire":      func(*rapid.T) { w.expire() },
		})
		for i := 0; w.ended < w.born; i++ {
			if i > 100*(w.born+1) {
				t.Fatalf("stuck: %d of %d ended, %d in flight, unresolved %v", w.ended, w.born, w.p.InFlight(), w.p.Unresolved())
			}
			w.drain()
			w.answer("answered")
		}
		w.invariants(t)
		if w.p.InFlight() != 0 {
			t.Fatalf("everything ended, and %d are in flight", w.p.InFlight())
		}
		w.turn()
		if w.p.Unresolved() {
			t.Fatal("everything ended, and the partition is unresolved")
		}
	})
}
