// Package franz puts franz-go's producer on the harness, as a careful user would: records and promises are pooled,
// since kgo is done with a record when its promise runs; the partitioner is the one of KIP-794; limits are the
// workload's, and its default bound of 50,000 buffered records stays, which makes it faster.
package franz
