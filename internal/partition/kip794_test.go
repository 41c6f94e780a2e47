package partition

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// The rules of KIP-794 (strictly uniform sticky partitioner) and of what came after it (KAFKA-14156, the switch that
// waits for the batch), in our words, each above the test that holds linger to it.

var threePartitions = &View{Count: 3, Available: []int32{0, 1, 2}}

// sequence draws 0, 1, 2, … in turn.
func sequence() func() int32 {
	n := int32(-1)
	return func() int32 { n++; return n }
}

func seeded() func() int32 {
	rng := rand.New(rand.NewPCG(794, 1))
	return func() int32 { return int32(rng.Uint32()) }
}

// KIP-794: what makes the partitioner switch is that batch.size bytes went to the partition, not that a batch was opened.
func TestKIP794SwitchesOnceBatchSizeBytesWereProduced(t *testing.T) { // PART-14, PART-25
	s := NewSticky(16384, false, "", sequence())
	c := s.Peek(threePartitions)
	if s.Update(c, threePartitions, 16383, true) {
		t.Fatal("switched after 16383 bytes")
	}
	if s.Peek(threePartitions) != c {
		t.Fatal("another choice after 16383 bytes")
	}
	if !s.Update(c, threePartitions, 1, true) {
		t.Fatal("stayed after 16384 bytes")
	}
	if got := s.Peek(threePartitions); got == c || got.Partition() != 1 {
		t.Errorf("next choice is partition %d, want 1", got.Partition())
	}
}

// KAFKA-14156: while the open batch still lingers, a switch would leave it half full, so it waits; but for no more than
// twice batch.size bytes.
func TestKIP794WaitsForTheBatchButNoLongerThanTwiceTheSize(t *testing.T) { // PART-26, PART-27
	s := NewSticky(100, false, "", sequence())
	c := s.Peek(threePartitions)
	for produced := 10; produced < 200; produced += 10 {
		if s.Update(c, threePartitions, 10, false) {
			t.Fatalf("switched after %d bytes", produced)
		}
	}
	if !s.Update(c, threePartitions, 10, false) {
		t.Error("stayed after 200 bytes: it sticks for ever")
	}
}

func TestKIP794PostponedSwitchHappensWithoutFurtherBytes(t *testing.T) { // PART-25
	s := NewSticky(100, false, "", sequence())
	c := s.Peek(threePartitions)
	if s.Update(c, threePartitions, 150, false) {
		t.Fatal("switched while switching was disabled")
	}
	if !s.Update(c, threePartitions, 0, true) {
		t.Error("the postponed switch did not happen")
	}
}

// The same partition may be drawn again, and the switch still shows to an append that chose before it.
func TestKIP794EachChoiceIsANewObject(t *testing.T) { // PART-29
	one := &View{Count: 1, Available: []int32{0}}
	s := NewSticky(1, false, "", sequence())
	first := s.Peek(one)
	s.Update(first, one, 1, true)
	second := s.Peek(one)
	if first.Partition() != second.Partition() {
		t.Fatalf("partitions %d and %d of one", first.Partition(), second.Partition())
	}
	if first == second || !s.Changed(first) || s.Changed(second) {
		t.Error("the switch doesn't show")
	}
	if second.Produced() != 0 {
		t.Errorf("the new choice starts with %d bytes", second.Produced())
	}
}

// KIP-794: with no broker slower than the others, each partition gets the same share of the data.
func TestKIP794SpreadsEvenlyUnderEqualLoad(t *testing.T) { // PART-31, PART-23
	s := NewSticky(100, false, "", seeded())
	const choices = 30_000
	got := countChoices(s, threePartitions, choices)
	for p, n := range got {
		if n < choices/3*95/100 || n > choices/3*105/100 {
			t.Errorf("partition %d was chosen %d times of %d", p, n, choices)
		}
	}
}

func countChoices(s *Sticky, v *View, choices int) map[int32]int {
	got := make(map[int32]int)
	for range choices {
		c := s.Peek(v)
		got[c.Partition()]++
		s.Update(c, v, 100, true)
	}
	return got
}

// KIP-794, adaptive: the longer a queue, the smaller the chance; queues of 0, 3 and 1 batches weigh 4, 1 and 3.
func TestKIP794WeighsPartitionsByTheirQueues(t *testing.T) { // PART-18, PART-19, PART-20
	s := NewSticky(100, false, "", seeded())
	s.UpdateLoad([]int32{0, 3, 1}, []int32{0, 1, 2}, nil, 3)
	const choices = 80_000
	got := countChoices(s, threePartitions, choices)
	for p, share := range map[int32]float64{0: 0.5, 1: 0.125, 2: 0.375} {
		if f := float64(got[p]) / choices; f < share-0.01 || f > share+0.01 {
			t.Errorf("partition %d: frequency %.3f, want %.3f", p, f, share)
		}
	}
}

func TestLoadTableIsNotUsed(t *testing.T) { // PART-21
	tests := map[string]struct {
		queues []int32
		length int
		want   bool // a table is used
	}{
		"when all queues are equal":                           {queues: []int32{2, 2, 2}, length: 3},
		"when there is one partition":                         {queues: []int32{2}, length: 1},
		"when not every partition has a queue":                {queues: nil, length: 0},
		"when every partition was left out":                   {queues: []int32{2, 1}, length: 0},
		"but is when queues differ":                           {queues: []int32{2, 1, 2}, length: 3, want: true},
		"but is when queues are equal and one was left out":   {queues: []int32{2, 2, 2}, length: 2, want: true},
		"but is when all but one of several were left out":    {queues: []int32{2, 2}, length: 1, want: true},
		"even when what was left out differs from equal ones": {queues: []int32{2, 2, 5}, length: 2, want: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := NewSticky(100, false, "", sequence())
			s.UpdateLoad([]int32{9, 1}, []int32{0, 1}, nil, 2)
			s.UpdateLoad(tt.queues, []int32{0, 1, 2}[:len(tt.queues)], nil, tt.length)
			if got := s.Load() != nil; got != tt.want {
				t.Errorf("table in use: %t, want %t", got, tt.want)
			}
		})
	}
}

func TestLeftOutPartitionIsNotChosen(t *testing.T) { // PART-24 (the table's part)
	s := NewSticky(100, false, "", seeded())
	s.UpdateLoad([]int32{0, 0, 0}, []int32{0, 2, 1}, nil, 2)
	if got := countChoices(s, threePartitions, 1000); got[1] != 0 {
		t.Errorf("the partition that was left out was chosen %d times", got[1])
	}
}

func TestUniformChoice(t *testing.T) { // PART-17
	tests := map[string]struct {
		view View
		want []int32 // for randoms 0…5
	}{
		"goes among partitions with a leader": {View{Count: 4, Available: []int32{1, 3}}, []int32{1, 3, 1, 3, 1, 3}},
		"goes among all when none has one":    {View{Count: 3}, []int32{0, 1, 2, 0, 1, 2}},
		"prefers leaders in the rack":         {View{Count: 4, Available: []int32{0, 1, 3}, InRack: []int32{3}}, []int32{3, 3, 3, 3, 3, 3}},
		"of nothing is -1":                    {View{}, []int32{-1, -1, -1, -1, -1, -1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := NewSticky(1, false, "", sequence())
			for i, want := range tt.want {
				c := s.Peek(&tt.view)
				if c.Partition() != want {
					t.Errorf("random %d gives %d, want %d", i, c.Partition(), want)
				}
				s.Update(c, &tt.view, 1, true)
			}
		})
	}
}

func TestViewKnowsRacks(t *testing.T) {
	leaders := []int32{0, 1, -1, 2}
	racks := []string{"a", "", "a"}
	view := func(aware bool, rack string) *View {
		return NewView(4, func(p int32) int32 { return leaders[p] }, aware, rack, func(n int32) string { return racks[n] })
	}
	if got := view(true, "a").InRack; len(got) != 2 || got[0] != 0 || got[1] != 3 {
		t.Errorf("in rack a: %v, want [0 3]", got)
	}
	if got := view(true, "").InRack; got != nil {
		t.Errorf("in no rack: %v, want none", got)
	}
	if got := view(false, "a").InRack; got != nil {
		t.Errorf("without rack-awareness: %v, want none", got)
	}
}

// Two goroutines find no choice; the second installs its own while the first still draws.
func TestWhoLosesTheRaceForTheFirstChoiceTakesTheOther(t *testing.T) { // PART-16
	var s *Sticky
	var others *Choice
	racing := false
	s = NewSticky(100, false, "", func() int32 {
		if !racing {
			racing = true
			others = s.Peek(threePartitions)
			return 1
		}
		return 2
	})
	if got := s.Peek(threePartitions); got != others || got.Partition() != 2 {
		t.Errorf("partition %d, want the other's 2", got.Partition())
	}
}

func TestConcurrentFirstCallersAgreeOnOneChoice(t *testing.T) { // PART-16
	for range 100 {
		var mu sync.Mutex
		draw := sequence()
		s := NewSticky(100, false, "", func() int32 { mu.Lock(); defer mu.Unlock(); return draw() })
		var choices [8]*Choice
		var wg sync.WaitGroup
		start := make(chan struct{})
		for i := range choices {
			wg.Go(func() { <-start; choices[i] = s.Peek(threePartitions) })
		}
		close(start)
		wg.Wait()
		for _, c := range choices {
			if c != choices[0] {
				t.Fatal("two first choices")
			}
		}
	}
}

func TestConcurrentAppendsToAChoiceLoseNoBytes(t *testing.T) { // PART-28
	s := NewSticky(1<<30, false, "", sequence())
	c := s.Peek(threePartitions)
	const appenders, each = 4, 100_000 // several turns of the scheduler
	var queue sync.Mutex               // of the choice's partition: Update is called with it held
	var wg sync.WaitGroup
	start := make(chan struct{})
	for range appenders {
		wg.Go(func() {
			<-start
			for range each {
				queue.Lock()
				s.Update(c, threePartitions, 3, false)
				queue.Unlock()
			}
		})
	}
	close(start)
	wg.Wait()
	if got := c.Produced(); got != 3*appenders*each {
		t.Errorf("produced %d bytes, want %d", got, 3*appenders*each)
	}
}

// The sender replaces the table while appends draw from it; the race detector watches.
func TestLoadTableIsReplacedWhileChoicesAreDrawn(t *testing.T) { // PART-15
	s := NewSticky(1, false, "", rand.New(&lockedSource{src: rand.NewPCG(1, 1)}).Int32)
	done := make(chan struct{})
	var locks [3]sync.Mutex // of the partitions
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				c := s.Peek(threePartitions)
				if p := c.Partition(); p < 0 || p > 2 {
					t.Errorf("partition %d of 3", p)
				}
				locks[c.Partition()].Lock()
				if !s.Changed(c) {
					s.Update(c, threePartitions, 1, true)
				}
				locks[c.Partition()].Unlock()
			}
		})
	}
	queues := make([]int32, 3)
	for i := range int32(2000) {
		queues[0], queues[1], queues[2] = i%3, i%5, i%2
		s.UpdateLoad(queues, threePartitions.Available, nil, 3)
	}
	close(done)
	wg.Wait()
}

type lockedSource struct {
	mu  sync.Mutex
	src rand.Source
}

func (s *lockedSource) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.src.Uint64()
}

func TestTopicsHaveTheirOwnChoice(t *testing.T) { // PART-12
	a, b := NewSticky(10, false, "", sequence()), NewSticky(10, false, "", sequence())
	ca, cb := a.Peek(threePartitions), b.Peek(threePartitions)
	a.Update(ca, threePartitions, 10, true)
	if b.Changed(cb) {
		t.Error("a switch of one topic switched another")
	}
}

// Tables that are kept while others follow stay as they were, although they share memory; making one costs less than an allocation.
func TestLoadTablesNeverChange(t *testing.T) {
	const partitions = 6
	rng := rand.New(rand.NewPCG(1, 2))
	ids, racks := make([]int32, partitions), make([]string, partitions)
	s := NewSticky(10, true, "a", sequence())
	update := func() {
		queues := make([]int32, partitions)
		for i := range queues {
			queues[i], ids[i], racks[i] = rng.Int32N(100), int32(i)+rng.Int32N(2), string('a'+rune(rng.IntN(2)))
		}
		s.UpdateLoad(queues, ids, racks, partitions)
	}
	var kept []*LoadTable
	var texts []string
	for range 1000 {
		update()
		kept = append(kept, s.Load())
		texts = append(texts, fmt.Sprintf("%+v", *s.Load()))
	}
	for i, table := range kept {
		if got := fmt.Sprintf("%+v", *table); got != texts[i] {
			t.Fatalf("table %d was %s and is %s", i, texts[i], got)
		}
	}
	queues := [2][]int32{{1, 2, 3, 4, 5, 6}, {6, 5, 4, 3, 2, 1}}
	n := 0
	if got := testing.AllocsPerRun(1000, func() { n++; s.UpdateLoad(queues[n%2], ids, racks, partitions) }); got > 0 { // rounded down
		t.Errorf("an update takes %v allocations, want less than one", got)
	}
}

func TestUpdateLoadKeepsAnEqualTable(t *testing.T) {
	s := NewSticky(10, true, "a", sequence())
	queues, ids, racks := []int32{0, 3, 1}, []int32{0, 1, 2}, []string{"a", "b", "a"}
	s.UpdateLoad(queues, ids, racks, 3)
	table := s.Load()
	if got := testing.AllocsPerRun(100, func() { s.UpdateLoad(queues, ids, racks, 3) }); got != 0 {
		t.Errorf("an equal table takes %v allocations, want 0", got)
	}
	if s.Load() != table {
		t.Error("an equal table was made anew")
	}
	queues[0], ids[0] = 7, 9
	if table.Total.Cumulative[0] != 4 || table.Total.Partitions[0] != 0 {
		t.Error("the table changed with the caller's slices")
	}
}
