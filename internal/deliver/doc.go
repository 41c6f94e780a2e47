// Package deliver tells the application how its records ended. It owns one goroutine, on which every callback runs.
//
// The plain version is what that goroutine does with each batch that has ended, one batch after the other:
//
//	for each record, in order: call its callback
//	complete the batch's Result            // futures: Wait returns, Done closes
//	count the batch off its Generation     // Flush and Close return
//
// The order is the promise: when Wait or Flush returns, the callbacks have run. The real version adds three things:
//
//   - A panic in a callback is logged and costs that callback alone. The recover stands around a batch, not around a record:
//     after a panic the loop goes on behind the record. A callback that ends its goroutine (runtime.Goexit, as a test's
//     FailNow does) is treated alike; a new goroutine takes over.
//   - Push never waits, so a callback that blocks holds up callbacks and nothing else. It is the sender that stops taking
//     batches out while too many wait here; it hears of those that are through.
//   - The room can say whether its caller is inside a callback. Go has no thread identity, so the goroutine's number is read
//     out of its stack trace, but only by those who ask: Flush, which is refused there since it would wait for the
//     callback it is called from, and Close, which there means a close without waiting.
//
// A callback that waits for another goroutine which flushes is not recognised: that Flush waits for the callback, and the
// callback for it, until one of their contexts ends.
package deliver
