package partition

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
)

// plainMurmur2 is the hash as its definition reads, one byte at a time: the twin of Murmur2.
func plainMurmur2(key []byte) int32 {
	const m = 0x5bd1e995
	h := uint32(0x9747b28c) ^ uint32(len(key))
	whole := len(key) / 4
	for i := range whole {
		var k uint32
		for j := range 4 {
			k |= uint32(key[4*i+j]) << (8 * j)
		}
		k *= m
		k ^= k >> 24
		k *= m
		h *= m
		h ^= k
	}
	if tail := key[4*whole:]; len(tail) > 0 {
		for j := len(tail) - 1; j >= 0; j-- {
			h ^= uint32(tail[j]) << (8 * j)
		}
		h *= m
	}
	h ^= h >> 13
	h *= m
	h ^= h >> 15
	return int32(h)
}

func FuzzMurmur2EqualsItsPlainTwin(f *testing.F) {
	for _, s := range []string{"", "a", "21", "foo", "abcd", "foobar", "\xff\x80\x00\x7f\xfe"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, key []byte) {
		if got, want := Murmur2(key), plainMurmur2(key); got != want {
			t.Errorf("Murmur2(%x) = %d, plainly %d", key, got, want)
		}
	})
}

func TestMurmur2OfKnownKeys(t *testing.T) { // PART-11, PART-36 (the hash's part)
	tests := []struct {
		key    string
		hash   int32
		of12   int32
		ofSix1 int32 // toPositive(hash) mod 5 + 1
	}{
		{key: "", hash: 275646681, of12: 9, ofSix1: 2},
		{key: "a", hash: -1563381124, of12: 4, ofSix1: 5},
		{key: "21", hash: -973932308, of12: 0, ofSix1: 1},
		{key: "foobar", hash: -790332482, of12: 6, ofSix1: 2},
		{key: "user-42", hash: 1459644460, of12: 4, ofSix1: 1},
	}
	for _, tt := range tests {
		if got := Murmur2([]byte(tt.key)); got != tt.hash {
			t.Errorf("Murmur2(%q) = %d, want %d", tt.key, got, tt.hash)
		}
		if got := ForKey([]byte(tt.key), 12); got != tt.of12 {
			t.Errorf("ForKey(%q, 12) = %d, want %d", tt.key, got, tt.of12)
		}
		if got := ForKey([]byte(tt.key), 5) + 1; got != tt.ofSix1 {
			t.Errorf("%q goes to %d of 1…5, want %d", tt.key, got, tt.ofSix1)
		}
	}
}

func TestToPositiveClearsTheSignBit(t *testing.T) { // PART-04
	for n, want := range map[int32]int32{0: 0, 1: 1, -1: math.MaxInt32, math.MinInt32: 0, -2: math.MaxInt32 - 1} {
		if got := ToPositive(n); got != want {
			t.Errorf("ToPositive(%d) = %d, want %d", n, got, want)
		}
	}
}

func TestSameKeySamePartition(t *testing.T) { // PART-10
	rng := rand.New(rand.NewPCG(4, 4))
	for range 1000 {
		key := make([]byte, rng.IntN(40))
		for i := range key {
			key[i] = byte(rng.Uint32())
		}
		n := 1 + rng.IntN(200)
		p := ForKey(key, n)
		if p < 0 || int(p) >= n || p != ForKey(append([]byte(nil), key...), n) {
			t.Fatalf("ForKey(%x, %d) = %d, then %d", key, n, p, ForKey(key, n))
		}
	}
}

func TestRandomSuffixSpreadsAHotKey(t *testing.T) { // PART-39
	seen := make(map[int32]bool)
	for suffix := byte('0'); suffix <= '9'; suffix++ {
		seen[ForKey([]byte{'h', 'o', 't', '-', suffix}, 12)] = true
	}
	if len(seen) < 4 {
		t.Errorf("ten suffixes reach %d of 12 partitions", len(seen))
	}
}

func TestRoundRobinTakesTurns(t *testing.T) { // PART-32, PART-33
	var r RoundRobin
	view := &View{Count: 5, Available: []int32{0, 2, 4}}
	counts := make(map[int32]int)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 500 {
				p := r.Next("t", view)
				mu.Lock()
				counts[p]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if counts[0] != 500 || counts[2] != 500 || counts[4] != 500 {
		t.Errorf("turns are %v, want 500 for each of 0, 2, 4", counts)
	}
}

func TestRoundRobinWrapsWithoutANegativePartition(t *testing.T) {
	var r RoundRobin
	r.Next("t", threePartitions)
	turn, _ := r.turns.Load("t")
	turn.(interface{ Store(int32) }).Store(math.MaxInt32)
	for range 3 {
		if p := r.Next("t", threePartitions); p < 0 || p > 2 {
			t.Errorf("partition %d", p)
		}
	}
}

func TestChoosingAllocatesNothing(t *testing.T) {
	s := NewSticky(1<<20, false, "", sequence())
	key := []byte("a key of some length")
	var r RoundRobin
	var sink int32
	for name, f := range map[string]func(){
		"ForKey": func() { sink += ForKey(key, 12) },
		"Peek":   func() { sink += s.Peek(threePartitions).Partition() },
		"Update": func() { s.Update(s.Peek(threePartitions), threePartitions, 1, true) },
		"Next":   func() { sink += r.Next("t", threePartitions) },
	} {
		if got := testing.AllocsPerRun(100, f); got != 0 {
			t.Errorf("%s takes %v allocations, want 0", name, got)
		}
	}
}

func BenchmarkForKey16(b *testing.B) {
	key := []byte("0123456789abcdef")
	for b.Loop() {
		ForKey(key, 12)
	}
}
