// Package engine does what the sender decides. It owns the one loop, and starts, stops and waits for every other goroutine
// that brings records on their way: the connections', the compression workers, the delivery goroutine, the one that writes
// log lines. What gets tokens and tickets for logins is closed with the plug-ins, once the engine has ended.
//
//	for !done {
//		fx := sender.Step(clock.Now(), inbox.Take())
//		carry out fx
//		inbox.WaitUntil(fx.WakeAt)
//	}
//
// The order in which effects are carried out is a promise: memory goes home first, then completions are delivered, so
// that a callback that sends finds the memory of the record it hears of. Views are published before both, so that no
// caller waits for metadata that is there.
//
// The package also holds the board on which views are published for callers that wait (META), since waiting is doing.
// It decides nothing.
package engine
