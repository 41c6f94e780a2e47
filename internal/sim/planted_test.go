package sim

import (
	"strings"
	"testing"

	"linger/internal/invariant"
	"linger/internal/sender"
)

// within so many seeds a planted bug is found.
const within = 2000

// Each bug is found by the seed that stands here, the first one that does (the first with that symptom). When the machine or the worlds have changed so
// that it is another one, the test says which.
//
// SND-27, ACC-45, TMO-05, CASES B01, B07
func TestPlantedBugsAreCaught(t *testing.T) {
	for _, c := range []struct {
		name    string
		planted sender.Faults
		first   uint64
		symptom string // or, where invariants are checked, one of those
	}{
		{"a partition is not muted while its batch is out", sender.Faults{SkipMuting: true}, 8, "was appended later"},
		{"a batch that is tried again goes behind younger ones", sender.Faults{RequeueAtTail: true}, 1, "was appended later"},
		{"memory goes home when a batch expires, while a request holds it", sender.Faults{FreeAtExpiry: true}, 16, "panic"},
		{"and is used again while it is being written", sender.Faults{FreeAtExpiry: true}, 57, "corrupt record batch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bug := Options{Planted: c.planted, Guarded: *guarded}
			r := Run(c.first, bug)
			if len(r.Failures) == 0 {
				t.Fatalf("seed %d does not show it any more; the first that does is %d", c.first, firstCaught(bug))
			}
			if !strings.Contains(r.Failures[0], c.symptom) && !(invariant.Enabled && strings.Contains(r.Failures[0], "invariant")) {
				t.Errorf("seed %d shows %q, want %q", c.first, r.Failures[0], c.symptom)
			}
			if r := Run(c.first, Options{Guarded: *guarded}); len(r.Failures) > 0 {
				t.Errorf("seed %d fails without the bug: %s", c.first, r.Failures[0])
			}
		})
	}
}

// firstCaught is the first seed that shows the bug, 0 if none does.
func firstCaught(o Options) (first uint64) {
	live(1, within, o, func(r *Report) bool {
		if len(r.Failures) > 0 && (first == 0 || r.Seed < first) {
			first = r.Seed
		}
		return first == 0
	})
	return first
}
