// Package producer runs linger's producer against real Apache Kafka 4.4.0 brokers, which the tests start, and reads
// back what they stored with consumers that are not ours.
package producer
