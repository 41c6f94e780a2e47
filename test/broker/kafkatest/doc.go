// Package kafkatest starts real Apache Kafka 4.4.0 brokers for tests and reads back what they stored with consumers that
// are not ours.
//
// The room owns Java processes and their folders. It refuses to skip: a missing Java, Maven or kcat is an error that says
// what to install, and `go test -short` is the only way to leave real brokers out. It produces nothing.
//
// The plain version, by hand:
//
//	mvn dependency:copy-dependencies -DoutputDirectory=lib     # once per machine, pom.xml beside this file
//	java -cp 'lib/*' kafka.tools.StorageTool format -t ID -c server.properties
//	java -cp 'lib/*' kafka.Kafka server.properties
//
// What the package adds: free ports, the properties, waiting until the brokers answer, several nodes, stopping and killing
// one of them, and the certainty that every process ends, even when a test panics (see proc_linux.go).
//
//	var brokers kafkatest.Set                                  // in a test package: started on first use, shared by its tests
//
//	func TestMain(m *testing.M) { os.Exit(brokers.Run(m)) }    // ends them
//
//	func TestSomething(t *testing.T) {
//		c := brokers.Get(t, kafkatest.Options{Nodes: 3})
//		c.CreateTopic(t, "orders", 6, nil)
//		... produce to c.Bootstrap() ...
//		got := kafkatest.ReadAll(t, c, "orders")
//	}
//
// A test that stops or kills nodes takes its own cluster with StartT, so that it can't disturb the others.
//
// Secure adds what listeners with certificates and logins need: authorities, stores in PEM and of the JDK's own making, an
// identity provider for OAUTHBEARER, and a Kerberos realm with its KDC. One broker has a listener of every kind:
//
//	s, err := kafkatest.NewSecure(ctx)
//	c := brokers.Get(t, s.Options())
//	... produce to c.AddrsOf(kafkatest.SASLTLS) ...
//
// Three readers with three jobs: ReadAll (franz-go) gives every byte of every record; Dump (DumpLogSegments) gives what the
// log keeps per batch: codec, producer id, epoch, sequences; ConsoleConsume (Java) and Kcat (librdkafka) show that the
// clients people use agree. Both text tools are asked for an unambiguous form, so that they too return exact bytes.
package kafkatest
