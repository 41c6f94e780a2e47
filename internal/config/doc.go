// Package config is where a producer's options become values: one table of the 120 keys of the Java 4.4.0 producer,
// and the rules between them.
//
// It owns the table ([Keys]): name, type, default, range, importance, text, the name of the Go option, and whether
// linger does what the key says. The typed options of the root package and docs/CONFIG.md are generated from it, and
// the CLI takes its flags from it. It refuses to do anything with the values: it opens no socket, resolves no name,
// loads no plug-in. Reading what a config provider names (an environment variable, a file) is the one thing it asks
// of the outside, through [Outside].
//
// The plain version:
//
//  1. Take the settings in order, a later one over an earlier one of the same key.
//  2. Parse and check each key of the table; what was not set has its default.
//
// The real version adds, in the order in which the Java producer does it (which decides the error a user sees when
// several things are wrong):
//
//	settings → config providers' ${…}      providers.go
//	         → each key in table order      coerce.go, valid.go    Java: ConfigDef.parse
//	         → rules between keys           cross.go               Java: ProducerConfig.postProcessParsedConfig
//	         → what linger supports         support.go             ours
//	         → the client's name            naming.go
//	         → what the producer is built with  build.go           Java: the constructor of KafkaProducer
//
// Errors are [*Error] and carry Java's sentence. A secret's text never stands in an error, a log line or a report.
package config

//go:generate env GOWORK=off go run -C ../../tools ./configgen -options ../options_gen.go -doc ../docs/CONFIG.md
