// Package backoff is the exponential back-off that retries, reconnects and connection set-up share.
//
// The plain version: initial × multiplier^attempts, at most max. The real one grows the exponent no further than where
// max is reached (so it can't overflow), then draws a factor between 1-jitter and 1+jitter and cuts at max once more: a
// fleet of producers that lost one broker doesn't come back in one instant (KIP-144, KIP-601, KIP-580; in Java:
// ExponentialBackoff).
//
// The room decides only: the random number comes in as a value and time is the caller's.
package backoff
