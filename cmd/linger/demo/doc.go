// Package demo shows the producer at work: a real text through the whole pipeline into an embedded broker, one fault on
// the way, and everything read back and compared.
//
// The room owns the tour: the text, the pace, the picture and the comparison. It refuses to pretend: the numbers are the
// producer's own counters, the fault is answered by a broker, and the comparison is by another client, of every byte.
//
// The text is Isaac Newton's Opticks (fourth edition, 1730), which is in the public domain, as it comes with the Go
// distribution. Each record is one line of it; a few hundred thousand records are several copies of the book.
//
// The plain version: send every line with its number as the key, wait, read back, compare. What makes it longer is that
// somebody watches: a table that redraws itself on a terminal, plain lines elsewhere.
package demo
