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

// The kinds of clusters that they share, besides the plainest one: each start costs seconds.
var (
	older = kafkatest.Options{TransactionVersion: 1}
	rich  = kafkatest.Options{
		TransactionVersion: 2, TwoPhaseCommit: true,
		Props: map[string]string{"message.max.bytes": unusualLimit},
		Listeners: []kafkatest.Listener{{Name: "LOGIN", Protocol: "SASL_PLAINTEXT", Props: map[string]string{
			"sasl.enabled.mechanisms": "PLAIN",
			"plain.sasl.jaas.config":  `org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="secret";`,
		}}},
	}
)

const unusualLimit = "123456"
