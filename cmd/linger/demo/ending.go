package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"linger/cmd/linger/human"
)

// readBack has another client read the log, and compares it with what was sent.
func (t *tour) readBack(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	start := time.Now()
	recs, err := t.broker.ReadAll(ctx, topic)
	if err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	t.screen.say(`
4. Read back, with another client (franz-go): %s in %s.`, human.Plural(int64(len(recs)), "record"), human.Duration(time.Since(start)))
	if complaints := check(t.book, t.placed, recs); len(complaints) > 0 {
		for _, c := range complaints {
			t.screen.say("   WRONG  %s", c)
		}
		return errors.New("the log is not what was sent; this is a bug, please report it")
	}
	t.screen.say(`   ok  every record is there once, byte for byte
   ok  each partition has its records in the order in which they were sent
   ok  each record stands at the offset that its callback was told`)
	return nil
}

// whatNext ends the tour.
func (t *tour) whatNext(took time.Duration) {
	t.screen.say(`
That was %s. What to try next:

  %[2]s produce --embedded --topic lines README.md
      your own data, with a summary; --bootstrap-server host:port instead of
      --embedded sends it to a real cluster
  %[2]s demo --rate 0 --records 500000 --codec lz4
      the same as fast as it goes
  %[2]s config --explain linger.ms
      what an option means; "config" alone lists all`, human.Duration(took), t.Program)
}
