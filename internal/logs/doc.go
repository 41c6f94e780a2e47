// Package logs keeps the application's log handler away from the goroutines that do the producer's work.
//
// The plain version is handler.Handle(line) wherever there is something to say. But a handler is the application's code: it
// may be slow, it may panic, and it may be a Kafka log sink that sends through this very producer. Called from the engine's
// loop it would stop the sender, or wait for memory that only the loop can free.
//
// The real one is a queue that is a slog.Handler itself, and one goroutine that hands line after line to the application's
// handler:
//
//	loop, delivery, callers ──► lines (at most Limit) ──► goroutine ──► handler
//
// What it promises:
//
//   - Writing never waits. When Limit lines wait, further ones are dropped and counted; a line in their place says how many.
//   - Order is kept, and so is each line's time. Stop returns when everything is written.
//   - A handler that panics, or ends its goroutine, loses that line and no other.
//   - Before Start and after Stop lines are written where they come from: New and the last words of Close are not lost. One
//     that a handler's own doing leads to then is dropped: it might go on for ever.
//
// Nobody but Stop ever waits for a handler, and Stop comes when everything else of the producer has ended: whatever the
// handler waits for has happened by then.
package logs
