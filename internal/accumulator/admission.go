package accumulator

import (
	"sync"

	"linger/internal/invariant"
)

// word is the published admission word: who may append, and to which generation of batches. It is one atomic value so
// that an append reads all of it at once, before and again under the queue lock.
//
//	bit 0       closed: no append is admitted any more
//	bits 1–7    free for the transaction state
//	bits 8–63   generation
//
// Who changes the word then passes every queue lock once, the barrier. The story that makes it work: appender A has
// read the old word and is about to append; closer B changes the word. Either A holds the queue lock before B's barrier
// reaches that queue: then A's record is in a batch that B's barrier sees. Or A gets the lock after B let go of it: then
// A's second look, under the lock, sees the new word and A starts over. A queue that A creates after B listed the queues
// is locked by A for the first time after B's change, and A sees the new word as well.
type word uint64

const (
	wordClosed     word = 1
	generationUnit word = 1 << 8
)

func (w word) closed() bool { return w&wordClosed != 0 }

// Generation is a set of batches that were opened between two flushes. Flush waits for a generation and all older ones.
type Generation struct {
	number word
	open   int  // batches that are not delivered yet
	sealed bool // no batch joins any more: its barrier has passed
	done   chan struct{}
}

// Done closes when every batch of the generation and of all older ones has been delivered: callbacks have run, futures
// are done. It never closes for the newest generation, which batches may still join.
func (g *Generation) Done() <-chan struct{} { return g.done }

// generations counts what is not delivered, by generation, oldest first. The last one is the one that batches join.
type generations struct {
	mu   sync.Mutex
	live []*Generation
}

func (s *generations) start() { s.live = []*Generation{newGeneration(0)} }

func newGeneration(number word) *Generation {
	return &Generation{number: number, done: make(chan struct{})}
}

// next starts a new generation and returns the one before it. publish runs under the lock, so that words are published
// in the order of their generations.
func (s *generations) next(publish func()) *Generation {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.live[len(s.live)-1]
	s.live = append(s.live, newGeneration(old.number+generationUnit))
	publish()
	return old
}

// join counts a batch that opens under the word w. The caller holds a queue lock under which w was the published word, so
// the generation is not sealed.
func (s *generations) join(w word) *Generation {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.live) - 1; i >= 0; i-- {
		if g := s.live[i]; g.number == w&^(generationUnit-1) {
			invariant.Check(!g.sealed, "a batch joins generation %d after its barrier", g.number/generationUnit)
			g.open++
			return g
		}
	}
	panic("broken invariant: a batch opens in a generation that has ended")
}

// add counts n more batches of a generation that has at least one: the pieces of a split batch.
func (s *generations) add(g *Generation, n int) {
	s.mu.Lock()
	g.open += n
	s.mu.Unlock()
}

// seal says that no batch joins g any more, and closes what is thereby done.
func (s *generations) seal(g *Generation) {
	s.mu.Lock()
	g.sealed = true
	s.advance()
	s.mu.Unlock()
}

// leave counts one batch of g as delivered.
func (s *generations) leave(g *Generation) {
	s.mu.Lock()
	g.open--
	invariant.Check(g.open >= 0, "generation %d delivered more batches than it had", g.number/generationUnit)
	s.advance()
	s.mu.Unlock()
}

func (s *generations) advance() {
	for len(s.live) > 1 && s.live[0].sealed && s.live[0].open == 0 {
		close(s.live[0].done)
		s.live[0] = nil
		s.live = s.live[1:]
	}
}
