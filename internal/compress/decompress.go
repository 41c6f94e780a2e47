package compress

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// errTooLong says that there is more than the caller wanted.
func errTooLong(limit int) error { return fmt.Errorf("more than %d bytes uncompressed", limit) }

// Decompress gives the uncompressed form of src, which must not be longer than limit bytes. It is for tests and for
// whoever reads batches back; it makes its decoders anew each time. With None the result is src itself.
func Decompress(t Type, src []byte, limit int) ([]byte, error) {
	out, err := decompress(t, src, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	return out, nil
}

func decompress(t Type, src []byte, limit int) ([]byte, error) {
	switch t {
	case None:
		if len(src) > limit {
			return nil, errTooLong(limit)
		}
		return src, nil
	case Gzip:
		r, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return nil, err
		}
		return readAll(r, limit)
	case Snappy:
		return decodeSnappy(src, limit)
	case LZ4:
		return readAll(lz4.NewReader(bytes.NewReader(src)), limit)
	case Zstd:
		r, err := zstd.NewReader(bytes.NewReader(src), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(zstdMaxWindow))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return readAll(r, limit)
	}
	return nil, fmt.Errorf("unknown compression type: %d", int8(t))
}

// zstdMaxWindow is the largest window that zstd readers take unless told otherwise, Java's among them.
const zstdMaxWindow = 128 << 20

func readAll(r io.Reader, limit int) ([]byte, error) {
	out, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(out) > limit {
		return nil, errTooLong(limit)
	}
	return out, nil
}
