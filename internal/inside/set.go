package inside

import "sync"

// Set is the goroutines that are inside now. The zero Set is empty and ready; it is safe for concurrent use.
type Set struct {
	mu sync.Mutex
	in map[uint64]int // how often: such code may lead to more of its kind

	scratches sync.Pool // of *[firstLine]byte
}

// Enter puts the caller's goroutine in until leave is called, on the same goroutine or, should that be lost, any other.
func (s *Set) Enter() (leave func()) {
	n := s.In()
	return func() { s.Out(n) }
}

// In is Enter that allocates nothing: what it returns is for Out.
func (s *Set) In() (goroutine uint64) {
	scratch, ok := s.scratches.Get().(*[firstLine]byte)
	if !ok {
		scratch = new([firstLine]byte)
	}
	n := readNumber(scratch[:])
	s.scratches.Put(scratch)
	s.add(n, 1)
	return n
}

// Out takes the goroutine out that In put in.
func (s *Set) Out(goroutine uint64) { s.add(goroutine, -1) }

// Has reports whether the caller's goroutine is in.
func (s *Set) Has() bool {
	n := Goroutine()
	s.mu.Lock()
	defer s.mu.Unlock()
	return n != 0 && s.in[n] > 0
}

func (s *Set) add(n uint64, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.in == nil {
		s.in = make(map[uint64]int)
	}
	if s.in[n] += by; s.in[n] == 0 {
		delete(s.in, n)
	}
}
