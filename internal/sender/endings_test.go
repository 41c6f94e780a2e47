package sender

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"linger/internal/accumulator"
	"linger/internal/kerr"
	"linger/internal/wire"
)

// RESP-10: records that the broker named fail with what it said of them, the others of their batch with a general error;
// the transaction state hears of the broker's error for the whole.
func TestRecordErrorsAreTheRecordsOwn(t *testing.T) {
	named := func(index int32, text string) wire.RecordError {
		return wire.RecordError{BatchIndex: index, HasMessage: text != "", Message: text}
	}
	const others = "KafkaException: Failed to append record because it was part of a batch which had one more more invalid records"
	for name, c := range map[string]struct {
		code   kerr.Code
		errs   []wire.RecordError
		whole  string
		record map[int32]string
		rest   string
	}{
		"nothing named": {kerr.InvalidTimestamp, nil, "InvalidTimestampException", map[int32]string{}, "InvalidTimestampException: all of it"},
		"one, with the code of the batch": {kerr.InvalidTimestamp, []wire.RecordError{named(1, "too old")}, "InvalidTimestampException",
			map[int32]string{1: "InvalidTimestampException: too old"}, others},
		"several, whose codes nobody knows": {kerr.InvalidTimestamp, []wire.RecordError{named(0, "too old"), named(2, "")}, "InvalidTimestampException",
			map[int32]string{0: "InvalidRecordException: too old", 2: "InvalidRecordException: all of it"}, others},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, plainSetting())
			w.connect()
			w.append(0, 10, 3)
			w.turn()
			b := &accumulator.Batch{Queue: &accumulator.Queue{Topic: w.acc.Topic("t")}}
			e, whole := w.s.endingOf(b, partitionAnswer{code: c.code, message: "all of it", recordErrs: c.errs})
			if got := kerr.JavaName(whole); got != c.whole {
				t.Errorf("the whole batch: %s", got)
			}
			text := func(err error) string { return kerr.JavaName(err) + ": " + kerr.JavaMessage(err) }
			got := map[int32]string{}
			for i, err := range e.RecordErrs {
				got[i] = text(err)
			}
			if d := cmp.Diff(c.record, got); d != "" || text(e.Err) != c.rest {
				t.Errorf("records (-want +got):\n%sthe others: %s", d, text(e.Err))
			}
		})
	}
}
