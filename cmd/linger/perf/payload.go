package perf

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// splitMix is the SplitMix64 generator: small, and the same in every language, so that all clients send the same bytes.
type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below draws from [0, n).
func (s *splitMix) below(n int) int { return int((s.next() >> 32) * uint64(n) >> 32) }

// payloads are the keys and values that senders go through, read only. Values are few enough to stay in cache: the
// harness measures clients, not memory.
type payloads struct {
	values [][]byte // a power of two of them
	keys   []byte   // keyWidth bytes each
	count  int
}

const (
	keyWidth       = 8
	maxRandomBytes = 512 << 10
)

func newPayloads(w *Workload) *payloads {
	p := &payloads{count: w.KeyCardinality}
	rng := splitMix(42)
	make, n := randomValue, 4096
	if w.Payload == "json" {
		make, n = jsonEvent, 8192 // more than a batch holds, else repeats would flatter the codec
	}
	for w.Payload == "random" && n > 64 && n*w.RecordSize > maxRandomBytes {
		n /= 2
	}
	for range n {
		p.values = append(p.values, make(&rng, w.RecordSize))
	}
	for i := range p.count {
		p.keys = fmt.Appendf(p.keys, "k%07d", i%10_000_000)
	}
	return p
}

func randomValue(rng *splitMix, size int) []byte {
	v := make([]byte, 0, size+8)
	for len(v) < size {
		v = binary.LittleEndian.AppendUint64(v, rng.next())
	}
	return v[:size]
}

// vocabulary of the JSON events.
type vocabulary struct{ types, agents, countries, words []string }

func words() vocabulary {
	return vocabulary{
		types: strings.Fields("page_view add_to_cart checkout search login logout click impression"),
		agents: []string{
			"Mozilla/5.0 (X11; Linux x86_64)", "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5)", "okhttp/4.12.0",
			"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1)",
		},
		countries: strings.Fields("DE US FR IN BR JP GB NL SE PL"),
		words:     strings.Fields("alpha order retry cache basket campaign summer mobile partner segment beta promo feed email organic social"),
	}
}

// jsonEvent makes one event of size bytes, or of its natural size when that is larger, filled up with words.
func jsonEvent(r *splitMix, size int) []byte {
	v := words()
	pick := func(list []string) string { return list[r.below(len(list))] }
	var b strings.Builder
	fmt.Fprintf(&b, `{"event_id":"%016x%08x","ts":%d,"type":"%s","user_id":%d,"path":"/products/%d","agent":"%s","country":"%s","latency_ms":%d,"ok":%t,"note":"`,
		r.next(), uint32(r.next()), 1767225600000+int64(r.below(86_400_000)), pick(v.types), r.below(5_000_000),
		r.below(20_000), pick(v.agents), pick(v.countries), r.below(900), r.below(10) != 0)
	for b.Len() < size-2 {
		w := pick(v.words) + " "
		b.WriteString(w[:min(len(w), size-2-b.Len())])
	}
	b.WriteString(`"}`)
	return []byte(b.String())
}

// source is one sender's way through the payloads.
type source struct {
	*payloads
	rng splitMix
	at  int
}

func (p *payloads) source(sender int) *source {
	return &source{payloads: p, rng: splitMix(1000 + sender), at: sender * 97}
}

func (s *source) next() (key, value []byte) {
	if s.count > 0 {
		k := s.rng.below(s.count) * keyWidth
		key = s.keys[k : k+keyWidth : k+keyWidth]
	}
	value = s.values[s.at&(len(s.values)-1)]
	s.at++
	return key, value
}
