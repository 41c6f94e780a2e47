// Package nullbroker is a Kafka broker that takes everything and keeps nothing, so that a benchmark against it measures
// the client. It speaks what a producer needs: ApiVersions, Metadata, InitProducerId and Produce 3 to 13, with offsets
// that count. It is not for tests of behaviour: it never fails, and it knows every topic.
//
// The plain version decodes each request with kmsg; that is what happens to all but Produce. The real one, for Produce,
// steps over the request in the read buffer, looks at each batch's record count alone and writes the answer straight into
// the output: no copy and no allocation a request, one read and one write a buffer full of requests.
//
// With Options.Verify each batch is decoded as well: length, CRC-32C, counts, offset and timestamp deltas, codec, and the
// continuity of sequences per producer and partition. Then it measures nothing.
package nullbroker
