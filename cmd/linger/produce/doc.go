// Package produce sends files through a producer and tells how that went.
//
// The room owns one run: the loop that reads and sends, the count of outcomes, the bar that shows it under way, the list
// of what failed and why, and the summary line. It is handed a producer and refuses to make one: where brokers are and
// which options count is the command's business.
//
// The plain version: for each line, Send; then Shutdown; then print. What makes it longer:
//
//   - Nothing is lost without a word. A record that failed is counted under its reason, the first ones with file and
//     line. A run that stops early says which line it stopped before.
//   - It ends when asked to: an interrupt stops the reading at once, even if the input is a pipe that says nothing, and
//     gives what is under way a limited time.
//   - It does not grind on against a cluster that takes nothing: the first record that finds no memory for max.block.ms
//     ends the run.
package produce
