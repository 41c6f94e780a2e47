package nullbroker

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	keyProduce        = 0
	keyMetadata       = 3
	keyApiVersions    = 18
	keyInitProducerID = 22

	maxApiVersions         = 4
	codeUnsupportedVersion = 35
)

// answer appends the answer to one request.
func (b *Broker) answer(out, frame []byte) ([]byte, error) {
	c := &cursor{b: frame}
	key, version, corr := c.int16(), c.int16(), c.int32()
	c.text(false) // client id
	switch {
	case c.bad:
		return out, errShort
	case key == keyProduce:
		return b.produce(out, version, corr, c)
	case key == keyApiVersions && version > maxApiVersions:
		return appendResponse(out, corr, apiVersions(0, codeUnsupportedVersion)), nil
	}
	req := kmsg.RequestForKey(key)
	if req == nil {
		return out, fmt.Errorf("request with key %d", key)
	}
	req.SetVersion(version)
	c.tags(req.IsFlexible())
	if err := req.ReadFrom(c.b); err != nil {
		return out, fmt.Errorf("%s v%d: %w", kmsg.NameForKey(key), version, err)
	}
	switch req := req.(type) {
	case *kmsg.ApiVersionsRequest:
		return appendResponse(out, corr, apiVersions(version, 0)), nil
	case *kmsg.MetadataRequest:
		return appendResponse(out, corr, b.metadata(req)), nil
	case *kmsg.InitProducerIDRequest:
		resp := req.ResponseKind().(*kmsg.InitProducerIDResponse)
		resp.ProducerID = b.nextProducer.Add(1)
		return appendResponse(out, corr, resp), nil
	}
	return out, fmt.Errorf("%s is not spoken here", kmsg.NameForKey(key))
}

func appendResponse(out []byte, corr int32, resp kmsg.Response) []byte {
	start := len(out)
	out = binary.BigEndian.AppendUint32(out, 0)
	out = binary.BigEndian.AppendUint32(out, uint32(corr))
	if resp.IsFlexible() && resp.Key() != keyApiVersions { // whose answers keep the old header
		out = append(out, 0)
	}
	out = resp.AppendTo(out)
	binary.BigEndian.PutUint32(out[start:], uint32(len(out)-start-frameSize))
	return out
}

func apiVersions(version, code int16) kmsg.Response {
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.Version, resp.ErrorCode = version, code
	for _, o := range [][3]int16{{keyProduce, 0, produceMax}, {keyMetadata, 0, 12}, {keyApiVersions, 0, maxApiVersions}, {keyInitProducerID, 0, 4}} {
		k := kmsg.NewApiVersionsResponseApiKey()
		k.ApiKey, k.MinVersion, k.MaxVersion = o[0], o[1], o[2]
		resp.ApiKeys = append(resp.ApiKeys, k)
	}
	return resp
}

func (b *Broker) metadata(req *kmsg.MetadataRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.MetadataResponse)
	brokers := max(b.o.Brokers, 1)
	for id := range brokers {
		node := kmsg.NewMetadataResponseBroker()
		node.NodeID, node.Host, node.Port = int32(id+1), b.addr.IP.String(), int32(b.addr.Port)
		resp.Brokers = append(resp.Brokers, node)
	}
	resp.ControllerID, resp.ClusterID = 1, kmsg.StringPtr("null")
	for _, t := range req.Topics {
		known := b.topicByID(t.TopicID)
		if t.Topic != nil {
			known = b.topic([]byte(*t.Topic))
		}
		mt := kmsg.NewMetadataResponseTopic()
		if known == nil {
			mt.TopicID, mt.ErrorCode = t.TopicID, codeUnknownTopicID
			resp.Topics = append(resp.Topics, mt)
			continue
		}
		mt.Topic, mt.TopicID = &known.name, known.id
		for p := range b.o.Partitions {
			mp := kmsg.NewMetadataResponseTopicPartition()
			leader := int32(p%brokers + 1)
			mp.Partition, mp.Leader, mp.LeaderEpoch = int32(p), leader, 0
			mp.Replicas, mp.ISR = []int32{leader}, []int32{leader}
			mt.Partitions = append(mt.Partitions, mp)
		}
		resp.Topics = append(resp.Topics, mt)
	}
	return resp
}
