// Package wire turns requests into bytes and bytes into responses.
//
// It owns the messages that kmsg does not do the way this producer needs them: the Produce request and response (v3 to
// v13) and InitProducerId (v0 to v6; kmsg stops at v5). Every other message is kmsg's; this room only puts the length
// prefix and the request header around it. It also owns the first look at what comes back: whether a length prefix can
// be believed at all.
//
// The plain version of a Produce request is AppendProducePlain: one []byte with everything in it, batches copied. The
// real one is AppendProduce: the same bytes as a list of slices for one writev, in which the records stay where the
// accumulator put them and everything else stands in one reusable buffer, the frame's head.
//
//	Vec    ├─ head[0:a] ──────────┤├─ chunk ─┤├─ chunk ─┤├─ head[a:b] ──────┤├─ chunk ─┤├─ head[b:] ┤
//	bytes  size header acks… t-0 61 records…            t-1 61              records…    tags
//
// Whatever is read is a stranger's: each length and each count is held against the bytes that remain before any
// memory is taken, and an error says which field was wrong and how. Bytes after a complete body are ignored, as Java
// does.
//
// The room refuses to choose: versions, correlation ids, limits and the 61 bytes of each batch header are handed in.
package wire
