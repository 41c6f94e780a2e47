package demo

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linger/internal/partition"
	"linger/lingertest/kafka"
)

const poem = "Roses are red,\n\nviolets are blue;\r\n   \nlight is a ray.\n"

func TestABookIsItsLinesOverAndOver(t *testing.T) {
	b := newBook(poem)
	var got []string
	for i := range 5 {
		got = append(got, string(b.appendKey(nil, i))+" = "+string(b.appendValue(nil, i)))
	}
	want := []string{
		"line 1 = copy 1, line 1: Roses are red,", "line 3 = copy 1, line 3: violets are blue;", "line 5 = copy 1, line 5: light is a ray.",
		"line 1 = copy 2, line 1: Roses are red,", "line 3 = copy 2, line 3: violets are blue;",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSharesAreWhatTheKeysAddUpTo(t *testing.T) {
	b := newBook(opticks)
	if len(b.lines) < 8000 {
		t.Fatalf("the book has %d lines", len(b.lines))
	}
	for _, n := range []int{0, 1, len(b.lines) - 1, len(b.lines), 2*len(b.lines) + 5} {
		want := make([]int64, 6)
		for i := range n {
			want[partition.ForKey(b.appendKey(nil, i), 6)]++
		}
		if diff := cmp.Diff(want, b.shares(n, 6)); diff != "" {
			t.Errorf("%d records (-want +got):\n%s", n, diff)
		}
	}
}

// log is six records of the poem in two partitions, as they were acknowledged and as they are read.
func log() (*book, []placement, []kafka.Record) {
	b := newBook(poem)
	placed := []placement{{0, 0}, {1, 10}, {0, 1}, {0, 2}, {1, 11}, {0, 3}}
	recs := make([]kafka.Record, 0, len(placed))
	for _, p := range []int32{0, 1} {
		for i, at := range placed {
			if at.partition == p {
				recs = append(recs, kafka.Record{Partition: p, Offset: at.offset, Key: b.appendKey(nil, i), Value: b.appendValue(nil, i)})
			}
		}
	}
	return b, placed, recs
}

func TestTheCheckFindsEveryKindOfDamage(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(placed []placement, recs []kafka.Record) ([]placement, []kafka.Record)
		want   string
	}{
		{"none", func(p []placement, r []kafka.Record) ([]placement, []kafka.Record) { return p, r }, ""},
		{"a record is missing", func(p []placement, r []kafka.Record) ([]placement, []kafka.Record) {
			return p, append(r[:2:2], r[3:]...)
		}, "6 records were acknowledged, 5 are in the log; record 3 was acknowledged at partition 0, offset 2, and is not there"},
		{"a record is there twice", func(p []placement, r []kafka.Record) ([]placement, []kafka.Record) {
			again := r[3]
			again.Offset++
			return p, append(r[:4:4], append([]kafka.Record{again}, r[4:]...)...)
		}, "6 records were acknowledged, 7 are in the log; nobody was told of the record at partition 0, offset 4"},
		{"one byte of a value", func(p []placement, r []kafka.Record) ([]placement, []kafka.Record) {
			r[0].Value[7] ^= 1
			return p, r
		}, `record 0 was sent as "line 1": "copy 1, line 1: Roses are red," and reads "line 1": "copy 1,!line 1: Roses are red,"`},
		{"a key became null", func(p []placement, r []kafka.Record) ([]placement, []kafka.Record) {
			r[5].Key = nil
			return p, r
		}, `record 4 was sent as "line 3": "copy 2, line 3: violets are blue;" and reads "": "copy 2, line 3: violets are blue;"`},
		{"two records changed places", func(p []placement, r []kafka.Record) ([]placement, []kafka.Record) {
			p[0], p[2] = p[2], p[0]
			r[0].Key, r[1].Key, r[0].Value, r[1].Value = r[1].Key, r[0].Key, r[1].Value, r[0].Value
			return p, r
		}, "partition 0 has record 0 behind record 2"},
		{"one place for two records", func(p []placement, r []kafka.Record) ([]placement, []kafka.Record) {
			p[2] = p[0]
			return p, r
		}, "records 0 and 2 were both acknowledged at partition 0, offset 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, placed, recs := log()
			placed, recs = c.damage(placed, recs)
			got := strings.Join(check(b, placed, recs), "; ")
			if got != c.want && (c.want == "" || !strings.HasPrefix(got, c.want)) {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestALogThatIsAllWrongIsComplainedOfInFewWords(t *testing.T) {
	b, placed, _ := log()
	if got := check(b, placed, nil); len(got) != maxComplaints {
		t.Errorf("%d complaints: %v", len(got), got)
	}
}
