//go:build unix

package producer_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"linger"
	"linger/test/broker/kafkatest"
)

// The broker has appended, its answer is lost, the batch goes out again with its old sequence: one copy in the log, and the
// record succeeds with its first offset (B05, IDEM-01, IDEM-16).
func TestALostAnswerLeavesOneCopy(t *testing.T) {
	for _, inFlight := range []int{1, 5} {
		t.Run(fmt.Sprintf("%d in flight", inFlight), func(t *testing.T) {
			c := one(t)
			topic := c.NewTopic(t, 1, nil)
			cut := newCutter()
			p := newProducer(t, c, linger.WithDialer(cut.dial), linger.MaxInFlightRequestsPerConnection(inFlight), linger.Linger(0))
			ctx := within(t, patience)
			for i := range int64(4) {
				if i == 2 {
					cut.loseAnswers(2) // of the first attempt and of the second
				}
				md, err := p.SendSync(ctx, record{Topic: topic, Value: fmt.Append(nil, i)})
				if err != nil || md.Offset != i {
					t.Fatalf("record %d: offset %d, %v", i, md.Offset, err)
				}
			}
			if cut.lost() != 2 {
				t.Fatalf("%d answers were lost, want 2", cut.lost())
			}
			got := kafkatest.ReadAll(t, c, topic)
			if len(got) != 4 {
				t.Fatalf("%d records in the log, want 4", len(got))
			}
			for i, b := range c.Leader(t, topic, 0).Dump(t, topic, 0) {
				if b.BaseSequence != int64(i) || string(got[i].Value) != fmt.Sprint(i) {
					t.Errorf("offset %d has sequence %d and value %s", i, b.BaseSequence, got[i].Value)
				}
			}
			if retried := p.Counters().RecordsRetried; retried != 2 {
				t.Errorf("%d records were sent again, want 2", retried)
			}
		})
	}
}

// Each producer has an id of its own at epoch 0 (IDEM-03, IDEM-04); what a second one sends again is a new record, since
// protection ends with the session (IDEM-27).
func TestASecondProducerIsAnotherSession(t *testing.T) {
	c := one(t)
	topic := c.NewTopic(t, 1, nil)
	ctx := within(t, patience)
	var ids []linger.Identity
	for i := range int64(2) {
		p := newProducer(t, c)
		md, err := p.SendSync(ctx, record{Topic: topic, Key: []byte("same"), Value: []byte("record")})
		if err != nil || md.Offset != i {
			t.Fatalf("offset %d, %v, want %d", md.Offset, err, i)
		}
		ids = append(ids, p.Identity())
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if ids[0].ProducerID < 0 || ids[0].ProducerID == ids[1].ProducerID || ids[0].Epoch != 0 || ids[1].Epoch != 0 {
		t.Errorf("identities %+v, want different ids at epoch 0", ids)
	}
	got := kafkatest.ReadAll(t, c, topic)
	if len(got) != 2 || got[0].ProducerID != ids[0].ProducerID || got[1].ProducerID != ids[1].ProducerID {
		t.Errorf("the log holds %+v, want one record of each of %+v", got, ids)
	}
}

// Somebody goes on with our producer id at the next epoch: the broker refuses ours, and Send's outcome says so (IDEM-04).
func TestARequestWithAnOlderEpochIsRefused(t *testing.T) {
	c := one(t)
	topic := c.NewTopic(t, 1, nil)
	p := newProducer(t, c)
	ctx := within(t, patience)
	if _, err := p.SendSync(ctx, record{Topic: topic, Value: []byte("ours")}); err != nil {
		t.Fatal(err)
	}
	if code := produceRaw(t, c.Client(t), topic, p.Identity().ProducerID, 1, 0); code != 0 {
		t.Fatalf("the batch at epoch 1 is refused with %d", code)
	}
	_, err := p.SendSync(ctx, record{Topic: topic, Value: []byte("late")})
	e, ok := errors.AsType[*linger.ProducerError](err)
	if !ok || e.Code.Name() != "INVALID_PRODUCER_EPOCH" {
		t.Errorf("got %v, want INVALID_PRODUCER_EPOCH", err)
	}
	for _, r := range kafkatest.ReadAll(t, c, topic) {
		if string(r.Value) == "late" {
			t.Error("the refused record is in the log")
		}
	}
}

// After sequences 0 and 1 the broker refuses 3 as out of order, and takes 2 (IDEM-18).
func TestAGapIsRefused(t *testing.T) {
	c := one(t)
	topic := c.NewTopic(t, 1, nil)
	p := newProducer(t, c)
	ctx := within(t, patience)
	for range 2 {
		if _, err := p.SendSync(ctx, record{Topic: topic, Value: []byte("ours")}); err != nil {
			t.Fatal(err)
		}
	}
	const outOfOrder = 45
	for _, step := range []struct {
		sequence int32
		want     int16
	}{{3, outOfOrder}, {2, 0}, {4, outOfOrder}, {3, 0}} {
		if code := produceRaw(t, c.Client(t), topic, p.Identity().ProducerID, 0, step.sequence); code != step.want {
			t.Errorf("sequence %d: code %d, want %d", step.sequence, code, step.want)
		}
	}
	if got := kafkatest.ReadAll(t, c, topic); len(got) != 4 {
		t.Errorf("%d records in the log, want the 4 that came in order", len(got))
	}
}

// produceRaw writes one record in a batch with that identity and sequence, and returns the error code of the client's first
// broker.
func produceRaw(t *testing.T, client *kgo.Client, topic string, id int64, epoch int16, sequence int32) int16 {
	t.Helper()
	rec := kmsg.Record{Value: []byte("theirs")}
	rec.Length = int32(len(rec.AppendTo(nil)) - 1) // the placeholder length takes one byte
	now := time.Now().UnixMilli()
	batch := kmsg.RecordBatch{
		Magic: 2, FirstTimestamp: now, MaxTimestamp: now, ProducerID: id, ProducerEpoch: epoch, FirstSequence: sequence, NumRecords: 1, PartitionLeaderEpoch: -1,
		Records: rec.AppendTo(nil),
	}
	raw := batch.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))

	part := kmsg.NewProduceRequestTopicPartition()
	part.Records = raw
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic, rt.Partitions = topic, []kmsg.ProduceRequestTopicPartition{part}
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis, req.Topics = -1, 10_000, []kmsg.ProduceRequestTopic{rt}
	req.Version = 12 // the last that names topics
	resp, err := client.SeedBrokers()[0].Request(t.Context(), pinned{req})
	if err != nil {
		t.Fatal(err)
	}
	return resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode
}

// pinned keeps the version that a request has.
type pinned struct{ *kmsg.ProduceRequest }

func (p pinned) MaxVersion() int16 { return p.Version }

// Protection is per partition: of two records sent together, one is refused and the other is written, in no order of theirs
// (IDEM-26). What a broker refuses for good reaches the application and gives its memory back (RESP-06).
func TestPartitionsSucceedAndFailApart(t *testing.T) {
	c := one(t)
	small := c.NewTopic(t, 1, map[string]string{"max.message.bytes": "1000"})
	large := c.NewTopic(t, 1, nil)
	p := newProducer(t, c)
	ctx := within(t, patience)
	value := make([]byte, 5000)
	first, err := p.Send(ctx, record{Topic: small, Value: value}, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := p.Send(ctx, record{Topic: large, Value: value}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Wait(ctx); !errors.Is(err, linger.ErrRecordTooLarge) {
		t.Errorf("the record that is too large: %v", err)
	}
	if md, err := second.Wait(ctx); err != nil || md.Offset != 0 {
		t.Errorf("the other record: offset %d, %v", md.Offset, err)
	}
	if _, err := p.SendSync(ctx, record{Topic: "no topic name", Value: value}); !errors.Is(err, linger.ErrInvalidTopic) {
		t.Errorf("an invalid topic: %v", err)
	}
	if _, err := p.SendSync(ctx, record{Topic: small, Value: value[:100]}); err != nil {
		t.Errorf("the next record of that partition: %v", err)
	}
	if n := len(kafkatest.ReadAll(t, c, small)); n != 1 {
		t.Errorf("%d records in the topic with the limit, want 1", n)
	}
	if report, err := p.Shutdown(ctx); err != nil || report.BytesLeft != 0 || report.Delivered != 2 || report.Failed != 1 {
		t.Errorf("report %+v, %v", report, err)
	}
}

// Metadata carry where the record ended and how large its sides were (SEND-29).
func TestMetadataSayWhereAndHowLarge(t *testing.T) {
	c := one(t)
	topic := c.NewTopic(t, 3, nil)
	p := newProducer(t, c)
	at := time.UnixMilli(1_700_000_000_123)
	md, err := p.SendSync(within(t, patience), record{Topic: topic, Partition: linger.On(2), Key: []byte("four"), Timestamp: at})
	want := linger.RecordMetadata{Topic: topic, Partition: 2, Offset: 0, Timestamp: at, KeySize: 4, ValueSize: -1}
	if err != nil || md != want {
		t.Errorf("got %+v, %v, want %+v", md, err, want)
	}
}

// Close sends what lingers, waits for it, and takes nothing more (CLOSE-02, CLOSE-04).
func TestCloseDeliversEverythingAccepted(t *testing.T) {
	c := one(t)
	topic := c.NewTopic(t, 3, nil)
	p := newProducer(t, c, linger.Linger(time.Minute))
	ctx := within(t, patience)
	const n = 5000
	accepted := make(chan linger.Future, n)
	stop := make(chan error, 1)
	go func() { // sends on until close turns it away
		defer close(accepted)
		for i := range n {
			f, err := p.Send(ctx, record{Topic: topic, Value: fmt.Append(nil, i)}, nil)
			if err != nil {
				stop <- err
				return
			}
			accepted <- f
		}
		stop <- nil
	}()
	var futures []linger.Future
	for len(futures) < n/2 {
		futures = append(futures, <-accepted)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for f := range accepted {
		futures = append(futures, f)
	}
	if err := <-stop; err != nil && !errors.Is(err, linger.ErrClosed) {
		t.Errorf("the send that met the close: %v", err)
	}
	for i, f := range futures {
		if !f.Ready() {
			t.Fatalf("Close has returned and record %d has no outcome", i)
		}
		if _, err := f.Wait(ctx); err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
	}
	if got := len(kafkatest.ReadAll(t, c, topic)); got != len(futures) {
		t.Errorf("%d records in the log, %d were accepted", got, len(futures))
	}
	if _, err := p.Send(ctx, record{Topic: topic}, nil); !errors.Is(err, linger.ErrClosed) {
		t.Errorf("send after close: %v", err)
	}
}

// A close wakes whoever waits for memory or for metadata; later sends fail at once (B09). Somebody who waits for memory makes
// what is buffered ready, so the record before may be on its way by then: no answer to it comes through.
func TestCloseWakesWhoeverWaits(t *testing.T) {
	c := one(t)
	topic := c.NewTopic(t, 2, nil)
	for name, wait := range map[string]struct {
		rec      record
		function string
	}{
		"for memory":   {record{Topic: topic, Partition: linger.On(1), Value: make([]byte, 100)}, waitsForMemory},
		"for metadata": {record{Topic: topic + "-unknown"}, waitsForMetadata},
	} {
		t.Run(name, func(t *testing.T) {
			cut := newCutter()
			cut.swallowAnswers()
			p := newProducer(t, c, linger.WithDialer(cut.dial), linger.BufferMemory(20_000), linger.BatchSize(20_000), linger.Linger(time.Minute),
				linger.MaxBlock(10*time.Minute), linger.RequestTimeout(10*time.Minute), linger.DeliveryTimeout(20*time.Minute))
			ctx := context.Background()
			held, err := p.Send(ctx, record{Topic: topic, Partition: linger.On(0), Value: make([]byte, 100)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				_, err := p.Send(ctx, wait.rec, nil)
				ended <- err
			}()
			(&sendRun{T: t}).await(wait.function)
			if err := p.CloseTimeout(0); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; !errors.Is(err, linger.ErrClosedDuringSend) {
				t.Errorf("the waiting send: %v", err)
			}
			if _, err := held.Wait(ctx); !errors.Is(err, linger.ErrForceClosed) {
				t.Errorf("the buffered record: %v", err)
			}
			if _, err := p.Send(ctx, wait.rec, nil); !errors.Is(err, linger.ErrClosed) || errors.Is(err, linger.ErrClosedDuringSend) {
				t.Errorf("send after close: %v", err)
			}
			if err := p.Flush(ctx); err != nil {
				t.Errorf("flush after close: %v", err)
			}
		})
	}
}

// Flush in a callback is refused; Close there counts as one with limit zero and returns although a record still lingers
// (B10).
func TestFlushAndCloseInsideACallback(t *testing.T) {
	c := one(t)
	topic := c.NewTopic(t, 2, nil)
	p := newProducer(t, c, linger.Linger(0))
	ctx := within(t, patience)
	type both struct{ flush, close error }
	inside := make(chan both, 1)
	f, err := p.Send(ctx, record{Topic: topic, Value: []byte("v")}, func(linger.RecordMetadata, error) {
		inside <- both{p.Flush(ctx), p.CloseTimeout(patience)}
	})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-inside:
		if !errors.Is(got.flush, linger.ErrIllegalState) || got.close != nil {
			t.Errorf("flush: %v, close: %v", got.flush, got.close)
		}
	case <-ctx.Done():
		t.Fatal("the callback hangs")
	}
	if _, err := f.Wait(ctx); err != nil {
		t.Errorf("the record: %v", err)
	}
	if _, err := p.Send(ctx, record{Topic: topic}, nil); !errors.Is(err, linger.ErrClosed) {
		t.Errorf("send after the close: %v", err)
	}
}
