// Package readback reads a topic back with a consumer that is not ours (franz-go), so that tests can compare what a
// producer says it wrote with what the log holds.
//
// The room owns one question, "what is in this topic now?", and asks it of any Kafka: the embedded broker or a real
// cluster. It refuses to wait for records to come: it reads up to the end offsets of the moment it was asked, and a log
// that can't be read up to there before the context ends is an error that names what is missing.
//
// The plain version: list the end offset of each partition, fetch from the beginning, stop at those offsets. What makes
// it longer is transactions: the last offset may be a control record, and a committed reader's end is the last stable
// offset.
package readback
