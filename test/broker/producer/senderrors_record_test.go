//go:build unix

package producer_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"linger"
	"linger/test/broker/kafkatest"
)

// construction runs a vector about a record's constructor. Go's record is a plain value, so that Send does the checking: a
// record that Java constructs is sent and must come back from the log as Java prints it.
func (r *sendRun) construction(c sendCase) {
	want := decode[stepResult](r.T, c.Outcome)
	rec := r.constructed(decode[string](r.T, c.Action))
	real := rec
	if rec.Topic != "" {
		real.Topic = r.cluster.NewTopic(r.T, 2, nil)
	}
	r.start(map[string]string{"bootstrap.servers": "{{BROKER}}"})
	_, err := r.p.SendSync(context.Background(), real)
	if !want.OK {
		r.wantError("Send", want.Error, err)
		return
	}
	if err != nil {
		r.Fatal(err)
	}
	stored := kafkatest.ReadAll(r.T, r.cluster, real.Topic)
	if len(stored) != 1 {
		r.Fatalf("%d records in the log", len(stored))
	}
	if got := asJavaPrints(rec, stored[0]); got != want.Returned {
		r.Errorf("the log holds\n%s, want\n%v", got, want.Returned)
	}
}

var constructor = regexp.MustCompile(`^new ProducerRecord\(([^\[]*?)(?:, \[(.*)\])?\)$`)

// constructed is the record of a call such as new ProducerRecord(t, 1, 2, k, v, [h=0102, g=null]). Without quotes a word
// stands for itself.
func (r *sendRun) constructed(call string) (rec anyRecord) {
	r.Helper()
	m := constructor.FindStringSubmatch(call)
	if m == nil {
		r.Fatalf("no constructor call: %s", call)
	}
	args := strings.Split(m[1], ", ")
	rec.Topic = word(args[0])
	switch rest := args[1:]; len(rest) {
	case 4:
		if n := r.number(rest[1]); n != nil {
			rec.Timestamp = time.UnixMilli(*n)
		}
		fallthrough
	case 3:
		if n := r.number(rest[0]); n != nil {
			rec.Partition = linger.On(int32(*n))
		}
		fallthrough
	case 2:
		rec.Key = textOrNil(rest[len(rest)-2])
		fallthrough
	case 1:
		rec.Value = textOrNil(rest[len(rest)-1])
	default:
		r.Fatalf("no constructor has %d arguments", len(args))
	}
	if m[2] == "" {
		return rec
	}
	for _, h := range strings.Split(m[2], ", ") {
		key, text, _ := strings.Cut(h, "=")
		var value []byte
		if text != "null" {
			var err error
			if value, err = hex.DecodeString(text); err != nil {
				r.Fatal(err)
			}
		}
		rec.Headers = append(rec.Headers, linger.Header{Key: key, Value: value})
	}
	return rec
}

func (r *sendRun) number(text string) *int64 {
	r.Helper()
	limits := map[string]int64{"Integer.MIN_VALUE": -1 << 31, "Integer.MAX_VALUE": 1<<31 - 1, "Long.MIN_VALUE": -1 << 63, "Long.MAX_VALUE": 1<<63 - 1}
	if text == "null" {
		return nil
	}
	n, known := limits[text]
	if !known {
		var err error
		if n, err = strconv.ParseInt(strings.TrimSuffix(text, "L"), 10, 64); err != nil {
			r.Fatal(err)
		}
	}
	return &n
}

// word is a text argument; null is the empty text, since a Go string has no null.
func word(text string) string {
	if text == "null" {
		return ""
	}
	return strings.Trim(text, `'"`)
}

func textOrNil(text string) any {
	if text == "null" {
		return nil
	}
	return word(text)
}

// asJavaPrints is what Java prints of the record that sent was, with the fields as the log has them.
func asJavaPrints(sent anyRecord, stored kafkatest.Rec) string {
	orNull := func(b []byte) string {
		if b == nil {
			return "null"
		}
		return string(b)
	}
	partition, stamp := "null", "null" // what the producer chose is not the record's
	if _, chosen := sent.Partition.Get(); chosen {
		partition = fmt.Sprint(stored.Partition)
	}
	if !sent.Timestamp.IsZero() {
		stamp = fmt.Sprint(stored.TimestampMs)
	}
	var headers []string
	for _, h := range stored.Headers {
		value := "null"
		if h.Value != nil {
			value = strings.ReplaceAll(fmt.Sprint(h.Value), " ", ", ")
		}
		headers = append(headers, fmt.Sprintf("RecordHeader(key = %s, value = %s)", h.Key, value))
	}
	return fmt.Sprintf("ProducerRecord(topic=%s, partition=%s, headers=RecordHeaders(headers = [%s], isReadOnly = false), key=%s, value=%s, timestamp=%s)",
		sent.Topic, partition, strings.Join(headers, ", "), orNull(stored.Key), orNull(stored.Value), stamp)
}
