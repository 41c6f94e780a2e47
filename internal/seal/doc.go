// Package seal compresses batches beside the loop, so that compression of one partition holds up neither the connections
// nor another partition. It owns a small fixed set of workers and their compressors, and knows nothing of batches: a job is
// whatever its user says, and what to do with one is a function.
//
// The plain version is Inline, which is also what tests and the simulation use: Submit does the job there and then.
//
// The real one: Submit puts the job into a queue and returns; a worker takes the oldest one. Workers start when there is
// work for them, so a producer without compression has none, and each makes its own compressor, which stays its own.
//
// The room promises nothing about order: jobs begin in the order of Submit but end as they please. The accumulator sends
// out only a partition's head and drains only what is sealed, and so keeps the order itself.
package seal
