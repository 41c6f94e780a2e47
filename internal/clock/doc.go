// Package clock is the only room that reads the time. Everybody else is given an Instant, a Clock or a millisecond.
//
// The plain version: two numbers. An Instant counts nanoseconds since the clock was made and never goes back; the wall
// clock counts milliseconds since 1970 and is only ever written into records and shown to people. Deadlines, linger and
// back-off are compared as Instants, so a wall clock that jumps can neither expire nor delay a batch.
//
// Three clocks share one interface: Real for production (it also lives in a testing/synctest bubble), Manual for the
// simulation and for tests, and Coarse, a wall-clock millisecond that somebody else refreshes, for the path of a record
// where a clock read would cost as much as the append.
//
// The room owns no goroutine. It refuses to hand out time.Time: nothing above may compare wall clocks.
package clock
