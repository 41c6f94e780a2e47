//go:build unix

package kafkatest

import "encoding/binary"

// RequestHead is how a request begins.
type RequestHead struct {
	Key, Version uint16
	Corr         uint32 // correlation id
}

// RequestHeads follows what a client writes to one connection. The zero value is at the beginning of a request. It is not
// safe for concurrent use, and makes no sense of what is encrypted.
type RequestHeads struct {
	head []byte // of the request that is being written
	skip int    // bytes of it still to come
}

const requestHead = 12 // length, key, version, correlation id

// Follow takes the next bytes, cut anywhere, and tells of each request whose head is complete with them.
func (f *RequestHeads) Follow(p []byte, each func(RequestHead)) {
	for len(p) > 0 {
		if f.skip > 0 {
			n := min(f.skip, len(p))
			f.skip, p = f.skip-n, p[n:]
			continue
		}
		n := min(requestHead-len(f.head), len(p))
		f.head, p = append(f.head, p[:n]...), p[n:]
		if len(f.head) < requestHead {
			return
		}
		be := binary.BigEndian
		each(RequestHead{Key: be.Uint16(f.head[4:]), Version: be.Uint16(f.head[6:]), Corr: be.Uint32(f.head[8:])})
		f.skip = int(be.Uint32(f.head)) - (requestHead - 4)
		f.head = f.head[:0]
	}
}
