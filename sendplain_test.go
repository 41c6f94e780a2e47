package linger_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linger"
)

// The short way of a record and its plain twin, the steps of Send, are indistinguishable: a serializer of the
// application's, which passes its bytes on, keeps a producer on the steps.
func TestTheShortWayOfARecordIsTheLongOne(t *testing.T) {
	passing := linger.SerializerFunc[[]byte](func(_ string, _ []linger.Header, v []byte) ([]byte, error) { return v, nil })
	records := []rec{
		{Topic: "t", Value: []byte("opens the batch")},
		{Topic: "t", Value: []byte("joins it")},
		{Topic: "t", Value: nil},
		{Topic: "t", Value: []byte{}},
		{Topic: "t", Key: []byte{}, Value: []byte("empty key")},
		{Topic: "t", Key: []byte("k"), Value: []byte("keyed")},
		{Topic: "t", Value: []byte("with a header"), Headers: []linger.Header{{Key: "h", Value: []byte("x")}}},
		{Topic: "t", Value: []byte("with a wish"), Partition: linger.On(0)},
		{Topic: "t", Value: []byte("with a time"), Timestamp: time.UnixMilli(12345)},
		{Topic: "", Value: []byte("without a topic")},
		{Topic: "other", Value: []byte("of another topic")},
		{Topic: "t", Value: []byte(strings.Repeat("x", 1000))},
		{Topic: "t", Value: []byte(strings.Repeat("larger than a request", 100))},
		{Topic: "t", Value: []byte("last")},
	}
	type outcome struct {
		SendErr, Err string
		MD, Heard    linger.RecordMetadata
	}
	run := func(ser linger.Serializer[[]byte]) (outcomes []outcome, log map[string][]string) {
		log = make(map[string][]string)
		bubble(t, func(t *testing.T, c *cluster) {
			c.topic("t", 1)
			c.topic("other", 1)
			p := producerOf(c, ser, ser, linger.BatchSize(1200), linger.MaxRequestSize(1500), linger.Linger(time.Second))
			warm(t, p)
			outcomes = make([]outcome, len(records))
			futures := make([]linger.Future, len(records))
			for i, r := range records {
				o := &outcomes[i]
				var err error
				if futures[i], err = p.Send(t.Context(), r, func(md linger.RecordMetadata, _ error) { o.Heard = md }); err != nil {
					o.SendErr = err.Error()
				}
			}
			for i, f := range futures {
				o := &outcomes[i]
				if o.SendErr != "" {
					continue
				}
				var err error
				if o.MD, err = f.Wait(t.Context()); err != nil {
					o.Err = err.Error()
				}
			}
			log["t"], log["other"] = c.values("t", 0), c.values("other", 0)
		})
		return outcomes, log
	}
	short, shortLog := run(linger.ByteArray)
	long, longLog := run(passing)
	if diff := cmp.Diff(long, short); diff != "" {
		t.Errorf("outcomes, long way first:\n%s", diff)
	}
	if diff := cmp.Diff(longLog, shortLog); diff != "" {
		t.Errorf("what the broker got, long way first:\n%s", diff)
	}
}
