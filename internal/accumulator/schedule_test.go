package accumulator

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"linger/internal/clock"
	"linger/internal/compress"
	"linger/internal/metadata"
)

// gate refuses some partitions and notes what it stamps.
type gate struct {
	refuse  map[int32]bool
	stamped []*Batch
	next    map[*Queue]int32
}

func (g *gate) MaySend(q *Queue, _ *Batch) bool { return !g.refuse[q.Partition] }

// Stamp numbers batches as the transaction manager does.
func (g *gate) Stamp(q *Queue, b *Batch) {
	g.stamped = append(g.stamped, b)
	if b.Stamp.Has {
		return
	}
	if g.next == nil {
		g.next = map[*Queue]int32{}
	}
	b.Stamp.ProducerID, b.Stamp.Has, b.Stamp.BaseSequence = 7, true, g.next[q]
	g.next[q] += b.Stamp.Count
}

func partitions(batches []*Batch) (ps []int32) {
	for _, b := range batches {
		ps = append(ps, b.Queue.Partition)
	}
	return ps
}

// ACC-39, ACC-41, ACC-42: the reasons to send.
func TestBatchIsReady(t *testing.T) {
	for name, c := range map[string]struct {
		linger time.Duration
		do     func(f *fixture)
		want   []int32
	}{
		"at once without linger":                   {0, func(f *fixture) {}, []int32{1}},
		"not before linger has passed":             {10 * time.Millisecond, func(f *fixture) { f.clk.Advance(9 * time.Millisecond) }, nil},
		"when linger has passed":                   {10 * time.Millisecond, func(f *fixture) { f.clk.Advance(10 * time.Millisecond) }, []int32{1}},
		"when it is full, before linger (ACC-40)":  {time.Hour, func(f *fixture) { f.send(0, 900) }, []int32{1}},
		"when there is another behind it":          {time.Hour, func(f *fixture) { f.send(0, 400); f.send(0, 600) }, []int32{1}},
		"when somebody waits for memory":           {time.Hour, func(f *fixture) { f.waitForMemory(1 << 20) }, []int32{1}},
		"when an append is about to wait":          {time.Hour, func(f *fixture) { f.acc.starve() }, []int32{1}},
		"when the producer closes":                 {time.Hour, func(f *fixture) { f.acc.Close() }, []int32{1}},
		"when a flush begins":                      {time.Hour, func(f *fixture) { f.acc.Flush() }, []int32{1}},
		"not while it is muted":                    {0, func(f *fixture) { f.sched.Mute(f.topic.at(0)) }, nil},
		"not without a known leader":               {0, func(f *fixture) { f.setCluster([]int32{-1, 1, 2, 2}, nil, nil) }, nil},
		"not while it backs off, though it is due": {0, func(f *fixture) { f.retry(f.drain(1, 1000)[0]) }, nil},
		"not while it backs off, though memory is short": {0, func(f *fixture) {
			f.retry(f.drain(1, 1000)[0])
			f.acc.starve()
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, setup{batchSize: 1000, linger: c.linger})
			f.setCluster(leaders4, nil, nil)
			f.send(0, 100)
			f.ready()
			c.do(f)
			if got := f.ready(); !slices.Equal(got, c.want) {
				t.Errorf("ready nodes %v, want %v", got, c.want)
			}
		})
	}
}

func (f *fixture) retry(b *Batch) {
	f.land(b)
	f.sched.PutBack(b, f.clk.Now())
}

// SND-12: nodes, the next check, topics without a leader.
func TestReadyCheckNamesNodesNextCheckAndUnknownLeaders(t *testing.T) {
	f := newFixture(t, setup{batchSize: 1000, linger: 10 * time.Millisecond, deliveryTimeout: time.Minute})
	f.setCluster([]int32{1, 2, 3, -1}, nil, nil)
	if f.ready() != nil || f.sched.NextCheck() != clock.Never {
		t.Error("something is to be done without a record")
	}
	f.send(0, 100)
	f.clk.Advance(4 * time.Millisecond)
	f.send(1, 950)
	f.send(1, 100)
	f.send(2, 100)
	f.send(3, 950)
	if got := f.ready(); !slices.Equal(got, []int32{2}) {
		t.Errorf("ready nodes %v", got)
	}
	if got := f.sched.NextReady(); got != at(10) {
		t.Errorf("next ready at %v", got)
	}
	if got := f.sched.UnknownLeaders(); !slices.Equal(got, []string{"t"}) {
		t.Errorf("unknown leaders %v", got)
	}
	f.drain(1, 1000)
	f.drain(2, 1000)
	f.drain(2, 1000)
	f.drain(3, 1000)
	if got := f.sched.NextCheck(); got != at(60_000) {
		t.Errorf("next check at %v: only expiry is left", got)
	}
	f.setCluster([]int32{1, 2, 3, 3}, nil, nil)
	f.clk.Advance(10 * time.Millisecond)
	if got := f.ready(); !slices.Equal(got, []int32{3}) || len(f.sched.UnknownLeaders()) != 0 {
		t.Errorf("ready nodes %v once the leader is known", got)
	}
}

func TestBatchesAppendedBeforeTheFirstClusterAreSentAfterIt(t *testing.T) {
	f := newFixture(t, setup{batchSize: 1000})
	f.send(0, 10)
	if got := f.ready(); got != nil || len(f.sched.UnknownLeaders()) != 1 {
		t.Errorf("ready nodes %v without a cluster", got)
	}
	f.setCluster(leaders4, nil, nil)
	if got := f.ready(); !slices.Equal(got, []int32{1}) {
		t.Errorf("ready nodes %v", got)
	}
}

// SND-13, SND-14, SND-18, SND-20: by node all partitions it leads, at most one batch each.
func TestDrainTakesOneBatchOfEachPartitionOfTheNode(t *testing.T) {
	f := newFixture(t, setup{batchSize: 150})
	f.setCluster(leaders4, nil, []int32{3, 2, 1, 0})
	for p := range int32(4) {
		f.send(p, 100)
		f.send(p, 100)
	}
	if got := partitions(f.drain(1, 1<<20)); !slices.Equal(got, []int32{1, 0}) {
		t.Errorf("node 1 got partitions %v", got)
	}
	if got := partitions(f.drain(2, 1<<20)); !slices.Equal(got, []int32{3, 2}) {
		t.Errorf("node 2 got partitions %v", got)
	}
	if got := f.drain(3, 1<<20); len(got) != 0 {
		t.Errorf("node 3, which leads nothing, got %v", got)
	}
	if got := f.drain(99, 1<<20); len(got) != 0 {
		t.Errorf("an unknown node got %v", got)
	}
}

// SND-17: the batch that would exceed the request stays; the first one goes whatever its size.
func TestDrainStopsBeforeTheRequestIsTooLarge(t *testing.T) {
	f := newFixture(t, setup{batchSize: 150})
	f.setCluster([]int32{1, 1, 1}, nil, nil)
	for p := range int32(3) {
		f.send(p, 100) // 170 bytes each
	}
	if got := partitions(f.drain(1, 340)); !slices.Equal(got, []int32{0, 1}) {
		t.Errorf("two fit, got %v", got)
	}
	f.send(0, 100)
	if got := partitions(f.drain(1, 10)); !slices.Equal(got, []int32{2}) {
		t.Errorf("one always goes, got %v", got)
	}
}

// SND-17: with compression it is the compressed size that counts.
func TestDrainMeasuresCompressedSizes(t *testing.T) {
	f := newFixture(t, setup{batchSize: 4000, codec: compress.Gzip})
	f.setCluster([]int32{1, 1, 1}, nil, nil)
	for p := range int32(3) {
		f.send(p, 3000) // zeros: about 100 bytes on the wire
		f.send(p, 3000) // and the first batch is full
	}
	f.ready()
	f.seal()
	got := f.sched.Drain(0, 1, 1000, nil, nil)
	if len(got) != 3 {
		t.Fatalf("%d batches of about 100 bytes in 1000", len(got))
	}
	if got[0].Size() > 200 || got[0].State() != InFlight {
		t.Errorf("%d bytes, %v", got[0].Size(), got[0].State())
	}
}

// SND-23 with compression: what a drain had to close and seal first leaves in one request, and nothing before it is whole.
func TestHeadsThatADrainSendsToBeSealedLeaveTogether(t *testing.T) {
	f := newFixture(t, setup{batchSize: 4000, codec: compress.Gzip})
	f.setCluster([]int32{1, 1, 1, 2}, nil, nil)
	for p := range int32(4) {
		f.send(p, 100)
	}
	f.ready()
	for done := range 3 {
		if got := f.sched.Drain(0, 1, 1<<20, nil, nil); len(got) != 0 {
			t.Fatalf("%d batches drained with %d of 3 sealed", len(got), done)
		}
		f.handedOut = f.sched.Seals(f.handedOut)
		if len(f.handedOut) != 3-done {
			t.Fatalf("%d batches with the sealer", len(f.handedOut))
		}
		f.handedOut[0].Seal(f.compressor)
		f.sched.Sealed(f.handedOut[0])
		f.handedOut = f.handedOut[1:]
	}
	if got := partitions(f.sched.Drain(0, 1, 1<<20, nil, nil)); !slices.Equal(got, []int32{0, 1, 2}) {
		t.Errorf("drained %v", got)
	}
	f.handedOut = f.handedOut[:0]
	if got := partitions(f.drain(2, 1<<20)); !slices.Equal(got, []int32{3}) {
		t.Errorf("another node drained %v", got)
	}
}

// SND-17 with compression: an open batch that does not fit the next request any more stays open.
func TestDrainClosesNoMoreThanTheNextRequestTakes(t *testing.T) {
	f := newFixture(t, setup{batchSize: 4000, codec: compress.Gzip})
	f.setCluster([]int32{1, 1, 1}, nil, nil)
	for p := range int32(3) {
		f.send(p, 300)
	}
	f.ready()
	f.sched.Drain(0, 1, 800, nil, nil)
	if r := f.send(2, 10); r.NewBatch || !f.send(1, 10).NewBatch {
		t.Error("the drain closed the third batch, or not the second")
	}
}

// SND-19: no partition starves when the limit cuts in.
func TestDrainGoesOnWhereItStopped(t *testing.T) {
	f := newFixture(t, setup{batchSize: 150})
	f.setCluster([]int32{1, 1, 1, 1}, nil, nil)
	seen := map[int32]int{}
	for range 12 {
		for p := range int32(4) {
			f.send(p, 100)
		}
		for _, p := range partitions(f.drain(1, 340)) {
			seen[p]++
		}
	}
	for p := range int32(4) {
		if seen[p] != 6 {
			t.Errorf("drained by partition: %v, want 6 each", seen)
		}
	}
}

// SND-26: a refused partition holds nobody back, and goes once it is allowed.
func TestRefusedPartitionHoldsNobodyBack(t *testing.T) {
	f := newFixture(t, setup{batchSize: 150})
	f.setCluster([]int32{1, 1, 1}, nil, nil)
	for p := range int32(3) {
		f.send(p, 100)
	}
	f.ready()
	g := &gate{refuse: map[int32]bool{0: true}}
	got := f.sched.Drain(0, 1, 170, g, nil)
	got = f.sched.Drain(0, 1, 170, g, got)
	if !slices.Equal(partitions(got), []int32{1, 2}) {
		t.Errorf("drained %v", partitions(got))
	}
	delete(g.refuse, 0)
	if got := f.sched.Drain(0, 1, 170, g, nil); !slices.Equal(partitions(got), []int32{0}) {
		t.Errorf("drained %v once allowed", partitions(got))
	}
}

// SND-22, SND-23: a drained batch is closed and stamped, with the number of its records.
func TestDrainClosesAndStampsTheBatch(t *testing.T) {
	f := newFixture(t, setup{batchSize: 1000})
	f.setCluster(leaders4, nil, nil)
	for range 3 {
		f.send(0, 10)
	}
	f.ready()
	g := &gate{}
	f.clk.Advance(time.Millisecond)
	b := f.sched.Drain(f.clk.Now(), 1, 1000, g, nil)[0]
	if len(g.stamped) != 1 || g.stamped[0] != b || b.Stamp.Count != 3 || b.FirstSentAt != at(1) {
		t.Errorf("stamped %v, count %d, sent at %d", g.stamped, b.Stamp.Count, b.FirstSentAt)
	}
	if r := f.send(0, 10); !r.NewBatch || b.RecordCount() != 3 || b.Holder() != HeldByRequest {
		t.Errorf("a record joined a drained batch: %+v", r) // ACC-46
	}
}

// ACC-37, SND-27: muted from drain to answer, nothing of the partition goes.
func TestMutedPartitionIsSkippedByReadyAndDrain(t *testing.T) {
	f := newFixture(t, setup{batchSize: 150})
	f.setCluster(leaders4, nil, nil)
	f.send(0, 100)
	f.send(0, 100)
	first := f.drain(1, 1<<20)[0]
	f.sched.Mute(first.Queue)
	if f.ready() != nil || len(f.drain(1, 1<<20)) != 0 {
		t.Error("a muted partition is sent")
	}
	if f.sched.NextReady() != clock.Never {
		t.Error("a muted partition wakes the engine")
	}
	f.finish(first, 0)
	f.sched.Unmute(f.topic.at(0))
	if got := f.drain(1, 1<<20); len(got) != 1 {
		t.Errorf("%d batches after the unmute", len(got))
	}
}

// ACC-43, ACC-44: a retried batch comes first and backs off, longer each time, unless the leader has changed.
func TestRetriedBatchBacksOffAheadOfTheOthers(t *testing.T) {
	f := newFixture(t, setup{batchSize: 150})
	f.setCluster(leaders4, []int32{5, 5, 5, 5}, nil)
	f.send(0, 100)
	f.send(0, 100)
	b := f.drain(1, 1<<20)[0]
	for attempt, backoff := range []int64{100, 200, 400, 800, 1000, 1000} {
		f.retry(b)
		if b.Attempts != attempt+1 || f.topic.at(0).batches.front() != b {
			t.Fatalf("attempt %d: counted %d", attempt, b.Attempts)
		}
		f.clk.Advance(clock.Ms(backoff - 1))
		if f.ready() != nil || len(f.drain(1, 1<<20)) != 0 || f.sched.NextReady() != f.clk.Now().AddMs(1) {
			t.Fatalf("attempt %d: not held back for %d ms", attempt, backoff)
		}
		f.clk.Advance(time.Millisecond)
		if got := f.drain(1, 1<<20); len(got) != 1 || got[0] != b {
			t.Fatalf("attempt %d: drained %v", attempt, got)
		}
	}
	f.retry(b)
	f.setCluster([]int32{2, 1, 2, 2}, []int32{5, 5, 5, 5}, nil)
	if f.ready() != nil {
		t.Error("another leader of the same epoch ends the back-off")
	}
	f.setCluster([]int32{2, 1, 2, 2}, []int32{6, 5, 5, 5}, nil)
	if got := f.ready(); !slices.Equal(got, []int32{2}) {
		t.Errorf("ready nodes %v after the leader changed", got)
	}
	if got := f.drain(2, 1<<20); len(got) != 1 || got[0] != b {
		t.Errorf("drained %v", got)
	}
	f.retry(b)
	if f.ready() != nil {
		t.Error("the next attempt at the same leader does not back off")
	}
}

// ACC-44, ACC-45: where a batch goes that comes back.
func TestPutBackBatches(t *testing.T) {
	for name, c := range map[string]struct {
		idempotent bool
		back       []int
		want       []int
	}{
		"in front without idempotence, each":      {false, []int{0, 1, 2}, []int{2, 1, 0, 3}},
		"in sequence order with idempotence":      {true, []int{1, 0, 2}, []int{0, 1, 2, 3}},
		"in sequence order, the last one first":   {true, []int{2, 1, 0}, []int{0, 1, 2, 3}},
		"in sequence order, ahead of new batches": {true, []int{2}, []int{2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, setup{batchSize: 150, idempotent: c.idempotent})
			f.setCluster(leaders4, nil, nil)
			var all []*Batch
			for range 3 {
				f.send(0, 100)
				all = append(all, f.drain(1, 1<<20)...)
			}
			f.send(0, 100)
			all = append(all, f.topic.at(0).batches.front())
			for _, i := range c.back {
				f.retry(all[i])
			}
			q := f.topic.at(0)
			var got []int
			for i := range q.batches.len() {
				got = append(got, slices.Index(all, q.batches.at(i)))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("queue %v, want %v", got, c.want)
			}
			if f.send(0, 10); q.open == nil || q.batches.at(q.batches.len()-1) != q.open {
				t.Error("records do not go to the last batch")
			}
		})
	}
}

// ACC-04, ACC-36: what has not ended is counted until it has.
func TestBatchesAreCountedUntilTheyEnd(t *testing.T) {
	f := newFixture(t, setup{batchSize: 150})
	f.setCluster(leaders4, nil, nil)
	f.send(0, 100)
	f.send(0, 100)
	if f.sched.Incomplete() != 2 || f.sched.Undrained() != 2 {
		t.Errorf("%d incomplete, %d undrained", f.sched.Incomplete(), f.sched.Undrained())
	}
	b := f.drain(1, 1<<20)[0]
	if f.sched.Incomplete() != 2 || f.sched.Undrained() != 1 {
		t.Errorf("%d incomplete, %d undrained", f.sched.Incomplete(), f.sched.Undrained())
	}
	if got := f.sched.Unended(nil); len(got) != 2 || got[0] != b {
		t.Errorf("unended %v", got)
	}
	if got := f.sched.Queued(nil); len(got) != 1 || got[0] == b {
		t.Errorf("queued %v", got)
	}
	f.finish(b, 0)
	for _, b := range f.sched.Unended(nil) { // a forced close
		f.finish(b, -1)
	}
	if f.sched.Incomplete() != 0 || f.sched.Undrained() != 0 || f.pool.Available() != f.pool.Total() {
		t.Errorf("%d incomplete, %d undrained", f.sched.Incomplete(), f.sched.Undrained())
	}
}

// Idle partitions cost nothing: what the Schedule keeps for the next turn is empty once a queue is.
func TestDrainedQueueLeavesNoTraceInTheSchedule(t *testing.T) {
	f := newFixture(t, setup{batchSize: 1000, linger: time.Second})
	f.setCluster(leaders4, nil, nil)
	for p := range int32(4) {
		f.send(p, 100)
	}
	f.ready()
	if len(f.sched.waiting.heap) != 4 {
		t.Errorf("%d queues linger", len(f.sched.waiting.heap))
	}
	for _, node := range []int32{1, 2} {
		for _, b := range f.drain(node, 1<<20) {
			f.finish(b, 0)
		}
	}
	if f.sched.NextCheck() != clock.Never || len(f.sched.waiting.heap) != 0 || len(f.sched.expiry.heap) != 0 {
		t.Error("an idle queue is still watched")
	}
	for _, n := range f.sched.order {
		if n.ready != 0 || n.lingering != 0 || n.active.next(0, len(n.queues)) != len(n.queues) {
			t.Errorf("node %d still has %+v", n.id, n)
		}
	}
}

func TestTopicsThatWereUsedAreToldOnce(t *testing.T) {
	f := newFixture(t, setup{batchSize: 1000})
	f.setCluster(leaders4, nil, nil)
	f.acc.Topic("idle")
	f.clk.Advance(time.Second)
	f.send(0, 10)
	if got := f.sched.Touched(nil); len(got) != 1 || got[0] != f.topic || f.topic.LastUsed() != at(1000) {
		t.Errorf("touched %v", got)
	}
	if got := f.sched.Touched(nil); len(got) != 0 {
		t.Errorf("touched again %v", got)
	}
}

// SND-16 at this level, and the order of nodes: what is ready is named in the cluster's order, always the same.
func TestReadyNodesComeInTheClustersOrder(t *testing.T) {
	f := newFixture(t, setup{batchSize: 1000})
	mt := &metadata.Topic{Name: "t", Partitions: []metadata.Partition{{Leader: 5}, {Leader: 3}, {Leader: 9}}}
	nodes := []metadata.Node{{ID: 9}, {ID: 3}, {ID: 5}}
	f.sched.SetCluster(metadata.NewCluster(1, "c", nodes, []*metadata.Topic{mt}), 0)
	for p := range int32(3) {
		f.send(p, 10)
	}
	if got := f.ready(); !slices.Equal(got, []int32{9, 3, 5}) {
		t.Errorf("ready nodes %v", got)
	}
}

// PART-22, PART-23: the load table follows the queues, in adaptive mode only, once every partition has one (PART-21).
func TestLoadTableFollowsTheQueues(t *testing.T) {
	for name, adaptive := range map[string]bool{"adaptive": true, "not adaptive": false} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, setup{batchSize: 150, linger: time.Hour, adaptive: adaptive})
			f.setCluster(leaders4, nil, nil)
			for p := range int32(3) {
				f.send(p, 100)
			}
			f.send(0, 100)
			f.send(0, 100)
			if f.ready(); f.topic.sticky.Load() != nil {
				t.Error("a table before every partition has a queue")
			}
			f.send(3, 100)
			f.ready()
			table := f.topic.sticky.Load()
			if !adaptive {
				if table != nil {
					t.Error("a table though the choice is not adaptive")
				}
				return
			}
			if table == nil || !slices.Equal(table.Total.Cumulative, []int32{1, 4, 7, 10}) {
				t.Fatalf("table %+v", table)
			}
			f.drain(1, 1<<20)
			f.drain(1, 1<<20)
			f.drain(2, 1<<20)
			f.ready()
			if table := f.topic.sticky.Load(); table == nil || !slices.Equal(table.Total.Cumulative, []int32{1, 3, 5, 7}) {
				t.Errorf("table %+v after the drain", table)
			}
		})
	}
}

// PART-24: a node that was ready but not drained for too long loses its partitions until it is drained.
func TestNodeThatCannotBeDrainedIsLeftOutOfTheLoadTable(t *testing.T) {
	f := newFixture(t, setup{batchSize: 150, linger: time.Hour, adaptive: true, availability: 50 * time.Millisecond})
	f.setCluster(leaders4, nil, nil)
	for p := range int32(4) {
		f.send(p, 100)
	}
	f.sched.NodeLatency(1, f.clk.Now(), true)
	f.clk.Advance(50 * time.Millisecond)
	f.sched.NodeLatency(1, f.clk.Now(), false)
	if f.ready(); f.topic.sticky.Load() != nil {
		t.Error("left out at exactly the limit")
	}
	f.clk.Advance(time.Millisecond)
	f.sched.NodeLatency(1, f.clk.Now(), false)
	f.ready()
	if table := f.topic.sticky.Load(); table == nil || !slices.Equal(table.Total.Partitions, []int32{2, 3}) {
		t.Errorf("table %+v", table)
	}
	f.sched.NodeLatency(1, f.clk.Now(), true)
	if f.ready(); f.topic.sticky.Load() != nil {
		t.Error("still left out after it was drained")
	}
}

// PART-30, PART-31: keyless records gather, and spread evenly in the long run.
func TestKeylessRecordsGatherAndSpreadEvenly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	f := newFixture(t, setup{batchSize: 1000, memory: 64 << 20, linger: time.Hour, random: func() int32 { return int32(rng.Uint32()) }})
	f.setCluster(leaders4, nil, nil)
	const records = 40_000
	perPartition, batches := map[int32]int{}, 0
	for range records {
		r := f.send(AnyPartition, 50)
		perPartition[r.Partition]++
		if r.NewBatch {
			batches++
		}
		if r.Wake {
			for _, node := range f.ready() {
				for _, b := range f.drain(node, 1<<20) {
					f.finish(b, 0)
				}
			}
		}
	}
	if perBatch := records / batches; perBatch < 14 { // 61 + 16×58 bytes fill a batch
		t.Errorf("%d records a batch", perBatch)
	}
	for p, n := range perPartition {
		if n < records/4*9/10 || n > records/4*11/10 {
			t.Errorf("partition %d got %d of %d records", p, n, records)
		}
	}
}
