package sim

import (
	"strings"
	"testing"

	"linger/internal/invariant"
	"linger/internal/sender"
)

// within so many seeds a planted bug is found.
const within = 2000

// Each bug is found by the seed that stands here, the first one that shows it with that symptom. A change of the machine or
// of the worlds may make it another one; the test then looks for it, and says which to write down.
//
// SND-27, ACC-45, TMO-05, CASES B01, B07
func TestPlantedBugsAreCaught(t *testing.T) {
	for _, c := range []struct {
		name    string
		planted sender.Faults
		first   uint64
		symptom string // or, where invariants are checked, one of those
	}{
		{"a partition is not muted while its batch is out", sender.Faults{SkipMuting: true}, 67, "was appended later"},
		{"a batch that is tried again goes behind younger ones", sender.Faults{RequeueAtTail: true}, 1, "was appended later"},
		{"memory goes home when a batch expires, while a request holds it", sender.Faults{FreeAtExpiry: true}, 16, "panic"},
		{"and is used again while it is being written", sender.Faults{FreeAtExpiry: true}, 141, "corrupt record batch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bug := Options{Planted: c.planted, Guarded: *guarded}
			if !shows(Run(c.first, bug), c.symptom) {
				moved := firstThatShows(bug, c.symptom)
				if moved == 0 {
					t.Fatalf("none of the first %d seeds shows it", within)
				}
				t.Logf("seed %d does not show it any more; the first that does is %d: write it down", c.first, moved)
				c.first = moved
			}
			if r := Run(c.first, Options{Guarded: *guarded}); len(r.Failures) > 0 {
				t.Errorf("seed %d fails without the bug: %s", c.first, r.Failures[0])
			}
		})
	}
}

// shows reports whether the world failed, and in that way.
func shows(r *Report, symptom string) bool {
	if len(r.Failures) == 0 {
		return false
	}
	return strings.Contains(r.Failures[0], symptom) || invariant.Enabled && strings.Contains(r.Failures[0], "invariant")
}

// firstThatShows is the first seed that shows the bug, 0 if none does.
func firstThatShows(o Options, symptom string) (first uint64) {
	live(1, within, o, func(r *Report) bool {
		if shows(r, symptom) && (first == 0 || r.Seed < first) {
			first = r.Seed
		}
		return first == 0
	})
	return first
}
