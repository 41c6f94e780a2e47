// Package compress squeezes the records of a batch with the four codecs that Kafka knows, in forms that the Java
// consumer and the broker read.
//
// It is the only room that imports compression libraries; others see Type, Codec, Compressor and Decompress. It owns
// the two container formats that libraries do not write the way Java reads them: snappy's blocks and lz4's frame.
//
//	gzip     one gzip member
//	snappy   82 "SNAPPY" 00 │ version 1 │ lowest version 1 │ { length, snappy block of up to 32 KiB } …
//	lz4      magic │ flags 60 │ 64 KiB blocks 40 │ 82 │ { length, lz4 block of up to 64 KiB } … │ 00000000
//	zstd     one frame, at most a 1 MiB window
//
// The plain version of a codec is its library's own writer over the concatenated records. The real one keeps encoder
// and scratch memory from batch to batch, takes the records as the chunks they lie in, copies only what straddles two
// chunks where the format allows, and appends to memory it is given, so that a warm Compressor allocates nothing.
//
// The room refuses to choose: whether a compressed batch is worth keeping, and where its bytes live, is the sealer's.
package compress
