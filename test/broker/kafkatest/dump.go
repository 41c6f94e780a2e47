//go:build unix

package kafkatest

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// BatchInfo is one record batch as DumpLogSegments prints it: what a consumer never gets to see.
type BatchInfo struct {
	BaseOffset    int64
	LastOffset    int64
	Count         int64
	BaseSequence  int64 // -1 without idempotence
	LastSequence  int64
	ProducerID    int64
	ProducerEpoch int64
	LeaderEpoch   int64
	Transactional bool
	Control       bool
	Position      int64 // in the segment
	TimestampMs   int64 // the batch's largest
	LogAppendTime bool
	Size          int64 // bytes on disk
	Magic         int64
	Codec         string // none, gzip, snappy, lz4, zstd
	CRC           int64
	Valid         bool // the CRC is right
}

// Dump returns the batches in the leader's log of a partition, oldest first.
func Dump(tb testing.TB, c *Cluster, topic string, partition int32) []BatchInfo {
	tb.Helper()
	return c.Leader(tb, topic, partition).Dump(tb, topic, partition)
}

// Dump returns the batches in this node's copy of a partition, oldest first. The node need not run.
func (n *Node) Dump(tb testing.TB, topic string, partition int32) []BatchInfo {
	tb.Helper()
	return dump(tb, n.java, n.segments(tb, topic, partition))[partitionFolder(topic, partition)]
}

// DumpTopics returns the batches of several topics, by topic and then by partition, each from its leader's log. Asked
// together they cost one start of Java.
func DumpTopics(tb testing.TB, c *Cluster, topics ...string) map[string][][]BatchInfo {
	tb.Helper()
	var segments []string
	found := map[string][][]BatchInfo{}
	for _, topic := range topics {
		leaders, err := c.anyRunning(tb).leaders(tb.Context(), topic)
		if err != nil {
			tb.Fatalf("kafkatest: leaders of %s: %v", topic, err)
		}
		for partition, id := range leaders {
			segments = append(segments, c.Node(id).segments(tb, topic, partition)...)
		}
		found[topic] = make([][]BatchInfo, len(leaders))
	}
	batches := dump(tb, c.java, segments)
	for topic, partitions := range found {
		for p := range partitions {
			partitions[p] = batches[partitionFolder(topic, int32(p))]
		}
	}
	return found
}

func partitionFolder(topic string, partition int32) string {
	return fmt.Sprintf("%s-%d", topic, partition)
}

// segments are the files of this node's copy of a partition, oldest first.
func (n *Node) segments(tb testing.TB, topic string, partition int32) []string {
	tb.Helper()
	pattern := filepath.Join(n.DataDir(), partitionFolder(topic, partition), "*.log")
	segments, err := filepath.Glob(pattern) // named by base offset, zero-padded: sorted by name is sorted by offset
	if err != nil || len(segments) == 0 {
		tb.Fatalf("kafkatest: node %d has no segments %s (%v)", n.id, pattern, err)
	}
	slices.Sort(segments)
	return segments
}

// dump runs DumpLogSegments over the files and returns their batches by the partition's folder.
func dump(tb testing.TB, java jvm, files []string) map[string][]BatchInfo {
	tb.Helper()
	out, _, err := java.tool(tb.Context(), "org.apache.kafka.tools.DumpLogSegments", "--files", strings.Join(files, ","))
	if err != nil {
		tb.Fatal(err)
	}
	batches, err := parseDump(string(out))
	if err != nil {
		tb.Fatal(err)
	}
	return batches
}

// dumpFields maps the words of a dump to fields of BatchInfo. A word that is missing from a line is an error, so that a
// reader never mistakes "not printed" for zero.
var dumpFields = map[string]string{
	"baseOffset": "BaseOffset", "lastOffset": "LastOffset", "count": "Count", "baseSequence": "BaseSequence", "lastSequence": "LastSequence",
	"producerId": "ProducerID", "producerEpoch": "ProducerEpoch", "partitionLeaderEpoch": "LeaderEpoch", "isTransactional": "Transactional",
	"isControl": "Control", "position": "Position", "size": "Size", "magic": "Magic", "compresscodec": "Codec", "crc": "CRC", "isvalid": "Valid",
}

// parseDump reads the batch lines of a dump, which are "word: value" pairs in a row, below the name of their file, and passes
// over the rest.
func parseDump(out string) (map[string][]BatchInfo, error) {
	batches, folder := map[string][]BatchInfo{}, ""
	for line := range strings.Lines(out) {
		if file, ok := strings.CutPrefix(line, "Dumping "); ok {
			folder = filepath.Base(filepath.Dir(file))
		}
		if !strings.HasPrefix(line, "baseOffset: ") {
			continue
		}
		words := strings.Fields(line)
		values := map[string]string{}
		for i := 0; i+1 < len(words); i += 2 {
			values[strings.TrimSuffix(words[i], ":")] = words[i+1]
		}
		b, err := batchInfo(values)
		if err != nil {
			return nil, fmt.Errorf("kafkatest: DumpLogSegments printed %q: %w", line, err)
		}
		batches[folder] = append(batches[folder], b)
	}
	return batches, nil
}

func batchInfo(values map[string]string) (b BatchInfo, err error) {
	into := reflect.ValueOf(&b).Elem()
	for word, field := range dumpFields {
		if err := setField(into.FieldByName(field), values[word]); err != nil {
			return b, fmt.Errorf("%s: %w", word, err)
		}
	}
	stamp, isAppend := values["LogAppendTime"]
	if !isAppend {
		stamp = values["CreateTime"]
	}
	b.LogAppendTime = isAppend
	b.TimestampMs, err = strconv.ParseInt(stamp, 10, 64)
	return b, err
}

func setField(f reflect.Value, text string) error {
	switch f.Kind() {
	case reflect.Int64:
		v, err := strconv.ParseInt(text, 10, 64)
		f.SetInt(v)
		return err
	case reflect.Bool:
		v, err := strconv.ParseBool(text)
		f.SetBool(v)
		return err
	default:
		if text == "" {
			return fmt.Errorf("missing")
		}
		f.SetString(strings.ToLower(text))
		return nil
	}
}
