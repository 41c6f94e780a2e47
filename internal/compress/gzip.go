package compress

import "github.com/klauspost/compress/gzip"

// gzipEncoder writes one gzip member. Java's levels are the library's: 1 the fastest, 9 the smallest, -1 the codec's
// own default, which is 6 in Java's zlib and 5 here, where it gives about the same size. The bytes differ from zlib's,
// the format does not.
type gzipEncoder struct {
	out sink
	w   *gzip.Writer
}

func newGzip(level int) (*gzipEncoder, error) {
	e := &gzipEncoder{}
	w, err := gzip.NewWriterLevel(&e.out, level)
	if err != nil {
		return nil, err
	}
	e.w = w
	return e, nil
}

func (e *gzipEncoder) encode(dst []byte, src [][]byte) ([]byte, error) {
	e.out.b = dst
	e.w.Reset(&e.out)
	for _, chunk := range src {
		if _, err := e.w.Write(chunk); err != nil {
			return dst, err
		}
	}
	if err := e.w.Close(); err != nil {
		return dst, err
	}
	dst, e.out.b = e.out.b, nil
	return dst, nil
}

// sink is a writer that appends.
type sink struct{ b []byte }

func (s *sink) Write(p []byte) (int, error) {
	s.b = append(s.b, p...)
	return len(p), nil
}

// gzipBound: header 10 and trailer 8 bytes, and 5 for each stored block; blocks are cut after 32 KiB or more, except
// the last ones.
func gzipBound(n int) int { return n + 18 + 5*(n/(8<<10)+2) }
