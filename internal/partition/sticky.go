package partition

import "sync/atomic"

// Choice is one sticky choice: a partition and the bytes produced to it since it was chosen. Each choice is a new object:
// comparing pointers shows a switch even when the same partition was drawn again.
type Choice struct {
	partition int32
	produced  int32 // guarded by the lock of the partition's queue, since it is counted with each record
}

// Partition is the chosen partition, -1 when the topic had none.
func (c *Choice) Partition() int32 { return c.partition }

// Produced is how many bytes went to this choice so far. As Update it is for the holder of the queue lock.
func (c *Choice) Produced() int32 { return c.produced }

// Sticky is the built-in partitioner of one topic. Any goroutine may call Peek and Changed, holding nothing; Update is
// called holding the queue lock of the choice's partition; UpdateLoad by the sender alone.
type Sticky struct {
	size      int32 // batch.size, at least 1
	rackAware bool
	rack      string
	random    func() int32

	current atomic.Pointer[Choice]
	load    atomic.Pointer[LoadTable] // nil: uniform choice
	builder loadBuilder               // the sender's
	spare   []Choice                  // not chosen yet: whoever replaces the current choice takes one
}

// NewSticky returns the partitioner of a topic that stays with a partition for about batchSize bytes (sizes below 1 count
// as 1: batch.size=0 switches with each record). random gives uniform int32s, negative ones included, and must be safe
// for concurrent use. With rackAware, leaders in rack (client.rack) are preferred (KIP-1123).
func NewSticky(batchSize int32, rackAware bool, rack string, random func() int32) *Sticky {
	return &Sticky{size: max(batchSize, 1), rackAware: rackAware, rack: rack, random: random}
}

// Peek is the current choice. The first caller makes it; callers that race for the first agree on one.
//
// Between Peek and the queue lock another goroutine may switch: check Changed once the lock is held.
func (s *Sticky) Peek(v *View) *Choice {
	if c := s.current.Load(); c != nil {
		return c
	}
	return s.first(v)
}

func (s *Sticky) first(v *View) *Choice {
	c := &Choice{partition: s.draw(v)}
	if s.current.CompareAndSwap(nil, c) {
		return c
	}
	return s.current.Load()
}

// Changed reports whether c is no longer the current choice. A nil c (the record named its partition) never changed.
func (s *Sticky) Changed(c *Choice) bool {
	return c != nil && s.current.Load() != c
}

// Update counts appended bytes (may be 0) towards c and switches when enough went there: at batch.size bytes if
// enableSwitch, at twice that anyway. It reports whether it switched. A nil c does nothing. c must be the current choice
// and its partition's queue lock be held.
//
// Why not always at batch.size: with a long linger.ms the open batch would be left half full each time, and batches of
// 12 KB and 4 KB would go out in turn instead of full ones. The caller enables the switch only when no unfilled batch
// waits; the factor 2 makes sure that none sticks for ever when keyed records keep opening batches (KIP-794).
//
// Arithmetic is Java's, 32 bits that wrap: with batch.size of 1 GiB and more, twice the size is negative there, and each
// record switches.
func (s *Sticky) Update(c *Choice, v *View, appended int, enableSwitch bool) (switched bool) {
	if c == nil {
		return false
	}
	c.produced += int32(appended)
	if c.produced >= s.size*2 || (enableSwitch && c.produced >= s.size) {
		s.current.Store(s.next(v))
		return true
	}
	return false
}

// next makes a choice. Choices are made many at a time, since each batch may need one. Only the holder of the current
// choice's lock comes here, and hands what it leaves over with the new choice.
func (s *Sticky) next(v *View) *Choice {
	if len(s.spare) == 0 {
		s.spare = make([]Choice, choicesAtOnce)
	}
	c := &s.spare[0]
	s.spare = s.spare[1:]
	c.partition = s.draw(v)
	return c
}

const choicesAtOnce = 32

// draw uses up exactly one random number.
func (s *Sticky) draw(v *View) int32 {
	random := ToPositive(s.random())
	if table := s.load.Load(); table != nil {
		return table.pick(random)
	}
	return v.uniform(random)
}

// UpdateLoad replaces the load table by the one that follows from the queues: queues[i] batches wait for partitions[i],
// led from racks[i] ("" = no rack known; racks may be nil unless rack-aware). The slices hold all partitions of the topic
// that have a leader, those left out (partitioner.availability.timeout.ms) behind the first length. A nil queues means a
// uniform choice. The slices stay the caller's and are not kept. A table equal to the one in force is not made again.
func (s *Sticky) UpdateLoad(queues, partitions []int32, racks []string, length int) {
	old := s.load.Load()
	if !s.builder.build(queues, partitions, racks, length, s.rackAware, s.rack) {
		if old != nil {
			s.load.Store(nil)
		}
		return
	}
	if old != nil && old.Total.equal(&s.builder.total) && old.InRack.equal(&s.builder.inRack) {
		return
	}
	s.load.Store(s.builder.table(old, s.rackAware))
}

// Load is the table in force, nil when the choice is uniform. It is for display; do not write to it.
func (s *Sticky) Load() *LoadTable { return s.load.Load() }
