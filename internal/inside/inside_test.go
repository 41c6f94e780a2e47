package inside

import (
	"sync"
	"testing"
)

func TestAGoroutineIsInUntilItLeavesAsOftenAsItEntered(t *testing.T) {
	var s Set
	if s.Has() {
		t.Error("the goroutine is in and never entered")
	}
	leave := s.Enter()
	again := s.Enter()
	var beside sync.WaitGroup
	beside.Go(func() {
		if s.Has() {
			t.Error("another goroutine is in")
		}
		defer s.Enter()()
		if !s.Has() {
			t.Error("another goroutine entered and is not in")
		}
	})
	beside.Wait()
	again()
	if !s.Has() {
		t.Error("the goroutine entered twice, left once and is out")
	}
	leave()
	if s.Has() || len(s.in) != 0 {
		t.Errorf("the goroutine left and is in, or remembered: %v", s.in)
	}
}
