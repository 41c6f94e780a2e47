package demo

import (
	"bytes"
	"fmt"

	"linger/lingertest/kafka"
)

// placement is where the callback said that a record went.
type placement struct {
	partition int32
	offset    int64
}

// maxComplaints bounds what is said about a log that is all wrong.
const maxComplaints = 5

// check compares the log with what was sent: record i of the book must stand where placed[i] says, byte for byte, and the
// records of a partition in the order in which they were sent. recs are sorted by partition and offset.
func check(b *book, placed []placement, recs []kafka.Record) (complaints []string) {
	complain := func(format string, args ...any) {
		if len(complaints) < maxComplaints {
			complaints = append(complaints, fmt.Sprintf(format, args...))
		}
	}
	if len(recs) != len(placed) {
		complain("%d records were acknowledged, %d are in the log", len(placed), len(recs))
	}
	sent := make(map[placement]int, len(placed))
	for i, at := range placed {
		if other, twice := sent[at]; twice {
			complain("records %d and %d were both acknowledged at partition %d, offset %d", other, i, at.partition, at.offset)
		}
		sent[at] = i
	}
	last := map[int32]int{}
	var key, value []byte
	for _, r := range recs {
		i, ok := sent[placement{r.Partition, r.Offset}]
		if !ok {
			complain("nobody was told of the record at partition %d, offset %d", r.Partition, r.Offset)
			continue
		}
		delete(sent, placement{r.Partition, r.Offset})
		if before, any := last[r.Partition]; any && i < before {
			complain("partition %d has record %d behind record %d", r.Partition, i, before)
		}
		last[r.Partition] = i
		key, value = b.appendKey(key[:0], i), b.appendValue(value[:0], i)
		if !bytes.Equal(key, r.Key) || !bytes.Equal(value, r.Value) {
			complain("record %d was sent as %q: %q and reads %q: %q", i, key, value, r.Key, r.Value)
		}
	}
	for at, i := range sent {
		complain("record %d was acknowledged at partition %d, offset %d, and is not there", i, at.partition, at.offset)
	}
	return complaints
}
