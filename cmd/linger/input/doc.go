// Package input reads records out of text: lines, key and value with a separator, or one JSON object a line.
//
// The room owns the formats and the words for what is wrong with a line; it opens no file, sends nothing and does not
// decide whether a bad line ends the run. A Reader goes on behind a bad line, so that the caller can.
//
// The plain version: read a line, cut it, say where it stood. What makes it longer is that nothing may be changed on the
// way to Kafka without a word: text that is not UTF-8 inside JSON, half a surrogate pair, a field whose name is
// misspelt or that comes twice, all of which encoding/json lets pass, are bad lines here.
package input
