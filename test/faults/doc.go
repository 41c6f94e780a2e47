// Package faults compares what linger does when a broker misbehaves with what the Java producer did.
//
// The plain version, for each scenario of testdata/scenarios.json:
//
//	start a broker that follows the scenario's rules        broker/
//	run the scenario's script against it with our driver    linger/internal/faultdriver
//	boil both sides' lines down to facts                    facts.go, wirefacts.go
//	compare them with the recorded ones                     compare.go, testdata/expected
//
// The recorded facts come from kafka-clients 4.4.0, run several times by the same rules; what was not the same in every
// run is left out of them. Facts are of two kinds. The outcome: how each record and each call ended, with which
// exception, in which order the callbacks came, what the log holds, which state the producer was in. The wire: the
// produce requests of each partition with producer id, epoch, sequence, count and answer, the transaction requests in
// order, the versions. Producer ids are random, so they are called P1, P2, … in the order of their appearance.
//
// The package has no Go API. Two environment variables point the test at other recordings of the same form:
// LINGER_FAULTS names a folder with scenarios.json and expected/, LINGER_FAULTS_KEEP one that takes each run's raw lines.
package faults
