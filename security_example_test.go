package linger_test

import (
	"errors"
	"fmt"

	"linger"
)

// A login by user and password. What is wrong with it is said by New, without a word of the secret.
func ExampleSASLJaasConfig() {
	_, err := linger.New(linger.String, linger.String,
		linger.BootstrapServers("localhost:9092"),
		linger.SecurityProtocol("SASL_PLAINTEXT"),
		linger.SASLMechanism("SCRAM-SHA-512"),
		linger.SASLJaasConfig(`org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="hunter2"`))
	fmt.Println(errors.Is(err, linger.ErrConfig))
	fmt.Println(err)
	// Output:
	// true
	// failed to construct producer: invalid configuration: sasl.jaas.config: JAAS config entry not terminated by semi-colon
}
