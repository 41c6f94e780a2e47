package linger_test

import (
	"testing"

	"go.uber.org/goleak"
)

// Nothing may be left running after all tests of the package (B31).
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
