package demo

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"linger"
	"linger/cmd/linger/human"
	"linger/lingertest/kafka"
)

// Options says how the tour is given.
type Options struct {
	// Records to send.
	Records int
	// Rate is in records a second, so that there is something to watch; 0 is as fast as it goes.
	Rate int
	// Codec is a compression.type.
	Codec string
	// Out is told everything; Terminal says that it can be drawn on.
	Out      io.Writer
	Terminal bool
	// Program is how this program is called, for the commands to try next.
	Program string
	// Log takes the producer's warnings; nil keeps them out.
	Log linger.Option
}

// DefaultOptions makes a tour of some seven seconds.
func DefaultOptions() Options { return Options{Records: 240_000, Rate: 75_000, Codec: "zstd"} }

// What the tour is made of.
const (
	topic      = "opticks"
	brokers    = 3
	partitions = 6

	faulty      = 2 // the partition with the fault
	refusals    = 3
	notLeader   = 6 // NOT_LEADER_OR_FOLLOWER
	closeLimit  = 30 * time.Second
	readLimit   = 30 * time.Second
	redrawEvery = 100 * time.Millisecond
	tellEvery   = time.Second
	burst       = 5 * time.Millisecond
)

// tour is one tour under way.
type tour struct {
	Options
	screen *screen
	book   *book
	broker *kafka.Broker
	p      *linger.Producer[[]byte, []byte]
	board  *board
	placed []placement           // by record; the callbacks write it
	failed atomic.Pointer[error] // of the first record that failed
}

// Run gives the tour. Its error is that something went wrong which should not: a record failed, the log differs, or ctx
// ended.
func Run(ctx context.Context, o Options) error {
	t := &tour{Options: o, screen: newScreen(o.Out, o.Terminal), book: newBook(opticks), placed: make([]placement, o.Records)}
	start := time.Now()
	if err := t.open(); err != nil {
		return err
	}
	defer t.broker.Close()
	t.introduce()
	if err := t.send(ctx); err != nil {
		return err
	}
	if err := t.readBack(ctx); err != nil {
		return err
	}
	t.whatNext(time.Since(start))
	return t.screen.err
}

// open starts the broker and the producer; with an error neither is left.
func (t *tour) open() (err error) {
	t.broker, err = kafka.Start(kafka.Options{Brokers: brokers, Topics: map[string]int32{topic: partitions}})
	if err != nil {
		return err
	}
	if err = t.openProducer(); err != nil {
		t.broker.Close()
	}
	return err
}

func (t *tour) openProducer() error {
	leaders := make([]int32, partitions)
	for p := range leaders { // the brokers draw lots; a fair share looks better
		leaders[p] = int32(p % brokers)
		if err := t.broker.MoveLeader(topic, int32(p), leaders[p]); err != nil {
			return err
		}
	}
	opts := []linger.Option{linger.BootstrapServers(t.broker.Addrs()...), linger.CompressionType(t.Codec)}
	if t.Log != nil {
		opts = append(opts, t.Log)
	}
	p, err := linger.New(linger.ByteArray, linger.ByteArray, opts...)
	if err != nil {
		return err
	}
	t.p = p
	t.board = &board{
		total: t.Records, shares: t.book.shares(t.Records, partitions), leaders: leaders, codec: t.Codec,
		counters: p.Counters, sent: make([]atomic.Int64, partitions), acked: make([]atomic.Int64, partitions),
	}
	return nil
}

func (t *tour) introduce() {
	t.screen.say(`linger demo: a Kafka producer at work

  text      "Opticks" by Isaac Newton, 1730 (public domain). A record is one of
            its %s lines, its key the line's number; %s are
            %.1f copies.
  brokers   %d, embedded in this process (franz-go's kfake): nothing to install
  topic     "%s" with %d partitions; a record's key decides where it goes
  producer  Kafka's defaults (acks=all, idempotent: no loss, no duplicates, in
            order) and compression.type=%s

1. Send. Records are gathered in batches, one partition a batch; batches for
   the same broker travel together.%s`,
		human.Count(int64(len(t.book.lines))), human.Plural(int64(t.Records), "record"), float64(t.Records)/float64(len(t.book.lines)),
		brokers, topic, partitions, t.Codec, t.paceText())
}

func (t *tour) paceText() string {
	if t.Rate <= 0 {
		return ""
	}
	return fmt.Sprintf(" At %s records a second, so that you can\n   watch; --rate 0 goes as fast as it can.", human.Count(int64(t.Rate)))
}
