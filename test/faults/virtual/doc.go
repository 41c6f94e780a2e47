// Package virtual runs the whole producer in virtual time against a cluster in the process: testing/synctest, kfake's network
// of pipes, and franz-go to read back what was written. Minutes of back-off pass in milliseconds, and a goroutine that is left
// behind fails its test, since a bubble does not end before its goroutines have.
//
// The root package's own tests say what a broker answers word by word. Here the broker decides: it keeps logs, looks at
// sequences, moves leaders. The package has tests alone and refuses to know anything of Kafka that kfake does not.
package virtual
