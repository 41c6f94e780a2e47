// Package transport has the connections: it resolves, dials, writes whole requests and cuts what comes back into frames.
// It decides nothing. Which broker to dial, when a request has waited too long and what an answer means is internal/client's
// business; the two talk in the values of internal/link. No other package opens a connection to a broker, or imports net for
// more than a name: only internal/oauth speaks HTTP to the endpoint that gives out tokens.
//
// # The plain version
//
// A link is two loops around one connection:
//
//	reader:  length := read 4 bytes;  frame := read length bytes;  post Received{frame}
//	writer:  request := next from the queue;  write it;  post Written{request}
//
// # The real one
//
//   - The goroutine that dials becomes the reader, and starts the writer. Close orders, errors of either half and Wait all
//     do the same thing: they cancel the link's context with their reason. The first reason counts. Cancelling stops a dial
//     that is under way, closes the connection and so unblocks both halves; when both have returned, Closed is posted, once.
//   - The engine never waits here: Do puts writes into a short queue per link. Closing happens on a goroutine of its own,
//     since closing may block (a TLS connection says goodbye first).
//   - What is queued goes out in one vectored write, as long as it is small: Written must not wait long for a neighbour.
//   - A length prefix is checked before memory is taken for the frame, and memory for a large frame grows with the bytes that
//     really arrive. A peer that does not speak Kafka costs one error, not the process.
//   - What a broker is answered during a login takes time: each Challenge has a goroutine, which ends with its link at the
//     latest. Closed comes after it.
//   - A TLS handshake is a part of dialling. Its failures, and those that come behind it, are put into words here, where both what
//     the peer asked for and what it got are known (tlserror.go); which certificates count is internal/tlsconf's business.
//
// Goroutines: per link one reader and one writer, one for a challenge, and a closer for the moment of closing; one per name
// being resolved. Wait stops them all and returns when they have ended.
package transport
