// Command faultdriver runs one client script against the public API and says what happened, so that the same script can
// be compared with what the Java producer did (test/faults).
//
//	faultdriver --bootstrap host:port[,host:port] --control host:port < script.json
//
// The script is {"scenario": NAME, "ops": [...]}; the answers are JSON lines on standard output: one for each record
// when its callback runs, one for each operation, and a last {"type":"end"}. A failed operation does not end the
// script. Errors are named as Java names its exceptions.
package main
