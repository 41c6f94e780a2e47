// Kerrgen writes internal/kerr/table.go, Kafka's error table, from the vectors of the Java producer's own classes.
//
// Usage: kerrgen [-in errors.json] [-out table.go]
//
// It is run by go generate in internal/kerr. The table stands in the repository, so that nothing needs to be generated
// to build.
package main
