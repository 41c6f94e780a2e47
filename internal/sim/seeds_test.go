package sim

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Seeds that once failed, each a file named for its seed that says why. The world of a seed changes with the worlds, so
// what a file tells is history; the seed is kept all the same, since worlds that found something were rich.
func TestSeedsThatOnceFailed(t *testing.T) {
	files, err := filepath.Glob("testdata/seeds/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no seeds: %v", err)
	}
	for _, f := range files {
		seed, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(f), ".txt"), 10, 64)
		if err != nil {
			t.Errorf("%s is not named for its seed", f)
			continue
		}
		if why, err := os.ReadFile(f); err != nil || len(why) == 0 {
			t.Errorf("%s does not say why", f)
		}
		for _, failure := range Run(seed, Options{Guarded: *guarded}).Failures {
			t.Errorf("seed %d: %s", seed, failure)
		}
	}
}
