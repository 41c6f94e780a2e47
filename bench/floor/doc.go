// Package floor is no client but a yardstick: about the least that any Go program can do to get the harness's records to
// a broker. It encodes each record once into its partition's batch, checksums full batches, writes up to 384 KiB of them
// with one writev, and reads the answers. One connection, one lock; no retries, no time-outs, no metadata after the first,
// linger looked at every 64 records. What a real client costs above it is the price of its features.
package floor
