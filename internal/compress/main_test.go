package compress

import (
	"testing"

	"go.uber.org/goleak"
)

// No encoder or decoder may leave a goroutine behind: sealers own their goroutines, this room has none.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
