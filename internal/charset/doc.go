// Package charset turns text into bytes the way Java does, under the names that Java has for character sets. It is there
// for key.serializer.encoding, value.serializer.encoding and serializer.encoding, in which a Java file may name any of them.
//
// The plain version: for each rune append its bytes, or a question mark where the set has none. That is also the real one;
// the Unicode sets and the two small ones are our own, tables of the others come from golang.org/x/text. Those follow the
// web's standard, which differs from Java in places; an entry says where and puts it right, so that a set gives Java's bytes
// or is not in the table. Sets that cannot be put right with a line or two (Big5, EUC-JP, ISO-2022, most of IBM's) are not.
//
// A Go string need not be valid UTF-8. A byte that is not counts as U+FFFD, as a lone surrogate does in Java.
package charset
