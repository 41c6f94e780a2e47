// Package human writes numbers the way people read them in the program's output: counts with thousands marked, bytes and
// durations in a unit that leaves three or so digits. It owns no state and refuses to be exact: machines get JSON.
package human
