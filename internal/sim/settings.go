package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"linger/internal/compress"
)

// mode is what the producer's options promise.
type mode uint8

const (
	// idempotent: acks=all, up to 5 requests in flight; exactly once and in order.
	idempotent mode = iota
	// ordered: not idempotent, one request in flight; at least once, first copies in order.
	ordered
	// loose: not idempotent, several in flight; at least once.
	loose
	// silent: acks=0; nothing but that no byte is wrong.
	silent
)

// firstSequence is what brokers say to a producer that they do not know and that does not begin at 0.
type firstSequence uint8

const (
	unknownProducer firstSequence = iota // UNKNOWN_PRODUCER_ID: before KIP-360
	outOfOrder                           // OUT_OF_ORDER_SEQUENCE_NUMBER: from 4.5 on
	welcome                              // nothing: in between (B04)
)

var modeNames = [...]string{"idempotent", "ordered", "loose", "silent"}

// settings are what a world is like; all of it is drawn before the world begins.
type settings struct {
	mode        mode
	brokers     int
	partitions  []int // by topic
	maxInFlight int
	acks        int16
	retries     int

	codec       compress.Type
	batchSize   int
	memory      int64
	incremental bool
	maxRequest  int
	undelivered int

	linger, requestTimeout, deliveryTimeout time.Duration
	retryBackoffMs, retryBackoffMaxMs       int64
	reconnectMs, reconnectMaxMs             int64
	setupMs, setupMaxMs                     int64
	metadataAgeMs                           int64
	maxIdle                                 time.Duration

	// Of the brokers.
	produceMax, metadataMax, helloMax, initMax int16
	batchLimit                                 int // message.max.bytes, 0 none
	duplicateIsError                           bool
	firstSequence                              firstSequence
	firstEpoch                                 int16
	hints                                      bool
	latency                                    time.Duration // of one way
	replication                                time.Duration // what acks=all adds to an answer, at most

	// Of faults.
	requestFaults float64       // chance that a request meets one
	linkFaults    float64       // chance that a dial or write meets one
	clusterEvery  time.Duration // between faults of the cluster

	// Of the application.
	records, maxValue, burst int
	pause                    time.Duration // between bursts, at most
	lateCallbacks, lateSeals bool
	slowLoop                 bool
	force                    bool // closed by force, in the middle of things
}

const (
	minRecords  = 200
	peaceful    = 20 // records sent once the world has healed
	mostRecords = 1500
	mostRetries = 6 // where they are few
	minFaults   = 5
)

// dice draws.
type dice struct{ *rand.Rand }

// newDice are the dice of one actor of one world.
func newDice(seed, actor uint64) dice { return dice{rand.New(rand.NewPCG(seed, actor))} }

func (d dice) chance(p float64) bool { return d.Float64() < p }

// between draws from low to high, both included.
func (d dice) between(low, high int) int { return low + d.IntN(high-low+1) }

func (d dice) ms(low, high int) time.Duration {
	return time.Duration(d.between(low, high)) * time.Millisecond
}

// upTo draws a duration above 0.
func (d dice) upTo(most time.Duration) time.Duration { return 1 + time.Duration(d.Int64N(int64(most))) }

func draw(d dice) settings {
	s := settings{}
	s.drawPromise(d)
	s.drawCluster(d)
	s.drawSizes(d)
	s.drawTimes(d)
	s.drawTrouble(d)
	return s
}

func (s *settings) drawPromise(d dice) {
	s.retries = math.MaxInt32
	switch n := d.IntN(100); {
	case n < 55:
		s.mode, s.acks, s.maxInFlight = idempotent, -1, d.between(2, 5)
		if d.chance(0.15) {
			s.maxInFlight = 1
		}
	case n < 85:
		s.mode, s.acks, s.maxInFlight = ordered, -1, 1
		if d.chance(0.3) {
			s.acks = 1
		}
	case n < 95:
		s.mode, s.acks, s.maxInFlight = loose, -1, d.between(2, 5)
		if d.chance(0.3) {
			s.acks = 1
		}
	default:
		s.mode, s.acks, s.maxInFlight = silent, 0, d.between(1, 5)
	}
	if d.chance(0.2) {
		s.retries = d.between(1, mostRetries)
	}
}

func (s *settings) drawCluster(d dice) {
	s.brokers = d.between(2, 3)
	s.partitions = []int{d.between(1, 4)}
	if s.partitions[0] < 3 || d.chance(0.3) {
		s.partitions = append(s.partitions, d.between(2, 3))
	}
	s.produceMax = int16([]int{3, 7, 8, 9, 10, 12, 13, 13, 13}[d.IntN(9)])
	s.metadataMax = int16([]int{4, 7, 8, 9, 11, 12, 13, 13, 13}[d.IntN(9)])
	s.helloMax = int16([]int{0, 2, 3, 4, 4, 5, 5}[d.IntN(7)])
	s.initMax = int16(d.between(0, 5))
	s.duplicateIsError = d.chance(0.2)
	s.firstSequence = firstSequence(d.IntN(3))
	s.hints = d.chance(0.6)
	s.latency = d.ms(1, 4)
	s.replication = d.ms(1, 30)
	if d.chance(0.1) {
		s.firstEpoch = math.MaxInt16 - int16(d.between(0, 3))
	}
}

func (s *settings) drawSizes(d dice) {
	s.records = d.between(minRecords, 300)
	s.maxValue = d.between(8, 120)
	s.burst = d.between(1, 25)
	s.batchSize = d.between(150, 1200)
	if d.chance(0.1) {
		s.batchSize = 0
	}
	s.memory = int64(max(s.batchSize, 400)) * int64(d.between(4, 30))
	s.incremental = s.batchSize > 0 && d.chance(0.2)
	s.maxRequest = max(s.batchSize, 200) * d.between(1, 4)
	s.undelivered = 1000
	if d.chance(0.2) {
		s.undelivered = d.between(1, 5)
	}
	if d.chance(0.3) {
		// No record is too large alone, else its failure would be one more fault.
		s.batchLimit = 61 + 40 + maxOverhead + s.maxValue + d.IntN(300)
	}
	switch n := d.IntN(100); {
	case n < 10:
		s.codec = compress.LZ4
	case n < 13:
		s.codec = compress.Snappy
	}
}

// maxOverhead is more than what a record of the application's takes besides its value: lengths, key, header.
const maxOverhead = 60

func (s *settings) drawTimes(d dice) {
	if d.chance(0.6) {
		s.linger = d.ms(1, 30)
	}
	s.requestTimeout = d.ms(150, 800)
	s.deliveryTimeout = s.linger + s.requestTimeout
	switch n := d.IntN(10); {
	case n < 3:
		s.deliveryTimeout += d.ms(0, 100)
	case n < 7:
		s.deliveryTimeout += d.ms(500, 3000)
	default:
		s.deliveryTimeout += 20 * time.Second
	}
	s.retryBackoffMs = int64(d.between(1, 50))
	s.retryBackoffMaxMs = s.retryBackoffMs * int64(d.between(1, 6))
	s.reconnectMs = int64(d.between(1, 50))
	s.reconnectMaxMs = s.reconnectMs * int64(d.between(1, 6))
	s.setupMs = int64(d.between(100, 400))
	s.setupMaxMs = s.setupMs * int64(d.between(1, 3))
	s.metadataAgeMs = int64(d.between(200, 5000))
	s.maxIdle = d.ms(300, 3000)
	if d.chance(0.5) {
		s.maxIdle = -1
	}
}

func (s *settings) drawTrouble(d dice) {
	s.requestFaults = 0.03 + 0.2*d.Float64()
	s.linkFaults = 0.01 + 0.08*d.Float64()
	s.clusterEvery = d.ms(30, 800)
	s.pause = d.ms(1, 20)
	s.lateCallbacks, s.lateSeals, s.slowLoop = d.chance(0.4), d.chance(0.5), d.chance(0.2)
	s.force = d.chance(0.12)
}

// heal is how long after the last fault everything older is over: no batch lives longer than delivery.timeout.ms, no
// request longer than request.timeout.ms, and then connections have to be made and metadata to be fetched.
func (s *settings) heal() time.Duration {
	slow := time.Duration(4*s.setupMaxMs+2*s.reconnectMaxMs+2*s.retryBackoffMaxMs) * time.Millisecond
	return s.deliveryTimeout + 2*s.requestTimeout + slow + 2*time.Second
}
