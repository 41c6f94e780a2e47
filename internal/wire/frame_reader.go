package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// DefaultFrameLimit is the longest response that is believed, in bytes: 100 MiB, what a broker takes as a request
// (socket.request.max.bytes). Java has no limit for responses and lets a stranger's first four bytes choose how much
// memory it takes.
const DefaultFrameLimit = 100 << 20

// firstRead is how much memory a length prefix alone can take. The rest comes as the bytes do.
const firstRead = 64 << 10

// ErrNotKafka is behind the errors about a peer that speaks something else.
var ErrNotKafka = errors.New("the peer does not look like a Kafka broker")

// ErrSpeaksTLS is behind ErrNotKafka when the bytes are TLS.
var ErrSpeaksTLS = errors.New("the peer speaks TLS, while we speak without")

// FrameLength turns a length prefix into the number of bytes that follow it. A negative length and one above limit are
// refused; when the bytes look like the beginning of an HTTP answer or of a TLS record the error says so. A limit of 0
// is DefaultFrameLimit.
func FrameLength(prefix [SizePrefix]byte, limit int) (int, error) {
	if limit <= 0 {
		limit = DefaultFrameLimit
	}
	switch what := looksLike(prefix); what {
	case "":
	case http:
		return 0, fmt.Errorf("%w: its answer looks like %s", ErrNotKafka, what)
	default:
		return 0, fmt.Errorf("%w: its answer looks like %s: %w", ErrNotKafka, what, ErrSpeaksTLS)
	}
	n := int32(binary.BigEndian.Uint32(prefix[:]))
	if n < 0 {
		return 0, fmt.Errorf("%w: response length is %d", ErrMalformed, n)
	}
	if int(n) > limit {
		return 0, fmt.Errorf("%w: response length is %d bytes, the limit is %d", ErrMalformed, n, limit)
	}
	return int(n), nil
}

const http = "HTTP"

// looksLike guesses what protocol begins with these bytes. As a length each of them is above 335 MB, so a broker's
// honest answer is never taken for it.
func looksLike(prefix [SizePrefix]byte) string {
	const (
		tlsAlert     = 0x15
		tlsHandshake = 0x16
		tlsMajor     = 0x03
	)
	switch {
	case string(prefix[:]) == http:
		return http
	case prefix[0] == tlsAlert && prefix[1] == tlsMajor:
		return "TLS (an alert)"
	case prefix[0] == tlsHandshake && prefix[1] == tlsMajor:
		return "TLS (a handshake)"
	}
	return ""
}

// FrameReader cuts a stream into responses. It is not safe for use by several goroutines.
type FrameReader struct {
	// R is the stream.
	R io.Reader
	// Limit is the longest frame in bytes; 0 is DefaultFrameLimit.
	Limit int

	prefix [SizePrefix]byte
}

// Next appends the next frame, without its length prefix, to buf and returns the longer buf. The bytes are the
// caller's. Memory grows with what has arrived, never with what was announced. It returns io.EOF when the stream ends
// between two frames and io.ErrUnexpectedEOF when it ends inside one.
func (f *FrameReader) Next(buf []byte) ([]byte, error) {
	if _, err := io.ReadFull(f.R, f.prefix[:]); err != nil {
		return buf, err
	}
	n, err := FrameLength(f.prefix, f.Limit)
	if err != nil {
		return buf, err
	}
	for step := firstRead; n > 0; step *= 2 {
		take := min(n, step)
		old := len(buf)
		buf = slices.Grow(buf, take)[:old+take]
		got, err := io.ReadFull(f.R, buf[old:])
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF // the prefix promised more
			}
			return buf[:old+got], err
		}
		n -= take
	}
	return buf, nil
}
