package broker

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// failProduce answers the batches that the rule means with its error and lets the cluster answer the others, unless it has
// been given the whole request already.
func (c *conn) failProduce(f *frame, q *kmsg.ProduceRequest, r *Rule, code int16, applied, acks0 bool) kmsg.Response {
	s := c.n.s
	resp := q.ResponseKind().(*kmsg.ProduceResponse)
	rest := *q
	rest.Topics = nil
	for _, t := range q.Topics {
		rt := kmsg.NewProduceResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		left := t
		left.Partitions = nil
		for _, p := range t.Partitions {
			if !r.matchesBatch(s.batchOf(t, p)) {
				left.Partitions = append(left.Partitions, p)
				continue
			}
			rt.Partitions = append(rt.Partitions, failedPartition(p.Partition, r, code))
			if r.Leader != nil && len(resp.Brokers) == 0 {
				resp.Brokers = s.brokers()
			}
		}
		if len(rt.Partitions) > 0 {
			resp.Topics = append(resp.Topics, rt)
		}
		if len(left.Partitions) > 0 {
			rest.Topics = append(rest.Topics, left)
		}
	}
	if len(rest.Topics) > 0 && !applied {
		got, _ := c.forward(f, encodeRequest(f, &rest), acks0)
		if got, ok := got.(*kmsg.ProduceResponse); ok {
			merge(resp, got)
		}
	}
	return resp
}

// batchOf is the batch of one partition of a request.
func (s *Server) batchOf(t kmsg.ProduceRequestTopic, p kmsg.ProduceRequestTopicPartition) batchInfo {
	one := t
	one.Topic = s.topicName(t.Topic, t.TopicID)
	one.Partitions = []kmsg.ProduceRequestTopicPartition{p}
	return s.batches(&kmsg.ProduceRequest{Topics: []kmsg.ProduceRequestTopic{one}})[0]
}

// failedPartition is a partition's answer with all that the rule says about it.
func failedPartition(partition int32, r *Rule, code int16) kmsg.ProduceResponseTopicPartition {
	rp := kmsg.NewProduceResponseTopicPartition()
	rp.Partition = partition
	rp.ErrorCode = code
	rp.BaseOffset = -1
	if r.LogStart != nil {
		rp.LogStartOffset = *r.LogStart
	}
	if r.Message != "" {
		rp.ErrorMessage = &r.Message
	}
	for _, re := range r.RecordErrors {
		er := kmsg.NewProduceResponseTopicPartitionErrorRecord()
		index, _ := re[0].(float64)
		er.RelativeOffset = int32(index)
		if m, ok := re[1].(string); ok {
			er.ErrorMessage = &m
		}
		rp.ErrorRecords = append(rp.ErrorRecords, er)
	}
	if r.Leader != nil {
		rp.CurrentLeader.LeaderID = *r.Leader
		rp.CurrentLeader.LeaderEpoch = r.LeaderEpoch
	}
	return rp
}

// brokers are where the nodes are, as a Produce answer with a leader's hint has them (KIP-951).
func (s *Server) brokers() []kmsg.ProduceResponseBroker {
	var list []kmsg.ProduceResponseBroker
	for _, n := range s.nodes {
		b := kmsg.NewProduceResponseBroker()
		b.NodeID = n.id
		b.Host, b.Port = hostPort(n.addr)
		list = append(list, b)
	}
	return list
}

// merge adds the cluster's answers to ours.
func merge(resp, got *kmsg.ProduceResponse) {
	for _, t := range got.Topics {
		i := slices.IndexFunc(resp.Topics, func(x kmsg.ProduceResponseTopic) bool { return x.Topic == t.Topic && x.TopicID == t.TopicID })
		if i < 0 {
			resp.Topics = append(resp.Topics, t)
		} else {
			resp.Topics[i].Partitions = append(resp.Topics[i].Partitions, t.Partitions...)
		}
	}
}
