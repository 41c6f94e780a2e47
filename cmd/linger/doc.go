// Command linger is the producer as a program: it shows itself at work (demo), sends files (produce), measures (perf) and
// explains its options (config).
//
// This package holds the commands: their flags, what they print and the exit status. The work is done by the packages
// beside it, which know nothing of flags:
//
//	input    lines, key and value, JSON → records
//	produce  files → a producer, the bar, the summary
//	demo     the tour
//	perf     the measurement
//	human    numbers for people
package main
