// Package inside remembers which goroutines run the application's code on our behalf: callbacks, log handlers, dialers,
// the Close of plug-ins.
//
// The plain version is a thread-local flag. Go has none, so a goroutine is known by its number, which is read out of its
// stack trace; a microsecond, paid where such code begins or where a rare call asks.
//
// Who asks is who would wait for all of that code to end: Close inside any of it would wait for itself. What the code does
// on a goroutine of its own making is not recognised.
package inside
