// Package bench holds the benchmarks of whole producers: Benchmark functions here for a look at one part, the command
// compare for numbers against other clients. docs/PERFORMANCE.md tells how to read both.
package bench
