package compress

import "github.com/klauspost/compress/zstd"

// zstdWindow bounds how far a match reaches back, and with it what a reader must hold. Java's reader takes up to
// 128 MiB; a batch is about 1 MiB at most with the default max.request.size, so more would be memory for nothing.
const zstdWindow = 1 << 20

// zstdEncoder writes one zstd frame without a checksum, as Java does: the batch has its CRC.
//
// The library has four levels. Java's 23+131072 are mapped by effort: below 3 fastest, 3 (the default) to 5 default, 6
// to 9 better, from 10 best. Negative levels, which trade size for speed even more, are the fastest.
type zstdEncoder struct {
	w       *zstd.Encoder
	scratch []byte
}

func newZstd(level int) (*zstdEncoder, error) {
	w, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstdLevel(level)),
		zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(zstdWindow),
		zstd.WithEncoderCRC(false),
		// Without it the two fast levels store what has no repetitions although its bytes are few: hex or base64, which
		// Java's zstd halves. It costs 50 us a 64 KiB block of truly random bytes.
		zstd.WithAllLitEntropyCompression(true),
		zstd.WithZeroFrames(true))
	if err != nil {
		return nil, err
	}
	return &zstdEncoder{w: w}, nil
}

func zstdLevel(level int) zstd.EncoderLevel {
	switch {
	case level < 3:
		return zstd.SpeedFastest
	case level < 6:
		return zstd.SpeedDefault
	case level < 10:
		return zstd.SpeedBetterCompression
	default:
		return zstd.SpeedBestCompression
	}
}

func (e *zstdEncoder) encode(dst []byte, src [][]byte) ([]byte, error) {
	var all []byte
	all, e.scratch = gather(e.scratch, src)
	return e.w.EncodeAll(all, dst), nil
}

// zstdBound: a frame header of at most 14 bytes, and 3 for each block that is stored; blocks are cut after 64 KiB or
// more.
func zstdBound(n int) int { return n + 18 + 3*(n/(64<<10)+1) }
