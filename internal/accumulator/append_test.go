package accumulator

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linger/internal/kerr"
	"linger/internal/metadata"
)

// leaders4 are four partitions on two nodes.
var leaders4 = []int32{1, 1, 2, 2}

func entry(n int) *Entry { return &Entry{TimestampMs: 1, Value: make([]byte, n)} }

func mustAppend(t *testing.T, f *fixture, partition int32, n int) Appended {
	t.Helper()
	r, err := f.acc.Append(context.Background(), f.topic, partition, entry(n), 0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// ACC-01, ACC-08: a partition gets one queue, on first use, whoever comes first.
func TestRacingCallersMakeOneTopicAndOneQueue(t *testing.T) {
	f := newFixture(t, setup{batchSize: 1000})
	const racers = 8
	topics, queues := make(chan *Topic, racers), make(chan *Queue, racers)
	for range racers {
		go func() {
			topic := f.acc.Topic("raced")
			topics <- topic
			queues <- topic.queue(7)
		}()
	}
	firstTopic, firstQueue := <-topics, <-queues
	for range racers - 1 {
		if topic := <-topics; topic != firstTopic {
			t.Error("two topics of one name")
		}
		if q := <-queues; q != firstQueue {
			t.Error("two queues of one partition")
		}
	}
	if f.acc.Lookup("raced") != firstTopic || f.acc.Lookup("absent") != nil {
		t.Error("Lookup does not find what was made")
	}
	if q := firstTopic.queue(70); q == firstQueue || firstTopic.at(7) != firstQueue {
		t.Error("a queue was lost as their list grew")
	}
}

// ACC-06, ACC-07, ACC-31: a named partition is used as it is, and the sticky choice hears nothing of it.
func TestExplicitPartitionLeavesTheStickyChoiceAlone(t *testing.T) {
	f := newFixture(t, setup{batchSize: 200, linger: time.Second})
	f.setCluster(leaders4, nil, nil)
	sticky := mustAppend(t, f, AnyPartition, 10).Partition
	choice := f.topic.sticky.Peek(f.topic.View())
	produced := choice.Produced()
	for i := range 20 {
		e := entry([]int{150, 20, 20}[i%3]) // too large for any open batch, then one that opens a batch and one that joins it
		e.Partition = -7
		if _, err := f.acc.Append(context.Background(), f.topic, sticky, e, 0); err != nil || e.Partition != sticky {
			t.Fatalf("partition %d, error %v", e.Partition, err)
		}
	}
	if f.topic.sticky.Changed(choice) || choice.Produced() != produced {
		t.Error("records with a partition moved the sticky choice")
	}
}

// ACC-07: the partition is known even when the append fails.
func TestFailedAppendNamesThePartitionItTried(t *testing.T) {
	f := newFixture(t, setup{batchSize: 1000, memory: 1000})
	f.setCluster(leaders4, nil, nil)
	mustAppend(t, f, 0, 10)
	e := entry(10)
	r, err := f.acc.Append(context.Background(), f.topic, 3, e, 0)
	if !errors.Is(err, kerr.ErrBufferExhausted) || e.Partition != 3 || r.Partition != 3 {
		t.Errorf("partitions %d and %d, error %v", e.Partition, r.Partition, err)
	}
}

// ACC-05, ACC-28, ACC-30: the choice that was peeked at before the lock is replaced by another append.
func TestAppendStartsOverWhenTheStickyChoiceChangedBeforeTheLock(t *testing.T) {
	f := newFixture(t, setup{batchSize: 200, linger: time.Second})
	f.setCluster(leaders4, nil, nil)
	e := entry(10)
	s, err := f.acc.begin(f.topic, AnyPartition, e)
	if err != nil {
		t.Fatal(err)
	}
	for !f.topic.sticky.Changed(s.choice) {
		mustAppend(t, f, AnyPartition, 100)
	}
	mustAppend(t, f, s.partition, 10) // there is room for the record
	var m memory
	if _, v := f.acc.round(&s, e, &m, 0); v != startOver {
		t.Errorf("round under a stale choice ended with verdict %d", v)
	}
	before := s.queue.opened
	if r := mustAppend(t, f, AnyPartition, 10); s.queue.opened != before && r.Partition == s.partition && f.topic.sticky.Peek(f.topic.View()) == s.choice {
		t.Error("the record followed the stale choice")
	}
}

// ACC-05, ACC-28, ACC-30: on the fast path, too, the choice may be replaced while the append waits for the lock.
func TestFastAppendSeesThatTheStickyChoiceChangedBeforeTheLock(t *testing.T) {
	f := newFixture(t, setup{batchSize: 500, linger: time.Second})
	f.setCluster(leaders4, nil, nil)
	old := mustAppend(t, f, AnyPartition, 10).Partition
	choice, q := f.topic.sticky.Peek(f.topic.View()), f.topic.at(old)
	q.mu.Lock()
	done := make(chan Appended)
	go func() { done <- mustAppend(t, f, AnyPartition, 10) }()
	untilWaitingForALock("AppendOpen")
	if !f.topic.sticky.Update(choice, f.topic.View(), 500, true) {
		t.Error("the choice did not change")
	}
	q.mu.Unlock()
	if r := <-done; r.Partition == old || q.open.RecordCount() != 1 {
		t.Errorf("the record followed the stale choice: %+v", r)
	}
}

// untilWaitingForALock returns once some goroutine waits for a mutex in the named function.
func untilWaitingForALock(function string) {
	for stacks := make([]byte, 1<<20); ; runtime.Gosched() {
		for _, one := range bytes.Split(stacks[:runtime.Stack(stacks, true)], []byte("\n\n")) {
			if bytes.Contains(one, []byte("[sync.Mutex.Lock")) && bytes.Contains(one, []byte(function+"(")) {
				return
			}
		}
	}
}

// ACC-29: a switch that was put off while a batch had room is made up for as soon as none has.
func TestPostponedSwitchHappensOnceAllBatchesAreFull(t *testing.T) {
	f := newFixture(t, setup{batchSize: 200, linger: time.Second})
	f.setCluster(leaders4, nil, nil)
	first := mustAppend(t, f, AnyPartition, 100).Partition // 170 bytes: below batch.size
	second := mustAppend(t, f, AnyPartition, 10)           // 187
	if second.Partition != first {
		t.Fatal("switched below batch.size")
	}
	mustAppend(t, f, AnyPartition, 10) // no room: a new batch of 78, 265 bytes in all, but it has room: no switch
	choice := f.topic.sticky.Peek(f.topic.View())
	if choice.Produced() < 200 || choice.Partition() != first {
		t.Fatalf("%d bytes to partition %d", choice.Produced(), choice.Partition())
	}
	if got := f.drain(f.leaderOf(first), 1<<20); len(got) == 0 {
		t.Fatal("nothing drained")
	}
	f.drain(f.leaderOf(first), 1<<20) // now the queue is empty: nothing has room
	produced := choice.Produced()
	mustAppend(t, f, AnyPartition, 10)
	if !f.topic.sticky.Changed(choice) || choice.Produced() != produced {
		t.Error("the postponed switch did not happen, or bytes were counted for it")
	}
}

// PART-28: appends that race for one choice lose none of its bytes, which the queue's lock guards.
func TestConcurrentAppendsToAChoiceCountEachByte(t *testing.T) {
	f := newFixture(t, setup{batchSize: 4 << 20, memory: 8 << 20, linger: time.Second})
	f.setCluster(leaders4, nil, nil)
	choice := f.topic.sticky.Peek(f.topic.View())
	var wg sync.WaitGroup
	var total atomic.Int64
	const appenders, each = 4, 20_000
	for range appenders {
		wg.Go(func() {
			e := entry(10)
			for range each {
				r, err := f.acc.Append(context.Background(), f.topic, AnyPartition, e, time.Second)
				if err != nil {
					t.Error(err)
					return
				}
				total.Add(int64(r.Bytes))
			}
		})
	}
	wg.Wait()
	if f.topic.sticky.Changed(choice) {
		t.Fatal("the choice was replaced")
	}
	if got := int64(choice.Produced()); got != total.Load() {
		t.Errorf("the choice counts %d bytes, the appends made %d", got, total.Load())
	}
}

func (f *fixture) leaderOf(partition int32) int32 { return leaders4[partition] }

// ACC-10, PART-25: at batch.size, as soon as nothing has room.
func TestStickyChoiceSwitchesAtBatchSizeOnceAllIsFull(t *testing.T) {
	f := newFixture(t, setup{batchSize: 200, linger: time.Second})
	f.setCluster(leaders4, nil, nil)
	choice := f.topic.sticky.Peek(f.topic.View())
	mustAppend(t, f, AnyPartition, 100) // 170 bytes
	if f.topic.sticky.Changed(choice) {
		t.Error("switched below batch.size")
	}
	mustAppend(t, f, AnyPartition, 200) // a batch of its own, full at once
	if !f.topic.sticky.Changed(choice) {
		t.Errorf("not switched after %d bytes, with all batches full", choice.Produced())
	}
}

// ACC-10, PART-26, PART-27: as long as something has room at twice batch.size, and then in any case.
func TestStickyChoiceSwitchesAtTwiceBatchSizeInAnyCase(t *testing.T) {
	f := newFixture(t, setup{batchSize: 200, linger: time.Second})
	f.setCluster(leaders4, nil, nil)
	choice := f.topic.sticky.Peek(f.topic.View())
	for round := 0; !f.topic.sticky.Changed(choice); round++ {
		// A record with a partition replaces the full batch by one with room; four without one fill it up again.
		mustAppend(t, f, choice.Partition(), 60)
		for range 4 {
			if f.topic.sticky.Changed(choice) {
				break
			}
			if produced := choice.Produced(); produced >= 400 {
				t.Fatalf("no switch after %d bytes", produced)
			}
			mustAppend(t, f, AnyPartition, 10)
		}
		if round > 10 {
			t.Fatal("sticks for ever")
		}
	}
	if got := choice.Produced(); got != 24*17 {
		t.Errorf("switched after %d bytes", got)
	}
}

// ACC-09, ACC-11, ACC-13, ACC-15, ACC-48: records go into the last batch, in order.
// SEND-25: the outcome tells the future, whether a full batch exists, whether a batch is new, and by how much it grew.
func TestRecordGoesIntoTheLastBatchWhileItHasRoom(t *testing.T) {
	f := newFixture(t, setup{batchSize: 500, linger: time.Second})
	f.setCluster(leaders4, nil, nil)
	first := mustAppend(t, f, 0, 100)
	second := mustAppend(t, f, 0, 100)
	if !first.NewBatch || second.NewBatch || first.Result != second.Result {
		t.Errorf("first %+v, second %+v", first, second)
	}
	if first.Bytes != 170 || second.Bytes != 109 || second.Index != 1 || first.BatchFull || second.BatchFull {
		t.Errorf("first %+v, second %+v", first, second)
	}
	mustAppend(t, f, 0, 100)
	mustAppend(t, f, 0, 100)
	fifth := mustAppend(t, f, 0, 100)
	if !fifth.NewBatch || !fifth.BatchFull || fifth.Index != 0 || fifth.Result == first.Result {
		t.Errorf("fifth %+v", fifth)
	}
	if q := f.topic.at(0); q.batches.at(0).RecordCount() != 4 || q.batches.at(1).RecordCount() != 1 || q.open != q.batches.at(1) {
		t.Error("the queue is not 4 and 1 records, the last one open")
	}
	if sixth := mustAppend(t, f, 0, 10); sixth.NewBatch || !sixth.BatchFull || sixth.Result != fifth.Result {
		t.Errorf("a record that joins the last of two batches: %+v", sixth)
	}
	mustAppend(t, f, 1, 100) // 61 + 109 bytes
	if fills := mustAppend(t, f, 1, 500-61-109-9); fills.NewBatch || !fills.BatchFull || fills.Bytes != 500-61-109 {
		t.Errorf("a record that fills a lone batch: %+v", fills)
	}
}

// ACC-22, ACC-33, ACC-35: without room a new batch is opened at the tail, without waiting; the sender takes the head.
func TestNewBatchesQueueUpBehindTheOthers(t *testing.T) {
	f := newFixture(t, setup{batchSize: 150, linger: time.Hour})
	f.setCluster(leaders4, nil, nil)
	var results []*Result
	for range 5 {
		r := mustAppend(t, f, 0, 100)
		if !r.NewBatch {
			t.Fatal("no new batch")
		}
		results = append(results, r.Result)
	}
	for i, want := range results {
		got := f.drain(1, 1<<20)
		if len(got) != 1 || got[0].result != want {
			t.Fatalf("drain %d took %v", i, got)
		}
	}
}

// ACC-47: a queue is as long as memory lasts.
func TestQueueIsLimitedByMemoryAlone(t *testing.T) {
	f := newFixture(t, setup{batchSize: 100, memory: 100_000, linger: time.Hour})
	f.setCluster(leaders4, nil, nil)
	n := 0
	for ; ; n++ {
		if _, err := f.acc.TryAppend(f.topic, 0, entry(30)); err != nil { // 61 + 37 + 37 > 100
			break
		}
	}
	if f.topic.at(0).batches.len() != n || n < 800 || f.pool.Available() >= 122 {
		t.Errorf("%d records in %d batches, %d bytes left", n, f.topic.at(0).batches.len(), f.pool.Available())
	}
}

// ACC-12: an append under way when the producer closes.
func TestClosedAccumulatorRefusesRecords(t *testing.T) {
	f := newFixture(t, setup{batchSize: 500})
	f.setCluster(leaders4, nil, nil)
	mustAppend(t, f, 0, 10)
	e := entry(10)
	s, err := f.acc.begin(f.topic, 0, e) // admitted before the close, not yet at the lock
	if err != nil {
		t.Fatal(err)
	}
	f.acc.Close()
	var m memory
	if _, v := f.acc.round(&s, e, &m, 0); v != startOver {
		t.Errorf("an append that met the close ended with verdict %d", v)
	}
	if _, err := f.acc.Append(context.Background(), f.topic, 0, e, 0); err != kerr.ErrClosedDuringSend { // and not at the pool
		t.Errorf("got error %v", err)
	}
	if got := f.drain(1, 1000); len(got) != 1 || got[0].RecordCount() != 1 {
		t.Errorf("what was buffered before the close is %v", got)
	}
	select {
	case <-f.acc.Closed():
	default:
		t.Error("Closed is not closed")
	}
	f.acc.Close() // once more does nothing
}

// The second look at the admission word: between its change and the barrier's coming to this queue, nothing joins the batch
// that is still open.
func TestAppendAfterTheWordChangedDoesNotJoinAnOlderBatch(t *testing.T) {
	f := newFixture(t, setup{batchSize: 500, linger: time.Hour})
	f.setCluster(leaders4, nil, nil)
	for _, partition := range []int32{0, AnyPartition} {
		first := mustAppend(t, f, partition, 10)
		f.acc.gens.next(func() { f.acc.word.Add(uint64(generationUnit)) })
		if r := mustAppend(t, f, partition, 10); !r.NewBatch || r.Partition != first.Partition || !r.BatchFull {
			t.Errorf("partition %d: %+v", partition, r)
		}
		f.acc.word.Or(uint64(wordClosed))
		if _, err := f.acc.TryAppend(f.topic, partition, entry(10)); !errors.Is(err, kerr.ErrClosedDuringSend) {
			t.Errorf("partition %d: %v", partition, err)
		}
		f.acc.word.And(^uint64(wordClosed))
	}
}

// ACC-14: no room for one record closes the batch for all others.
func TestBatchWithoutRoomForARecordTakesNoSmallerOneEither(t *testing.T) {
	f := newFixture(t, setup{batchSize: 500, memory: 1000, linger: time.Second})
	f.setCluster(leaders4, nil, nil)
	mustAppend(t, f, 0, 100)
	mustAppend(t, f, 1, 100)
	if _, err := f.acc.Append(context.Background(), f.topic, 0, entry(400), 0); !errors.Is(err, kerr.ErrBufferExhausted) {
		t.Fatalf("got error %v", err)
	}
	if b := f.topic.at(0).batches.front(); b.State() != Closed {
		t.Errorf("the batch is %v", b.State())
	}
	if got := f.ready(); !slices.Equal(got, []int32{1}) {
		t.Errorf("ready nodes %v: a closed batch does not linger", got)
	}
}

// ACC-18: memory is batch.size or what the record needs.
func TestNewBatchTakesBatchSizeOrWhatTheRecordNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		value int
		taken int64
	}{
		"a small record takes batch.size":         {10, 16384},
		"a record of 64 KB takes its upper bound": {65536, 61 + 21 + 1 + 3 + 65536 + 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, setup{batchSize: 16384})
			mustAppend(t, f, 0, c.value)
			if got := f.pool.Total() - f.pool.Available(); got != c.taken {
				t.Errorf("took %d bytes, want %d", got, c.taken)
			}
		})
	}
}

// ACC-17, ACC-20, ACC-23, ACC-26: while an append waits for memory another one opens the batch it needs.
func TestAppendThatWaitedUsesTheBatchAnotherOpenedMeanwhile(t *testing.T) {
	var f *fixture
	var held []*Batch
	woken := 0
	f = newFixture(t, setup{batchSize: 500, memory: 1000, linger: time.Second, nudge: func() {
		if woken++; woken > 1 {
			return
		}
		// The first to wait nudges the engine, which brings two batches home; one is taken at once by another append.
		f.clk.Advance(7 * time.Millisecond)
		for i, b := range held {
			f.finish(b, int64(i))
		}
		mustAppend(t, f, 0, 10)
	}})
	f.setCluster(leaders4, nil, nil)
	mustAppend(t, f, 2, 400)
	mustAppend(t, f, 3, 400)
	held = f.drain(2, 1<<20)
	if len(held) != 2 || f.pool.Available() != 0 {
		t.Fatalf("%d batches drained, %d bytes left", len(held), f.pool.Available())
	}
	r, err := f.acc.Append(context.Background(), f.topic, 0, entry(20), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if woken != 1 || r.NewBatch || r.Index != 1 {
		t.Errorf("woken %d times, got %+v", woken, r)
	}
	if got := f.pool.Available(); got != 500 {
		t.Errorf("%d bytes available: the memory that was not needed did not go back", got)
	}
	if b := f.topic.at(0).batches.front(); b.CreatedAt != at(7) {
		t.Errorf("created at %d", b.CreatedAt)
	}
}

// ACC-20, ACC-24, ACC-34: without a batch to join, the memory waited for becomes one, created when the wait was over.
func TestAppendThatWaitedOpensItsBatchAtTheEndOfTheWait(t *testing.T) {
	var f *fixture
	var held []*Batch
	f = newFixture(t, setup{batchSize: 500, memory: 500, linger: time.Second, nudge: func() {
		f.clk.Advance(7 * time.Millisecond)
		f.finish(held[0], 0)
	}})
	f.setCluster(leaders4, nil, nil)
	mustAppend(t, f, 2, 400)
	held = f.drain(2, 1<<20)
	r, err := f.acc.Append(context.Background(), f.topic, 0, entry(20), time.Second)
	if err != nil || !r.NewBatch || r.Bytes != 61+27 || !r.Wake {
		t.Fatalf("got %+v, error %v", r, err)
	}
	if b := f.topic.at(0).batches.front(); b.CreatedAt != at(7) || b.LastAttempt != at(7) || f.topic.LastUsed() != at(7) {
		t.Errorf("created at %d", b.CreatedAt)
	}
	if got := f.acc.o.Coarse.Load(); got != 1007 {
		t.Errorf("the coarse clock shows %d", got)
	}
}

// Two appends may read the clock in one order and come to the lock in the other.
func TestCreationTimesNeverGoBackWithinAQueue(t *testing.T) {
	f := newFixture(t, setup{batchSize: 150, linger: time.Hour})
	f.setCluster(leaders4, nil, nil)
	f.clk.Advance(10 * time.Millisecond)
	mustAppend(t, f, 0, 100)
	e := entry(100)
	s, _ := f.acc.begin(f.topic, 0, e)
	m, err := f.acc.allocate(context.Background(), e, 0, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, v := f.acc.round(&s, e, &m, at(9)); v != appended {
		t.Fatalf("verdict %d", v)
	}
	if b := f.topic.at(0).open; b.CreatedAt != at(10) || b.LastAttempt != at(10) {
		t.Errorf("created at %d, after one that was created at 10 ms", b.CreatedAt)
	}
}

// ACC-21: a round that starts over keeps its memory, and takes no more.
func TestAppendTakesMemoryAtMostOnce(t *testing.T) {
	f := newFixture(t, setup{batchSize: 200, memory: 10_000, linger: time.Second})
	f.setCluster(leaders4, nil, nil)
	e := entry(100)
	s, _ := f.acc.begin(f.topic, AnyPartition, e)
	var m memory
	if _, v := f.acc.round(&s, e, &m, 0); v != wantsMemory {
		t.Fatalf("verdict %d", v)
	}
	m, err := f.acc.allocate(context.Background(), e, 0, true)
	if err != nil {
		t.Fatal(err)
	}
	for !f.topic.sticky.Changed(s.choice) {
		mustAppend(t, f, AnyPartition, 100)
	}
	before := f.pool.Available()
	if _, v := f.acc.round(&s, e, &m, 0); v != startOver || !m.held() {
		t.Fatalf("verdict %d, memory held %v", v, m.held())
	}
	buffer := &m.first[0]
	s, _ = f.acc.begin(f.topic, AnyPartition, e)
	r, v := f.acc.round(&s, e, &m, 0)
	if v != appended || !r.NewBatch || m.held() || f.pool.Available() != before {
		t.Errorf("verdict %d, %+v, %d bytes available, %d before", v, r, f.pool.Available(), before)
	}
	if got := &s.queue.open.builder.Memory()[0][0]; got != buffer {
		t.Error("the batch does not stand in the memory that was taken for it")
	}
}

// ACC-19: the wait for memory ends with the budget.
func TestAppendWaitsForMemoryAsLongAsItsBudget(t *testing.T) {
	f := newFixture(t, setup{batchSize: 500, memory: 500})
	f.setCluster(leaders4, nil, nil)
	mustAppend(t, f, 0, 400)
	failed := make(chan error)
	go func() {
		_, err := f.acc.Append(context.Background(), f.topic, 1, entry(400), 100*time.Millisecond)
		failed <- err
	}()
	for !f.pool.HasWaiters() || f.clk.Timers() == 0 {
		runtime.Gosched()
	}
	f.clk.Advance(99 * time.Millisecond)
	if !f.pool.HasWaiters() {
		t.Error("gave up before its budget was used up")
	}
	f.clk.Advance(time.Millisecond)
	if err := <-failed; !errors.Is(err, kerr.ErrBufferExhausted) {
		t.Errorf("got error %v", err)
	}
	if f.acc.exhausted() {
		t.Error("somebody still seems to wait")
	}
}

func TestContextAndCloseEndTheWaitForMemory(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(f *fixture, cancel func())
		want error
	}{
		"context": {func(_ *fixture, cancel func()) { cancel() }, context.Canceled},
		"close":   {func(f *fixture, _ func()) { f.acc.Close() }, kerr.ErrClosedDuringSend},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, setup{batchSize: 500, memory: 500})
			f.setCluster(leaders4, nil, nil)
			mustAppend(t, f, 0, 400)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			failed := make(chan error)
			go func() {
				_, err := f.acc.Append(ctx, f.topic, 1, entry(400), time.Hour)
				failed <- err
			}()
			for !f.pool.HasWaiters() {
				runtime.Gosched()
			}
			c.end(f, cancel)
			if err := <-failed; !errors.Is(err, c.want) {
				t.Errorf("got error %v", err)
			}
		})
	}
}

// ACC-27: an append that fails on the way leaves the pool as it was.
func TestFailedAppendLeavesNoMemoryBehind(t *testing.T) {
	f := newFixture(t, setup{batchSize: 500})
	f.setCluster(leaders4, nil, nil)
	e := entry(10)
	s, _ := f.acc.begin(f.topic, 0, e)
	m, err := f.acc.allocate(context.Background(), e, 0, true)
	if err != nil {
		t.Fatal(err)
	}
	f.acc.Close()
	if _, v := f.acc.round(&s, e, &m, 0); v != startOver || !m.held() {
		t.Fatalf("verdict %d", v)
	}
	f.acc.giveBack(&m)
	var none memory
	f.acc.giveBack(&none)
	if f.pool.Available() != f.pool.Total() {
		t.Errorf("%d of %d bytes available", f.pool.Available(), f.pool.Total())
	}
}

// ACC-25: nothing is appended without a partition.
func TestAppendWithoutAKnownPartitionIsRefused(t *testing.T) {
	f := newFixture(t, setup{batchSize: 500})
	if _, err := f.acc.Append(context.Background(), f.topic, AnyPartition, entry(1), 0); !errors.Is(err, kerr.ErrIllegalState) {
		t.Errorf("a topic without metadata: %v", err)
	}
	f.setCluster([]int32{}, nil, nil)
	if _, err := f.acc.Append(context.Background(), f.topic, AnyPartition, entry(1), 0); !errors.Is(err, kerr.ErrIllegalState) {
		t.Errorf("a topic without partitions: %v", err)
	}
	if _, err := f.acc.Append(context.Background(), f.topic, -2, entry(1), 0); !errors.Is(err, kerr.ErrIllegalArgument) {
		t.Errorf("a negative partition: %v", err)
	}
	if f.acc.Incomplete() != 0 || f.pool.Available() != f.pool.Total() {
		t.Error("something was taken")
	}
}

func TestTryAppendTakesNothingWhereItWouldWait(t *testing.T) {
	for name, incremental := range map[string]bool{"full": false, "incremental": true} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, setup{batchSize: 500, memory: 500, incremental: incremental})
			f.setCluster(leaders4, nil, nil)
			if r, err := f.acc.TryAppend(f.topic, 0, entry(100)); err != nil || !r.NewBatch {
				t.Fatalf("with memory at hand: %+v, %v", r, err)
			}
			if r, err := f.acc.TryAppend(f.topic, 0, entry(100)); err != nil || r.NewBatch {
				t.Fatalf("with room in the batch: %+v, %v", r, err)
			}
			if _, err := f.acc.TryAppend(f.topic, 1, entry(100)); !errors.Is(err, kerr.ErrWouldBlock) {
				t.Fatalf("without memory: %v", err)
			}
			if f.topic.at(1).batches.len() != 0 || f.pool.HasWaiters() {
				t.Error("something was taken")
			}
		})
	}
}

func TestOnlyTheFirstSignalOfAQueueWantsANudge(t *testing.T) {
	f := newFixture(t, setup{batchSize: 200, linger: time.Second})
	f.setCluster(leaders4, nil, nil)
	if !mustAppend(t, f, 0, 10).Wake {
		t.Error("a new batch does not wake the engine")
	}
	if mustAppend(t, f, 0, 10).Wake {
		t.Error("a record that joins a batch wakes the engine")
	}
	if mustAppend(t, f, 0, 100).Wake {
		t.Error("the queue is nudged for though the engine has not come yet")
	}
	f.ready()
	if !mustAppend(t, f, 0, 100).Wake {
		t.Error("a batch that fills after the engine's look does not wake it")
	}
}

// PART-12, PART-14: each topic has its own choice, of batch.size bytes.
func TestTopicsHaveStickyChoicesOfTheirOwn(t *testing.T) {
	f := newFixture(t, setup{batchSize: 200})
	other := f.acc.Topic("u")
	mt := &metadata.Topic{Name: "u", Partitions: []metadata.Partition{{Leader: 1}, {Leader: 2}}}
	tt := &metadata.Topic{Name: "t", Partitions: []metadata.Partition{{Leader: 1}, {Leader: 2}}}
	f.sched.SetCluster(metadata.NewCluster(1, "c", []metadata.Node{{ID: 1}, {ID: 2}}, []*metadata.Topic{mt, tt}), 0)
	mustAppend(t, f, AnyPartition, 10)
	choice := other.sticky.Peek(other.View())
	for range 30 {
		mustAppend(t, f, AnyPartition, 100)
	}
	if other.sticky.Changed(choice) || other.PartitionCount() != 2 {
		t.Error("one topic's records moved the other's choice")
	}
}
