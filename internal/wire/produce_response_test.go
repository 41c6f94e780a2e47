package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// response is a kmsg response of several topics, with every field that a version may have set to something.
func response(version int16, failures bool) *kmsg.ProduceResponse {
	resp := kmsg.NewPtrProduceResponse()
	resp.Version, resp.ThrottleMillis = version, 42
	for i := range 3 {
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic, topic.TopicID = fmt.Sprintf("topic-%d", i), [16]byte{9, byte(i)}
		for j := range 2 + i {
			p := kmsg.NewProduceResponseTopicPartition()
			p.Partition, p.BaseOffset, p.LogAppendTime, p.LogStartOffset = int32(j), int64(1000*i+j), -1, 7
			if failures && j == 1 {
				fail(&p)
			}
			topic.Partitions = append(topic.Partitions, p)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	if failures {
		node := kmsg.NewProduceResponseBroker()
		node.NodeID, node.Host, node.Port, node.Rack = 5, "broker-5", 9092, kmsg.StringPtr("rack-a")
		other := kmsg.NewProduceResponseBroker()
		other.NodeID, other.Host, other.Port = 6, "broker-6", 9093
		resp.Brokers = append(resp.Brokers, node, other)
	}
	return resp
}

func fail(p *kmsg.ProduceResponseTopicPartition) {
	p.ErrorCode, p.BaseOffset, p.LogAppendTime = 87, -1, 1700000000123
	p.ErrorMessage = kmsg.StringPtr("one or more records were rejected")
	p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = 5, 12
	first := kmsg.NewProduceResponseTopicPartitionErrorRecord()
	first.RelativeOffset, first.ErrorMessage = 2, kmsg.StringPtr("no key")
	second := kmsg.NewProduceResponseTopicPartitionErrorRecord()
	second.RelativeOffset = 4
	p.ErrorRecords = append(p.ErrorRecords, first, second)
}

// want is what of r a version of the response can say.
func want(r *kmsg.ProduceResponse) *ProduceResponse {
	v := r.Version
	out := &ProduceResponse{ThrottleMs: r.ThrottleMillis}
	for _, t := range r.Topics {
		for _, p := range t.Partitions {
			q := ProducedPartition{
				Partition: p.Partition, ErrorCode: p.ErrorCode, BaseOffset: p.BaseOffset, LogAppendTime: p.LogAppendTime,
				LogStartOffset: -1, LeaderID: -1, LeaderEpoch: -1,
			}
			if v >= 13 {
				q.TopicID = t.TopicID
			} else {
				q.Topic = []byte(t.Topic)
			}
			if v >= 5 {
				q.LogStartOffset = p.LogStartOffset
			}
			if v >= 8 {
				for _, e := range p.ErrorRecords {
					re := RecordError{BatchIndex: e.RelativeOffset, HasMessage: e.ErrorMessage != nil}
					if e.ErrorMessage != nil {
						re.Message = *e.ErrorMessage
					}
					q.RecordErrors = append(q.RecordErrors, re)
				}
				if p.ErrorMessage != nil {
					q.Message = *p.ErrorMessage
				}
			}
			if v >= 10 {
				q.LeaderID, q.LeaderEpoch = p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch
			}
			out.Partitions = append(out.Partitions, q)
		}
	}
	if v >= 10 {
		for _, b := range r.Brokers {
			n := NodeEndpoint{NodeID: b.NodeID, Host: b.Host, Port: b.Port, HasRack: b.Rack != nil}
			if b.Rack != nil {
				n.Rack = *b.Rack
			}
			out.Nodes = append(out.Nodes, n)
		}
	}
	return out
}

func diff(got, want *ProduceResponse) string {
	return cmp.Diff(want, got, cmpopts.IgnoreUnexported(ProduceResponse{}), cmpopts.EquateEmpty())
}

func TestProduceResponseIsReadAsOthersWriteIt(t *testing.T) {
	var got ProduceResponse // one value for all: nothing of the last response may shine through
	for version := MinProduceVersion; version <= MaxProduceVersion; version++ {
		for _, failures := range []bool{true, false} {
			t.Run(fmt.Sprintf("v%d, failures %t", version, failures), func(t *testing.T) {
				resp := response(version, failures)
				if err := got.Read(version, resp.AppendTo(nil)); err != nil {
					t.Fatal(err)
				}
				if d := diff(&got, want(resp)); d != "" {
					t.Error(d)
				}
			})
		}
		t.Run(fmt.Sprintf("v%d, empty", version), func(t *testing.T) {
			resp := kmsg.NewPtrProduceResponse()
			resp.Version = version
			if err := got.Read(version, resp.AppendTo(nil)); err != nil {
				t.Fatal(err)
			}
			if d := diff(&got, want(resp)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRecordErrorsOfEarlierPartitionsStayWhenLaterOnesComeIn(t *testing.T) {
	resp := kmsg.NewPtrProduceResponse()
	resp.Version = 12
	topic := kmsg.NewProduceResponseTopic()
	topic.Topic = "t"
	for i := range 50 {
		p := kmsg.NewProduceResponseTopicPartition()
		p.Partition = int32(i)
		for j := range i {
			e := kmsg.NewProduceResponseTopicPartitionErrorRecord()
			e.RelativeOffset, e.ErrorMessage = int32(100*i+j), kmsg.StringPtr(strings.Repeat("m", j))
			p.ErrorRecords = append(p.ErrorRecords, e)
		}
		topic.Partitions = append(topic.Partitions, p)
	}
	resp.Topics = append(resp.Topics, topic)
	var got ProduceResponse
	for range 3 {
		if err := got.Read(12, resp.AppendTo(nil)); err != nil {
			t.Fatal(err)
		}
		if d := diff(&got, want(resp)); d != "" {
			t.Fatal(d)
		}
	}
}

func TestUnknownTagsArePassedOver(t *testing.T) {
	for version := int16(9); version <= MaxProduceVersion; version++ {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			resp := response(version, true)
			tag := func(tags *kmsg.Tags) { tags.Set(77, []byte("from the future")) }
			tag(&resp.UnknownTags)
			for i := range resp.Topics {
				tag(&resp.Topics[i].UnknownTags)
				for j := range resp.Topics[i].Partitions {
					p := &resp.Topics[i].Partitions[j]
					tag(&p.UnknownTags)
					tag(&p.CurrentLeader.UnknownTags)
					for k := range p.ErrorRecords {
						tag(&p.ErrorRecords[k].UnknownTags)
					}
				}
			}
			for i := range resp.Brokers {
				tag(&resp.Brokers[i].UnknownTags)
			}
			var got ProduceResponse
			if err := got.Read(version, resp.AppendTo(nil)); err != nil {
				t.Fatal(err)
			}
			if d := diff(&got, want(resp)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestEveryTruncatedProduceResponseIsRefused(t *testing.T) {
	for version := MinProduceVersion; version <= MaxProduceVersion; version++ {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			body := response(version, true).AppendTo(nil)
			var got ProduceResponse
			for n := range body {
				err := got.Read(version, body[:n])
				if !errors.Is(err, ErrMalformed) {
					t.Fatalf("%d of %d bytes: %v", n, len(body), err)
				}
				if len(got.Partitions) != 0 || len(got.Nodes) != 0 {
					t.Fatalf("%d of %d bytes left %d partitions", n, len(body), len(got.Partitions))
				}
			}
		})
	}
}

func TestProduceResponseFaultsAreNamed(t *testing.T) {
	flex := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	zeros := func(n int) []byte { return make([]byte, n) }
	tests := map[string]struct {
		version int16
		body    []byte
		want    string
	}{
		"more topics than could fit":      {3, []byte{0x7f, 0xff, 0xff, 0xff, 0, 0}, "produce response: malformed message: topics: 2147483647 elements of at least 6 bytes, 2 bytes remain"},
		"a negative count":                {3, []byte{0xff, 0xff, 0xff, 0xfe}, "produce response: malformed message: topics: count is -2"},
		"null topics":                     {9, []byte{0}, "produce response: malformed message: topics: count is -1"},
		"a topic without a name":          {9, []byte{2, 0, 1, 0, 0, 0, 0, 0}, "produce response: malformed message: topic: is null"},
		"a name longer than the rest":     {9, []byte{2, 0x80, 0x80, 4, 'a'}, "produce response: malformed message: topic: needs 65535 bytes, 1 remain"},
		"a varint without an end":         {9, []byte{0xff, 0xff, 0xff}, "produce response: malformed message: topics: no unsigned 32-bit varint in 3 remaining bytes"},
		"a varint of more than 32 bits":   {9, []byte{0xff, 0xff, 0xff, 0xff, 0x7f}, "produce response: malformed message: topics: no unsigned 32-bit varint in 5 remaining bytes"},
		"more partitions than could fit":  {13, flex([]byte{2}, zeros(16), []byte{100}, zeros(40)), "produce response: malformed message: partitions: 99 elements of at least 32 bytes, 40 bytes remain"},
		"more tags than could fit":        {9, []byte{1, 0, 0, 0, 0, 50, 1, 1}, "produce response: malformed message: response: 50 tagged fields, 2 bytes remain"},
		"a tag longer than the rest":      {9, []byte{1, 0, 0, 0, 0, 1, 0, 9, 1}, "produce response: malformed message: response: needs 9 bytes, 1 remain"},
		"more endpoints than their field": {10, []byte{1, 0, 0, 0, 0, 1, 0, 2, 9, 1}, "produce response: malformed message: node endpoints: 8 elements of at least 11 bytes, 1 bytes remain"},
		"a version too old":               {2, nil, "produce version 2 is outside 3 to 13"},
		"a version too new":               {14, nil, "produce version 14 is outside 3 to 13"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got ProduceResponse
			if err := got.Read(tt.version, tt.body); err == nil || err.Error() != tt.want {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestALyingCountTakesNoMemory(t *testing.T) {
	body := append([]byte{0x7f, 0xff, 0xff, 0xff}, make([]byte, 100)...)
	var got ProduceResponse
	if err := got.Read(3, body); err == nil {
		t.Fatal("it was believed")
	}
	if cap(got.Partitions) != 0 {
		t.Errorf("memory for %d partitions was taken", cap(got.Partitions))
	}
}

func TestReadingASuccessAllocatesNothing(t *testing.T) {
	for version := MinProduceVersion; version <= MaxProduceVersion; version++ {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			body := response(version, false).AppendTo(nil)
			var got ProduceResponse
			wantAllocs(t, 0, func() {
				if err := got.Read(version, body); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// FuzzProduceResponse: whatever comes, Read neither panics nor takes much memory, and what it takes for good is what
// kmsg takes it for.
func FuzzProduceResponse(f *testing.F) {
	for version := MinProduceVersion; version <= MaxProduceVersion; version++ {
		f.Add(version, response(version, true).AppendTo(nil))
		f.Add(version, response(version, false).AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, version int16, body []byte) {
		var got ProduceResponse
		if err := got.Read(version, body); err != nil {
			return
		}
		if len(got.Partitions) > len(body)/minPartitionBytes(version) {
			t.Errorf("%d partitions out of %d bytes", len(got.Partitions), len(body))
		}
		resp := kmsg.NewPtrProduceResponse()
		resp.Version = version
		if err := resp.ReadFrom(body); err != nil {
			t.Fatalf("kmsg refuses it: %v", err)
		}
		if d := diff(&got, want(resp)); d != "" {
			t.Error(d)
		}
	})
}
