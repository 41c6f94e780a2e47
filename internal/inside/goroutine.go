package inside

import (
	"bytes"
	"runtime"
	"strconv"
)

// Goroutine reads the running goroutine's number from the first line of its stack trace, "goroutine 18 [running]:".
// Numbers are not used twice. It returns 0, which is nobody's, should the line ever look otherwise.
func Goroutine() uint64 {
	return readNumber(make([]byte, firstLine))
}

// firstLine is room in bytes for what is read of a stack trace.
const firstLine = 64

// readNumber is Goroutine with a scratch, which would be the one allocation.
func readNumber(buf []byte) uint64 {
	line := buf[:runtime.Stack(buf, false)]
	digits, _, _ := bytes.Cut(bytes.TrimPrefix(line, []byte("goroutine ")), []byte(" "))
	n, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
