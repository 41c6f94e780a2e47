package inside

import (
	"testing"

	"linger/internal/invariant"
)

// A connection of the application's own kind goes in and out with each call.
func TestGoingInAndOutAllocatesNothing(t *testing.T) {
	if invariant.Enabled {
		t.Skip("the race detector allocates")
	}
	var s Set
	s.Out(s.In())
	if got := testing.AllocsPerRun(100, func() { s.Out(s.In()) }); got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}

func BenchmarkInAndOut(b *testing.B) {
	var s Set
	b.ReportAllocs()
	for b.Loop() {
		s.Out(s.In())
	}
}
