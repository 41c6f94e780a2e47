package accumulator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"linger/internal/clock"
	"linger/internal/compress"
	"linger/internal/kerr"
	"linger/internal/record"
	"linger/test/oracle"
)

// trace is one case of accumulator.json: what Java's RecordAccumulator did, step by step.
type trace struct {
	ID                    string
	NodePartitions        map[string][]int32
	BatchSize             int
	LingerMs              int64
	BufferMemory          int64
	DeliveryTimeoutMs     int64
	RetryBackoffMs        int64
	RetryBackoffMaxMs     int64
	Compression           string
	Adaptive              bool
	AvailabilityTimeoutMs int64
	Leaders               []int32
	Randoms               []int32
	ValueSeed             *uint64
	Steps                 []traceStep

	topic string // of the set
}

type traceStep struct {
	Step string
	Now  int64

	RecordsPerQueuedBatch       map[string][]int
	HasUndrained, HasIncomplete bool
	AvailableMemory             int64

	Results []struct {
		Partition                    int32
		BatchIsFull, NewBatchCreated bool
		AppendedBytes                int
	}
	Error                 []struct{ Class, Message string }
	ReadyNodes            []int32
	NextReadyCheckDelayMs int64
	UnknownLeaderTopics   []string
	Drained               map[string][]traceBatch
	Expired               []traceBatch
	NextExpiryTimeMs      int64
	NodePartitions        map[string][]int32
	Batches               int
	Estimation            float32
	Load                  *struct {
		CumulativeFrequency []int32
		PartitionIDs        []int32
	}
}

type traceBatch struct {
	Partition            int32
	Records              int
	EstimatedSizeInBytes int
	SizeInBytes          int
	CreatedMs            int64
	Attempts             int
	Name                 int
}

func (s *traceStep) verb() string   { return strings.Fields(s.Step)[0] }
func (s *traceStep) args() []string { return strings.Fields(s.Step)[1:] }

// The cases show, among others: ACC-10, ACC-13, ACC-16, ACC-18, ACC-24;
// PART-17, PART-18, PART-21, PART-25;
// SND-12, SND-17, SND-19.
func TestOracleAccumulator(t *testing.T) {
	var set struct {
		Topic string
		Cases []trace
	}
	oracle.Load(t, "accumulator.json", &set)
	for i := range set.Cases {
		set.Cases[i].topic = set.Topic
	}
	rules := []oracle.Rule[trace]{
		{
			Name: "wakes for every partition that lingers",
			Reason: "NextReady is kept from turn to turn, for all partitions; Java recomputes it in each turn and leaves out those whose " +
				"node an earlier partition has made ready. We may wake earlier, never later, and find nothing new.",
			Matches: func(c trace) bool { return !c.anyOtherRule() && c.lingersOnReadyNode() },
			Instead: func(t *testing.T, c trace) { replay(t, c, nextReadyOfAll) },
		},
		{
			Name: "well-compressed batches are charged",
			Reason: "Java compresses while it appends; we keep records until the batch is closed and charge the pool for all of them, " +
				"so less is available than in Java.",
			Matches: func(c trace) bool {
				return !c.splitsByCodec() && !c.flushesEarly() && !c.limitsCompressed() && c.outgrowsBuffer()
			},
			Instead: func(t *testing.T, c trace) { replay(t, c, nextReadyOfAll|chargedByChunk) },
		},
		{
			Name: "pieces keep the charge of their batch",
			Reason: "Java's pieces are not counted in buffer.memory and its accumulator keeps the batch they came from until the sender " +
				"frees it; ours carry its charge home.",
			Matches: func(c trace) bool {
				return !c.splitsByCodec() && !c.flushesEarly() && !c.limitsCompressed() && !c.outgrowsBuffer() && c.endsAfterSplit()
			},
			Instead: func(t *testing.T, c trace) { replay(t, c, nextReadyOfAll|chargedByChunk|splitEndsBatch) },
		},
		{
			Name: "final sizes fill a request",
			Reason: "Java counts what it has not compressed yet by an estimate; we know the final size of batches that are complete, so " +
				"more of them may go. It also leaves open what Java has closed, and the other way round.",
			Matches: func(c trace) bool { return !c.splitsByCodec() && !c.flushesEarly() && c.limitsCompressed() },
			Instead: func(t *testing.T, c trace) { replay(t, c, nextReadyOfAll|chargedByChunk|splitEndsBatch|finalSizes) },
		},
		{
			Name: "pieces of compressed batches depend on the codec",
			Reason: "A piece is cut to half its compressed size, and to fewer records when compression makes them larger; our encoders' " +
				"sizes are not the JDK's.",
			Matches: func(c trace) bool { return c.splitsByCodec() },
			Instead: func(t *testing.T, c trace) {
				replay(t, c, nextReadyOfAll|chargedByChunk|splitEndsBatch|freeSplit|finalSizes)
			},
		},
		{
			Name: "a flush has a generation of its own",
			Reason: "Java lets records that come during a flush join the batches being flushed and sends everything early while it " +
				"lasts; ours go to new batches, which linger.",
			Matches: func(c trace) bool { return !c.splitsByCodec() && c.flushesEarly() },
			Instead: func(t *testing.T, c trace) { replay(t, c, nextReadyOfAll|flushGeneration) },
		},
	}
	oracle.Run(t, set.Cases, func(c trace) string { return c.ID }, rules, func(t *testing.T, c trace) { replay(t, c, 0) })
}

// differences that a rule allows in a replay; what is asserted instead stands where each is used.
type difference uint8

const (
	nextReadyOfAll difference = 1 << iota
	chargedByChunk
	splitEndsBatch
	freeSplit
	flushGeneration
	finalSizes
)

func (c trace) anyOtherRule() bool {
	return c.splitsByCodec() || c.flushesEarly() || c.limitsCompressed() || c.outgrowsBuffer() || c.endsAfterSplit()
}

// lingersOnReadyNode: at a ready step the only batch of a partition whose leader is ready has neither lingered nor is
// full, or backs off.
func (c trace) lingersOnReadyNode() bool {
	leaders := slices.Clone(c.Leaders)
	waitsUntil := make([]int64, len(leaders)) // by partition, of the batch that came last
	for _, s := range c.Steps {
		a := s.args()
		switch s.verb() {
		case "leader":
			leaders[atoi(a[0])] = int32(atoi(a[1]))
		case "append":
			for _, r := range s.Results {
				if r.NewBatchCreated {
					waitsUntil[r.Partition] = max(waitsUntil[r.Partition], s.Now+c.LingerMs)
				}
			}
		case "reenqueue":
			for p := range waitsUntil {
				waitsUntil[p] = max(waitsUntil[p], s.Now+c.RetryBackoffMaxMs)
			}
		case "ready":
			for p, batches := range s.RecordsPerQueuedBatch {
				if len(batches) > 0 && waitsUntil[atoi(p)] > s.Now && slices.Contains(s.ReadyNodes, leaders[atoi(p)]) {
					return true
				}
			}
		}
	}
	return false
}

// outgrowsBuffer: a compressed batch takes more than batch.size uncompressed.
func (c trace) outgrowsBuffer() bool {
	if c.Compression == "none" {
		return false
	}
	size := 0
	for _, s := range c.Steps {
		if s.verb() == "append" {
			size = max(size, atoi(s.args()[1]))
		}
		for _, batches := range s.RecordsPerQueuedBatch {
			for _, records := range batches {
				if records > 1 && records*size > c.BatchSize-61 {
					return true
				}
			}
		}
	}
	return false
}

// limitsCompressed: a drain of compressed batches has a limit that not all of the memory's batches fit.
func (c trace) limitsCompressed() bool {
	return c.Compression != "none" && slices.ContainsFunc(c.Steps, func(s traceStep) bool {
		return s.verb() == "drain" && int64(atoi(s.args()[0])) < c.BufferMemory
	})
}

func (c trace) endsAfterSplit() bool {
	split := slices.IndexFunc(c.Steps, func(s traceStep) bool { return s.verb() == "split" })
	return split >= 0 && slices.ContainsFunc(c.Steps[split:], func(s traceStep) bool {
		return s.verb() == "complete" || strings.HasPrefix(s.verb(), "abort")
	})
}

// splitsByCodec: compressed batches are split more than once, or one that compression made larger, or is so small that it
// may in one encoder and not in another.
func (c trace) splitsByCodec() bool {
	const tiny = record.BatchOverhead + 100
	splits := 0
	small := map[string]bool{}
	for _, s := range c.Steps {
		for _, batches := range s.Drained {
			for _, b := range batches {
				small[strconv.Itoa(b.Name)] = b.SizeInBytes < tiny
			}
		}
		if s.verb() == "split" {
			splits++
			if s.Estimation > 1 || small[s.args()[0]] {
				splits++
			}
		}
	}
	return c.Compression != "none" && splits > 1
}

func (c trace) flushesEarly() bool {
	flush := slices.IndexFunc(c.Steps, func(s traceStep) bool { return s.verb() == "begin-flush" })
	return flush >= 0 && slices.ContainsFunc(c.Steps[flush:], func(s traceStep) bool { return s.verb() == "append" })
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// player replays one trace against an accumulator.
type player struct {
	*fixture
	t       *testing.T
	c       trace
	allowed difference

	leaders []int32
	epochs  []int32
	named   []*Batch // drained batches by name
	gone    map[*Batch]bool
	muted   map[int32]bool
	popped  []*Batch // expired and not ended: Java's sender would
	random  int
	flushed *Generation
	parted  bool  // what follows is not to be compared: a rule says why
	expiry  int64 // Java accumulates the earliest expiry until its caller resets it
}

func replay(t *testing.T, c trace, allowed difference) {
	codec, err := compress.ParseType(c.Compression)
	if err != nil {
		t.Fatal(err)
	}
	p := &player{t: t, c: c, allowed: allowed, leaders: slices.Clone(c.Leaders), gone: map[*Batch]bool{}, muted: map[int32]bool{}, expiry: math.MaxInt64}
	for range c.Leaders {
		p.epochs = append(p.epochs, 5)
	}
	p.fixture = newFixture(t, setup{
		topic: c.topic, batchSize: c.BatchSize, linger: clock.Ms(c.LingerMs), memory: c.BufferMemory, deliveryTimeout: clock.Ms(c.DeliveryTimeoutMs),
		backoffMs: c.RetryBackoffMs, backoffMaxMs: c.RetryBackoffMaxMs, codec: codec, adaptive: c.Adaptive,
		availability: clock.Ms(c.AvailabilityTimeoutMs),
		random: func() int32 {
			p.random++
			return c.Randoms[(p.random-1)%len(c.Randoms)]
		},
	})
	p.cluster(c.NodePartitions)
	for i := range c.Steps {
		if !t.Run(fmt.Sprintf("%02d %s", i, c.Steps[i].Step), func(t *testing.T) { p.t = t; p.play(&c.Steps[i]) }) {
			return
		}
		if p.flushed != nil && c.Steps[i].verb() == "append" {
			p.parted = true // from the first record after the flush on, the queues are not Java's
		}
		if p.parted {
			return
		}
	}
}

// cluster lists the partitions as the recorder's metadata did: in the order of a Java hash map. Each node's list must come
// out as the trace has it.
func (p *player) cluster(byNode map[string][]int32) {
	listed := hashOrder(p.c.topic, len(p.leaders))
	for node, want := range byNode {
		var got []int32
		for _, i := range listed {
			if p.leaders[i] == int32(atoi(node)) {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, want) {
			p.t.Fatalf("node %s leads %v, in the trace %v", node, got, want)
		}
	}
	p.setCluster(p.leaders, p.epochs, listed)
}

// hashOrder is the order in which java.util.HashMap, made for n entries, gives the TopicPartitions 0 … n-1 of a topic.
func hashOrder(topic string, n int) []int32 {
	hash := uint32(0)
	for i := range len(topic) {
		hash = hash*31 + uint32(topic[i])
	}
	size := 1
	for size < n {
		size *= 2
	}
	if n > size*3/4 {
		size *= 2
	}
	buckets := make([][]int32, size)
	for p := range uint32(n) {
		h := 31*(31+p) + hash
		h ^= h >> 16
		at := h & uint32(size-1)
		buckets[at] = append(buckets[at], int32(p))
	}
	return slices.Concat(buckets...)
}

func (p *player) play(s *traceStep) {
	args := s.args()
	switch s.verb() {
	case "append":
		p.append(s, args)
	case "ready":
		p.ready(s)
	case "drain":
		p.drain(s, args)
	case "advance":
		p.clk.Advance(clock.Ms(int64(atoi(args[0]))))
	case "mute":
		p.muted[int32(atoi(args[0]))] = true
	case "unmute":
		delete(p.muted, int32(atoi(args[0])))
	case "leader":
		p.leaders[atoi(args[0])], p.epochs[atoi(args[0])] = int32(atoi(args[1])), int32(atoi(args[2]))
		p.sched.takeIn(p.clk.Now())
		p.cluster(s.NodePartitions)
	case "reenqueue":
		p.sched.Landed(p.named[atoi(args[0])])
		p.sched.PutBack(p.named[atoi(args[0])], p.clk.Now())
	case "complete":
		p.complete(p.named[atoi(args[0])])
	case "split":
		p.split(s, p.named[atoi(args[0])])
	case "expired":
		p.expired(s)
	case "reset-expiry":
		p.expiry = math.MaxInt64
	case "estimate":
		ratio, err := strconv.ParseFloat(args[0], 32)
		if err != nil {
			p.t.Fatal(err)
		}
		p.topic.ratio.Set(float32(ratio))
	case "latency":
		p.sched.NodeLatency(int32(atoi(args[0])), p.clk.Now(), args[1] == "true")
	case "load":
		p.load(s)
	case "waiter":
		p.waitForMemory(atoi(args[0]))
	case "begin-flush":
		p.flushed = p.acc.Flush()
	case "close":
		p.acc.Close()
	case "abort-undrained":
		p.abort(p.sched.Queued, false)
	case "abort-incomplete", "abort-all", "abort-batches", "abort":
		p.abort(p.sched.Unended, true)
	default:
		p.t.Fatalf("unknown step %q", s.Step)
	}
	p.mute()
	p.compareState(s)
}

// mute mutes the queues that the trace has muted: Java names a partition, which may have no queue yet.
func (p *player) mute() {
	p.sched.takeIn(p.clk.Now())
	for i := range p.leaders {
		q := p.topic.at(int32(i))
		switch {
		case q == nil:
		case p.muted[q.Partition]:
			p.sched.Mute(q)
		default:
			p.sched.Unmute(q)
		}
	}
}

func (p *player) append(s *traceStep, args []string) {
	partition, count := AnyPartition, 1
	if args[0] != "?" {
		partition = int32(atoi(args[0]))
	}
	if len(args) > 2 {
		count = atoi(args[2])
	}
	for i := range count {
		value := make([]byte, atoi(args[1]))
		if p.c.ValueSeed != nil { // the same incompressible bytes for each record
			random := rand.New(rand.NewPCG(*p.c.ValueSeed, 0))
			for i := range value {
				value[i] = byte(random.Uint32())
			}
		}
		r, err := p.acc.Append(context.Background(), p.topic, partition, &Entry{TimestampMs: p.clk.WallMs(), Value: value}, 0)
		if i >= len(s.Results) {
			if p.allowed&splitEndsBatch != 0 && err == nil && strings.Contains(s.Error[0].Class, "BufferExhausted") {
				p.parted = true // the memory of a batch that was split is home, and is not in Java
				return
			}
			p.wantError(s, err)
			return
		}
		want := s.Results[i]
		if p.flushed != nil && errors.Is(err, kerr.ErrBufferExhausted) {
			return // a batch of its own needs memory
		}
		if p.allowed&chargedByChunk != 0 && errors.Is(err, kerr.ErrBufferExhausted) {
			p.parted = true // what Java keeps compressed fills our memory
			return
		}
		if err != nil {
			p.t.Fatalf("record %d: %v", i, err)
		}
		if p.flushed != nil {
			if !r.NewBatch {
				p.t.Errorf("record %d joined a batch that is being flushed", i)
			}
			return
		}
		if r.Partition != want.Partition || r.BatchFull != want.BatchIsFull || r.NewBatch != want.NewBatchCreated || r.Bytes != want.AppendedBytes {
			p.t.Fatalf("record %d: got partition %d, full %v, new %v, %d bytes; Java %+v", i, r.Partition, r.BatchFull, r.NewBatch, r.Bytes, want)
		}
	}
}

// withoutAvailable is the part of a message that differs where the accounting does.
var withoutAvailable = regexp.MustCompile(`Available memory: \d+ bytes`)

func (p *player) wantError(s *traceStep, err error) {
	if len(s.Error) == 0 || err == nil {
		p.t.Fatalf("got error %v, Java %v", err, s.Error)
	}
	class := s.Error[0].Class[strings.LastIndexByte(s.Error[0].Class, '.')+1:]
	if got := kerr.JavaName(err); got != class {
		p.t.Errorf("got a %s, Java a %s", got, class)
	}
	got, want := kerr.JavaMessage(err), s.Error[0].Message
	if p.allowed&chargedByChunk != 0 {
		got, want = withoutAvailable.ReplaceAllString(got, ""), withoutAvailable.ReplaceAllString(want, "")
	}
	if got != want {
		p.t.Errorf("got message %q, Java %q", got, want)
	}
}

func (p *player) ready(s *traceStep) {
	now := p.clk.Now()
	p.sched.Refresh(now)
	nodes := p.sched.Ready(now, nil)
	slices.Sort(nodes)
	if !slices.Equal(nodes, s.ReadyNodes) {
		p.t.Errorf("ready nodes %v, Java %v", nodes, s.ReadyNodes)
	}
	if got := p.sched.UnknownLeaders(); !slices.Equal(got, s.UnknownLeaderTopics) {
		p.t.Errorf("unknown leaders %q, Java %q", got, s.UnknownLeaderTopics)
	}
	got := int64(math.MaxInt64)
	if at := p.sched.NextReady(); at != clock.Never {
		got = at.Sub(now).Milliseconds()
	}
	if p.allowed&nextReadyOfAll == 0 {
		if got != s.NextReadyCheckDelayMs {
			p.t.Errorf("next ready check in %d ms, Java %d ms", got, s.NextReadyCheckDelayMs)
		}
		return
	}
	if got > s.NextReadyCheckDelayMs {
		p.t.Errorf("next ready check in %d ms, later than Java's %d ms", got, s.NextReadyCheckDelayMs)
	}
	if at, want := p.sched.NextReady(), p.nextReady(now); at != want {
		p.t.Errorf("next ready check at %d, but the next partition is ready at %d", at, want)
	}
}

// nextReady is the plain twin of NextReady: a walk over all partitions.
func (p *player) nextReady(now clock.Instant) clock.Instant {
	next := clock.Never
	for i, leader := range p.leaders {
		q := p.topic.at(int32(i))
		if q == nil || q.batches.len() == 0 || q.Muted || leader < 0 {
			continue
		}
		b := q.batches.front()
		at := b.LastAttempt.Add(p.acc.o.Linger)
		if b.backingOff(now) {
			at = b.retryAt
		} else if q.batches.len() > 1 || b.full() {
			at = now
		}
		if at > now {
			next = min(next, at)
		}
	}
	return next
}

func (p *player) drain(s *traceStep, args []string) {
	now := p.clk.Now()
	p.sched.takeIn(now)
	for _, node := range strings.Split(args[1], ",") {
		id := int32(atoi(node))
		p.sealHeads(s.Drained[node])
		open := map[*Queue]*Batch{}
		for _, q := range p.sched.queues {
			open[q] = q.open
		}
		expected := p.topic.ratio.Ratio()
		got := p.sched.Drain(now, id, atoi(args[0]), nil, nil)
		p.topic.ratio.Set(expected)
		p.sameDrain(id, got, s.Drained[node], atoi(args[0]))
		for q, b := range open { // ours may have closed what Java's drain did not come to
			taken := slices.ContainsFunc(s.Drained[node], func(w traceBatch) bool { return w.Partition == q.Partition })
			p.parted = p.parted || p.allowed&finalSizes != 0 && b != q.open && !taken
		}
		if p.parted {
			return
		}
	}
}

// sealHeads compresses what Java's drain takes, as that drain does.
func (p *player) sealHeads(want []traceBatch) {
	if p.c.Compression == "none" {
		return
	}
	for _, w := range want {
		q := p.topic.at(w.Partition)
		if q == nil || q.batches.len() == 0 {
			continue
		}
		b := q.batches.front()
		if b.state == Open {
			q.closeOpen()
			p.sched.look(q, p.clk.Now())
		}
		p.handedOut = p.sched.Seals(p.handedOut)
		if i := slices.Index(p.handedOut, b); i >= 0 {
			p.handedOut = slices.Delete(p.handedOut, i, i+1)
			b.Seal(p.compressor)
			expected := p.topic.ratio.Ratio()
			p.sched.Sealed(b)
			p.topic.ratio.Set(expected) // Java learns at the drain, and from its own encoder's size: see learn
		}
	}
}

// sameDrain compares a drain with Java's. Ours knows final sizes where Java estimates, so it may stop elsewhere.
func (p *player) sameDrain(id int32, got []*Batch, want []traceBatch, limit int) {
	same := len(got) == len(want)
	for i := range min(len(got), len(want)) {
		same = same && got[i].Queue.Partition == want[i].Partition
	}
	if !same && p.allowed&finalSizes != 0 {
		total := 0
		for _, b := range got {
			total += b.Size()
		}
		if total > limit && len(got) > 1 {
			p.t.Errorf("node %d: %d bytes in a request of %d", id, total, limit)
		}
		p.parted = true
		return
	}
	if len(got) != len(want) {
		p.t.Fatalf("node %d: %d batches, Java %d", id, len(got), len(want))
	}
	for i, b := range got {
		p.sameBatch(b, want[i])
		if want[i].Name != len(p.named) {
			p.t.Fatalf("batch is %d, Java's %d", len(p.named), want[i].Name)
		}
		p.named = append(p.named, b)
		delete(p.gone, b) // its memory may have been that of another batch
		p.learn(b, want[i])
	}
}

// learn has the topic expect what Java expects after it compressed this batch. Our encoders' sizes must be near.
func (p *player) learn(b *Batch, want traceBatch) {
	if p.c.Compression == "none" {
		return
	}
	if off := b.Size() - want.SizeInBytes; max(off, -off) > 80+want.SizeInBytes/5 { // our gzip stores what is tiny
		p.t.Errorf("compressed to %d bytes, Java to %d", b.Size(), want.SizeInBytes)
	}
	java := float32(want.SizeInBytes-record.BatchOverhead) / float32(b.UncompressedSize()-record.BatchOverhead)
	p.topic.ratio.Observe(java)
}

func (p *player) sameBatch(b *Batch, want traceBatch) {
	if b.Queue.Partition != want.Partition || b.RecordCount() != want.Records || b.Attempts != want.Attempts || b.CreatedAt != at(want.CreatedMs) {
		p.t.Fatalf("got batch of partition %d: %d records, %d attempts, created %d; Java %+v",
			b.Queue.Partition, b.RecordCount(), b.Attempts, b.CreatedAt, want)
	}
	if p.c.Compression == "none" && (b.Size() != want.EstimatedSizeInBytes || want.SizeInBytes != 0 && b.Size() != want.SizeInBytes) {
		p.t.Errorf("batch of partition %d has %d bytes, Java %+v", b.Queue.Partition, b.Size(), want)
	}
}

func (p *player) complete(b *Batch) {
	if p.gone[b] {
		return // split: it ended there
	}
	p.gone[b] = true
	p.land(b)
	c := p.sched.Complete(b, Ending{BaseOffset: 0, LogAppendMs: -1})
	p.acc.Free(p.mayFree(b))
	c.Finish()
}

func (p *player) split(s *traceStep, b *Batch) {
	q, records, before, raw := b.Queue, b.RecordCount(), b.Queue.batches.len(), b.UncompressedSize()-record.BatchOverhead
	p.land(b)
	got := p.sched.Split(b, p.clk.Now(), func(*Batch) {})
	p.gone[b] = true
	p.acc.Free(p.mayFree(b))
	if p.allowed&freeSplit != 0 {
		sum := 0
		var counts []int
		for i := range q.batches.len() {
			counts = append(counts, q.batches.at(i).RecordCount())
		}
		for _, n := range counts[:q.batches.len()-before] {
			sum += n
		}
		if sum != records {
			p.t.Errorf("%d records became %d pieces with %d records", records, got, sum)
		}
		if !slices.Equal(counts, s.RecordsPerQueuedBatch[strconv.Itoa(int(q.Partition))]) {
			p.parted = true
			return
		}
	}
	if got != s.Batches {
		p.t.Errorf("%d pieces, Java %d", got, s.Batches)
	}
	ratio := p.topic.ratio.Ratio()
	off := int(math.Abs(float64(ratio-s.Estimation)) * float64(raw)) // bytes
	if p.c.Compression == "none" && ratio != s.Estimation || off > 80+raw/5 {
		p.t.Errorf("expected ratio %v, Java %v", ratio, s.Estimation)
	}
	p.topic.ratio.Set(s.Estimation) // the ratio of incompressible bytes depends on the encoder; go on with Java's
}

func (p *player) expired(s *traceStep) {
	now := p.clk.Now()
	p.sched.takeIn(now)
	var got []*Batch
	for _, b := range p.sched.Expired(now, nil) {
		if b.state != InFlight { // Java's accumulator does not see those in flight: its sender does
			got = append(got, b)
		}
	}
	p.popped = append(p.popped, got...)
	// Java goes over partitions in the order of a hash map.
	slices.SortStableFunc(s.Expired, func(a, b traceBatch) int { return cmp.Compare(a.Partition, b.Partition) })
	if len(got) != len(s.Expired) {
		p.t.Fatalf("%d batches expired, Java %d", len(got), len(s.Expired))
	}
	for i, b := range got {
		p.sameBatch(b, s.Expired[i])
	}
	next := clock.Never // of queued batches, by walking
	for i := range p.leaders {
		if q := p.topic.at(int32(i)); q != nil && q.batches.len() > 0 {
			next = min(next, q.batches.front().CreatedAt.Add(p.acc.o.DeliveryTimeout))
		}
	}
	if next != clock.Never {
		p.expiry = min(p.expiry, int64(next)/1e6)
	}
	if p.expiry != s.NextExpiryTimeMs {
		p.t.Errorf("next expiry %d, Java %d", p.expiry, s.NextExpiryTimeMs)
	}
	for _, q := range p.sched.queues {
		for _, b := range q.InFlight {
			if !b.late && !b.ended {
				next = min(next, b.CreatedAt.Add(p.acc.o.DeliveryTimeout))
			}
		}
	}
	if got := p.sched.NextExpiry(); got != next {
		p.t.Errorf("NextExpiry is %d, but the oldest batch expires at %d", got, next)
	}
}

func (p *player) load(s *traceStep) {
	table := p.topic.sticky.Load()
	if s.Load == nil || table == nil {
		if (s.Load == nil) != (table == nil) {
			p.t.Errorf("load table %+v, Java %+v", table, s.Load)
		}
		return
	}
	if !slices.Equal(table.Total.Cumulative, s.Load.CumulativeFrequency) || !slices.Equal(table.Total.Partitions, s.Load.PartitionIDs) {
		p.t.Errorf("load table %+v, Java %+v", table.Total, s.Load)
	}
}

func (p *player) abort(which func([]*Batch) []*Batch, everything bool) {
	p.sched.takeIn(p.clk.Now())
	all := which(nil)
	for _, b := range p.popped {
		if everything || b.Attempts == 0 {
			all = append(all, b)
		}
	}
	p.popped = slices.DeleteFunc(p.popped, func(b *Batch) bool { return everything || b.Attempts == 0 })
	for _, b := range all {
		p.gone[b] = true
		c := p.sched.Complete(b, Ending{BaseOffset: -1, LogAppendMs: -1, Err: kerr.ErrForceClosed})
		if b.holder == HeldByRequest {
			p.sched.Landed(b) // Java frees at once
		}
		p.acc.Free(p.mayFree(b))
		c.Finish()
	}
}

func (p *player) compareState(s *traceStep) {
	if p.parted || p.flushed != nil && s.verb() == "append" {
		return
	}
	queued := map[string][]int{}
	undrained := 0
	for i := range p.leaders {
		q := p.topic.at(int32(i))
		if q == nil {
			continue
		}
		counts := []int{}
		for k := range q.batches.len() {
			counts = append(counts, q.batches.at(k).RecordCount())
		}
		queued[strconv.Itoa(i)] = counts
		undrained += len(counts)
	}
	if want := s.RecordsPerQueuedBatch; len(queued)+len(want) > 0 && !reflect.DeepEqual(queued, want) {
		p.t.Errorf("queues %v, Java %v", queued, want)
	}
	if got := p.sched.Undrained(); got != undrained || (got > 0) != s.HasUndrained {
		p.t.Errorf("%d batches undrained of %d, Java %v", got, undrained, s.HasUndrained)
	}
	if got := p.sched.Incomplete() > 0; got != s.HasIncomplete && p.allowed&splitEndsBatch == 0 {
		p.t.Errorf("incomplete %v, Java %v", got, s.HasIncomplete)
	}
	got := p.pool.Available()
	if p.allowed&chargedByChunk == 0 && got != s.AvailableMemory {
		p.t.Errorf("available memory %d, Java %d", got, s.AvailableMemory)
	}
	if want := p.pool.Total() - p.charged(); p.allowed&chargedByChunk != 0 && got != want {
		p.t.Errorf("available memory %d, but what batches hold leaves %d", got, want)
	}
}

// charged is what the batches in queues and in flight are charged with.
func (p *player) charged() (sum int64) {
	add := func(b *Batch) {
		sum += int64(b.charge)
		if !b.piece {
			for _, chunk := range b.builder.Memory()[1:] {
				sum += int64(len(chunk))
			}
		}
	}
	for i := range p.leaders {
		if q := p.topic.at(int32(i)); q != nil {
			for k := range q.batches.len() {
				add(q.batches.at(k))
			}
			for _, b := range q.InFlight {
				add(b)
			}
		}
	}
	for _, b := range p.popped {
		add(b)
	}
	return sum
}
