//go:build unix

package kafkatest_test

import (
	"os"
	"testing"

	"linger/test/broker/kafkatest"
)

// brokers are shared by the tests of this package that leave nodes alone.
var brokers kafkatest.Set

func TestMain(m *testing.M) { os.Exit(brokers.Run(m)) }
