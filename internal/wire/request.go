package wire

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Keys of the messages this package does itself or treats apart.
const (
	KeyProduce        int16 = 0
	KeyApiVersions    int16 = 18
	KeyInitProducerID int16 = 22
)

// SizePrefix is the number of bytes that say how long a frame is, at the front of every request and response.
const SizePrefix = 4

// MaxNameBytes is the longest client.id, transactional.id or topic that can be written: versions that are not flexible
// have 16 bits for the length.
const MaxNameBytes = 1<<15 - 1

// AppendRequest appends req as it goes on the wire: length prefix, header v1 (v2 when the version is flexible), body.
// req has its version set. clientID is at most MaxNameBytes.
func AppendRequest(dst []byte, req kmsg.Request, corr int32, clientID string) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = appendHeader(dst, req.Key(), req.GetVersion(), corr, clientID, req.IsFlexible())
	dst = req.AppendTo(dst)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-SizePrefix))
	return dst
}

func appendHeader(dst []byte, key, version int16, corr int32, clientID string, flexible bool) []byte {
	dst = appendInt16(dst, key)
	dst = appendInt16(dst, version)
	dst = appendInt32(dst, corr)
	dst = appendString(dst, clientID, false) // stays as it was even in header v2 (KIP-482)
	return appendNoTags(dst, flexible)
}

func headerLen(clientID string, flexible bool) int {
	n := 2 + 2 + 4 + stringLen(clientID, false)
	if flexible {
		n++
	}
	return n
}

// CorrelationID is the id of the request that the response answers. frame is a response without its length prefix.
func CorrelationID(frame []byte) (int32, error) {
	r := reader{src: frame}
	corr := r.int32("correlation id")
	return corr, r.err
}

// ResponseBody is the part of the frame behind the response header: v0, a correlation id, or v1, which has tagged
// fields too. flexible is whether the request's version was; the response to ApiVersions has header v0 always, since
// its reader cannot know yet what the broker speaks (KIP-511).
func ResponseBody(frame []byte, key int16, flexible bool) ([]byte, error) {
	r := reader{src: frame}
	r.int32("correlation id")
	r.skipTags(flexible && key != KeyApiVersions, "response header")
	return r.src, r.err
}
